"""Find contracts between programs: offers, uses and broken contracts.

A contract is, for example, an HTTP route such as `GET /carts`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from graphmem.contracts.linking import link
from graphmem.contracts.links import Link
from graphmem.contracts.rows import ContractRow
from graphmem.contracts.services import BETWEEN

Text = Callable[[str], str]
"""Returns the text of a file by its joined path; "" if it cannot be read."""


class Found(NamedTuple):
    """A contract such as an HTTP route, with the code that offers and uses it.

    `offered` has the places that offer the contract. `asked` has (place, confidence) of each use. `change` is "removed", "changed" or "".
    """

    kind: str
    name: str
    change: str
    offered: list[ContractRow]
    asked: list[tuple[ContractRow, float]]


def named(project: str, rows: Iterable[ContractRow]) -> list[ContractRow]:
    """Return contract rows with a project's name before path and symbol.

    A row is code that offers or uses a contract, such as a route. The rows come from the project's `contracts.json`. The result is a list
    of new rows.
    """
    return [row._replace(path=f"{project}{BETWEEN}/{row.path}", symbol=row.symbol and f"{project}{BETWEEN}{row.symbol}") for row in rows]


def contracts(rows: Sequence[ContractRow], read: Text) -> list[Found]:
    """Return all contracts, such as HTTP routes, with their uses.

    `rows` are all places that offer or use contracts, and `read` returns the text of a file. The contract with the most uses outside tests
    comes first.
    """
    offered: dict[tuple[str, str], list[ContractRow]] = {}
    asked: dict[tuple[str, str], dict[tuple[str, int, str], tuple[ContractRow, float]]] = {}
    for row in rows:
        if row.role in ("offers", "declares") and not row.test:
            offered.setdefault((row.kind, row.name), []).append(row)
    links = [one for one in link(rows) if one.rule != "program"]
    for one in links:
        key = (one.offers.kind, one.offers.name) if one.rule != "rpc" else ("grpc", one.offers.name)
        offered.setdefault(key, [])
        if one.offers not in offered[key]:
            offered[key].append(one.offers)
        asked.setdefault(key, {})[one.asks.path, one.asks.line, one.asks.qualname] = (one.asks, one.confidence)
    for key, places in offered.items():
        if key[0] == "field":
            for row, confidence in _field_uses(places[0], rows, links, read):
                asked.setdefault(key, {})[row.path, row.line, row.qualname] = (row, confidence)
    found = [Found(kind, name, "", places, [*asked.get((kind, name), {}).values()]) for (kind, name), places in offered.items()]
    return sorted(found, key=_most_used)


def _most_used(found: Found) -> tuple[int, int, str, str]:
    in_product = sum(not row.test for row, _ in found.asked)
    return -in_product, -len(found.asked), found.kind, found.name


def _field_uses(field: ContractRow, rows: Sequence[ContractRow], links: Sequence[Link], read: Text) -> list[tuple[ContractRow, float]]:
    """Return (place, confidence) of code that uses a field of a gRPC message.

    A place calls or implements a procedure that has the message in its declaration, directly or inside another message. The place's file
    must contain the name of the field. At most one place of each file is returned.

    Args:
        field: the declaration of the field.
        rows: places of contracts, with the declarations of messages and procedures.
        links: links from calls of procedures to their implementations.
        read: returns the text of a file.
    """
    message, _, name = field.name.rpartition(".")
    short = message.rpartition(".")[2]
    holding = {short}
    fields = [row for row in rows if row.role == "declares" and row.kind == "field"]
    for _ in range(len(fields)):
        more = {
            row.name.rpartition(".")[0].rpartition(".")[2]
            for row in fields
            if holding & set(re.findall(r"\w+", row.said.rpartition(" ")[0]))
        }
        if more <= holding:
            break
        holding |= more
    procedures = {row.name for row in rows if row.role == "declares" and row.kind == "grpc" and holding & set(row.said.split())}
    camel = "".join(part[:1].upper() + part[1:] for part in name.split("_"))
    written = re.compile(
        rf"\b(?:{re.escape(name)}|{camel[:1].lower()}{camel[1:]}|(?:[gs]et_?)?{camel})\b|\b[gs]et{camel}|\b(?:set_)?{re.escape(name)}\b"
    )
    found: dict[tuple[str, str], tuple[ContractRow, float]] = {}
    for one in links:
        if one.rule == "rpc" and one.offers.name in procedures:
            for row in (one.asks, one.offers):
                if row.path not in {path for path, _ in found} and written.search(read(row.path)):
                    found[row.path, row.qualname] = (row, round(one.confidence * 0.8, 3))
    return list(found.values())


def broken(now: Sequence[ContractRow], before: Sequence[ContractRow], changed: Collection[str], read: Text) -> list[Found]:
    """Return contracts that a change removed or changed, with their uses.

    A contract is removed if, after the change, no code offers it and no changed file declares it. A declaration in an unchanged file is
    ignored, because it may be a copy of the schema. A contract is changed if its declaration has another text.

    Args:
        now: the rows of all projects after the change.
        before: the rows of the changed files before the change.
        changed: the paths of the changed files.
        read: reads a current file.
    """
    present = {(row.kind, row.name) for row in now if row.role == "offers" or (row.role == "declares" and row.path in changed)}
    declared = {(row.path, row.kind, row.name): row.said for row in now if row.role == "declares"}
    found: list[Found] = []
    for row in before:
        if row.role not in ("offers", "declares") or row.test:
            continue
        key = (row.kind, row.name)
        change = (
            "removed"
            if key not in present
            else "changed"
            if row.role == "declares" and declared.get((row.path, *key), row.said) != row.said
            else ""
        )
        if change and key not in {(one.kind, one.name) for one in found}:
            kept = [one for one in now if (one.kind, one.name) != key or one.role not in ("offers", "declares")]
            lost = [one for one in before if (one.kind, one.name) == key]
            servers = [one for one in before if one.role in ("speaks", "serves", "defines") and row.kind == "grpc"]
            found += [one._replace(change=change) for one in contracts([*kept, *lost, *servers], read) if (one.kind, one.name) == key]
    return found
