"""Projections: copies of the database's content for fast reads.

The copies are the code graph, the word index, the vectors and the memories. Operations on many nodes read these copies instead of the
database.
"""
