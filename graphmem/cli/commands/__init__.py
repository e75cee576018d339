"""Commands written by hand, in contrast to those made from operations.

A command imports other modules only when it runs, so that `--help` stays fast.
"""
