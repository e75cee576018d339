"""Access rules for callers, tokens of clients, and secrets in files."""
