"""Rules that resolve names and calls in C and C++ code to definitions."""
