"""Find calls and definitions that may belong to services of gRPC.

A contract is a name on which two programs agree, such as the HTTP route `GET /users` or a message topic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from graphmem.model import FUNCTION_KINDS
from graphmem.parsing.contracts.end import End
from graphmem.parsing.contracts.source import Source, callee_of
from graphmem.parsing.contracts.written import split
from graphmem.parsing.facts import ATTR, CALL, NAME, NEW

_CAPITAL: Final = re.compile(r"\b(?:new\s+)?(?:\w+(?:\.|::))*[A-Z]\w*(?:(?:\.|::)[A-Za-z]\w*)*|\badd_\w+_to_server\b")


def speech(source: Source) -> Iterator[End]:
    """Yield the definitions and calls in a file that may belong to gRPC.

    gRPC calls a method of a service on another machine. Each result is an `End`: a place in code that offers or uses such a method. The
    first result stands for the whole file, and has the role "speaks". Its last field lists the capitalised names in the file, because
    each of them may be the name of a service.
    """
    words = sorted(set(map(" ".join, map(str.split, _CAPITAL.findall(source.text)))))
    yield End("speaks", "grpc", "", 0, 0, "", "\n".join(words))
    for position, definition in enumerate(source.facts.definitions):
        if definition.kind in FUNCTION_KINDS:
            owner = source.facts.definitions[definition.parent].name if definition.parent > 0 else ""
            yield End("defines", "grpc", definition.name, position, definition.name_line, "", owner)
    for reference in source.facts.references:
        if reference.kind != "call":
            continue
        callee = callee_of(source.terms, reference.term)
        term = source.terms[reference.term]
        if callee[0] != ATTR or not (term[0] == CALL and (term[2] or term[3])):
            continue  # a procedure takes a request
        base = source.terms[callee[1]]
        if base[0] in (CALL, NEW):
            inner = source.terms[base[1]]
            receiver = inner[2] if inner[0] == ATTR else inner[1] if inner[0] == NAME else ""
        else:
            receiver = base[2] if base[0] == ATTR else base[1] if base[0] == NAME else ""
        name = callee[2]
        if name == "addService":
            site = source.site(reference, name)
            if site is not None and len(site.given) > 1:
                for one in split(site.given[1].strip("{} \n")):
                    key, _, value = one.partition(":")
                    yield End(
                        "serves",
                        "grpc",
                        key.strip(),
                        reference.scope,
                        reference.line,
                        (value or key).strip().rpartition(".")[2],
                        site.given[0],
                    )
        else:
            yield End("calls", "grpc", name, reference.scope, reference.line, "", receiver)
