"""The code graph in memory: its arrays, look-ups, file and changes."""
