"""Interfaces between type inference and rules of languages."""
