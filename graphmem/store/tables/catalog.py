"""Load the named queries in `queries/cypher` as validated records.

`queries/README.md` describes the format. The parameters of each call are checked, because kuzu ignores a condition whose parameter is
missing. Without `path`, `MATCH (f:File) WHERE f.path = $path DELETE f` would delete all files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphmem.errors import QueryFileError, QueryParameterError
from graphmem.runtime.data.resources import data_root
from graphmem.store.tables.tables import FILLS

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_HEADER = re.compile(r"//\s*name:\s*(?P<name>[a-z][a-z0-9_]*)\((?P<params>[a-z0-9_, ]*)\)\s*")
_FIELD = re.compile(r"//\s*(?P<key>returns|fill):\s*(?P<value>.*\S)\s*")
_COLUMN = re.compile(r"(?P<name>[a-z][a-z0-9_]*) (?P<type>[A-Z][A-Z0-9]*(?:\[\d*\])?)")
_FILL = re.compile(r"@(?P<name>[a-z]+) (?:(?P<type>[A-Z][A-Za-z]+)|(?P<low>\d+)\.\.(?P<high>\d+))")
_PARAMETER = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")
_PLACEHOLDER = re.compile(r"@([A-Za-z_][A-Za-z0-9_]*)")
_SQL: Final = ".sql"
_WRITING = re.compile(
    r"\b(CREATE|MERGE|SET|DELETE|DROP|ALTER|COPY|INSTALL|LOAD|IMPORT|EXPORT|ATTACH|CHECKPOINT|BEGIN|COMMIT|ROLLBACK)\b", re.I
)
# The content of a string, an escaped name or a comment is not checked.
_OPAQUE = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|//[^\n]*|/\*.*?\*/", re.S)

RESERVED: Final = frozenset({"timeout_s"})  # keyword arguments of the store's own read()


class Column(NamedTuple):
    """A column of a query's result, as the query declares it."""

    name: str
    type: str  # as the engine prints it


ALL_COLUMNS: Final = Column("*", "*")  # all columns of the table, in its order


class Fill(NamedTuple):
    """The allowed values of a placeholder in a query, such as `@label`.

    A placeholder is used where the engine accepts no parameter, such as for the name of a table. The value of the placeholder is inserted
    into the text of the query.
    """

    name: str
    type: str  # key of tables.FILLS; "" for a number
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """A database query with its name, parameters and result columns.

    The query comes from a file in `queries`.
    """

    name: str
    params: tuple[str, ...]  # `$name` in the text, in declared order
    fills: tuple[Fill, ...]  # `@name` in the text
    returns: tuple[Column, ...]  # () when it returns nothing
    doc: str
    text: str  # without the header
    where: str  # cypher/symbols.cypher:12

    @property
    def writes(self) -> bool:
        """Return whether the query could change data or load an extension."""
        return _WRITING.search(blank_opaque(self.text)) is not None

    def bind(self, values: Mapping[str, object]) -> tuple[str, dict[str, Any]]:
        """Return the query's text with filled placeholders, and its parameters.

        Args:
            values: one value for each parameter and each placeholder.

        Raises:
            QueryParameterError: names are missing or unknown, or the query's header does not allow the value of a placeholder.
        """
        declared = {*self.params, *(fill.name for fill in self.fills)}
        missing, extra = sorted(declared - values.keys()), sorted(values.keys() - declared)
        if missing or extra:
            wrong = (f"missing {', '.join(missing)}" if missing else "", f"unknown {', '.join(extra)}" if extra else "")
            raise QueryParameterError(
                f"the query {self.name} ({self.where}) got wrong parameters: {', '.join(filter(None, wrong))}; give values for exactly "
                f"{', '.join(sorted(declared)) or 'no parameters'}",
                query=self.name,
                missing=missing,
                extra=extra,
            )
        text = self.text
        if self.fills:
            words = {fill.name: self._fill(fill, values[fill.name]) for fill in self.fills}
            text = _PLACEHOLDER.sub(lambda found: words[found[1]], _without_comments(text))
        return text, {name: values[name] for name in self.params}

    def _fill(self, fill: Fill, value: object) -> str:
        if fill.type:
            if type(value) is FILLS[fill.type]:
                return str(value)
            allowed = fill.type
        else:
            if type(value) is int and fill.low <= value <= fill.high:
                return str(value)
            allowed = f"a whole number from {fill.low} to {fill.high}"
        raise QueryParameterError(
            f"the value of {fill.name} in the query {self.name} ({self.where}) is {value!r}; use {allowed}",
            query=self.name,
            missing=[],
            extra=[],
        )


class Catalog(Mapping[str, NamedQuery]):
    """All named queries by name.

    An error about an unknown name lists the known names.
    """

    def __init__(self, queries: Mapping[str, NamedQuery]) -> None:
        self._queries = dict(sorted(queries.items()))

    def __getitem__(self, name: str) -> NamedQuery:
        try:
            return self._queries[name]
        except KeyError:
            raise QueryParameterError(
                f"unknown database query {name!r}; use one of {', '.join(self._queries)}", query=name, missing=[], extra=[]
            ) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._queries)

    def __len__(self) -> int:
        return len(self._queries)

    def __contains__(self, name: object) -> bool:
        return name in self._queries


@cache
def load_catalog() -> Catalog:
    """Return the queries of `queries/cypher`, read once.

    Raises:
        QueryFileError: a file does not follow the format, or two queries share a name.
    """
    return read_catalog(data_root() / "queries" / "cypher")


