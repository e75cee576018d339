"""Branches as differences from the main branch's graph."""
