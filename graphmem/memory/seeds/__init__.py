"""First memories of a project, made from its own files."""
