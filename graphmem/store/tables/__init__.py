"""Tables, named queries and transactions of the database."""
