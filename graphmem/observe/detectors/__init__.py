"""Detectors: each looks for one pattern in a session."""
