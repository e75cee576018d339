"""Projections: copies of the store's data in a form that is fast to read.

Questions about many nodes read the projections instead of the store.
"""
