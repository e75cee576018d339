"""The explorer in the browser: where things lie in its pictures (Python), and its pages (static files)."""
