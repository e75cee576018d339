"""SCIP: what an indexer that checks types says each name means.

An index says where symbols are defined and where they occur, by line and column. It is believed where the files still are
those it was made of: the names it defines must stand where it says. A place becomes an edge when parsing knows it as a use of
that name, which tells a call from a read and gives the caller; the indexer gives the target.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from graphmem.errors import EvidenceError
from graphmem.evidence import scip_format
from graphmem.evidence.observations import End, Observation, Reading, Seen
from graphmem.model import EdgeKind
from graphmem.parsing.discovery import content_hash
from graphmem.parsing.encoding import to_utf8
from graphmem.parsing.facts import ATTR, CALL, NAME, NEW, Definition, FileFacts, Reference
from graphmem.runtime.faults import fault

if TYPE_CHECKING:
    from graphmem.resolution.resolver import Resolver

SUFFIX: Final = ".scip"
MAX_BYTES: Final = 1 << 30
MATCHING: Final = 0.9
"""Share of the names a document defines that must stand where it says; indexers name some things differently than the source."""

_KINDS: Final = {
    "call": EdgeKind.CALLS,
    "decorate": EdgeKind.CALLS,
    "jsx": EdgeKind.CALLS,
    "raise": EdgeKind.CALLS,
    "read": EdgeKind.REFERENCES,
    "write": EdgeKind.REFERENCES,
}
_FUNCTIONS: Final = ("function", "method")
_LAST: Final = re.compile(r"(?:(?<!`)`((?:[^`]|``)++)`|(?<![\w$+-])([\w$+-]++))(?:\([^()]*+\)\.|[#.:!])$")
"""The last descriptor of a symbol that is a method, type, term, meta or macro; parameters and namespaces are none of these."""
_LONGEST: Final = 1_000  # characters of a symbol's end in which its last descriptor is looked for; a longer one is no name of a program
_SPECIAL: Final = re.compile(r"^<(\w+)>(.*)$")  # `<constructor>`, `<get>area`: in the source it stands without the brackets


def parse(path: Path) -> Any:
    """The index in a file.

    Raises:
        EvidenceError: it cannot be read, is cut or damaged, or is no index.
    """
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped,unused-ignore]

    if path.exists() and not path.is_file():
        raise EvidenceError(f"{path} is no file; name the one that the indexer wrote", path=str(path), reason="unreadable")
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= MAX_BYTES else b""
    except OSError as error:
        raise EvidenceError(f"{path} cannot be read: {error.strerror}; name the file again", path=str(path), reason="unreadable") from error
    if size > MAX_BYTES:
        raise EvidenceError(
            f"{path} has {size >> 20:,} MB, an index may have {MAX_BYTES >> 20:,}; make one for each part of the project",
            path=str(path),
            reason="too large",
        )
    index = scip_format.message_class("Index")()
    try:
        index.ParseFromString(data)
    except DecodeError as error:
        raise EvidenceError(
            f"{path} is no SCIP index, or was cut; make it again with its indexer", path=str(path), reason="damaged"
        ) from error
    if not index.documents or not index.HasField("metadata"):
        raise EvidenceError(f"{path} holds no documents; make it again with its indexer", path=str(path), reason="empty")
    return index


def read(path: Path, resolver: Resolver, root: Path) -> Reading:
    """What an index says of the tree as it is now.

    Raises:
        EvidenceError: see `parse`; or none of its files is one of the tree as the index describes it.
    """
    index = parse(path)
    documents = []
    notes: list[tuple[str, str]] = []
    missing = 0
    folder = _folder(index.metadata.project_root, root)
    for raw in index.documents:
        name = folder + raw.relative_path
        facts = resolver.facts(name)
        text = _text(root / name, facts) if facts is not None else None
        if facts is None or text is None:
            missing += 1
            continue
        try:
            document = _Document(raw, name, facts, text)
            fits = document.fits()
        except Exception as error:  # noqa: BLE001 - one document costs itself alone
            notes.append((name, fault(error, "reading its SCIP document", name)))
            continue
        if fits:
            documents.append(document)
        else:
            notes.append((name, "it is not what the SCIP index was made of; index it again with its indexer"))
    if not documents:
        raise EvidenceError(
            f"{path} is of another project or of older files: none of its {len(index.documents):,} files is here as it says; "
            "make it again with its indexer, from this tree",
            path=str(path),
            reason="other project",
        )
    if missing:
        notes.append(("", f"{missing:,} files of the SCIP index are not in the tree, or not as they were indexed"))
    definitions: dict[str, tuple[End, Definition]] = {}
    for document in documents:
        for symbol, end, definition in document.definitions():
            definitions.setdefault(symbol, (end, definition))
    observations = [one for document in documents for one in document.observations(definitions)]
    tool = index.metadata.tool_info
    origin = {
        "by": f"{tool.name} {tool.version}".strip() or "an unnamed indexer",
        "files": str(len(documents)),
        "edges": str(sum(len({step.end for step in one.seen}) for one in observations)),
    }
    return Reading(observations, frozenset(document.path for document in documents), origin, notes)


def _folder(project_root: str, root: Path) -> str:
    """Where the index was made, from the root with a "/" behind; "" for the root itself and for places elsewhere."""
    try:
        made_in = Path(unquote(urlsplit(project_root).path) or "/")
    except ValueError:  # it is no address
        return ""
    resolved = root.resolve()
    if made_in == resolved or resolved not in made_in.parents:
        return ""
    return made_in.relative_to(resolved).as_posix() + "/"


def _text(path: Path, facts: FileFacts | None) -> list[str] | None:
    """The lines of a file; None when it is not the one that was parsed."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if facts is None or content_hash(data) != facts.content_hash:
        return None
    return to_utf8(data, facts.language).source.decode("utf-8").split("\n")


