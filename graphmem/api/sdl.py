"""`python -m graphmem.api.sdl` prints the schema, as it is committed in queries/schema.graphql."""

from __future__ import annotations

import sys

from graphmem.api.limits import ServerLimits
from graphmem.api.schema import build_schema


def sdl() -> str:
    """The schema definition, ending in a newline."""
    return build_schema(ServerLimits()).as_str().rstrip() + "\n"


if __name__ == "__main__":
    sys.stdout.write(sdl())
