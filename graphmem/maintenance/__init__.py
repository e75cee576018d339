"""The files of an index: its directory, backups, checks, and recovery from damage."""
