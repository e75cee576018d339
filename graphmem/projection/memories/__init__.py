"""The memories in memory: columns, slots, links and searches."""
