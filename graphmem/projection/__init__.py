"""Derived from the store: what many nodes at once are read from."""
