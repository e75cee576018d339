"""Hooks of coding agents: their payloads, answers and settings files.

This file imports nothing, because `graphmem hook` runs at every step of an agent and must finish in milliseconds.
"""
