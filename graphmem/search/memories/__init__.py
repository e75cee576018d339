"""Search of memories: by words and vectors, neighbours and phases."""
