"""Answers as text for people; every function takes an answer and prints, none asks the service."""
