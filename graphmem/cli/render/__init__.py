"""Answers as text for people; functions print an answer that they get."""
