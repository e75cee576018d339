"""Access rules, tokens, and secrets in files."""
