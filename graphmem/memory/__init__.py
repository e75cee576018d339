"""Memories (pieces of knowledge about code), and the code to write them.

No other package writes memories. This one has their journal (an append-only file), their rules of fading and expiry, and their import and
export.
"""
