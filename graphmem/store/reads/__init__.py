"""Reads: snapshots of the code graph, memories, named queries."""
