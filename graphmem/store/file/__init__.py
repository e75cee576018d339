"""The database file: open, lock, migrate, rebuild, recover."""
