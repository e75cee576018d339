"""Resolution rules for Java."""
