"""Read the framework tables: `frameworks.toml` in folders of `grammars/`.

There are nine tables, each a list; `grammars/README.md` explains them. This module also finds the code in a file that connects a function
with an event. `edges.frameworks` then resolves the function and the event by type inference.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from fnmatch import fnmatchcase, translate
from functools import cache, cached_property
from re import Pattern
from re import compile as compile_pattern
from typing import Any, Final

from graphmem.errors import GrammarError
from graphmem.parsing.facts import (
    ATTR,
    CALL,
    DICT,
    LIST,
    TUPLE,
    Call,
    Term,
    TermIndex,
)
from graphmem.resolution.framework_tables.framework_rows import (
    Derived,
    Event,
    Generated,
    HandsOver,
    Injection,
    Queue,
    Request,
    Template,
    View,
)
from graphmem.resolution.framework_tables.routes import VERBS
from graphmem.resolution.rules import RULES
from graphmem.resolution.values.terms import last_name, string_of
from graphmem.runtime.data.resources import data_root

EVENT: Final = "!"
"""Prefix, in the index of call sites, of event names."""

TEMPLATE: Final = "|"
"""Prefix, in the index of call sites, of names that templates see."""


class Frameworks:
    """The framework tables of one language. Immutable after loading.

    A row is one entry of a table, such as one `HandsOver`.
    """

    def __init__(self, raw: Mapping[str, Any], origin: str) -> None:
        kinds = {"hands_over": HandsOver, "event": Event, "queue": Queue, "injection": Injection, "request": Request, "view": View}
        kinds |= {"template": Template, "generated": Generated, "derived": Derived}
        unknown = sorted(set(raw) - set(kinds))
        if unknown:
            raise GrammarError(
                f"{origin} has the unknown tables {', '.join(unknown)}; use only the tables {', '.join(kinds)}", path=origin, line=0
            )
        rows = {name: [_row(kind, row, origin) for row in raw.get(name, ())] for name, kind in kinds.items()}
        self.hands_over: Sequence[HandsOver] = rows["hands_over"]
        self.events: Sequence[Event] = rows["event"]
        self.queues: Sequence[Queue] = rows["queue"]
        self.injections: Sequence[Injection] = rows["injection"]
        self.requests: Sequence[Request] = rows["request"]
        self.templates: Sequence[Template] = rows["template"]
        self.generated: Mapping[str, Mapping[str, Sequence[str]]] = {row.file: row.paths for row in rows["generated"]}
        self.derived: Sequence[Derived] = rows["derived"]
        self._views: Sequence[View] = rows["view"]
        self.views = frozenset(method for row in rows["view"] for method in row.methods)
        for row in self.hands_over:
            if row.rule not in RULES:
                raise GrammarError(
                    f"{origin} names the unknown resolution rule {row.rule!r}; use a key of resolution.rules.RULES", path=origin, line=0
                )
        self._patterns = [(_any_of(row.calls), row) for row in self.hands_over if row.calls]
        self._calls = _any_of([call for row in self.hands_over for call in row.calls])

    @cached_property
    def by_method(self) -> Mapping[str, Sequence[HandsOver]]:
        """Map each method name to the table rows that list it.

        A row (`HandsOver`) describes a call that registers functions with a framework. These rows are for calls such as `x.name()` where
        the type of `x` is unknown.
        """
        found: dict[str, list[HandsOver]] = {}
        for row in self.hands_over:
            for method in row.methods:
                found.setdefault(method, []).append(row)
        return found

    @cached_property
    def requesting(self) -> Mapping[str, Sequence[Request]]:
        """Map each method of a test client, such as `get`, to its table rows.

        A row (`Request`) is the entry of the framework tables that describes the client.
        """
        return {method: [row for row in self.requests if method in row.methods] for one in self.requests for method in one.methods}

    @cached_property
    def routing(self) -> Collection[str]:
        """Return the names of functions and methods that register routes.

        A name is the last part of a dotted name. HTTP methods such as `get` are left out.
        """
        rows = [row for row in self.hands_over if row.rule == "route"] if self.requests else []
        written = {call.rpartition(".")[2].lstrip("*") for row in rows for call in row.calls}
        return (written | {method for row in rows for method in row.methods}) - VERBS  # a client's methods are named like these

    def route_rows(self, name: str) -> Sequence[HandsOver]:
        """Return the table rows (`HandsOver`) that may describe a given call.

        Such a row says which argument of a call is registered as the handler of a route. `name` is the last part of the callee's name.
        """
        return [
            row
            for row in self.hands_over
            if row.rule == "route" and (name in row.methods or any(fnmatchcase(name, call.rpartition(".")[2]) for call in row.calls))
        ]

    def base_name(self, terms: Sequence[Term], call: Call) -> str:
        """Return the beginning of the names of the routes that a call registers.

        For `router.register("carts", CartViewSet)`, the routes are `cart-list` and `cart-detail`, and the beginning is `cart`. The result
        is "" for a call that registers one route.
        """
        _, called, positional, named = call
        for row in self.route_rows(last_name(terms[called])):
            for name, value in named:
                if name in row.base_names and string_of(terms[value]):
                    return string_of(terms[value])
            views = [last_name(terms[positional[at]]) for at in row.functions if isinstance(at, int) and at < len(positional)]
            if row.suffix and views and views[0].endswith(row.suffix):
                return views[0].removesuffix(row.suffix).lower()
        return ""

    @cached_property
    def rows_of_views(self) -> Sequence[HandsOver]:
        """Return the table rows for classes that are registered as named routes.

        An example of such a registration is `Index.as_view("index")`.
        """
        return [row for row in self.hands_over if row.rule == "route" and row.named_views]

    def answers(self, method: str, name: str) -> bool:
        """Whether a method of a view class runs for requests of an HTTP method.

        `method` is the HTTP method and `name` the class's method. For `get`, the names are `get`, `list`, `retrieve` and `dispatch`, among
        others.
        """
        return name == method or any(name in row.always or name in row.actions.get(method, ()) for row in self._views)

    @cached_property
    def template_decorators(self) -> Collection[str]:
        """Return the names of decorators that register functions for templates."""
        return {name for row in self.templates for name in row.decorators}

    @cached_property
    def template_methods(self) -> Collection[str]:
        """Return the names of methods that register functions for templates."""
        return {name for row in self.templates for name in row.methods}

    @cached_property
    def template_holders(self) -> Collection[str]:
        """Return the attributes that map names in templates to functions.

        An example is `filters` in `env.filters["x"] = f`.
        """
        return {name for row in self.templates for name in row.holders}

    def registers(self, terms: Sequence[Term], called: Term) -> bool:
        """Whether a call such as `env.globals.update(x=f)` registers functions.

        `called` is the callee. The functions are registered for templates.
        """
        if called[0] != ATTR:
            return False
        holder = last_name(terms[called[1]]) if called[2] == "update" else ""
        return called[2] in self.template_methods or holder in self.template_holders

    def registered(
        self, terms: Sequence[Term], positional: Sequence[TermIndex], named: Sequence[tuple[str, TermIndex]]
    ) -> Mapping[str, Sequence[TermIndex]]:
        """Map names in templates to the values that a call registers for them.

        For `env.globals.update(x=f)`, the name `x` maps to `f`. `positional` and `named` are the arguments of the call. The values are
        indices of expressions.
        """
        found: dict[str, list[TermIndex]] = {}
        for index in positional[:1]:
            term = terms[index]
            if term[0] == DICT:
                for key, value in zip(term[1], term[2], strict=False):
                    found.setdefault(string_of(terms[key]) if key >= 0 else "", []).append(value)
                continue
            text = [string_of(terms[one]) for one in [*positional[1:2], *(value for name, value in named if name == "name")]]
            found.setdefault(text[0] if text else last_name(term), []).append(index)
        for name, value in named:
            if name not in ("name", "**"):
                found.setdefault(name, []).append(value)
        found.pop("", None)
        return found

    @cached_property
    def makers(self) -> Collection[str]:
        """Return the names of methods that register their receiver.

        An example is `Field` in `CheckoutCreate.Field()`, which registers the class `CheckoutCreate`.
        """
        return {call.rpartition(".")[2] for row in self.hands_over if "." in row.functions for call in row.calls}

    @cached_property
    def connecting(self) -> Mapping[str, Event]:
        """Map method names to table rows, for methods that connect to an event.

        Such a method connects a function, which then runs at the event. An example is `connect` in `saved.connect(f)`. A row (`Event`) is
        the entry of the framework tables that describes the event.
        """
        return {method: event for event in self.events for method in event.connects}

    @cached_property
    def sending(self) -> Mapping[str, Event]:
        """Map method names to table rows, for methods that send an event.

        An example is `send` in `saved.send()`. A row (`Event`) is the entry of the framework tables that describes the event.
        """
        return {method: event for event in self.events for method in event.sends}

    @cached_property
    def decorating(self) -> Mapping[str, Event]:
        """Map names of decorators to table rows, if they connect to an event.

        Such a decorator connects its function, which then runs at the event. An example is `receiver` in `@receiver(saved)`. A row
        (`Event`) is the entry of the framework tables that describes the event.
        """
        return {name: event for event in self.events for name in event.decorators}

    @cached_property
    def queueing(self) -> Mapping[str, Sequence[Queue]]:
        """Map each method that queues a task, such as `delay`, to its table rows.

        A row (`Queue`) is the entry of the framework tables that describes the queue.
        """
        return {method: [row for row in self.queues if method in row.methods] for queue in self.queues for method in queue.methods}

    @cached_property
    def injecting(self) -> Pattern[str]:
        """Return a pattern that matches names of functions such as `Depends`.

        Such a function marks a parameter that gets its value from the framework.
        """
        return _any_of(tuple(call for row in self.injections for call in row.calls))

    def of_method(self, terms: Sequence[Term], call: Call) -> Sequence[HandsOver]:
        """Return the table rows for a method call that may register functions.

        Each row (`HandsOver`) describes one way to register functions with a framework. The receiver's type is unknown here. So a row is
        chosen by the method's name, the receiver's name, and the first argument if that is a string.
        """
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
        """Return the table rows for a library function that registers functions.

        `outside` is the function's (package, name). Each row (`HandsOver`) describes one way to register functions with a framework.
        """
        # Nothing is cached here: a cached name that outlives its file keeps the surrounding memory allocated.
        name = ".".join(part for part in outside if part)
        if self._calls.fullmatch(name) is None:
            return ()
        return tuple(row for pattern, row in self._patterns if pattern.fullmatch(name))

    def events_of_call(self, terms: Sequence[Term], call: Call) -> Iterator[str]:
        """Yield the names of the events to which a call connects a function.

        Examples: `saved.connect(f)`, `bus.on("saved", f)`.
        """
        _, called, arguments, _ = call
        callee = terms[called]
        if callee[0] != ATTR:
            return
        _, base, method = callee
        event = self.connecting.get(method)
        if event is not None and len(arguments) > event.function:
            yield from _names(terms, arguments[:1] if event.is_text else (base,), texts=event.is_text)

    def events_of_decorator(self, terms: Sequence[Term], decorator: Term) -> Iterator[str]:
        """Yield the names of the events to which a decorator connects a function.

        Examples: `@saved.connect`, `@receiver(saved)`, `@saved.connect_via(sender)`, `@bus.on("saved")`.
        """
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
    """Yield the expressions that name events, including those in lists.

    `given` are the arguments of a call. For `@receiver([saved, deleted])`, the results are `saved` and `deleted`.
    """
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


def _row(kind: type[Any], raw: Mapping[str, object], origin: str) -> Any:
    known = {one.name for one in fields(kind)}
    unknown = sorted(set(raw) - known)
    if unknown:
        raise GrammarError(
            f"a row of the table {kind.__name__} in {origin} has the unknown keys {', '.join(unknown)}; use "
            f"only the keys {', '.join(sorted(known))}",
            path=origin,
            line=0,
        )
    return kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in raw.items()})


def _any_of(patterns: Sequence[str]) -> Pattern[str]:
    return compile_pattern("|".join(map(translate, patterns)) or r"(?!)")


@cache
def frameworks_of(folder: str) -> Frameworks:
    """Read the framework tables, `frameworks.toml`, of a folder in `grammars`.

    For the folder "", the tables are empty.

    Raises:
        GrammarError: the file `frameworks.toml` is invalid; the message gives the reason.
    """
    origin = f"grammars/{folder}/frameworks.toml"
    if not folder:
        return Frameworks({}, origin)
    try:
        raw = tomllib.loads((data_root() / origin).read_text(encoding="utf-8"))
        return Frameworks(raw, origin)
    except (OSError, tomllib.TOMLDecodeError, TypeError) as error:
        raise GrammarError(f"the grammar file {origin} cannot be read ({error}); correct the file", path=origin, line=0) from error
