"""Edges for functions registered with a framework, such as route handlers.

The tables in `frameworks.toml` list the calls that register functions. The registering code gets an edge to the function, with a rule that
names the purpose, such as `route`. The function becomes an entry point, which means that code outside the project calls it. Code that sends
a signal, queues a task or requests an injected value gets a call edge to the function.

A binding of a name is a place that gives the name its meaning, such as `x = f()`, `import x`, `def x` or a parameter. `reference` is the
use that is resolved: a call, a read, a write or an operation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from graphmem.model import EdgeKind
from graphmem.parsing.contracts.by_path import by_path
from graphmem.parsing.facts import ATTR, CALL, INDEX, LIST, NAME, NO_TERM, STRING, TUPLE, Call, Reference, TermIndex
from graphmem.resolution.edges import framework_keys
from graphmem.resolution.edges.requests import Requests, given, nearest, registered
from graphmem.resolution.edges.target import Target
from graphmem.resolution.files.call_index import CallSite
from graphmem.resolution.files.file_entry import FileEntry, Place
from graphmem.resolution.framework_tables.framework_rows import Event, HandsOver
from graphmem.resolution.framework_tables.frameworks import EVENT, event_terms
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.symbol_rows import dotted
from graphmem.resolution.values.symbol import FUNCTION_KINDS, Symbol
from graphmem.resolution.values.terms import arguments_of, call_at, last_name, string_of
from graphmem.resolution.values.types import CLASS, EXT, FUNC, INST, MODULE, Type, ordered

if TYPE_CHECKING:
    from graphmem.resolution.edges.rows import Evidence
    from graphmem.resolution.interfaces.inference import Inference

Identity = tuple[object, ...]


class Registrations:
    """Adds the edges of one file for functions that frameworks call.

    Examples are `view` in `path("x/", view)` and `f` in `saved.connect(f)`.
    """

    def __init__(self, inference: Inference, entry: FileEntry, evidence: Evidence) -> None:
        self.inference = inference
        self.project = inference.project
        self.entry = entry
        self.evidence = evidence
        self.tables = entry.frameworks
        self.known: dict[tuple[str, str], Sequence[HandsOver]] = {}  # rows for external names
        self.requests = Requests(inference, entry)
        self.routes_of_path = {end.scope: end.name.partition(" ")[2] for end in by_path(entry.facts)}  # by index of the definition

    # registered

    def register(self, reference: Reference, call: Call, targets: Sequence[Target]) -> None:
        """Add edges to the functions that a call registers with a framework.

        `targets` are the library functions that the call may run, such as `path` in `path("x/", view)`.
        """
        terms = self.entry.terms
        _, called, positional, keywords = call
        callee = terms[called]
        if not positional and not keywords and (callee[0] != ATTR or callee[2] not in self.tables.makers):
            return
        rows: list[HandsOver] = []
        for target in targets:
            if target.outside is None:
                return
            found = self.known.get(target.outside)
            if found is None:
                found = self.known[target.outside] = self.tables.called(target.outside)
            rows += found
        if not rows:
            rows = [*self.tables.of_method(terms, call)]
        for row in rows:
            name = framework_keys.handed_over(terms, call, row)
            receiver = (callee[1],) if callee[0] == ATTR else ()
            for term in given(row, receiver, positional, keywords):
                for symbol in self._functions(reference, term, row):
                    self._refer(reference.scope, symbol, row.rule, reference.line)
                    if name:
                        self.evidence.handles(row.rule, name, row.framework, symbol, row.rule, reference.line)

    def link(self, reference: Reference, call: Call) -> None:
        """Add an edge to the handler of the route in `url_for("blog.index")`.

        A test that computes the path of a route usually sends a request to it, often through a helper such as
        `self.fetch(url_for("blog.index"))`.
        """
        _, called, arguments, _ = call
        text = string_of(self.entry.terms[arguments[0]]) if arguments else ""
        if text and any(last_name(self.entry.terms[called]) in row.by_name for row in self.tables.requests):
            for symbol in self.requests.linked(text):
                self._refer(reference.scope, symbol, "request" if self.entry.in_tests else "route", reference.line)

    def connect(self, reference: Reference, call: Call) -> None:
        """Record the events to which a call connects a function.

        In `saved.connect(f)`, the event is `saved` and the function is `f`.
        """
        terms = self.entry.terms
        _, called, arguments, _ = call
        callee = terms[called]
        event = self.tables.connecting.get(callee[2]) if callee[0] == ATTR else None
        if event is None or len(arguments) <= event.function:
            return
        names = [name.removeprefix(EVENT) for name in self.tables.events_of_call(terms, call)]
        for atom in ordered(self._value(reference, arguments[event.function])) if names else ():
            if atom[0] == FUNC:
                for name in names:
                    self.evidence.handles("event", name, event.framework, atom[1], "signal", reference.line)

    def named(self, symbol: Symbol) -> None:
        """Record the keys, such as routes, in a function's decorators.

        A key is the string or object under which a framework knows the function. The key may also be the path of the file, as in Next.js.
        The key of a route begins with the prefix that the class or the router gives it.
        """
        definition = self.entry.definitions[symbol.index]
        if symbol.index in self.routes_of_path:
            self.evidence.handles("route", self.routes_of_path[symbol.index], "", symbol, "route", definition.start_line)
        if not definition.decorators:
            return
        routes = framework_keys.offered(self.entry.facts, symbol.index)
        for kind, name, framework in framework_keys.decorated(self.entry, symbol):
            key = framework_keys.with_prefix(name, routes) if kind == "route" else name
            self.evidence.handles(kind, key, framework, symbol, "signal" if kind == "event" else kind, definition.start_line)
        for path in routes:  # these are not written as a single string, for example as a list
            self.evidence.handles("route", path, "", symbol, "route", definition.start_line)

    def _refer(self, scope: int, symbol: Symbol, rule: str, line: int) -> None:
        src = self.entry.symbols[scope]
        if symbol is not src:
            self.evidence.edge(EdgeKind.REFERENCES, src.id, symbol.id, rule, line)

    def _functions(self, reference: Reference, term: TermIndex, row: HandsOver) -> Iterator[Symbol]:
        """Yield the functions that an argument of a registering call contains.

        `term` is the argument, and `row` is the row of the framework tables for the call. Functions inside lists and object literals are
        included.
        """
        terms = self.entry.terms
        found = terms[term]
        if found[0] == CALL and (callee := terms[found[1]])[0] == ATTR:
            _, base, method = callee
            term = base if method in self.tables.views else term
        if found[0] == STRING:
            _, text = found
            if row.texts:
                yield from self._named(text)
            return
        yield from registered(self.inference, self._value(reference, term), row)

    def _value(self, reference: Reference, term: TermIndex) -> Type:
        return self.inference.expanded(self.inference.term(self.entry, reference.scope, term, reference.line))

    def _named(self, text: str) -> Iterator[Symbol]:
        """Yield the modules, functions and classes that a dotted name refers to.

        `text` is the dotted name. For `"a.b"`, the result has the module `a.b`, and the function or class `b` in the module `a`.
        """
        module, _, name = text.rpartition(".")
        yield from nearest(self.entry.path, [self.project.files[path].symbols[0] for path in self.project.modules(f"/{text}")])
        for path in self.project.modules(text):
            yield self.project.files[path].symbols[0]
        for path in self.project.modules(module) if module else ():
            for place in self.inference.module_places(path, name) or ():
                for atom in ordered(self.inference.slot(place)):
                    if atom[0] == FUNC or atom[0] == CLASS:
                        yield atom[1]

    def scripts(self) -> None:
        """Add edges from this file to commands that it imports from other files.

        A configuration file may declare a command as a name in this file: `run = "package:main"`. If this file imports `main` from
        another file, an edge leads to the function `main` there.
        """
        path = self.entry.path
        for name, rule in rules_of(self.entry).scripts(self.entry.facts).items():
            if not name:
                continue
            first, *rest = name.split(".")
            value = self.inference.expanded(self.inference.module_member((MODULE, path), first))
            for part in rest:
                value = self.inference.expanded(self.inference.attribute(value, part))
            for atom in ordered(value):
                if atom[0] in (FUNC, CLASS) and atom[1].path != path:
                    self.evidence.edge(EdgeKind.REFERENCES, self.entry.symbols[0].id, atom[1].id, rule, 0)

    # run at other places

    def run_by_framework(self, reference: Reference, receiver: TermIndex, name: str) -> list[Target]:
        """Return the functions that run because of a signal, task or request.

        The call `receiver.name()` sends a signal, queues a task, or is a request to a route in a test.
        """
        event = self.tables.sending.get(name)
        found = list(self._receivers(reference, receiver, event)) if event is not None else []
        rows = self.tables.queueing.get(name)
        if rows:
            for atom in ordered(self._value(reference, receiver)):
                if atom[0] == FUNC and any(self._is_decorated(atom[1], row.decorators) for row in rows):
                    found.append(Target(atom[1], None, "task"))
        if name in self.tables.requesting and self.entry.in_tests:
            found += self.requests.answering(reference, receiver, name)
        return found

    def _is_decorated(self, symbol: Symbol, patterns: Sequence[str]) -> bool:
        entry = self.project.entry(symbol)
        written = [dotted(entry.terms, decorator) for decorator in entry.definitions[symbol.index].decorators]
        return any(fnmatchcase(text, pattern) for text in written for pattern in patterns)

    def _receivers(self, reference: Reference, receiver: TermIndex, event: Event) -> Iterator[Target]:
        terms = self.entry.terms
        name = self._name_of(self.entry, arguments_of(terms[reference.term]), receiver, event)
        if not name:
            return
        sites, are_all = self.project.call_sites(EVENT + name)
        if not sites:
            return
        sent = self._identities(self.entry, reference.scope, receiver, reference.line, event)
        for site in sites:
            other = self.project.files[site.path]
            if other.in_tests and not self.entry.in_tests:  # connections in tests affect tests only
                continue
            self.project.touch("passed", site.path, other.definitions[site.scope].qualname, EVENT + name)
            for symbol in self._connected(other, site, name, sent, event):
                yield Target(symbol, None, "signal")
        if not are_all:
            self.evidence.add_unresolved(
                self.entry.symbols[reference.scope].id, name, reference.line, reference.column, "too_many_candidates"
            )

    def _name_of(self, entry: FileEntry, given: Sequence[TermIndex], receiver: TermIndex, event: Event) -> str:
        """Return the name of an event that a call connects or sends.

        The name is `saved` for `saved.send()` and `bus.emit("saved")`. `given` are the arguments of the call, and `receiver` is the object
        before the dot.
        """
        if event.is_text:
            return string_of(entry.terms[given[0]]) if given else ""
        return last_name(entry.terms[receiver])

    def _connected(self, entry: FileEntry, site: CallSite, name: str, sent: set[Identity], event: Event) -> Iterator[Symbol]:
        """Yield the functions that a call connects to a sent event.

        `site` is the call in the file `entry`, such as `saved.connect(f)`. `name` is the name of the sent event. `sent` has the variables,
        attributes or classes that identify the sent event (see `_identities`). Nothing is yielded if the call connects to another event.
        """
        terms = entry.terms
        found = terms[site.term]
        arguments = arguments_of(found)
        callee = terms[found[1]] if found[0] == CALL else found
        events: Sequence[TermIndex]
        if callee[0] == ATTR and callee[2] in event.connects:
            _, base, _ = callee
            events = (base,)
        else:
            events = [index for index in event_terms(terms, arguments) if name in (last_name(terms[index]), string_of(terms[index]))]
        if not any(self._same(sent, self._identities(entry, site.scope, index, site.line, event)) for index in events):
            return
        if site.decorated >= 0:
            yield entry.symbols[site.decorated]
            return
        value = self.inference.expanded(self.inference.term(entry, site.scope, arguments[event.function], site.line))
        for atom in ordered(value):
            if atom[0] == FUNC:
                yield atom[1]
            elif atom[0] == INST and rules_of(entry).call_method:
                owner = self.inference.owner(atom[1], rules_of(entry).call_method)
                yield from self.inference.functions(owner, rules_of(entry).call_method) if isinstance(owner, Symbol) else ()

    def _same(self, sent: set[Identity], connected: set[Identity]) -> bool:
        """Whether a sent event and a connected event are the same.

        `sent` and `connected` are the results of `_identities` for the events. The events are the same if they share an identity. Events
        that are named by strings belong to an object. Such events are also the same if both objects have the same class, or if one object's
        class is a base of the other's.
        """
        if sent & connected:
            return True
        mine = [one[1] for one in sent if isinstance(one[1], Symbol) and one[0] == "class"]
        theirs = [one[1] for one in connected if isinstance(one[1], Symbol) and one[0] == "class"]
        return any(a in self.inference.project_classes(b) or b in self.inference.project_classes(a) for a in mine for b in theirs)

    def _identities(self, entry: FileEntry, scope: int, term: TermIndex, line: int, event: Event) -> set[Identity]:
        """Return the identities of an event, for comparison with other events.

        The expression `term` holds the event. The variable or attribute in `term` is an identity. If events are named by strings, `term` is
        the object to which they belong, such as `bus`. In this case, the classes of the object are identities, too.
        """
        found = set(self._held(entry, scope, term, line))
        if event.is_text:
            value = self.inference.expanded(self.inference.term(entry, scope, term, line))
            found |= {("class", atom[1]) for atom in value if atom[0] in (INST, CLASS)}
        return found

    def _held(self, entry: FileEntry, scope: int, term: TermIndex, line: int) -> Iterator[Identity]:
        inference = self.inference
        found = entry.terms[term]
        if found[0] == NAME:
            _, name = found
            for place in inference.lookup(entry, scope, name, line) or ():
                yield from self._origin(place, frozenset())
        elif found[0] == ATTR:
            _, base, name = found
            for atom in ordered(inference.expanded(inference.term(entry, scope, base, line))):
                if atom[0] == MODULE:
                    for place in inference.module_places(atom[1], name) or ():
                        yield from self._origin(place, frozenset())
                elif atom[0] == INST or atom[0] == CLASS:
                    owner = inference.owner(atom[1], name)
                    if isinstance(owner, Symbol):
                        yield ("member", owner, name)
                elif atom[0] == EXT:
                    yield ("outside", atom[1], f"{atom[2]}.{name}" if atom[2] else name)

    def _origin(self, place: Place, seen: frozenset[str]) -> Iterator[Identity]:
        """Yield the variable that a binding of a name refers to.

        `place` is the binding. If it is an import, the import is followed to the file that defines the variable, also through re-exports.
        `seen` has the paths of the files already followed.
        """
        entry, scope, slot = place
        if slot.kind == "binding":
            target = entry.terms[entry.facts.bindings[slot.index].target]
            if target[0] == NAME:
                yield ("variable", entry.path, entry.definitions[scope].qualname, target[1])
        elif slot.kind == "import" and entry.path not in seen:
            found = entry.facts.imports[slot.index]
            for atom in ordered(rules_of(entry).import_targets(self.inference, entry, found)):
                if atom[0] == MODULE and found.name:
                    for other in self.inference.module_places(atom[1], found.name) or ():
                        yield from self._origin(other, seen | {entry.path})
                elif atom[0] == EXT and found.name:
                    yield ("outside", atom[1], f"{atom[2]}.{found.name}" if atom[2] else found.name)

    def injected(self, symbol: Symbol) -> Iterator[Symbol]:
        """Yield the functions that a framework calls to fill in parameters.

        The results of the functions are the values of the parameters. For a parameter `x=Depends(f)`, the function is `f`.
        """
        if not self.tables.injections or symbol.kind not in FUNCTION_KINDS:
            return
        entry = self.entry
        definition = entry.definitions[symbol.index]
        for parameter in definition.parameters:
            for term in (parameter.default, *self._metadata(parameter.annotation)):
                if term >= 0 and entry.terms[term][0] == CALL:
                    yield from self._providers(symbol, definition.parent, term, definition.start_line)

    def _metadata(self, annotation: TermIndex) -> Sequence[TermIndex]:
        """Return the expressions after the type in `Annotated[type, …]`."""
        terms = self.entry.terms
        generic = terms[annotation] if annotation >= 0 else None
        if generic is None or generic[0] != INDEX:
            return ()
        _, base, key = generic
        given = terms[key]
        if given[0] not in (TUPLE, LIST) or last_name(terms[base]) != "Annotated":
            return ()
        _, items = given
        return items[1:]

    def _providers(self, symbol: Symbol, scope: int, term: TermIndex, line: int) -> Iterator[Symbol]:
        inference, entry = self.inference, self.entry
        _, called, positional, keywords = call_at(entry.terms, term)
        given = positional[0] if positional else next((value for name, value in keywords if name == "dependency"), NO_TERM)
        if given < 0:
            return
        for atom in ordered(inference.expanded(inference.term(entry, scope, called, line))):
            if atom[0] == EXT and self.tables.injecting.fullmatch(f"{atom[1]}.{atom[2]}"):
                for target in ordered(inference.expanded(inference.term(entry, scope, given, line))):
                    if target[0] == FUNC and target[1] is not symbol:
                        yield target[1]
                    elif target[0] == CLASS:
                        for name in rules_of(entry).constructors:
                            owner = inference.owner(target[1], name)
                            yield from inference.functions(owner, name) if isinstance(owner, Symbol) else ()
                    elif target[0] == INST and rules_of(entry).call_method:
                        owner = inference.owner(target[1], rules_of(entry).call_method)
                        yield from inference.functions(owner, rules_of(entry).call_method) if isinstance(owner, Symbol) else ()
