"""Vectors made in the background, and the switch between models."""
