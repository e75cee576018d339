"""Resolution rules for Go."""
