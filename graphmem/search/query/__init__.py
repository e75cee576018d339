"""The query of a search: its type, names, quoted phrases and dates."""
