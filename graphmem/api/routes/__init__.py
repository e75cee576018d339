"""HTTP routes beside GraphQL: pages, exports, health, pushes."""
