"""Resolve the names and calls in parsed files to edges of the code graph.

Each edge records the rule that found its target.
"""
