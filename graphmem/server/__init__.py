"""The process that owns an index: its start, record and idle work."""
