"""Memories: pieces of knowledge about code, written here and nowhere else.

This package has their journal (an append-only file), their rules of fading and expiry, and their import and export.
"""
