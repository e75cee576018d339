"""Contracts between programs, such as an HTTP route and its clients."""
