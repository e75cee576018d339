"""Texts of memories: wording, similarity, secrets in them."""
