"""Observe coding agents' sessions and find knowledge worth remembering.

An agent reports events, such as a tool call. Events are joined into acts (a call with its result). Detectors find patterns in the acts,
called findings, such as a fixed error. At the end of a session, its findings and counts are stored as its record.
"""
