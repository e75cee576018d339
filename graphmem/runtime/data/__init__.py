"""Data files of graphmem: the tables of `grammars/` and `queries/`."""
