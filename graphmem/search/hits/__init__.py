"""Hits of a search: their snippets, lines and groups."""
