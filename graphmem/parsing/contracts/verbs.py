"""Find the HTTP verbs, such as GET, in a call."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from graphmem.parsing.contracts.end import VERBS
from graphmem.parsing.contracts.source import Site, Source
from graphmem.parsing.contracts.table import Row
from graphmem.parsing.contracts.written import split, strings

_VERB: Final = re.compile(r"\b(?:method|type|Method)\s*[:=]\s*(?:\w+\.)*[\"'`]?(\w+)", re.IGNORECASE)
_LIST_OFVERBS: Final = re.compile(r"\bmethods?\s*=\s*(.*)$", re.DOTALL)


def verb_at(source: Source, site: Site, row: Row, rest: Sequence[str]) -> str:
    """Return the HTTP verbs of a route or request, such as "GET,POST".

    `row.method` tells where in the call `site` the verb is, for example in its name or in a keyword argument. `rest` has the arguments
    after the path. The result "" means that every verb is accepted.
    """
    how = row.method
    everything = ", ".join(site.given)
    if isinstance(how, int):
        return _verb_of(site.given[how]) if how < len(site.given) else ""
    if how == "name":
        verb = (
            site.name.removesuffix(row.strip) if row.strip and site.name.endswith(row.strip) else site.name.removeprefix(row.strip)
        ).upper()
        return {"DEL": "DELETE", "ALL": "", "ANY": "", "MATCH": "", "WEBSOCKET": "GET"}.get(verb, verb)
    if how in VERBS:
        return how
    if how == "begins":
        match = re.match(r"(get|post|put|patch|delete|head)", site.name, re.IGNORECASE)
        return match[1].upper() if match else ""
    if how == "object":
        return verb_in(everything) or (
            "GET" if row.kind == "client" and not re.search(r"\bdata\s*=", everything) else "POST" if row.kind == "client" else ""
        )
    if how == "argument":
        match = re.search(r"\b(?:HttpMethod|Method)\.(\w+)", everything)
        return match[1].upper() if match else site.name.upper() if site.name.upper() in VERBS else ""
    if how == "chain":
        return next((name.upper() for name in site.chain if name.upper() in VERBS), "") or _chain_verb(source, site)
    if how == "chained":
        match = re.match(rf"\s*\.\s*{row.chained}\s*\(([^)]*)\)", source.text[site.end : site.end + 300])
        if match is None and row.chained in site.chain:
            match = list(re.finditer(rf"\b{row.chained}\s*\(([^)]*)\)", source.text[max(0, site.start - 400) : site.start]))[-1]
        return ",".join(_verb_of(one) for one in split(match[1])) if match else ""
    if how == "handler":
        return ",".join(dict.fromkeys(one.upper() for one in re.findall(r"\b(get|post|put|patch|delete|head)\s*\(", " ".join(rest))))
    if how == "methods":
        for one in site.given:
            match = _LIST_OFVERBS.match(one)
            if match:
                return ",".join(one.upper() for one in strings(match[1]))
        return "GET" if site.name in ("add_url_rule",) else ""
    return ""


def verb_in(text: str) -> str:
    """Return the HTTP verb that an object's source text names; "" if none.

    For `{method: "POST", url}`, it is `POST`.
    """
    match = _VERB.search(text)
    return match[1].upper() if match and match[1].upper() in VERBS else ""


def _chain_verb(source: Source, site: Site) -> str:
    match = re.search(r"\.method\(\s*(?:\w+(?:\.|::))*[\"']?(\w+)", source.text[max(0, site.start - 120) : site.start])
    return match[1].upper() if match else ""


def _verb_of(text: str) -> str:
    found = re.search(r"(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\b", re.sub(r"Method(?=[A-Z])", "", text).upper())
    return found[1] if found else ""
