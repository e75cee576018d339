"""Commands written by hand, in contrast to those made from operations.

They import other modules only when they run, so that `--help` stays fast.
"""