class _Place(NamedTuple):
    """One occurrence, in characters."""

    symbol: str
    name: str  # of the symbol: its last descriptor
    text: str  # what stands there
    line: int  # 1-based
    column: int
    is_definition: bool


class _Document:
    """One document of an index beside the facts of its file."""

    def __init__(self, raw: Any, path: str, facts: FileFacts, lines: list[str]) -> None:
        self.path = path
        self._facts = facts
        self._lines = lines
        self._encoding = raw.position_encoding or scip_format.UTF16
        self._places = list(self._read(raw))
        self._references: dict[str, list[Reference]] = {}
        self._reaches: dict[str, list[int]] = {}  # by name: the last line that its uses up to each one reach
        for reference in facts.references:
            if reference.kind in _KINDS:
                self._references.setdefault(_name_of(facts, reference), []).append(reference)

    def fits(self) -> bool:
        """Whether the names stand where they are said to be."""
        defined = [place for place in self._places if place.is_definition]
        checked = defined or self._places
        right = sum(place.text == place.name for place in checked)
        return right >= MATCHING * len(checked)

    def definitions(self) -> Iterator[tuple[str, End, Definition]]:
        """(symbol, definition) for each that parsing knows too, in source order."""
        known = {(one.name_line, one.name_column, one.name): one for one in self._facts.definitions[1:]}
        for place in self._places:
            found = known.get((place.line, place.column, place.text)) if place.is_definition else None
            if found is not None:
                yield place.symbol, self._end(found), found

    def observations(self, definitions: dict[str, tuple[End, Definition]]) -> list[Observation]:
        """What is used here, by kind and user."""
        found: dict[tuple[str, int], set[Seen]] = {}
        aliases = {one.alias for one in self._facts.imports if one.alias}
        for place in self._places:
            meant = definitions.get(place.symbol)
            if place.is_definition or meant is None or (place.text != meant[1].name and place.text not in aliases):
                continue
            reference = self._reference(place)
            if reference is None:
                continue
            kind = _KINDS[reference.kind]
            if kind == EdgeKind.REFERENCES and "property" in meant[1].modifiers and meant[1].kind in _FUNCTIONS:
                kind = EdgeKind.CALLS  # reading it runs it
            user = self._facts.definitions[reference.scope]
            found.setdefault((kind, reference.scope), set()).add(Seen(meant[0], reference.line - user.start_line))
        return [
            Observation("scip", kind, self._end(self._facts.definitions[scope]), tuple(sorted(seen)))
            for (kind, scope), seen in sorted(found.items())
        ]

    def _reference(self, place: _Place) -> Reference | None:
        """The use of a name that stands at a place: the one that begins last, as calls hold their arguments."""
        uses = self._references.get(place.text, [])
        if place.text not in self._reaches:  # in order once, so that many places of one name take no square of their number
            uses.reverse()  # of several at one place the first stays the one that is found
            uses.sort(key=_begin)
            self._reaches[place.text] = list(accumulate((one.end_line for one in uses), max))
        reaches = self._reaches[place.text]
        for at in range(bisect_right(uses, (place.line, place.column), key=_begin) - 1, -1, -1):
            if reaches[at] < place.line:
                return None
            if uses[at].end_line >= place.line:
                return uses[at]
        return None

    def _end(self, one: Definition) -> End:
        return End(self.path, one.qualname, one.kind, one.ordinal, one.body_hash)

    def _read(self, raw: Any) -> Iterator[_Place]:
        for occurrence in raw.occurrences:
            span = occurrence.range
            if occurrence.symbol.startswith("local ") or len(span) not in (3, 4) or (len(span) == 4 and span[2] != span[0]):
                continue
            match = _LAST.search(occurrence.symbol[-_LONGEST:])
            line, start, end = span[0], span[1], span[-1]
            if match is None or not 0 <= line < len(self._lines) or start >= end:
                continue
            text = self._lines[line]
            first, last = self._column(text, start), self._column(text, end)
            name = _SPECIAL.sub(lambda found: found[2] or found[1], (match[1] or match[2]).replace("``", "`"))
            is_definition = bool(occurrence.symbol_roles & scip_format.DEFINITION)
            yield _Place(occurrence.symbol, name, text[first:last], line + 1, first, is_definition)

    def _column(self, text: str, column: int) -> int:
        """Characters before a column of a line, as the index counts."""
        if self._encoding == scip_format.UTF32 or text.isascii():
            return column
        if self._encoding == scip_format.UTF8:
            return len(text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))
        return len(text.encode("utf-16-le", "surrogatepass")[: 2 * column].decode("utf-16-le", "ignore"))


def _begin(one: Reference) -> tuple[int, int]:
    return one.line, one.column


def _name_of(facts: FileFacts, reference: Reference) -> str:
    """The name a use is written with; "" where it has none."""
    term = facts.terms[reference.term]
    if term[0] in (CALL, NEW):
        term = facts.terms[term[1]]
    return str(term[-1]) if term[0] in (NAME, ATTR) else ""
