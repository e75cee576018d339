"""Vectors made in the background, and the switch from one model to the next."""
