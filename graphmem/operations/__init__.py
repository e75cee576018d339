"""Declarations of all operations, from which every interface is derived."""
