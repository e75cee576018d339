"""Link tests that start a program with the program's entry point."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from graphmem.contracts.links import Link

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.contracts.rows import ContractRow

CONFIDENCE: Final = 0.9
_TESTS: Final = re.compile(r"(?:^|/)(?:tests?|spec|__tests__|e2e|benches)/.*$|(?:^|/)[^/]*$")


def linked_programs(rows: Sequence[ContractRow]) -> list[Link]:
    """Return links from tests to the entry points of programs they start.

    `rows` are the places in all files. The test's command names a program or its file. If it has no name, the entry point is searched in
    the folder of the test. Otherwise the nearest folder around the test is searched. If several programs fit, no link is returned.
    """
    begun = [row for row in rows if row.role == "begins" and row.symbol]
    found = []
    for row in rows:
        if row.role == "starts" and begun:
            chosen = _chosen(row, begun)
            if len(chosen) == 1 and chosen[0].symbol != row.symbol:
                found.append(Link(row, chosen[0], "program", CONFIDENCE))
    return found


def _chosen(row: ContractRow, begun: Sequence[ContractRow]) -> list[ContractRow]:
    """Return the programs that a test may start.

    `row` is the place in the test, and `begun` has the programs of the project.
    """
    folder = row.path.rpartition("/")[0]
    if not row.name:
        here = [one for one in begun if one.path.rpartition("/")[0] == folder]
        if here:
            return here
    elif "." in row.name:
        return _of_file(row.name, [one for one in begun if not one.test])
    package = _TESTS.sub("", row.path)
    begun = [one for one in begun if PurePosixPath(one.path).suffix == PurePosixPath(row.path).suffix]
    own = [one for one in begun if not one.test and (one.path.startswith(f"{package}/") or not package)]
    named = [one for one in own if row.name in (PurePosixPath(one.path).stem, PurePosixPath(one.path).parent.name)]
    first = [one for one in own if PurePosixPath(one.path).parent == PurePosixPath(package or ".") / "src"]
    return named or (first if len(first) == 1 else own) or [one for one in begun if row.name in one.path.split("/")]


def _of_file(name: str, begun: Sequence[ContractRow]) -> list[ContractRow]:
    """Return the programs in a file called `name`, of those in `begun`.

    `name` is a path or the end of one. If no file has it, programs whose file has the same name without suffix are returned.

    The file may be the source of a built one: `src/cli.ts` of `dist/cli.js`.
    """
    exact = [one for one in begun if f"/{one.path}".endswith(f"/{name}")]
    return exact or [one for one in begun if PurePosixPath(one.path).stem == PurePosixPath(name).stem]
