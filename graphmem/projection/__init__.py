"""Projections: copies of the database's content that are fast to read.

They are the code graph, the word index, the vectors and the memories. Questions about many nodes read these copies instead of the database.
"""
