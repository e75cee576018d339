"""Writes: changes of code and memories to rows of the tables."""
