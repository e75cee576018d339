"""Language server, which answers editors through the server of the index."""
