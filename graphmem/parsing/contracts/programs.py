"""Find entry points of a project's programs, and tests that start them.

An example is `Command::new(env!("CARGO_BIN_EXE_app"))` in a test of Rust, which starts the function `main`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from graphmem.model import FUNCTION_KINDS
from graphmem.parsing.contracts.end import BEGINS, STARTS, End
from graphmem.parsing.contracts.written import strings
from graphmem.parsing.language import language_spec

if TYPE_CHECKING:
    from graphmem.parsing.contracts.source import Site, Source
    from graphmem.parsing.contracts.table import Row, Table
    from graphmem.parsing.facts import FileFacts

INTERPRETED: Final = b"#!"
"""Beginning of a file that the system runs by an interpreter."""
_WORD: Final = re.compile(r"[A-Za-z_$][\w$]*")


def begins(facts: FileFacts, source: bytes, table: Table) -> Iterator[End]:
    """Yield an `End` for each program whose entry point is in a file.

    The entry point is a function that `table.programs` lists, such as `main`. In languages whose tests start programs by their files, a
    file whose first line begins with `#!` is also a program.
    """
    for position, one in enumerate(facts.definitions):
        if one.name in table.programs and not one.parent and one.kind in FUNCTION_KINDS:
            yield End(BEGINS, "program", "", position, one.name_line)
    if table.starts_files and source.startswith(INTERPRETED):
        yield End(BEGINS, "program", "", 0, 1)


def program(source: Source, site: Site, row: Row) -> Iterator[End]:
    """Yield the place of a call that starts a program, or that defines one.

    The call is found at `site` in the file `source` because it matches `row`, a row of the table of contracts. An example of a call that
    defines a program is `testscript.RunMain(…)` in Go. For a call in a test that starts a program, the field `name` has the name of the
    program, or the end of the path of its file.
    """
    place = source.scope_of_value(site)
    if row.role == BEGINS:
        yield End(BEGINS, "program", "", place, site.reference.line, "", "", row.framework)
        return
    if not language_spec(source.facts.language).tests.is_test_path(source.facts.path):
        return
    if row.strip:
        written = next(strings(site.given[0]), "") if site.given else ""
        if written.startswith(row.strip):
            yield End(STARTS, "program", written.removeprefix(row.strip), place, site.reference.line, "", "", row.framework)
        return
    if row.ends:
        for name in dict.fromkeys(_files(source, site, row.ends)):
            yield End(STARTS, "program", name, place, site.reference.line, "", "", row.framework)
        return
    written = next(strings(site.given[0]), "") if site.given else ""
    yield End(STARTS, "program", written, place, site.reference.line, "", "", row.framework)


def _files(source: Source, site: Site, ends: tuple[str, ...]) -> Iterator[str]:
    """Yield the paths of files in the arguments of a call, without `../`.

    Only paths that end with one of `ends` are yielded. Constants of the file are followed: `path.join(__dirname, "../bin/cli.js")` gives
    `bin/cli.js`.
    """
    for given in site.given[:2]:
        texts = [given, *(text for name in _WORD.findall(given) if (text := source.look_up(name)))]
        for text in texts:
            whole = "/".join(strings(text)) if "(" in text else " ".join(strings(text))
            for word in whole.split():
                if word.endswith(ends):
                    yield re.sub(r"^(?:[^/]*[$}][^/]*/|\.{1,2}/|/)+", "", word)
