"""Add the prefix to the paths of routes that another file mounts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from graphmem.contracts.links import MOST
from graphmem.contracts.services import service_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graphmem.contracts.rows import ContractRow


def expanded(rows: Sequence[ContractRow]) -> tuple[list[ContractRow], list[ContractRow]]:
    """Return the places that offer a contract, and the places that use one.

    The places are rows of `contracts.json`. A file may be mounted by another file under a prefix, as by `app.use("/api", carts)`. The names
    of its routes then get the prefix: `GET /carts` becomes `GET /api/carts`.
    """
    mounts: dict[str, list[tuple[str, str]]] = {}
    paths = {row.path for row in rows if row.role == "offers" and row.kind == "http"} | {row.path for row in rows if row.role == "mounts"}
    endings: dict[str, list[str]] = {}
    for path in paths:
        stem = path.rpartition(".")[0]
        names = [stem, *((stem.removesuffix("/index"),) if stem.endswith("/index") else ()), *((stem.removesuffix("/__init__"),))]
        for name in dict.fromkeys(names):
            endings.setdefault(name.rpartition("/")[2], []).append(path)
    for row in rows:
        if row.role == "mounts":
            for path in _mounted(row, endings):
                if path != row.path:
                    mounts.setdefault(path, []).append((row.path, row.name))
    offers = []
    for row in rows:
        if row.role != "offers":
            continue
        if row.kind != "http":
            offers.append(row)
            continue
        verb, _, path = row.name.partition(" ")
        prefixes = _prefixes(row.path, mounts, frozenset())
        offers.extend(row._replace(name=f"{verb} {_joined(prefix, path)}") for prefix in prefixes)
    return offers, [row for row in rows if row.role == "asks"]


def _joined(*parts: str) -> str:
    return "/" + "/".join(part.strip("/") for part in parts if part.strip("/"))


def _prefixes(path: str, mounts: Mapping[str, Sequence[tuple[str, str]]], seen: frozenset[str]) -> list[str]:
    found: list[str] = []
    for outer, prefix in mounts.get(path, ()):
        if outer not in seen:
            found += [_joined(before, prefix) for before in _prefixes(outer, mounts, seen | {path})]
    return list(dict.fromkeys(found)) or [""]


def _mounted(row: ContractRow, endings: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the paths of the files that a row mounts under a prefix.

    For example, the row of `app.use("/api", carts)` mounts the file `carts.js`. If several files match, those in the same service are
    preferred. The result is empty for more than `MOST` files.

    Args:
        row: the place that mounts a module.
        endings: maps the last part of a module's name to paths of files.
    """
    module = row.said
    if not module:
        return []
    if "/" in module or module.startswith("."):
        parts = [
            part
            for part in re.sub(r"\.(?:js|ts|mjs|cjs)$", "", module).replace("\\", "/").split("/")
            if part not in (".", "..", "@", "~", "")
        ]
        if "/" not in module:  # a relative module of Python
            parts = [part for part in module.split(".") if part]
    else:
        parts = module.split(".")
    while parts:
        found = []
        for path in endings.get(parts[-1], ()):
            stem = path.rpartition(".")[0]
            stem = stem.removesuffix("/index") if parts[-1] != "index" else stem
            stem = stem.removesuffix("/__init__")
            if f"/{stem}".endswith("/" + "/".join(parts)):
                found.append(path)
        mine = [path for path in found if service_of(path) == service_of(row.path)] or found
        if mine:
            return mine if len(mine) <= MOST else []
        parts = parts[:-1]  # the last part may be a name inside the module
    return []
