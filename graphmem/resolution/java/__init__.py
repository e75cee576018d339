"""The rules of Java."""
