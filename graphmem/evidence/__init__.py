"""Edges that outside tools report: SCIP indexers, test runs, coverage."""
