"""Hooks of coding agents: their payloads, answers and settings files.

The package's own file imports nothing. `graphmem hook` runs at every step of an agent and must finish in milliseconds.
"""
