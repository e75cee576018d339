"""The server of an index: its start, its record and its idle work."""
