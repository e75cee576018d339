"""The memories in memory: their properties, links, times and searches."""
