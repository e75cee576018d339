"""The files of an index: directory, backups, checks and recovery."""
