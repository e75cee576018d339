"""Files that graphmem writes: replaced, checked, private, encrypted."""
