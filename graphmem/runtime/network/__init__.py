"""Addresses and requests of other hosts."""
