"""Parse source files into facts: definitions, imports and uses of names.

This is the only package that imports tree-sitter.
"""
