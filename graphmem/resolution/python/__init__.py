"""Rules that resolve names and calls in Python code to definitions."""
