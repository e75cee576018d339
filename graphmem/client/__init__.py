"""Asks a running server, or opens the index itself when no server runs."""
