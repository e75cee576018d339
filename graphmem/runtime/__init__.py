"""Utilities for all packages: limits, data files, names, safe text."""
