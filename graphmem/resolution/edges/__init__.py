"""Convert the uses of names in one file, such as calls, to graph edges."""
