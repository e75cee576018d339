"""Language server: answer editors by asking the server of the index."""
