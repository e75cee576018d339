"""The graph of a project in a PostgreSQL database, shared by servers."""
