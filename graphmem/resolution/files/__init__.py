"""Files as parsed: indexes of their names and calls, hashes."""
