"""Coding agents' hooks: what they send, what they want to hear, and the files in which they are told to call graphmem.

Imports nothing: `graphmem hook` is run at every step of an agent and has to be through in milliseconds.
"""
