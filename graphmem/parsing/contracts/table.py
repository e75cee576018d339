"""Read the table of calls that offer or use contracts.

The table is `grammars/contracts.toml`. It lists calls such as `app.get("/users", list)`.

A contract is a name on which two programs agree, such as the HTTP route `GET /users` or a message topic.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import translate
from functools import cache
from re import Pattern
from typing import Any, Final, Literal

from graphmem.errors import GrammarError
from graphmem.parsing.contracts.end import Role
from graphmem.runtime.data.resources import data_root

FILE: Final = "grammars/contracts.toml"
KINDS: Final = ("route", "resource", "annotated", "prefix", "mount", "client", "topic", "listener", "program", "value")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of `grammars/contracts.toml`, about calls or annotations.

    The row describes a group of library calls or annotations that offer or use contracts (such as HTTP routes or message topics) in the
    same way. `grammars/README.md` explains the keys.
    """

    kind: str
    framework: str = ""
    languages: tuple[str, ...] = ()  # empty: all
    calls: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    on: tuple[str, ...] = ()  # last names of receivers, in lower case; "(own)": the object itself; empty: any
    method: str | int = ""
    strip: str = ""
    path: tuple[int | str, ...] = (0,)
    function: str = ""  # any | written: an argument after the path that is a function
    object: tuple[str, ...] = ()
    chained: str = ""
    before: tuple[str, ...] = ()  # of a route: calls before it in the expression that have the path; the last may begin a longer one
    around: tuple[str, ...] = ()
    beside: str = ""
    asks: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    keyword: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()  # of a resource: method of the controller, verb, and the path below the resource
    named: tuple[str, ...] = ()  # of a route: where its name is; of a client: functions that return the path of a named route
    ends: tuple[str, ...] = ()  # of a program: ends of the names of its files
    given: str = ""
    role: Role | Literal[""] = ""
    absolute: bool = False
    rooted: bool = False  # the path begins with a slash
    unrooted: bool = False  # of a route: the path may lack the slash at its beginning
    awaited: bool = False  # only a call whose result is awaited
    tests: bool = False  # only in files of tests, and not with a block

    def is_on(self, receiver: str) -> bool:
        """Whether this row applies to a call on a receiver, such as `app`.

        `receiver` is the last name before the call's name. A row that lists no receivers applies to all receivers.
        """
        return not self.on or _any_of(self.on).match(receiver.lower()) is not None

    def fits(self, name: str) -> bool:
        """Whether this row of the table lists an annotation.

        `name` is the name of the annotation without arguments, such as `app.get`.
        """
        return _any_of(self.names).match(name) is not None


class Table:
    """The rows of `grammars/contracts.toml` for one language.

    They list the calls and annotations that offer or use contracts, such as routes.
    """

    def __init__(self, rows: Sequence[Row], language: str) -> None:
        mine = [row for row in rows if not row.languages or language in row.languages]
        self._by_call: dict[str, list[Row]] = {}
        self._by_ending: list[tuple[str, Row]] = []  # of calls such as `*Router`, which projects derive from those of a framework
        for row in sorted(mine, key=lambda row: not row.tests):  # a test's `get "/x"` is a request, though it is written as a route
            for call in row.calls:
                if call.startswith("*"):
                    self._by_ending.append((call[1:], row))
                else:
                    self._by_call.setdefault(call, []).append(row)
        self.programs = frozenset(name for row in mine if row.kind == "program" for name in row.names)
        self.values = frozenset(name for row in mine if row.kind == "value" for name in row.names)
        self.starts_files = any(row.ends for row in mine)
        self.annotated = [row for row in mine if row.kind in ("annotated", "listener")]
        names = {name.rpartition(".")[2] for row in self.annotated for name in row.names}
        self.annotations = frozenset(names)

    def rows_of(self, call: str) -> Sequence[Row]:
        """Return the table rows for a call, found by its name or the name's end.

        The end is used for a project's own subclass of a framework class. A subclass `UserRouter` is found by the row for `APIRouter`,
        because both names end with `Router`.
        """
        return self._by_call.get(call) or [row for ending, row in self._by_ending if call.endswith(ending)]


@cache
def _any_of(patterns: tuple[str, ...]) -> Pattern[str]:
    return re.compile("|".join(map(translate, patterns)) or r"(?!)")


@cache
def table_of(language: str) -> Table:
    """Return the rows of `grammars/contracts.toml` for a language.

    The rows list the calls and annotations that offer or use contracts, such as routes.

    Raises:
        GrammarError: the file is invalid; the message gives the reason.
    """
    return Table(_rows(), language)


@cache
def _rows() -> Sequence[Row]:
    try:
        raw = tomllib.loads((data_root() / FILE).read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise GrammarError(f"the grammar file {FILE} cannot be read ({error}); correct the file", path=FILE, line=0) from error
    unknown = sorted(set(raw) - set(KINDS))
    if unknown:
        raise GrammarError(
            f"the grammar file {FILE} has the unknown tables {', '.join(unknown)}; use only the tables {', '.join(KINDS)}",
            path=FILE,
            line=0,
        )
    return [_row(kind, row) for kind in KINDS for row in raw.get(kind, ())]


def _row(kind: str, raw: Mapping[str, object]) -> Row:
    known = {field.name for field in fields(Row)} - {"kind"}
    unknown = sorted(set(raw) - known)
    if unknown:
        raise GrammarError(
            f"the table {kind} in the grammar file {FILE} has the unknown keys {', '.join(unknown)}; use only "
            f"the keys {', '.join(sorted(known))}",
            path=FILE,
            line=0,
        )
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in raw.items()}
    if "path" in values and not isinstance(values["path"], tuple):
        values["path"] = (values["path"],)
    return Row(kind, **values)
