"""Answers to recursive questions, and what they depend on."""
