"""The server of an index: start, owner record and maintenance."""
