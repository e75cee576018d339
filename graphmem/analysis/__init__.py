"""Measures over the graph projection: impact, paths, references people type, diffs."""
