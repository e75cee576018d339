"""Resolve the names and calls in parsed files to edges of the code graph.

An edge leads from code to a definition that the code uses. Each edge records the rule that found its target.
"""
