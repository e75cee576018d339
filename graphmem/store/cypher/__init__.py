"""Cypher queries that users write, in a process of their own."""
