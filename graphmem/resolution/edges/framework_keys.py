"""Find the keys under which functions are registered with a framework.

A key is the path of a route, or the name of an event, a command or a task. A key is recorded if it is a literal, as in `path("x/", view)`,
`@app.route("/x")` and `@task(name="mail.send")`. It is also recorded if it is an event object, as in `saved.connect(f)` and
`@receiver(saved)`. Computed keys are not recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.parsing.contracts.end import OFFERS
from graphmem.parsing.contracts.paths import joined, route_path
from graphmem.parsing.facts import CALL, STRING, Call, FileFacts, Term
from graphmem.parsing.language import language_spec
from graphmem.resolution.framework_tables.framework_rows import HandsOver
from graphmem.resolution.framework_tables.frameworks import EVENT
from graphmem.resolution.symbol_rows import PATH_ARGUMENTS, entry_rule, written
from graphmem.resolution.values.terms import last_name

if TYPE_CHECKING:
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.values.symbol import Symbol

NAMED_BY: Final = {
    "route": PATH_ARGUMENTS,
    "command": ("name",),
    "event": ("event", "event_type", "name"),
    "task": ("name",),
}
"""Kinds of keys, with the arguments that may contain the key.

By default it is the first argument.
"""


def handed_over(terms: Sequence[Term], call: Call, row: HandsOver) -> str:
    """Return the key, such as a route, under which a call registers functions.

    `row` is the row of the framework tables that fits the call. The result is "" if the call has no key.
    """
    return "" if row.rule not in NAMED_BY or 0 in row.functions else _name(terms, call, NAMED_BY[row.rule])


def decorated(entry: FileEntry, symbol: Symbol) -> Iterator[tuple[str, str, str]]:
    """Yield (kind, key, framework) for each key in a function's decorators.

    A key is the string or object under which a framework knows the function, such as a route. `symbol` is the function. For
    `@app.route("/x")`, the kind is `route` and the key is `/x`.
    """
    terms = entry.terms
    definition = entry.definitions[symbol.index]
    spec = language_spec(entry.facts.language)
    for decorator in definition.decorators:
        for name in entry.frameworks.events_of_decorator(terms, terms[decorator]):
            yield "event", name.removeprefix(EVENT), _connects(entry, terms[decorator])
        call = terms[decorator]
        if call[0] != CALL:
            continue
        one = written(spec, terms, decorator)
        rules = (rule for rule in spec.entry_points if rule.decorator and rule.kind in NAMED_BY)
        rule = entry_rule(rules, entry.facts, definition, (one,)) if one is not None else None
        if rule is not None:
            name = _name(terms, call, NAMED_BY[rule.kind])
            if name:
                yield rule.kind, name, ""


def offered(facts: FileFacts, index: int) -> list[str]:
    """Return the paths of the HTTP routes that a definition offers.

    `index` is the definition in its file. Each path has its prefixes and the normal form of a contract, such as `/users/{}`.
    """
    return list(dict.fromkeys(end[2].partition(" ")[2] for end in facts.ends if end[3] == index and end[:2] == (OFFERS, "http")))


def with_prefix(name: str, routes: list[str]) -> str:
    """Return the path of a route with the prefixes of its class and router.

    For `/{id}` below `/users`, the result is `/users/{id}`. `routes` has the whole paths of the definition's routes in normal form, and the
    one that ends like `name` is removed from it. If there is none, the result is `name`.
    """
    own = route_path(name)
    whole = next((path for path in routes if path == own or path.endswith(own) or own == "/"), None)
    if whole is None:
        return name
    routes.remove(whole)
    return name if whole == own else whole if own == "/" else joined(whole.removesuffix(own), name)


def _connects(entry: FileEntry, decorator: Term) -> str:
    """Return the framework of the event that a decorator connects to.

    The decorator connects its function to the event. The result is "" for other decorators.
    """
    name = last_name(entry.terms[decorator[1]] if decorator[0] == CALL else decorator)
    event = entry.frameworks.decorating.get(name) or entry.frameworks.connecting.get(name)
    return event.framework if event is not None else ""


def _name(terms: Sequence[Term], call: Call, keywords: Sequence[str]) -> str:
    _, _, positional, named = call
    given = [*positional[:1], *(value for keyword in keywords for name, value in named if name == keyword)]
    return next((term[1] for one in given if (term := terms[one])[0] == STRING), "")
