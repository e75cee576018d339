"""HTTP: connections, checks of requests, GraphQL over it."""
