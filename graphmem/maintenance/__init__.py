"""Maintain the files of an index: directory, backups, checks, recovery."""
