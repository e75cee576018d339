"""Find calls of HTTP clients, and calls that send to a message broker."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from graphmem.parsing.contracts import paths
from graphmem.parsing.contracts.end import ASKS, REFERS, VERBS, End
from graphmem.parsing.contracts.fields import Fields
from graphmem.parsing.contracts.named_paths import referred, route_name
from graphmem.parsing.contracts.passed import Passed, with_argument
from graphmem.parsing.contracts.paths import HOLE
from graphmem.parsing.contracts.source import Site, Source
from graphmem.parsing.contracts.table import Row
from graphmem.parsing.contracts.verbs import verb_at, verb_in
from graphmem.parsing.contracts.written import Lookup, evaluate, split, strings

_SETTING: Final = re.compile(r"""\"\$\{([\w.-]+)(?::([\w.-]+))?\}\"""")
"""A setting with its default: `"${topics.orders:orders}"`."""
_ROOTED: Final = re.compile(r"/|\{\}/|[\w+]+://")
"""Beginning of an address that is complete or lacks only its host."""
_MARK: Final = "/\0"
_METHOD: Final = re.compile(r"\b(?:method|type)\b")
_TELLING: Final = 2
"""Fewest dots of a setting's name that stands for its value: services share `shop.topics.orders`, but `topic` may have two values."""


def client(source: Source, fields: Fields, passed: Passed, site: Site, row: Row) -> Iterator[End]:
    """Yield an `End` for each route that a call of an HTTP client may request.

    `site` is the call. `fields` has the values of attributes, and `passed` the arguments of calls in the file. For `requests.get(url)`,
    there is one `End` for each address that `url` may have. If `url` is a parameter of the function around the call, the addresses are
    those that the calls of the function pass, and the ends are at these calls.
    """
    text = (
        source.object_text(site, row.object)
        if row.object and site.given and site.given[0].startswith("{")
        else source.text_of(site, row.path)
    )
    for one in source.variants(text, site):
        by_callers = list(_of_callers(source, fields, passed, site, row, one))
        for look_up in () if by_callers else fields.readings(one, site.reference.scope):
            verb = verb_at(source, site, row, site.given[1:])
            yield from _requested(source, site, row, verb, one, look_up)
        yield from by_callers


def _of_callers(source: Source, fields: Fields, passed: Passed, site: Site, row: Row, text: str) -> Iterator[End]:
    """Yield requests of the callers that pass an address to the function.

    `fields` has the values of attributes, and `passed` the arguments of calls in the file. `text` is the address in the call `site` of an
    HTTP client. It contains a parameter of the function around the call.
    """
    found = passed.parameter(text, site.reference.scope)
    if found is None:
        return
    marked = evaluate(text, with_argument(source.look_up, found[0], f'"{_MARK}"')).pattern
    if _MARK not in marked or f"/{_MARK}" in marked:  # `/users/${id}` has a path of its own
        return
    verb = verb_at(source, site, row, site.given[1:])
    written = ", ".join(site.given)
    is_passed = row.method == "object" and _METHOD.search(written) is not None and not verb_in(written)
    for caller, argument in passed.arguments(*found):
        if any(other.kind == "client" and other.is_on(caller.receiver) for other in source.table.rows_of(caller.name)):
            continue  # it sends a request itself
        for one in source.variants(argument, caller):
            for look_up in fields.readings(one, caller.reference.scope):
                if _ROOTED.match(evaluate(one, look_up).pattern):
                    given = next((word for text in caller.given for word in strings(text) if word.upper() in VERBS), "")
                    own = given.upper() if is_passed else verb
                    yield from _requested(source, caller, row, own, text, with_argument(look_up, found[0], one))


def _requested(source: Source, site: Site, row: Row, verb: str, text: str, look_up: Lookup) -> Iterator[End]:
    made = evaluate(text, look_up)
    is_relative = source.has_habit("relative_addresses") and not (row.absolute or row.rooted)
    is_relative = is_relative or (row.tests and not row.rooted)
    found = paths.address(made.pattern, relative=is_relative)
    name = route_name(text, row.named, look_up)
    if name:
        yield End(REFERS, "http", f"{verb or '*'} /", site.reference.scope, site.reference.line, "", name, row.framework)
        return
    yield from referred(source, site, verb, text, made.pattern, row.framework)
    if found is None or (row.absolute and not (found.host or made.pattern.startswith(HOLE))):
        return
    if row.rooted and not made.pattern.startswith("/"):
        return
    said = " ".join(dict.fromkeys(word for word in (found.host.replace(HOLE, " ").strip(), *made.names) if word))
    yield End(ASKS, "http", f"{verb or '*'} {found.path}", site.reference.scope, site.reference.line, "", said, row.framework)


def topic(source: Source, site: Site, row: Row) -> Iterator[End]:
    """Yield an `End` for each topic that a call to a message broker names.

    For `producer.send("orders", message)`, the topic is `orders`.
    """
    text = source.text_of(site, row.path)
    for one in split(text.strip("[]{}")) if text else ():
        made = evaluate(one, source.look_up).pattern
        setting = _SETTING.fullmatch(source.injected().get(re.split(r"\W", one)[-1], "")) if made == HOLE else None
        if setting:
            made = setting[2] or (setting[1] if setting[1].count(".") >= _TELLING else HOLE)
        if row.role and made and HOLE not in made and re.fullmatch(r"[\w.:/*#>-]+", made) and not made.startswith("/"):
            yield End(row.role, "topic", made, site.reference.scope, site.reference.line, "", "", row.framework)
