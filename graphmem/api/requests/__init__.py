"""Requests: their limits, ids, state, deadline and loaders."""
