"""Find constants and functions of a module that hold the paths of routes.

Clients and tests often name them instead of writing the path: `client.get(routes.user(id))`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.parsing.contracts.end import NAMES, REFERS, End
from graphmem.parsing.contracts.habits import has_habit
from graphmem.parsing.contracts.paths import HOLE, address
from graphmem.parsing.contracts.written import MAX_DEPTH, evaluate

if TYPE_CHECKING:
    from graphmem.parsing.contracts.source import Site, Source
    from graphmem.parsing.contracts.written import Lookup
    from graphmem.parsing.facts import FileFacts

_PATH: Final = re.compile(rb"""["'`](?:\$?\{[\w.]+\})?/[\w{]""")
_CALLED: Final = re.compile(r"""(?:f["']\{)?(\$?[A-Za-z_][\w$]*(?:(?:\.|->)[A-Za-z_]\w*)*)(?:\(\s*["']([\w:.-]+)["'])?""")
"""A name, perhaps of a function that is called with a string first."""
_REFERENCE: Final = re.compile(r"(?:f[\"']\{|`\$\{)?([A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)")


def may_name_paths(facts: FileFacts, source: bytes) -> bool:
    """Whether a file may hold paths of routes in constants or functions."""
    return has_habit(facts.language, "named_paths") and _PATH.search(source) is not None


def named_paths(source: Source) -> Iterator[End]:
    """Yield an `End` for each constant or function that holds a route's path.

    For `USERS = "/api/users"`, the path is `/api/users` and the name is `USERS`.
    """
    for position, one in enumerate(source.facts.definitions):
        is_function = one.kind == "function"
        if one.parent == 0 and (is_function or one.kind == "variable"):
            yield from _named(source, position, one.name_line, one.name, source.look_up(f"{one.name}()" if is_function else one.name))
    for name, text in source.entries().items():
        yield from _named(source, 0, 1, name.removesuffix("()"), text)


def _named(source: Source, scope: int, line: int, name: str, text: str | None) -> Iterator[End]:
    found = address(evaluate(text, source.look_up).pattern, relative=False) if text and "/" in text else None
    if found is not None and not found.host.strip("{}"):
        yield End(NAMES, "http", f"* {found.path}", scope, line, "", name)


def route_name(text: str, makers: Sequence[str], look_up: Lookup) -> str:
    """Return the name of the route whose path an expression is; "" for others.

    For `reverse("cart")` and `cart_path(1)`, the name is `cart`.

    Args:
        text: source of the expression.
        makers: names of functions that return the path of a named route, such as `reverse`. A pattern such as `*_path` stands for
            functions whose own name contains that of the route.
        look_up: returns the expression that a name in `text` stands for.
    """
    for _ in range(MAX_DEPTH if makers else 0):
        match = _CALLED.match(text)
        if match is None:
            return ""
        called = match[1].rpartition(".")[2]
        for maker in makers:
            if maker == called and match[2]:
                return match[2]
            if maker.startswith("*") and called.endswith(maker[1:]):
                return called.removesuffix(maker[1:])
        text = look_up(match[1]) or ""
    return ""


def referred(source: Source, site: Site, verb: str, text: str, pattern: str, framework: str) -> Iterator[End]:
    """Yield an `End` for a request whose path another module names.

    Args:
        source: the file.
        site: the call of the client.
        verb: the HTTP verb, or "" for any.
        text: the source of the address, such as `routes.user(id)` or `f"{routes.USERS}/new"`.
        pattern: the value of the address as far as the file shows it, such as `{}` or `{}/new`.
        framework: the client's framework.
    """
    match = _REFERENCE.match(text)
    for _ in range(MAX_DEPTH):
        if match is None or not pattern.startswith(HOLE) or source.module_of(match[1]):
            break
        called = text.startswith("(", match.end(1))
        text = source.look_up(f"{match[1]}()" if called else match[1]) or ""
        match = _REFERENCE.match(text)
    module = source.module_of(match[1]) if match and pattern.startswith(HOLE) else ""
    if match and module:
        name = match[1].rpartition(".")[2] if "." in match[1] else re.split(r"[./]", module)[-1]
        below = pattern.removeprefix(HOLE).partition("?")[0]
        said = f"{module} {name}"
        yield End(REFERS, "http", f"{verb or '*'} {below}", site.reference.scope, site.reference.line, "", said, framework)
