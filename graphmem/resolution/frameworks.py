"""What frameworks do with functions, as data: `frameworks.toml` in the folders of `grammars/`.

Five tables, each a list; `grammars/README.md` explains them. This module only reads them and finds the places in
one file that connect a function with an event; what a place means is asked of inference in `edges.frameworks`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase, translate
from functools import cache, cached_property
from re import Pattern
from re import compile as compile_pattern
from typing import Any, Final

from graphmem.errors import GrammarError
from graphmem.parsing.facts import (
    ATTR,
    CALL,
    LIST,
    TUPLE,
    Call,
    Term,
    TermIndex,
)
from graphmem.resolution.rules import RULES
from graphmem.resolution.terms import last_name, string_of
from graphmem.runtime.resources import data_root

EVENT: Final = "!"
"""What stands in front of the name of an event in the index of call sites."""


@dataclass(frozen=True, slots=True)
class HandsOver:
    """A call that hands functions to a framework, which calls them later: `path("x/", view)`."""

    rule: str  # of the edges, and the kind of entry point the functions are
    functions: tuple[int | str, ...]  # arguments: a position, a name, "2:": all from a position on, "**": all named ones; ".": the receiver
    calls: tuple[str, ...] = ()  # patterns of what is called, package and name
    methods: tuple[str, ...] = ()  # or names of methods of what is not of the project
    begins: str = ""  # what the text of the first argument begins with, where `methods` say too little
    not_on: tuple[str, ...] = ()  # last names of receivers that are something else: clients and test doubles
    members: tuple[str, ...] = ()  # methods of a class that is handed over which the framework calls
    texts: bool = False  # a text may name the function, or a module: "package.module.function"
    framework: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """Sending calls what was connected: `saved.connect(f)` or `@receiver(saved)`, and `saved.send()`.

    Or by a text: `bus.on("saved", f)` and `bus.emit("saved")`.
    """

    connects: tuple[str, ...]  # methods of the event that take a function; as decorators they take the one below them
    sends: tuple[str, ...]  # methods of the event that call them
    decorators: tuple[str, ...] = ()  # names of functions that take events and give such a decorator
    function: int = 0  # position of the function in what connects
    is_text: bool = False  # the first argument names the event, and what connects and sends belongs to what has many
    framework: str = ""


@dataclass(frozen=True, slots=True)
class Queue:
    """A function decorated so runs when one of these methods of it is called: `task.delay()`."""

    decorators: tuple[str, ...]  # patterns of the decorator as written, without arguments
    methods: tuple[str, ...]
    framework: str = ""


@dataclass(frozen=True, slots=True)
class Injection:
    """The framework calls a function to have the value of a parameter: `x=Depends(f)`, `x: Annotated[T, Depends(f)]`."""

    calls: tuple[str, ...]  # patterns of what is called, package and name
    framework: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """A method that makes of a class the function that is handed over: `Index.as_view()`."""

    methods: tuple[str, ...]
    framework: str = ""


class Frameworks:
    """The tables of one language. Not changed once read."""

    def __init__(self, raw: Mapping[str, Any], origin: str) -> None:
        kinds = {"hands_over": HandsOver, "event": Event, "queue": Queue, "injection": Injection, "view": View}
        unknown = sorted(set(raw) - set(kinds))
        if unknown:
            raise GrammarError(f"{origin} has unknown tables {', '.join(unknown)}; known are {', '.join(kinds)}", path=origin, line=0)
        rows = {name: [_row(kind, row, origin) for row in raw.get(name, ())] for name, kind in kinds.items()}
        self.hands_over: Sequence[HandsOver] = rows["hands_over"]
        self.events: Sequence[Event] = rows["event"]
        self.queues: Sequence[Queue] = rows["queue"]
        self.injections: Sequence[Injection] = rows["injection"]
        self.views = frozenset(method for row in rows["view"] for method in row.methods)
        for row in self.hands_over:
            if row.rule not in RULES:
                raise GrammarError(f"{origin}: {row.rule!r} is no rule of resolution", path=origin, line=0)
        self._patterns = [(_any_of(row.calls), row) for row in self.hands_over if row.calls]
        self._calls = _any_of([call for row in self.hands_over for call in row.calls])

    @cached_property
    def by_method(self) -> Mapping[str, Sequence[HandsOver]]:
        """The rows a method of something unknown may be, by its name."""
        found: dict[str, list[HandsOver]] = {}
        for row in self.hands_over:
            for method in row.methods:
                found.setdefault(method, []).append(row)
        return found

    @cached_property
    def makers(self) -> Collection[str]:
        """Methods that hand over what they are called on."""
        return {call.rpartition(".")[2] for row in self.hands_over if "." in row.functions for call in row.calls}

    @cached_property
    def connecting(self) -> Mapping[str, Event]:
        """Events by the methods that connect."""
        return {method: event for event in self.events for method in event.connects}

    @cached_property
    def sending(self) -> Mapping[str, Event]:
        """Events by the methods that send."""
        return {method: event for event in self.events for method in event.sends}

    @cached_property
    def decorating(self) -> Mapping[str, Event]:
        """Events by the functions that give decorators which connect."""
        return {name: event for event in self.events for name in event.decorators}

    @cached_property
    def queueing(self) -> Mapping[str, Sequence[Queue]]:
        """Queues by the methods of a task that run it."""
        return {method: [row for row in self.queues if method in row.methods] for queue in self.queues for method in queue.methods}

    @cached_property
    def injecting(self) -> Pattern[str]:
        """Matches what asks for an injected value."""
        return _any_of(tuple(call for row in self.injections for call in row.calls))

    def of_method(self, terms: Sequence[Term], call: Call) -> Sequence[HandsOver]:
        """The rows that a method call on something unknown may be."""
        _, called, arguments, _ = call
        callee = terms[called]
        if callee[0] != ATTR:
            return ()
        _, base, method = callee
        text = string_of(terms[arguments[0]]) if arguments else ""
        held = terms[base]
        while held[0] == CALL:
            _, called, _, _ = held
            held = terms[called]
        receiver = last_name(held)
        return tuple(
            row
            for row in self.by_method.get(method, ())
            if (not row.begins or text.startswith(row.begins))
            and not (row.not_on and any(fnmatchcase(receiver, pattern) for pattern in row.not_on))
        )

    def called(self, outside: tuple[str, str]) -> Sequence[HandsOver]:
        """The rows that a call of something outside the project, as (package, name), is."""
        # Nothing is remembered here: a name that outlives its file keeps the memory around it.
        name = ".".join(part for part in outside if part)
        if self._calls.fullmatch(name) is None:
            return ()
        return tuple(row for pattern, row in self._patterns if pattern.fullmatch(name))

    def events_of_call(self, terms: Sequence[Term], call: Call) -> Iterator[str]:
        """Names of the events a call connects a function with: `saved.connect(f)`, `bus.on("saved", f)`."""
        _, called, arguments, _ = call
        callee = terms[called]
        if callee[0] != ATTR:
            return
        _, base, method = callee
        event = self.connecting.get(method)
        if event is not None and len(arguments) > event.function:
            yield from _names(terms, arguments[:1] if event.is_text else (base,), texts=event.is_text)

    def events_of_decorator(self, terms: Sequence[Term], decorator: Term) -> Iterator[str]:
        """The same for a decorator: `@saved.connect`, `@receiver(saved)`, `@saved.connect_via(sender)`, `@bus.on("saved")`."""
        if decorator[0] == ATTR:
            _, base, name = decorator
            event = self.connecting.get(name)
            if event is not None and not event.is_text:
                yield from _names(terms, (base,))
        elif decorator[0] == CALL:
            _, called, arguments, _ = decorator
            callee = terms[called]
            name = last_name(callee)
            if name in self.decorating:
                yield from _names(terms, arguments)
            elif callee[0] == ATTR and name in self.connecting:
                _, base, _ = callee
                event = self.connecting[name]
                yield from _names(terms, arguments[:1] if event.is_text else (base,), texts=event.is_text)


def event_terms(terms: Sequence[Term], given: Sequence[TermIndex]) -> Iterator[TermIndex]:
    """The terms that stand for events among these, those in lists too."""
    for index in given:
        term = terms[index]
        if term[0] in (LIST, TUPLE):
            _, items = term
            yield from items
        else:
            yield index


def _names(terms: Sequence[Term], given: Sequence[TermIndex], *, texts: bool = False) -> Iterator[str]:
    for index in event_terms(terms, given):
        name = string_of(terms[index]) if texts else last_name(terms[index])
        if name:
            yield f"{EVENT}{name}"


def _row(kind: type[Any], raw: Mapping[str, Any], origin: str) -> Any:
    known = {field.name for field in fields(kind)}
    unknown = sorted(set(raw) - known)
    if unknown:
        raise GrammarError(
            f"{origin}: {', '.join(unknown)} is no key of {kind.__name__}; there are {', '.join(sorted(known))}", path=origin, line=0
        )
    return kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in raw.items()})


def _any_of(patterns: Sequence[str]) -> Pattern[str]:
    return compile_pattern("|".join(map(translate, patterns)) or r"(?!)")


@cache
def frameworks_of(folder: str) -> Frameworks:
    """The tables in a folder of `grammars/`; empty ones for "".

    Raises:
        GrammarError: the file is not valid; the message says what.
    """
    origin = f"grammars/{folder}/frameworks.toml"
    if not folder:
        return Frameworks({}, origin)
    try:
        raw = tomllib.loads((data_root() / origin).read_text(encoding="utf-8"))
        return Frameworks(raw, origin)
    except (OSError, tomllib.TOMLDecodeError, TypeError) as error:
        raise GrammarError(f"{origin}: {error}", path=origin, line=0) from error
