"""Parse bytes into facts; the only package that imports tree-sitter."""
