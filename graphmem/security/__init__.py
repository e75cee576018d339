"""Who may do what: access rules, tokens, and secrets in files."""
