"""Cache of type inference, with the facts on which each result depends."""
