"""Analyse the code graph: impact of a change, paths, modules, and names."""
