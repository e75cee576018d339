"""Projections: in-memory and on-disk data derived from the store.

Questions about many nodes read the projections instead of the store.
"""
