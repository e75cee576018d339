"""Utilities for every room: limits, data files, names, safe text."""
