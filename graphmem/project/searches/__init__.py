"""Search of code and memories, and measurement of its weights."""
