"""Compute vectors of texts in the background, and switch models."""
