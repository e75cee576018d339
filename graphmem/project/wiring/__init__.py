"""The wiring of a project: its parts, created and connected."""
