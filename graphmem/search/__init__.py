"""The read path: find candidates, fuse ranked lists, explain hits."""
