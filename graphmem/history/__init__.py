"""Knowledge from Git's history: authors, and files that change together.

Explanations in commit messages become memories.
"""
