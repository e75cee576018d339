"""Bytes to facts; the only room that imports tree-sitter."""
