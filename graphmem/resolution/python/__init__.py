"""The rules of Python."""
