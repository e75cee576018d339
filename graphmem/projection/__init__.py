"""Projections: in-memory and on-disk data derived from the store.

Questions about many nodes read them instead of the store.
"""
