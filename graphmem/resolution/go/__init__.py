"""Rules that resolve names and calls in Go code to definitions."""
