"""The verbs of graphmem, and who may write."""
