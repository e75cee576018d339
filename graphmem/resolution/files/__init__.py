"""Parsed files of a project, with indexes of their names and calls."""
