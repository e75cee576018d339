"""Type inference: names, classes, functions, containers, calls."""
