"""Rules that resolve names and calls in Java code to definitions."""
