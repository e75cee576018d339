"""Index the calls in one file by the names of their callees.

Type inference finds the callers of a function by the function's name. A call that connects a function to a framework is also found by the
path of the route, or by the name of the event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from graphmem.parsing.facts import ATTR, CALL, INDEX, STRING, Call, FileFacts, Reference, Term, TermIndex
from graphmem.resolution.files.instantiations import is_class_name
from graphmem.resolution.framework_tables.frameworks import TEMPLATE, Frameworks
from graphmem.resolution.framework_tables.routes import ROUTE, key_of_route
from graphmem.resolution.values.terms import call_at, last_name, string_of


class CallSite(NamedTuple):
    """A call of a name in a file, such as `f(x)`, or its use as a decorator."""

    path: str
    scope: int
    term: TermIndex  # the call, or the decorator of a decorated definition
    line: int
    decorated: int  # the decorated definition, else -1


class CallIndex:
    """The calls in one file, by the name of the called function.

    Some calls have other keys, such as the path of a route; see `keys_of_decorator`.

    Args:
        facts: results of parsing the file.
        frameworks: tables of the frameworks that the language has.
        is_elsewhere: whether an assignment sets an attribute of an object other than `self` or `this`.
    """

    def __init__(self, facts: FileFacts, frameworks: Frameworks, is_elsewhere: Callable[[Reference], bool]) -> None:
        self.facts = facts
        self.terms = facts.terms
        self.frameworks = frameworks
        self.is_elsewhere = is_elsewhere
        self.by_key: dict[str, list[int]] = {}  # references; decorated definitions as -1 - index
        for position, reference in enumerate(facts.references):
            if reference.kind == "call":
                self._add_call(position, call_at(self.terms, reference.term))
            elif reference.kind == "write":
                self._add_write(position, reference)
        for position, definition in enumerate(facts.definitions):
            for decorator in definition.decorators:
                for name in keys_of_decorator(self.terms, frameworks, decorator, definition.name):
                    self._add(name, -1 - position)

    def _add(self, key: str, position: int) -> None:
        self.by_key.setdefault(key, []).append(position)

    def _add_call(self, position: int, call: Call) -> None:
        terms, frameworks = self.terms, self.frameworks
        _, called, arguments, named = call
        name = last_name(terms[called]) or self._generic_class(terms[called])
        if name:
            self._add(name, position)
        if name in frameworks.connecting and terms[called][0] == ATTR:
            for event in frameworks.events_of_call(terms, call):
                self._add(event, position)
        if name in frameworks.routing:
            self._add_route(position, call)
        if name in frameworks.views and arguments and string_of(terms[arguments[0]]):
            self._add(f"{ROUTE}:{string_of(terms[arguments[0]])}", position)
        if (name == "update" or name in frameworks.template_methods) and frameworks.registers(terms, terms[called]):
            for registered in frameworks.registered(terms, arguments, named):
                self._add(f"{TEMPLATE}{registered}", position)

    def _add_write(self, position: int, reference: Reference) -> None:
        """Index an assignment `x.name = …` or `templates[name] = …`.

        Assignments to attributes of `self` or `this` are indexed elsewhere. `position` is the position of the assignment in the file's
        references.
        """
        target = self.terms[reference.term]
        if target[0] == INDEX:
            _, held, key = target
            if last_name(self.terms[held]) in self.frameworks.template_holders and string_of(self.terms[key]):
                self._add(f"{TEMPLATE}{string_of(self.terms[key])}", position)
        elif target[0] == ATTR and self.is_elsewhere(reference):
            self._add(f"={target[2]}", position)

    def _generic_class(self, callee: Term) -> str:
        """Return the name of the class in `Class[Type](…)`; otherwise ""."""
        if callee[0] != INDEX:
            return ""
        _, base, _ = callee
        name = last_name(self.terms[base])
        return name if is_class_name(name) else ""

    def _add_route(self, position: int, call: Call) -> None:
        """Index a call that registers a handler, by the route's path and name.

        `position` is the position of the call in the file's references.
        """
        _, _, arguments, named = call
        if arguments and self.terms[arguments[0]][0] == STRING:
            self._add(key_of_route(string_of(self.terms[arguments[0]])), position)
        base = self.frameworks.base_name(self.terms, call)
        if base:
            self._add(f"{ROUTE}:{base}-", position)
        for keyword, value in named:
            if keyword == "name" and string_of(self.terms[value]):
                self._add(f"{ROUTE}:{string_of(self.terms[value])}", position)


def keys_of_decorator(terms: Sequence[Term], frameworks: Frameworks, decorator: TermIndex, decorated: str) -> Iterator[str]:
    """Yield the keys under which a decorator is indexed.

    `decorator` is the index of its expression, and `decorated` the name of the decorated function. The key of `@name` is "name", and the
    key of a call `@name(…)` is "@name". A decorator that connects the function to an event also has a key that begins with "!". A decorator
    that registers a route also has a key that begins with "/".
    """
    term = terms[decorator]
    name = last_name(terms[term[1]] if term[0] == CALL else term)
    if name:
        yield f"@{name}" if term[0] == CALL else name
    if name in frameworks.template_decorators:
        texts = [string_of(terms[given]) for given in (*term[2], *(value for _, value in term[3]))] if term[0] == CALL else []
        yield f"{TEMPLATE}{next(filter(None, texts), decorated)}"
    yield from frameworks.events_of_decorator(terms, term)
    if term[0] == CALL and terms[term[1]][0] == ATTR and frameworks.requests:
        _, _, arguments, _ = term
        path = string_of(terms[arguments[0]]) if arguments else ""
        if path.startswith("/"):
            yield key_of_route(path)
