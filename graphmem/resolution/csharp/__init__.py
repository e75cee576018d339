"""Rules that resolve names and calls in C# code to definitions."""
