"""Store the code that offers or uses contracts, in `contracts.json`.

A contract is, for example, an HTTP route. A project publishes this file to the other projects of the organisation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from graphmem.runtime.files.replacing import replace_file
from graphmem.runtime.process.limits import unless_refused

FILE: Final = "contracts.json"
FORMAT: Final = 1


class ContractRow(NamedTuple):
    """A place in code that offers, uses or declares a contract.

    A contract is, for example, an HTTP route. `role` says what the place does with the contract; `parsing.contracts.end` lists all roles.
    """

    role: str  # as in `parsing.contracts.end`
    kind: str
    name: str
    path: str
    symbol: str  # id of the handler or of the definition that asks; "" in a schema file
    qualname: str
    line: int
    handler: str = ""
    said: str = ""
    framework: str = ""
    test: bool = False
    scope: int = 0  # the definition it stands in, by its index in the file


class Published(NamedTuple):
    """The content of `contracts.json`: a project's contracts for others.

    A contract is, for example, an HTTP route.
    """

    run: str  # the index run that wrote it
    project: str
    rows: dict[str, list[ContractRow]]  # by path


def read(folder: Path) -> Published | None:
    """Read `contracts.json` of an index; None if it is missing or unusable.

    An unchanged file is read only once.

    Raises:
        ResourceError: the process lacks file descriptors or memory.
    """
    file = folder / FILE
    try:
        now = file.stat()
    except OSError as error:
        unless_refused(error, f"reading {FILE}", file)
        return None
    return _read(file, now.st_mtime_ns, now.st_size, now.st_ino)


@lru_cache(maxsize=64)
def _read(file: Path, *_state: int) -> Published | None:
    try:
        found: Any = json.loads(file.read_bytes())
        if found["format"] != FORMAT:
            return None
        rows = {path: [ContractRow._make((*one[:3], path, *one[3:])) for one in some] for path, some in found["rows"].items()}
        return Published(str(found["run"]), str(found["project"]), rows)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        unless_refused(error, f"reading {FILE}", file)
        return None


def write(folder: Path, run: str, project: str, rows: Mapping[str, Sequence[ContractRow]]) -> None:
    """Write the contracts of a project to the `contracts.json` of its index.

    The file is replaced atomically. `folder` is the directory of the index, and `run` the id of the index run that found the contracts.
    `rows` maps the path of each file to its contracts.

    Raises:
        OSError: the file cannot be written.
    """
    plain = {path: [[*one[:3], *one[4:]] for one in rows[path]] for path in sorted(rows) if rows[path]}
    data = json.dumps({"format": FORMAT, "run": run, "project": project, "rows": plain}, separators=(",", ":"))
    replace_file(folder / FILE, data.encode("utf-8", "surrogatepass"))
