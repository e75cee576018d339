"""Semantic layer, derived from the graph view.

It has modules, layers, cycles, flows, hot spots, dead code and duplicates.
"""
