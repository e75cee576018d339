"""Index runs, upkeep, backups and health of an open project."""
