"""Resolution rules for Python."""
