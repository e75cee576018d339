"""Command lines and tools of agents: what they read, edit and run."""
