"""Memories (pieces of knowledge about code), and the code to write them.

No other package writes memories. This package contains the journal of memories (an append-only file) and their import and export. It also
has the rules by which confidence decays and memories expire.
"""
