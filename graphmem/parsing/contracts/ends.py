"""Find the ends of contracts in one file, such as routes and requests.

An end is a place in code that offers or uses a contract. Both sides write the contract's name in the same normal form, such as `GET
/users/{}`, so that they can be matched. The table `grammars/contracts.toml` lists the names of the calls to examine.

A contract is a name on which two programs agree, such as the HTTP route `GET /users` or a message topic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from graphmem.parsing.contracts.annotations import Annotations
from graphmem.parsing.contracts.by_path import by_path
from graphmem.parsing.contracts.clients import client, topic
from graphmem.parsing.contracts.end import End
from graphmem.parsing.contracts.fields import Fields
from graphmem.parsing.contracts.habits import has_habit
from graphmem.parsing.contracts.named_paths import may_name_paths, named_paths
from graphmem.parsing.contracts.passed import Passed
from graphmem.parsing.contracts.programs import begins, program
from graphmem.parsing.contracts.resources import Resources
from graphmem.parsing.contracts.routes import Routes
from graphmem.parsing.contracts.schemas import schema_ends
from graphmem.parsing.contracts.source import Site, Source, callee_of
from graphmem.parsing.contracts.speech import speech
from graphmem.parsing.contracts.table import Row, table_of
from graphmem.parsing.facts import ATTR, NAME, FileFacts, Reference

_GENERATED: Final = re.compile(
    r"(?:_pb2(?:_grpc)?\.pyi?|\.pb(?:\.\w+)?\.(?:go|cc|h)|_grpc\.pb\.go|_pb\.(?:js|d\.ts|rb)|_grpc_pb\.js|_pb_service\.\w+)$"
)
_RPC: Final = (b"grpc", b"Grpc", b"gRPC", b"GRPC", b"_pb2", b"genproto")


def ends_of(facts: FileFacts, source: bytes) -> tuple[tuple[object, ...], ...]:
    """Return the ends of contracts in a file, as tuples sorted by line.

    An end is a place in code that offers or uses a contract, such as an HTTP route. Each tuple has the fields of `End`.
    """
    if facts.language == "text":
        return tuple(tuple(End(*one)) for one in schema_ends(facts.path, source))
    if _GENERATED.search(facts.path):
        return ()
    table = table_of(facts.language)
    terms = facts.terms
    sites: list[tuple[Reference, str]] = []
    for reference in facts.references:
        if reference[0] == "call":
            callee = callee_of(terms, reference[2])
            if callee[0] == ATTR or callee[0] == NAME:
                name = callee[-1]
                if table.rows_of(name):
                    sites.append((reference, str(name)))
    annotated = bool(table.annotated) and (
        any(one.decorators for one in facts.definitions) or (has_habit(facts.language, "annotations_in_comments") and b"@Route" in source)
    )
    speaks = any(word in source for word in _RPC) or (has_habit(facts.language, "stubs_in_packages") and b"pb.New" in source)
    of_path = [*by_path(facts), *begins(facts, source, table)]
    names_paths = may_name_paths(facts, source)
    if not sites and not annotated and not speaks and not of_path and not names_paths:
        return ()
    parsed = Source(facts, source.decode("utf-8", "replace"), table)
    ends = {tuple(end) for end in (*of_path, *_all(parsed, sites, annotated=annotated, speaks=speaks))}
    if names_paths:
        ends.update(tuple(end) for end in named_paths(parsed))
    return tuple(sorted(ends, key=_place))


def _all(source: Source, calls: Sequence[tuple[Reference, str]], *, annotated: bool, speaks: bool) -> Iterator[End]:
    routes = Routes(source)
    resources = Resources(source, routes)
    fields, passed = Fields(source), Passed(source)
    sites = [site for reference, name in calls if (site := source.site(reference, name)) is not None]
    sites.sort(key=lambda site: site.start)
    for site in sites:
        for row in source.table.rows_of(site.name):
            if row.kind == "prefix":
                routes.prefix(site, row)
            elif row.kind == "resource":
                resources.enclose(site, row)
    for site in sites:
        for row in source.table.rows_of(site.name):
            if row.kind == "mount":
                routes.mounted_here(site, row)
    for site in sites:
        taken = False
        for row in source.table.rows_of(site.name):
            if taken or not _is_on(row, site) or not source.holds(row):
                continue
            if (row.tests and source.has_block(site)) or (row.awaited and not source.is_awaited(site)):
                continue
            if row.kind == "route":
                made = list(resources.route(site, row) if resources.is_rails else routes.route(site, row))
            elif row.kind == "resource":
                made = list(resources.resource(site, row))
            elif row.kind == "client":
                made = list(client(source, fields, passed, site, row))
            elif row.kind == "program":
                made = list(program(source, site, row))
            elif row.kind == "topic":
                made = list(topic(source, site, row))
            elif row.kind == "mount":
                yield from routes.mount(site, row)
                continue
            else:
                continue
            taken = bool(made)
            yield from made
    if annotated:
        yield from Annotations(source, routes.prefixes).all()
    if speaks:
        yield from speech(source)


def _is_on(row: Row, site: Site) -> bool:
    """Whether a row of the table applies to a call, by the call's receiver.

    In `app.get(url)`, the receiver is `app`. In `request.httpClient().get(url)`, the receiver of `get` is the result of `httpClient`.
    """
    return row.is_on(site.receiver) or (row.kind == "client" and bool(site.chain) and row.is_on(site.chain[0]))


def _place(end: tuple[Any, ...]) -> tuple[int, str]:
    return end[4], repr(end)
