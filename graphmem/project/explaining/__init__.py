"""Explanations of the structure: paragraphs, answers, documents."""
