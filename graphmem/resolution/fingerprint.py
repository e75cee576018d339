"""What of a file other files can see, as hashes without positions.

Two versions of a file that differ only in what nobody else can see have equal fingerprints, so editing inside a
function stays that file's own business. Lines are replaced by their rank among the lines that matter: what comes
before what can change a type, how far apart they are cannot.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from graphmem.parsing.facts import (
    ATTR,
    AWAIT,
    CALL,
    COMPREHENSION,
    DICT,
    EITHER,
    ENTER,
    INDEX,
    ITER,
    LAMBDA,
    LIST,
    NAME,
    NEW,
    OBJECT,
    OPERATOR,
    SET,
    SPREAD,
    TUPLE,
    UNPACK,
    Binding,
    Definition,
    Term,
)

if TYPE_CHECKING:
    from graphmem.resolution.project import FileEntry

Key = tuple[str, ...]

_ITEMS = frozenset({LIST, TUPLE, SET, EITHER})
_WRAPS = frozenset({AWAIT, ITER, ENTER, SPREAD, LAMBDA})
_FLOWS = frozenset({"return", "yield", "export"})


def children(term: Term) -> Iterable[int]:
    """Indices of the terms a term is made of; missing ones (-1) left out."""
    op = term[0]
    if op == ATTR or op in _WRAPS:
        return (term[1],) if term[1] >= 0 else ()
    if op in (CALL, NEW):
        return (term[1], *term[2], *(value for _, value in term[3]))
    if op in _ITEMS:
        return tuple(term[1])
    if op == INDEX:
        return (term[1], term[2])
    if op == DICT:
        return (*term[1], *term[2])
    if op == OBJECT:
        return tuple(term[2])
    if op == UNPACK:
        return (term[1],)
    if op == COMPREHENSION:
        return (term[2],)
    if op == OPERATOR:
        return tuple(i for i in (term[2], term[3]) if i >= 0)
    return ()


def labels(term: Term) -> tuple[Any, ...]:
    """What a term says besides its children; together with their order it makes the term."""
    op = term[0]
    if op == ATTR:
        return (op, term[2])
    if op in (CALL, NEW):
        return (op, len(term[2]), tuple(name for name, _ in term[3]))
    if op in _ITEMS or op in _WRAPS or op == INDEX:
        return (op,)
    if op == DICT:
        return (op, len(term[1]))
    if op == OBJECT:
        return (op, term[1])
    if op == UNPACK:
        return (op, term[2])
    if op == COMPREHENSION:
        return (op, term[1])
    if op == OPERATOR:
        return (op, term[1], term[3] >= 0)
    return tuple(term)


class Fingerprints:
    """Hash by key of one file; keys as in `Project.key`. `None` stands for a file that does not exist."""

    def __init__(self, entry: FileEntry | None) -> None:
        self.hashes: dict[Key, int] = {}
        if entry is not None:
            self._entry = entry
            self._terms = _hash_terms(entry.terms)
            self._names = _names_in(entry.terms)
            self._tops()
            self._calls()

    def differences(self, other: Fingerprints) -> set[Key]:
        """Keys that have another content in the other version, or none."""
        keys = self.hashes.keys() | other.hashes.keys()
        return {key for key in keys if self.hashes.get(key) != other.hashes.get(key)}

    def _tops(self) -> None:
        entry = self._entry
        path, facts = entry.path, entry.facts
        definitions: dict[str, list[int]] = {}
        for position, definition in enumerate(entry.definitions):
            if position:
                definitions.setdefault(entry.top_name(position), []).append(position)
        bindings: dict[str, list[Binding]] = {}
        whole: dict[str, list[Binding]] = {}
        for binding in facts.bindings:
            top = entry.top_name(binding.scope)
            whole.setdefault(top, []).append(binding)
            target = entry.terms[binding.target]
            if binding.scope:
                bindings.setdefault(top, []).append(binding)
            elif target[0] == NAME:
                bindings.setdefault(target[1], []).append(binding)
        imports: dict[str, list[tuple[Any, ...]]] = {}
        stars: list[tuple[Any, ...]] = []
        for found in facts.imports:
            top = entry.top_name(found.scope) if found.scope else found.alias
            said = (entry.definitions[found.scope].qualname, *found[1:7])
            imports.setdefault(top, []).append((found.line, said))
            if found.name == "*" or found.exported_as:
                stars.append(said)
        for top in {*definitions, *bindings, *imports}:
            self.hashes["top", path, top] = self._top(definitions.get(top, ()), bindings.get(top, ()), imports.get(top, ()))
        self.hashes["top", path, "*"] = hash((tuple(stars), facts.exports))
        calls: dict[str, list[tuple[int, int]]] = {}
        for reference in facts.references:
            if reference.kind == "call":
                calls.setdefault(entry.top_name(reference.scope), []).append((reference.line, self._terms[reference.term]))
        for top in {*whole, *calls}:
            lines = _ranks([line for b in whole.get(top, ()) for line in _lines(b)] + [line for line, _ in calls.get(top, ())])
            said = tuple(self._binding(b, lines) for b in whole.get(top, ()))
            self.hashes["body", path, top] = hash((said, tuple((lines[line], term) for line, term in calls.get(top, ()))))

    def _top(self, positions: Iterable[int], bindings: Iterable[Binding], imports: Iterable[tuple[int, Any]]) -> int:
        entry = self._entry
        definitions = [entry.definitions[position] for position in positions]
        kept = self._visible(bindings)
        lines = _ranks(
            [line for binding in kept for line in _lines(binding)]
            + [line for line, _ in imports]
            + [definition.start_line for definition in definitions]
        )
        return hash(
            (
                tuple(self._definition(definition, lines) for definition in definitions),
                tuple(self._binding(binding, lines) for binding in kept),
                tuple((lines[line], said) for line, said in imports),
            )
        )

    def _visible(self, bindings: Iterable[Binding]) -> list[Binding]:
        """Bindings that can reach a result or an attribute, so that others can see them."""
        terms, names = self._entry.terms, self._names
        wanted: set[str] = set()
        waiting = list(bindings)
        kept: set[int] = set()
        while True:
            before = len(kept)
            for position, binding in enumerate(waiting):
                if position in kept:
                    continue
                target = terms[binding.target]
                in_function = self._entry.definitions[binding.scope].kind in ("function", "method")
                if (
                    binding.op in _FLOWS
                    or not in_function
                    or (target[0] == ATTR and binding.op != "narrow")
                    or not wanted.isdisjoint(names[binding.target])
                ):
                    kept.add(position)
                    for term in (binding.value, binding.annotation):
                        if term >= 0:
                            wanted |= names[term]
            if len(kept) == before:
                return [binding for position, binding in enumerate(waiting) if position in kept]

    def _definition(self, definition: Definition, lines: dict[int, int]) -> tuple[Any, ...]:
        term = self._term
        return (
            definition.kind,
            definition.qualname,
            definition.ordinal,
            lines[definition.start_line],
            definition.modifiers,
            tuple(term(decorator) for decorator in definition.decorators),
            tuple((p.name, term(p.annotation), term(p.default), p.kind) for p in definition.parameters),
            term(definition.returns),
            tuple((keyword, term(base)) for keyword, base in definition.bases),
        )

    def _binding(self, binding: Binding, lines: dict[int, int]) -> tuple[Any, ...]:
        return (
            self._entry.definitions[binding.scope].qualname,
            self._term(binding.target),
            binding.op,
            self._term(binding.value),
            self._term(binding.annotation),
            tuple(lines[line] for line in _lines(binding)),
        )

    def _term(self, index: int) -> int:
        return self._terms[index] if index >= 0 else -1

    def _calls(self) -> None:
        entry = self._entry
        called: dict[str, list[tuple[str, int]]] = {}
        for name, scope, term in entry.calls_by_name():
            called.setdefault(name, []).append((entry.definitions[scope].qualname, self._terms[term]))
        for name, sites in called.items():
            self.hashes["calls", name, entry.path] = hash(tuple(sorted(sites)))


def _lines(binding: Binding) -> tuple[int, int, int]:
    return (binding.line, binding.end_line, binding.block_end)


def _ranks(lines: list[int]) -> dict[int, int]:
    return {line: rank for rank, line in enumerate(sorted(set(lines)))}


def _hash_terms(terms: list[Term]) -> list[int]:
    found: list[int] = []
    for term in terms:
        found.append(hash((labels(term), tuple(found[child] for child in children(term)))))
    return found


def _names_in(terms: list[Term]) -> list[frozenset[str]]:
    """The names each term mentions."""
    found: list[frozenset[str]] = []
    nothing: frozenset[str] = frozenset()
    for term in terms:
        if term[0] == NAME:
            found.append(frozenset((term[1],)))
            continue
        parts = [found[child] for child in children(term) if found[child]]
        found.append(parts[0] if len(parts) == 1 else nothing.union(*parts))
    return found
