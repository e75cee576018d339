"""Edges from outside tools: SCIP indexers, recorded tests and coverage."""
