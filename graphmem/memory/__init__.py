"""Memories: one write path for every source, their life, and the journal that is their truth."""
