"""Find the paths of requests that give the name of a route.

Examples are `client.get(reverse("cart"))` of Django, `route("carts.show")` of Laravel and `get cart_path(1)` of Rails.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.contracts.links import MOST

if TYPE_CHECKING:
    from graphmem.contracts.rows import ContractRow

HOLE: Final = "{}"
_SEPARATOR: Final = re.compile(r"[:.]")
_BEFORE: Final = ("new", "edit")
"""Last segments of a path that come first in the name of a route of Rails."""


def by_route_name(rows: Sequence[ContractRow], offers: Sequence[ContractRow]) -> Iterator[ContractRow]:
    """Yield the requests that name a route, with the path of the route.

    `rows` are all rows of `contracts.json`, and `offers` the routes with their whole paths. A request with more than `MOST` routes of
    its name is left out.
    """
    asked = [row for row in rows if row.role == "refers" and row.said and " " not in row.said]
    if not asked:
        return
    routes: dict[str, list[ContractRow]] = {}
    for one in offers:
        if one.kind == "http":
            for name in dict.fromkeys(_names(one)):
                routes.setdefault(name, []).append(one)
    for row in asked:
        group, name = _parts(row.said)
        whole = routes.get(row.said) or _of_group(group, routes.get(row.said.rpartition(":")[2], []))
        found = whole or _of_group(group, routes.get(name, [])) or routes.get(row.said.replace("_", ""), [])
        paths = dict.fromkeys(one.name.partition(" ")[2] for one in found)
        for path in paths if len(paths) <= MOST else ():
            yield row._replace(role="asks", name=f"{row.name.partition(' ')[0]} {path}", said="")


def _names(route: ContractRow) -> Iterator[str]:
    """Yield the names by which requests may refer to a route.

    If the code gives the route no name, it has the name of its function, as in Flask, and the name that Rails makes of its path.
    """
    if route.said:
        yield route.said
        yield _parts(route.said)[1]
        return
    yield route.qualname.rpartition(".")[2]
    yield path_name(route.name.partition(" ")[2])


def path_name(path: str) -> str:
    """Return the name that Rails gives to a path, without underscores.

    For `/carts/{}/edit`, the name is `editcart`. Underscores are left out, because a folder and a word of a name are joined alike.
    """
    parts = [part for part in path.split("/") if part]
    first = parts.pop() if parts and parts[-1] in _BEFORE else ""
    words = [
        _single(part) if parts[at + 1 : at + 2] == [HOLE] or (first == "new" and at == len(parts) - 1) else part
        for at, part in enumerate(parts)
        if part != HOLE
    ]
    return "".join((first, *words)).replace("_", "").replace("-", "")


def _single(word: str) -> str:
    return f"{word[:-3]}y" if word.endswith("ies") else word[:-2] if word.endswith(("sses", "xes", "ches")) else word.removesuffix("s")


def _parts(name: str) -> tuple[str, str]:
    """Return (group, last part) of a route's name: ("shop", "cart").

    In this example, the name is `shop:cart`. The group is "" for a name without a group.
    """
    *before, last = _SEPARATOR.split(name)
    return before[-1] if before else "", last


def _of_group(group: str, found: Sequence[ContractRow]) -> Sequence[ContractRow]:
    """Return the routes whose files have the group's name in their path.

    All routes are returned if no path has it.
    """
    return [one for one in found if group and group in re.split(r"[/.]", one.path)] or found
