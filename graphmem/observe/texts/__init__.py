"""Texts of people and tools: requests, corrections, errors, decisions."""
