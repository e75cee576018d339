"""The graph that operations query, and what keeps it up to date."""
