"""The change history of a project, and its graph at an earlier time."""
