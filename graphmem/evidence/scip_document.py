"""Match one file's part of a SCIP index with the parsed facts of the file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final

from graphmem.evidence.observations import NO_SITE, End, Observation, Seen
from graphmem.evidence.scip_definitions import Definitions, Meant
from graphmem.evidence.scip_places import Place, Places
from graphmem.evidence.scip_symbols import bare, spells
from graphmem.model import CLASS_KINDS, FUNCTION_KINDS, EdgeKind
from graphmem.parsing.facts import ATTR, CALL, NAME, NEW, SELF, SUPER, Definition, FileFacts, Reference

_KINDS: Final = {
    "call": EdgeKind.CALLS,
    "decorate": EdgeKind.CALLS,
    "jsx": EdgeKind.CALLS,
    "raise": EdgeKind.CALLS,
    "read": EdgeKind.REFERENCES,
    "write": EdgeKind.REFERENCES,
}
_WORDS: Final = {SELF: "this", SUPER: "super"}


class Document:
    """One file's part of a SCIP index, with the parsed facts of the file.

    Args:
        raw: the document's message in the index.
        path: path of the file, from the root.
        facts: the parsed facts of the file.
        lines: the lines of the file.
    """

    def __init__(self, raw: Any, path: str, facts: FileFacts, lines: Sequence[str]) -> None:
        self.path = path
        self._facts = facts
        self._raw = raw
        self._places = Places(raw, path, lines)
        self.fit = self._places.fit()
        self._references: dict[str, list[Reference]] = {}
        self._reaches: dict[str, list[int]] = {}  # by name: for each use, the maximum last line of the uses up to it

    def define(self, definitions: Definitions, module: str) -> None:
        """Add the definitions of this SCIP document that the parser found as well.

        Args:
            definitions: the definitions of the whole index, to which this document's definitions are added.
            module: the name under which other files import this file; "" if it cannot be imported.
        """
        known: dict[tuple[int, int, str], Definition] = {}
        last: dict[int, list[Definition]] = {}
        for one in self._facts.definitions[1:]:
            known[one.name_line, one.name_column, one.name] = one
            last.setdefault(one.end_line, []).append(one)
        for place in self._places.definitions():
            if place.symbol.is_module:
                continue
            found = _definition_at(place, known) or _enclosing_definition(place, last.get(place.last_line, ()))
            if found is not None:
                definitions.add(place.key, Meant(self._end(found), found), module)

    def observations(self, definitions: Definitions) -> list[Observation]:
        """Return the edges that this SCIP document shows, grouped by definition.

        The edges come from uses of names and from relationships, such as a method that implements another one. Each item of the result has
        all edges of one kind that begin in the same definition.
        """
        found: dict[tuple[str, int], set[Seen]] = {}
        aliases = {one.alias for one in self._facts.imports if one.alias}
        for use in self._facts.references:
            if use.kind in _KINDS:
                self._references.setdefault(_name_of(self._facts, use), []).append(use)
        for place in self._places.uses(definitions):
            meant = _definitions_named(place, definitions, aliases)
            reference = self._reference(place) if meant else None
            if reference is None:
                continue
            offset = reference.line - self._facts.definitions[reference.scope].start_line
            for one in meant:
                found.setdefault((_kind(reference, place, one.definition), reference.scope), set()).add(Seen(one.end, offset))
        observations = [
            Observation("scip", kind, self._end(self._facts.definitions[scope]), tuple(sorted(seen)))
            for (kind, scope), seen in sorted(found.items())
        ]
        return observations + self._related(definitions)

    def _related(self, definitions: Definitions) -> list[Observation]:
        """Return edges to implemented or overridden definitions, such as methods.

        The SCIP index lists such edges as relationships between symbols.
        """
        found: dict[tuple[str, End], set[Seen]] = {}
        for information in self._raw.symbols:
            for own in self._own(information.symbol, definitions) if information.relationships else ():
                for relationship in information.relationships:
                    for other in definitions.find(relationship.symbol) if relationship.is_implementation else ():
                        kind = _relation(own.definition, other.definition)
                        if kind is not None and other.end != own.end:
                            found.setdefault((kind, own.end), set()).add(Seen(other.end, NO_SITE))
        return [Observation("scip", kind, end, tuple(sorted(seen))) for (kind, end), seen in sorted(found.items())]

    def _own(self, symbol: str, definitions: Definitions) -> list[Meant]:
        return [one for one in definitions.find(symbol) if one.end.path == self.path]

    def _reference(self, place: Place) -> Reference | None:
        """Return the parsed use of a name, such as a call, at a position.

        `place` is a position at which the SCIP index has a symbol. If several uses contain the position, the result is the innermost one,
        which begins last. It is None if parsing found no such use.
        """
        text = place.text if place.text in self._references else bare(place.text)
        uses = self._references.get(text, [])
        if text not in self._reaches:  # sorted once, so that many places of one name do not take quadratic time
            uses.reverse()  # so that the first of several uses at one place is found
            uses.sort(key=_begin)
            self._reaches[text] = list(accumulate((one.end_line for one in uses), max))
        reaches = self._reaches[text]
        for at in range(bisect_right(uses, (place.line, place.column), key=_begin) - 1, -1, -1):
            if reaches[at] < place.line:
                return None
            if uses[at].end_line >= place.line:
                return uses[at]
        return None

    def _end(self, one: Definition) -> End:
        return End(self.path, one.qualname, one.kind, one.ordinal, one.body_hash)


def _definition_at(place: Place, known: Mapping[tuple[int, int, str], Definition]) -> Definition | None:
    """Return the definition whose name is at a SCIP place; None without one.

    `known` has the parsed definitions by (line, column, name).
    """
    found = known.get((place.line, place.column, place.text))
    name = bare(place.text)
    if found is None and name and name != place.text:
        for column in (place.column, place.column + place.text.index(name)):
            found = found or known.get((place.line, column, name))
    return found


def _enclosing_definition(place: Place, ending: Iterable[Definition]) -> Definition | None:
    """Return the only definition around a SCIP position with the right name.

    The SCIP index has a definition at the position `place`. The right name is the name at this position. The parser may have another
    position for the name. So a definition is returned if it has the right name, and `place` is in its lines. `ending` has the definitions
    to search: those whose last line is the last line of the definition in the SCIP index. The result is None if no definition matches, or
    if several do.
    """
    named = [one for one in ending if one.name == place.text or spells(place.symbol, one.name)]
    named = [one for one in named if one.start_line <= place.line <= one.end_line]
    return named[0] if len(named) == 1 else None


def _definitions_named(place: Place, definitions: Definitions, aliases: set[str]) -> list[Meant]:
    """Return the definitions to which the name at a place refers.

    The SCIP index tells which definitions these are. The source must have, at this place, the name of the definition or an alias of the
    name. Any other definition is left out. `aliases` has the names that imports give to definitions.
    """
    found = definitions.find(place.key)
    if not place.symbol.is_constructor:
        return [one for one in found if _names(place, one.definition.name, aliases)]
    made = definitions.made_by(place.key)
    if not found:  # an implicit constructor: its class is called
        return [one for one in made if _names(place, one.definition.name, aliases)]
    return [*found, *(one for one in made if place.text == one.definition.name)]


def _names(place: Place, name: str, aliases: set[str]) -> bool:
    if name in (place.text, bare(place.text)):
        return True
    return spells(place.symbol, name) and (place.text in aliases or spells(place.symbol, place.text))


def _kind(reference: Reference, place: Place, target: Definition) -> EdgeKind:
    """Return the kind of the edge, such as CALLS, from a use to its target.

    `reference` is the parsed use, and `target` the definition that it refers to. `place` is the position of the use in the SCIP index.
    """
    kind = _KINDS[reference.kind]
    if reference.kind == "jsx" and target.kind == "variable" and place.text[:1].islower():
        return EdgeKind.REFERENCES  # `<html>` is an element from type declarations
    if kind == EdgeKind.REFERENCES and "property" in target.modifiers and target.kind in FUNCTION_KINDS:
        return EdgeKind.CALLS  # reading a property runs its code
    return kind


def _relation(own: Definition, other: Definition) -> EdgeKind | None:
    if own.kind in FUNCTION_KINDS and other.kind in FUNCTION_KINDS:
        return EdgeKind.OVERRIDES
    return EdgeKind.INHERITS if own.kind in CLASS_KINDS and other.kind in CLASS_KINDS else None


def _begin(one: Reference) -> tuple[int, int]:
    return one.line, one.column


def _name_of(facts: FileFacts, reference: Reference) -> str:
    """Return the name in a use, such as `b` in `a.b()`; "" if it has none."""
    term = facts.terms[reference.term]
    if term[0] in (CALL, NEW):
        term = facts.terms[term[1]]
    return str(term[-1]) if term[0] in (NAME, ATTR) else _WORDS.get(term[0], "")
