"""Hashes of the parts of a file on which other files can depend.

Edits that other files cannot see, such as most edits inside a function, leave the hashes (the fingerprint) unchanged. Hashes contain no
line numbers, only the order of the hashed lines, because only the order can change a type.

The list of a file's bindings has the places where names and attributes get values, such as `x = f()`, and also the `return` statements. An
input is a fact of a file on which cached answers depend, such as the definitions of a name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

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
    STRING,
    TESTS_OF_CLASS,
    TUPLE,
    TYPED,
    UNPACK,
    Binding,
    Definition,
    Term,
    TermIndex,
)
from graphmem.resolution.files.package_blocks import packages_of
from graphmem.resolution.values.terms import children

if TYPE_CHECKING:
    from graphmem.resolution.files.call_index import CallSite
    from graphmem.resolution.files.file_entry import FileEntry

Key = tuple[str, ...]
Row = tuple[object, ...]
"""A value that is hashed and compared as a whole."""

_FLOWS = frozenset({"return", "yield", "export", "when", "unless"})


def labels(term: Term) -> Row:
    """Return the content of an expression without its child expressions.

    For `a.b`, the content is the operator and `b`. The content and the ordered children together determine the expression.
    """
    if term[0] == ATTR:
        op, _, name = term
        return (op, name)
    if term[0] == CALL or term[0] == NEW:
        call, _, positional, keywords = term
        return (call, len(positional), tuple(name for name, _ in keywords) if keywords else ())
    if term[0] == NAME or term[0] == STRING:
        return term
    if term[0] in (LIST, TUPLE, SET, EITHER, AWAIT, ITER, ENTER, SPREAD, LAMBDA, TYPED, INDEX):
        return (term[0],)
    if term[0] == DICT:
        _, written, _ = term
        return (DICT, len(written))
    if term[0] == OBJECT:
        _, keys, _ = term
        return (OBJECT, keys)
    if term[0] == UNPACK:
        _, _, position = term
        return (UNPACK, position)
    if term[0] == COMPREHENSION:
        _, kind, _ = term
        return (COMPREHENSION, kind)
    if term[0] == OPERATOR:
        _, sign, _, right = term
        return (OPERATOR, sign, right >= 0)
    return term


class Fingerprints:
    """Hashes of everything in one file on which other files can depend.

    `hashes` maps keys to hashes. A key is an input: a fact on which answers depend, as `Project.key` lists them. If `entry` is None, the
    file does not exist, and `hashes` is empty.
    """

    def __init__(self, entry: FileEntry | None) -> None:
        self.hashes: dict[Key, int] = {}
        if entry is not None:
            self._entry = entry
            self._terms = _hash_terms(entry.terms)
            self._names = _names_in(entry.terms)
            self._tops()
            self._calls()
            self._uses()

    def _tops(self) -> None:
        entry = self._entry
        path, facts = entry.path, entry.facts
        definitions: dict[str, list[int]] = {}
        for position in range(1, len(entry.definitions)):
            definitions.setdefault(entry.top_name(position), []).append(position)
        bindings: dict[str, list[Binding]] = {}
        self._outer: set[Binding] = set()  # functions that put values into a variable of the module
        for (scope, name), positions in entry.fills.items():
            for position in positions if not scope else ():
                if facts.bindings[position].scope:
                    bindings.setdefault(name, []).append(facts.bindings[position])
                    self._outer.add(facts.bindings[position])
        for binding in facts.bindings:
            target = entry.terms[binding.target]
            if binding.scope:
                bindings.setdefault(entry.top_name(binding.scope), []).append(binding)
                if target[0] == ATTR and binding.op not in TESTS_OF_CLASS:  # an attribute belongs to the class, wherever it is assigned
                    first = entry.definitions[binding.scope].qualname.partition(".")[0]
                    if first != entry.top_name(binding.scope):
                        bindings.setdefault(first, []).append(binding)
            elif target[0] == NAME:
                bindings.setdefault(target[1], []).append(binding)
        methods: dict[str, list[int]] = {}
        for position, definition in enumerate(entry.definitions):
            first = definition.qualname.partition(".")[0]
            if position and entry.top_name(position) == definition.qualname != first:
                methods.setdefault(first, []).append(position)
        imports: dict[str, list[tuple[int, Row]]] = {}
        stars: list[Row] = []
        for found in facts.imports:
            top = entry.top_name(found.scope) if found.scope else found.alias
            said = (entry.definitions[found.scope].qualname, *found[1:7])
            imports.setdefault(top, []).append((found.line, said))
            if found.name == "*" or found.exported_as:
                stars.append(said)
        for top in {*definitions, *bindings, *imports}:
            self.hashes["top", path, top] = self._top(
                definitions.get(top, ()), bindings.get(top, ()), imports.get(top, ()), methods.get(top, ())
            )
        exported: list[object] = [definition.qualname for definition in entry.definitions if "default" in definition.modifiers]
        exported.extend(
            (binding.op, self._term(binding.target), self._term(binding.value), self._term(binding.annotation))
            for binding in facts.bindings
            if not binding.scope and (binding.op in ("export", "return") or entry.terms[binding.target][0] in (ATTR, LAMBDA))
        )
        self.hashes["top", path, "*"] = hash((tuple(stars), facts.exports, tuple(exported)))

    def _top(
        self, positions: Iterable[int], bindings: Iterable[Binding], imports: Iterable[tuple[int, Row]], methods: Iterable[int]
    ) -> int:
        """Return the hash of a top-level definition of the file, such as a class.

        Args:
            positions: the definitions inside the top-level definition.
            bindings: the bindings of the top-level definition.
            imports: the imports of the top-level definition.
            methods: its methods that have hashes of their own. Of these, only facts on which the class depends are hashed here, such as the
                name. Methods that other code can find only by their name are left out; see `_members`.
        """
        entry = self._entry
        definitions = [entry.definitions[position] for position in positions]
        apart, kept = self._members(definitions, [entry.definitions[position] for position in methods], self._visible(bindings))
        lines = _ranks(
            [line for binding in kept for line in _lines(binding)]
            + [line for line, _ in imports]
            + [definition.start_line for definition in (*definitions, *apart)]
        )
        return hash(
            (
                tuple(self._definition(definition, lines) for definition in definitions),
                tuple(self._mention(definition, lines) for definition in apart),
                tuple(self._binding(binding, lines) for binding in kept),
                tuple((lines[line], said) for line, said in imports),
                packages_of(entry, definitions, kept),
            )
        )

    def _members(
        self, definitions: Sequence[Definition], methods: Sequence[Definition], bindings: Sequence[Binding]
    ) -> tuple[list[Definition], list[Binding]]:
        """Store a hash for each plain member; return the members that are not.

        A member is a method, or an attribute that methods assign. A member is plain on two conditions: its name is used nowhere else in the
        class, and no method of this name is decorated. Other code can depend on a plain member only by looking up the member's name in the
        class. So the hash is stored under the name.

        Args:
            definitions: the definitions of the class and its inner classes, without `methods`.
            methods: the methods of these classes.
            bindings: the bindings of these classes.

        Returns:
            The methods and the bindings that do not belong to plain members.
        """
        if not methods:
            return [], list(bindings)
        entry = self._entry
        assigned, used = self._assigned_and_used(definitions, methods, bindings)
        plain: dict[tuple[str, str], list[Row]] = {}
        for definition in methods:
            if definition.name not in used:
                key = (definition.name, definition.qualname.rpartition(".")[0])
                plain.setdefault(key, []).append(self._mention(definition, {definition.start_line: 0}))
        for binding, key in assigned.items():
            if key[0] not in used:
                plain.setdefault(key, []).append(self._binding(binding, dict.fromkeys(_lines(binding), 0)))
        for (name, inside), rows in plain.items():
            self.hashes["member", name, entry.path, inside] = hash(tuple(rows))
        if plain:
            self.hashes["members", entry.path, methods[0].qualname.partition(".")[0]] = hash(
                frozenset((*one, *rows) for one, rows in plain.items())
            )
        others = [binding for binding in bindings if binding not in assigned or assigned[binding][0] in used]
        return [definition for definition in methods if definition.name in used], others

    def _assigned_and_used(
        self, definitions: Sequence[Definition], methods: Sequence[Definition], bindings: Sequence[Binding]
    ) -> tuple[dict[Binding, tuple[str, str]], set[str]]:
        """Return the attributes that methods assign, and the names in a class.

        For the parameters, see `_members`. An attribute is (name, qualified name of its class), by the binding that assigns it.
        """
        entry, terms, names = self._entry, self._entry.terms, self._names
        apart = {definition.qualname for definition in methods}
        assigned: dict[Binding, tuple[str, str]] = {}
        used: set[str] = {definition.name for definition in (*definitions, *(one for one in methods if one.decorators))}
        for binding in bindings:
            target = terms[binding.target]
            if target[0] == ATTR:
                owner = entry.rules.receiver_class(entry, binding.scope, target[1])
                if owner >= 0 and binding.op != "fill" and entry.top_name(binding.scope) in apart:
                    assigned[binding] = (target[2], entry.definitions[owner].qualname)
                    continue
                used.add(target[2])
            used.update(names[binding.target], *(names[term] for term in (binding.value, binding.annotation) if term >= 0))
        for definition in (*definitions, *methods):
            written = [*definition.decorators, definition.returns, *(base for _, base in definition.bases)]
            written += (term for parameter in definition.parameters for term in (parameter.annotation, parameter.default))
            used.update(*(names[term] for term in written if term >= 0))
        return assigned, used

    def _visible(self, bindings: Iterable[Binding]) -> list[Binding]:
        """Return the bindings of a function that other files can observe.

        Such bindings are:

        - bindings of attributes;
        - bindings outside of functions;
        - bindings that can affect the function's result;
        - bindings that can influence a binding of the first three kinds.
        """
        terms, definitions = self._entry.terms, self._entry.definitions

        def is_visible(binding: Binding) -> bool:
            return (
                binding.op in _FLOWS
                or definitions[binding.scope].kind not in ("function", "method")
                or (terms[binding.target][0] == ATTR and binding.op not in TESTS_OF_CLASS)
                or binding in self._outer
            )

        return self._slice(list(bindings), set(), is_visible)

    def _slice(self, bindings: list[Binding], wanted: set[str], is_root: Callable[[Binding], bool]) -> list[Binding]:
        """Return bindings that a condition accepts, and those that influence them.

        `is_root` is the condition. A binding such as `x = f(y)` is kept if `is_root` accepts the binding or if `wanted` contains `x`. Then
        the names in its value, here `f` and `y`, are added to `wanted`, too.
        """
        names = self._names
        kept: set[int] = set()
        while True:
            before = len(kept)
            for position, binding in enumerate(bindings):
                if position not in kept and (is_root(binding) or not wanted.isdisjoint(names[binding.target])):
                    kept.add(position)
                    for term in (binding.value, binding.annotation):
                        if term >= 0:
                            wanted |= names[term]
            if len(kept) == before:
                return [binding for position, binding in enumerate(bindings) if position in kept]

    def _definition(self, definition: Definition, lines: dict[int, int]) -> Row:
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

    def _mention(self, definition: Definition, lines: dict[int, int]) -> Row:
        """Return the facts about a method on which its class depends.

        The facts decide under which names the method is found, and which class has the attributes that the method assigns. `lines` maps
        each line number to its rank: the first line in the hash has the rank 0.
        """
        return (
            definition.kind,
            definition.qualname,
            definition.ordinal,
            lines[definition.start_line],
            definition.modifiers,
            tuple(self._term(decorator) for decorator in definition.decorators),
            definition.parameters[0].name if definition.parameters else "",
        )

    def _binding(self, binding: Binding, lines: dict[int, int]) -> Row:
        return (
            self._entry.definitions[binding.scope].qualname,
            self._term(binding.target),
            binding.op,
            self._term(binding.value),
            self._term(binding.annotation),
            tuple(lines[line] for line in _lines(binding)),
        )

    def _uses(self) -> None:
        """Hash the attributes that functions read from unannotated parameters."""
        entry = self._entry
        by_scope: dict[int, list[tuple[int, tuple[str, ...]]]] = {}
        for (scope, index), names in entry.uses().items():
            by_scope.setdefault(scope, []).append((index, tuple(sorted(names))))
        for scope, used in by_scope.items():
            self.hashes["uses", entry.path, entry.definitions[scope].qualname] = hash(tuple(sorted(used)))

    def _term(self, index: TermIndex) -> int:
        return self._terms[index] if index >= 0 else -1

    def _calls(self) -> None:
        """Hash the calls in the file by called name, with their arguments.

        For each name, one hash covers all calls. For each scope that calls the name, another hash covers the arguments and the bindings
        that influence them.
        """
        entry = self._entry
        by_scope: dict[int, list[Binding]] = {}
        for binding in entry.facts.bindings:
            if binding.op not in _FLOWS:
                by_scope.setdefault(binding.scope, []).append(binding)
        for name in entry.calls:
            sites = list(entry.call_sites(name))
            said = sorted((entry.definitions[site.scope].qualname, self._terms[site.term], self._decorated(site)) for site in sites)
            self.hashes["calls", name, entry.path] = hash(tuple(said))
            for scope in {site.scope for site in sites}:
                self.hashes["passed", entry.path, entry.definitions[scope].qualname, name] = self._passed(
                    [site for site in sites if site.scope == scope], by_scope
                )

    def _passed(self, sites: list[CallSite], by_scope: dict[int, list[Binding]]) -> int:
        scope = sites[0].scope
        candidates = list(by_scope.get(scope, ()))
        around = self._entry.definitions[scope].parent
        while around > 0:
            candidates += by_scope.get(around, ())
            around = self._entry.definitions[around].parent
        wanted = set().union(*(self._names[site.term] for site in sites))
        targets = {site.term for site in sites}  # of assignments
        kept = self._slice(candidates, wanted, lambda binding: binding.target in targets)
        lines = _ranks([line for binding in kept for line in _lines(binding)] + [site.line for site in sites])
        said = tuple(self._binding(binding, lines) for binding in kept)
        return hash((said, tuple((lines[site.line], self._terms[site.term], self._decorated(site)) for site in sites)))

    def _decorated(self, site: CallSite) -> str:
        """Return the qualified name of the definition that a decorator decorates.

        The result is "" for a call that is not a decorator.
        """
        return self._entry.definitions[site.decorated].qualname if site.decorated >= 0 else ""


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
    """Return the names that each expression of a file contains."""
    found: list[frozenset[str]] = []
    nothing: frozenset[str] = frozenset()
    for term in terms:
        if term[0] == NAME:
            found.append(frozenset((term[1],)))
            continue
        parts = [found[child] for child in children(term) if found[child]]
        found.append(parts[0] if len(parts) == 1 else nothing.union(*parts))
    return found
