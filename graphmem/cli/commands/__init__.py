"""Handwritten commands. They import late, so that `--help` stays fast."""
