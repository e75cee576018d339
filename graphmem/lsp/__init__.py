"""The Language Server Protocol, as a client of the index's server."""
