"""Paths of a server that its clients request."""

from typing import Final

GRAPHQL_PATH: Final = "/graphql"
HEALTH_PATH: Final = "/health"
