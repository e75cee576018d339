"""Print the GraphQL schema: `python -m graphmem.api.sdl`.

The schema is committed as queries/schema.graphql. With a directory as argument, the program writes the persisted operations there, one file
each, for code generators.
"""

from __future__ import annotations

import sys
from pathlib import Path

from graphmem.api.execution.persisted import SUFFIX, load_operations
from graphmem.api.requests.limits import ServerLimits
from graphmem.api.schema import build_schema


def sdl() -> str:
    """Return the text of the GraphQL schema, with a final newline."""
    return build_schema(ServerLimits()).as_str().rstrip() + "\n"


def write_documents(directory: Path) -> list[Path]:
    """Write each persisted operation to its own file; return the files."""
    operations = load_operations(build_schema(ServerLimits()).graphql)
    directory.mkdir(parents=True, exist_ok=True)
    files = [directory / f"{name}{SUFFIX}" for name in operations.names]
    for file in files:
        file.write_text(operations.find({"operationName": file.stem}).text, encoding="utf-8")
    return files


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.stdout.write(f"{len(write_documents(Path(sys.argv[1])))} documents in {sys.argv[1]}\n")
    else:
        sys.stdout.write(sdl())
