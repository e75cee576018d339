"""Contracts between programs: what each offers and asks of others."""
