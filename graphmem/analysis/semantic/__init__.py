"""Modules, layers, cycles, flows and other facts about the structure.

The facts are derived from the code graph. They include hot spots, dead code and duplicates.
"""
