"""The rules of Go."""
