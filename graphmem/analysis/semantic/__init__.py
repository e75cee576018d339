"""Modules, layers, cycles, flows and other facts about the structure.

They are derived from the code graph, and include hot spots, dead code and duplicates.
"""
