"""Commands written by hand, in contrast to those made from operations.

They import late, so that `--help` stays fast.
"""
