"""Execution of GraphQL documents: parse, check, run, encode."""
