"""The repository: the only code that writes memories."""
