"""GraphQL types and fields, derived from the operations."""
