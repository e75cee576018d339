"""Add the prefix to the paths of routes that another file mounts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from graphmem.contracts.links import MOST
from graphmem.contracts.route_names import by_route_name
from graphmem.contracts.services import is_base, service_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from graphmem.contracts.rows import ContractRow


def expanded(rows: Sequence[ContractRow]) -> tuple[list[ContractRow], list[ContractRow]]:
    """Return the places that offer a contract, and the places that use one.

    The places are rows of `contracts.json`. A file may be mounted by another file under a prefix, as by `app.use("/api", carts)`. The names
    of its routes then get the prefix: `GET /carts` becomes `GET /api/carts`.
    """
    mounts: dict[str, list[tuple[str, str]]] = {}
    endings = _endings({row.path for row in rows if (row.role == "offers" and row.kind == "http") or row.role == "mounts"})
    for row in rows:
        if row.role == "mounts":
            for path in _modules(row, row.said, endings):
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
    return offers, [*(row for row in rows if row.role == "asks"), *_by_name(rows), *by_route_name(rows, offers)]


def bases(rows: Sequence[ContractRow]) -> dict[str, str]:
    """Return the path that the client of a service puts before every request.

    `rows` are the places of the project's contracts. The keys of the result are folders of services. For `axios.create({baseURL: "/api"})`,
    the path is `/api`. A service with several such paths is left out.
    """
    found: dict[str, set[str]] = {}
    for row in rows:
        if row.role == "names" and not row.test and is_base(row.said):
            found.setdefault(service_of(row.path), set()).add(row.name.partition(" ")[2])
    return {service: path for service, (path, *more) in found.items() if not more and "{" not in path}


def _by_name(rows: Sequence[ContractRow]) -> Iterator[ContractRow]:
    """Yield the requests whose path is in another module, with that path.

    For `client.get(routes.USERS)` and `USERS = "/users"` in the module `routes`, the request is `GET /users`. A function of the module may
    also return the path.
    """
    held: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        if row.role == "names":
            held.setdefault((row.path, row.said), set()).add(row.name.partition(" ")[2])
    endings = _endings({path for path, _ in held})
    for row in rows:
        if row.role != "refers":
            continue
        module, _, name = row.said.rpartition(" ")
        if not module:
            continue
        found = {one for path in _modules(row, module, endings) for one in held.get((path, name), ())}
        if len(found) == 1:
            verb, _, below = row.name.partition(" ")
            yield row._replace(role="asks", name=f"{verb} {_joined(*found, below)}", said="")


def _endings(paths: Iterable[str]) -> dict[str, list[str]]:
    """Map the last part of a module's name to the paths of such modules.

    For example, "carts" is mapped to `api/carts.js` and `shop/carts/index.js`.
    """
    endings: dict[str, list[str]] = {}
    for path in sorted(paths):
        stem = path.rpartition(".")[0]
        names = [stem, *((stem.removesuffix("/index"),) if stem.endswith("/index") else ()), *((stem.removesuffix("/__init__"),))]
        for name in dict.fromkeys(names):
            endings.setdefault(name.rpartition("/")[2], []).append(path)
    return endings


def _joined(*parts: str) -> str:
    return "/" + "/".join(part.strip("/") for part in parts if part.strip("/"))


def _prefixes(path: str, mounts: Mapping[str, Sequence[tuple[str, str]]], seen: frozenset[str]) -> list[str]:
    found: list[str] = []
    for outer, prefix in mounts.get(path, ()):
        if outer not in seen:
            found += [_joined(before, prefix) for before in _prefixes(outer, mounts, seen | {path})]
    return list(dict.fromkeys(found)) or [""]


def _folder(path: str, module: str) -> str | None:
    """Return the folder of a relative module; None for another module.

    For `../carts` or `..carts` in `app/api/users.py`, the folder is `app`.
    """
    match = re.match(r"((?:\.\.?/)+)|(\.+)", module)
    if match is None:
        return None
    up = match[1].count("../") + 1 if match[1] else len(match[2])
    return "/".join(path.split("/")[:-up])


def _modules(row: ContractRow, module: str, endings: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the paths of the files that a module's name may mean.

    For example, the row of `app.use("/api", carts)` mounts the module `./carts`, which is the file `carts.js`. If several files match,
    those in the same service are preferred. The result is empty for more than `MOST` files.

    Args:
        row: the place that names the module.
        module: the name, as it is imported; its last part may be a name inside the module.
        endings: maps the last part of a module's name to paths of files.
    """
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
    folder = _folder(row.path, module)
    while parts:
        found = []
        for path in endings.get(parts[-1], ()):
            stem = path.rpartition(".")[0]
            stem = stem.removesuffix("/index") if parts[-1] != "index" else stem
            stem = stem.removesuffix("/__init__")
            if f"/{stem}".endswith("/" + "/".join(parts)):
                found.append(path)
        whole = "/".join((folder, *parts)).strip("/") if folder is not None else ""
        named = [path for path in found if whole and path.rpartition(".")[0].removesuffix("/index").removesuffix("/__init__") == whole]
        mine = named or [path for path in found if service_of(path) == service_of(row.path)] or found
        if mine:
            return mine if len(mine) <= MOST else []
        before = parts[-1].rpartition(".")[0]
        parts = [*parts[:-1], before] if before else parts[:-1]  # the last part may be a name inside the module
    return []