def read_catalog(folder: Traversable, suffix: str = ".cypher") -> Catalog:
    """Return the queries of the files in a directory that end in `suffix`.

    Files whose names start with a dot or a digit are ignored.

    Raises:
        QueryFileError: see `load_catalog`.
    """
    queries: dict[str, NamedQuery] = {}
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name[0] in ".0123456789" or not file.name.endswith(suffix):
            continue
        for query in parse_queries(file.read_text(encoding="utf-8"), f"{folder.name}/{file.name}"):
            if query.name in queries:
                raise _refusal(
                    query.where, f"the query {query.name} is already defined in {queries[query.name].where}; rename one of the two"
                )
            queries[query.name] = query
    return Catalog(queries)


def parse_queries(text: str, path: str) -> list[NamedQuery]:
    """Return the queries of one file, in its order.

    Args:
        text: content of the file.
        path: name of the file, for error messages and for the attribute `where` of each query.

    Raises:
        QueryFileError: the file does not follow the format; the error has the path and the line.
    """
    if path.endswith(_SQL):
        text = re.sub("^--", "//", text, flags=re.M)
    lines = text.splitlines()
    starts = [index for index, line in enumerate(lines) if re.match(r"//\s*name:", line)]
    for number, line in enumerate(lines[: starts[0] if starts else len(lines)], 1):
        if line.strip() and not line.startswith("//"):
            raise _refusal(
                f"{path}:{number}",
                "the query file begins with a line outside any query; write the head `// name: some_name(parameter, …)` above it",
            )
    return [_parse_one(lines[start:end], f"{path}:{start + 1}") for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)]


def _parse_one(lines: list[str], where: str) -> NamedQuery:
    header = _HEADER.fullmatch(lines[0])
    if not header:
        raise _refusal(where, f"the line {lines[0]!r} is not a valid head of a query; write `// name: some_name(parameter, …)`")
    params = tuple(name.strip() for name in header["params"].split(",")) if header["params"].strip() else ()
    body = next((index for index, line in enumerate(lines) if not line.startswith("//")), len(lines))
    returns: list[Column] = []
    fills: list[Fill] = []
    doc: list[str] = []
    for line in lines[1:body]:
        if not (entry := _FIELD.fullmatch(line)):
            doc.append(line.removeprefix("//").strip())
        elif entry["key"] == "returns":
            returns += [_column(part.strip(), where) for part in entry["value"].split(",")]
        else:
            fills += [_parse_fill(part.strip(), where) for part in entry["value"].split(",")]
    query = NamedQuery(header["name"], params, tuple(fills), tuple(returns), " ".join(doc).strip(), "\n".join(lines[body:]).strip(), where)
    _check(query)
    return query


def _column(text: str, where: str) -> Column:
    if text == "*":
        return ALL_COLUMNS
    if not (found := _COLUMN.fullmatch(text)):
        raise _refusal(where, f"{text!r} is not a valid column after `returns:`; write `name TYPE, …`")
    return Column(found["name"], found["type"])


def _parse_fill(text: str, where: str) -> Fill:
    found = _FILL.fullmatch(text)
    if not found or (found["type"] and found["type"] not in FILLS):
        raise _refusal(where, f"{text!r} is not valid after `fill:`; write `@name {' | '.join(FILLS)} | low..high, …`")
    return Fill(found["name"], found["type"] or "", int(found["low"] or 0), int(found["high"] or 0))


def _check(query: NamedQuery) -> None:
    code = blank_opaque(query.text)
    fills = [fill.name for fill in query.fills]
    names = [*query.params, *fills]
    if not code.strip():
        raise _refusal(query.where, f"the query {query.name} has no statement; write one below its head")
    if not query.doc:
        raise _refusal(query.where, f"the query {query.name} has no comment that describes its answer; write one")
    if ";" in code:
        raise _refusal(
            query.where, f"the query {query.name} contains a `;`, after which the engine would run another statement; remove the `;`"
        )
    if len(set(names)) != len(names):
        raise _refusal(query.where, f"the query {query.name} declares a parameter or fill twice; rename one of them")
    if reserved := sorted(RESERVED & set(names)):
        raise _refusal(query.where, f"the query {query.name} declares the reserved name {reserved[0]}; rename the parameter")
    for kind, declared, used in (
        ("parameter", set(query.params), set(_PARAMETER.findall(code))),
        ("fill", set(fills), set(_PLACEHOLDER.findall(_without_comments(query.text)))),
    ):
        if declared != used:
            if idle := sorted(declared - used):
                raise _refusal(query.where, f"the query {query.name} declares the {kind} {idle[0]} and does not use it; remove it")
            unknown = sorted(used - declared)
            raise _refusal(query.where, f"the query {query.name} uses the {kind} {unknown[0]} and does not declare it; declare it")
    answers = r"\ASELECT\b" if _SQL in query.where else r"\bRETURN\b"
    does_return = bool(re.search(answers, code, re.I))
    if does_return and not query.returns:
        raise _refusal(
            query.where, f"the query {query.name} returns columns that it does not declare; add a line `// returns: name TYPE, …`"
        )
    if query.returns and not does_return:
        raise _refusal(query.where, f"the query {query.name} declares columns but returns nothing; remove the line `// returns:`")


def blank_opaque(text: str) -> str:
    """Replace strings, escaped names and comments by blanks.

    Each character becomes one blank, so that positions do not change.
    """
    return _OPAQUE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def _without_comments(text: str) -> str:
    return _OPAQUE.sub(lambda found: " " if found[0].startswith("/") else found[0], text)


def _refusal(where: str, message: str) -> QueryFileError:
    path, _, line = where.rpartition(":")
    return QueryFileError(f"queries/{where}: {message}", path=path, line=int(line))
