"""Analyse the code graph: impact of a change, paths, diffs, names."""
