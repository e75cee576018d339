"""Rows of memories as answers: read, describe, rank, age."""
