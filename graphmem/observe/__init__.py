"""Observe agent sessions: events to acts, findings and session records."""
