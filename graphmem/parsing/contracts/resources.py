"""Find the routes of resources, and the actions of Rails.

A resource is a name such as `carts`. One call, as `resources :carts` of Rails or `Route::resource('carts', CartController::class)` of
Laravel, declares several routes for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from graphmem.parsing.contracts.end import OFFERS, VERBS, End
from graphmem.parsing.contracts.paths import HOLE
from graphmem.parsing.contracts.routes import UP, Routes
from graphmem.parsing.contracts.source import Site, Source
from graphmem.parsing.contracts.table import Row

_RAILS: Final = re.compile(r"(?:^|/)config/routes(?:/.*)?\.rb$")
_NAMED: Final = re.compile(r"""^(?::(\w+)|["']([^"']*)["'])""")
_ACTION: Final = re.compile(r"""(?:=>|\bto:)\s*["']([\w/]*)#(\w+[?!]?)["']""")
_ELSEWHERE: Final = re.compile(r"(?:=>|\bto:)\s*[^\"'\s]|\bdo\b|\{\s*\|")
"""A route that leads to a redirection, to another program or to a block."""


class Resources:
    """Finds routes of resources, and routes of Rails with their actions.

    Args:
        source: the file.
        routes: the path prefixes of the file; blocks of resources are added to them.
    """

    def __init__(self, source: Source, routes: Routes) -> None:
        self.source = source
        self.routes = routes
        self.is_rails = _RAILS.search(source.facts.path) is not None
        self._controllers: list[tuple[int, int, str]] = []  # first offset, last offset, name of the controller

    def enclose(self, site: Site, row: Row) -> None:
        """Record the path prefix that a resource gives to the routes in its block.

        Inside `resources :carts do … end`, it is `/carts/{}`.
        """
        if not self.is_rails:
            return
        if not row.actions:  # `collection do … end`
            self.routes.enclose(site, UP)
            return
        for name in self._names(site)[:1]:
            inside = self._option(site, "path") or name
            block = self.routes.enclose(site, f"/{inside}" if _is_single(row) else f"/{inside}/{HOLE}")
            if block is not None:
                self._controllers.append((*block, self._option(site, "controller") or (_plural(name) if _is_single(row) else name)))

    def resource(self, site: Site, row: Row) -> Iterator[End]:
        """Yield an `End` for each route of a resource that a call declares."""
        if self.source.has_habit("resources_with_controllers"):
            if not self.is_rails:
                return
            for name in self._names(site):
                controller = self._option(site, "controller") or (_plural(name) if _is_single(row) else name)
                yield from self._actions(site, row, self._option(site, "path") or name, _class_of(controller), ", ".join(site.given))
            return
        written = self.source.argument(site, row.path)
        named = re.match(r"[\"']?(?:\w*\\)*(\w+)(?:::class|[\"'])", site.given[1]) if len(site.given) > 1 else None
        if written is None or named is None:
            return
        after = self.source.text[site.end : site.end + 300].partition(";")[0]
        yield from self._actions(site, row, f"/{HOLE}/".join(written.strip("/").split(".")), named[1], after)

    def _actions(self, site: Site, row: Row, name: str, controller: str, options: str) -> Iterator[End]:
        only, without = _listed(options, "only"), _listed(options, "except") or ()
        for action in row.actions:
            method, verb, *tail = action.split(" ")
            if (only is None or method in only) and method not in without:
                path = self.routes.below(site, name, *tail)
                named = f"{name.strip('/').replace('/', '.')}.{method}" if row.named else ""
                yield End(
                    OFFERS,
                    "http",
                    f"{verb} {path}",
                    site.reference.scope,
                    site.reference.line,
                    f"{controller}.{method}",
                    named,
                    row.framework,
                )

    def route(self, site: Site, row: Row) -> Iterator[End]:
        """Yield an `End` for each route that a call of Rails declares.

        The call is in a file of routes. For `get "/carts" => "carts#index"`, the handler is `CartsController.index`. Without an action,
        Rails takes the last part of the path as the action.
        """
        match = _NAMED.match(site.given[0]) if site.given else None
        if match is None:
            return
        written = match[1] or match[2]
        text = ", ".join(site.given)
        via = re.search(r"\bvia:\s*(.*)$", text, re.DOTALL)
        verbs = [verb for verb in VERBS if re.search(rf"\b{verb}\b", via[1].upper())] if via else []
        up = (UP,) if re.search(r"\bon:\s*:collection\b", text) else ()
        path = self.routes.below(site, *up, re.sub(r"\(\.:format\)$", "", written))
        for verb in verbs or (["*"] if site.name == "match" else [site.name.upper()]):
            yield End(
                OFFERS,
                "http",
                f"{verb} {path}",
                site.reference.scope,
                site.reference.line,
                self._action(site, text, written),
                "",
                row.framework,
            )

    def _action(self, site: Site, text: str, written: str) -> str:
        """Return the class and method that handle a route; "" if unknown.

        `text` has the arguments of the call, and `written` is the path in them.
        """
        inside = [name for first, last, name in self._controllers if first < site.start < last]
        named = _ACTION.search(text)
        parts = written.strip("/").split("/")
        if named:
            controller, action = named[1] or (inside[-1] if inside else ""), named[2]
        elif _ELSEWHERE.search(text):
            return ""
        elif inside:
            controller, action = inside[-1], parts[-1]
        else:
            controller, action = "/".join(parts[:-1]), parts[-1]
        return f"{_class_of(controller)}.{action}" if controller and re.fullmatch(r"[\w/]+", f"{controller}/{action}") else ""

    def _names(self, site: Site) -> list[str]:
        """Return the names of the resources that a call declares.

        For `resources :carts, only: :show`, the name is `carts`.
        """
        found = [_NAMED.match(one) for one in site.given]
        return [match[1] or match[2] for match, one in zip(found, site.given, strict=True) if match and "=>" not in one]

    def _option(self, site: Site, name: str) -> str:
        match = re.search(rf"""\b{name}:\s*(?::(\w+)|["']([^"']*)["'])""", ", ".join(site.given))
        return (match[1] or match[2]).strip("/") if match else ""


def _is_single(row: Row) -> bool:
    return not any(HOLE in action for action in row.actions)


def _listed(options: str, name: str) -> set[str] | None:
    """Return the actions in an option, or None without the option.

    For `only: [:index]` and for `->only('index')`, the action is `index`.
    """
    match = re.search(rf"\b{name}(?::|\s*\()\s*(\[[^\]]*\]|%\w\[[^\]]*\]|:\w+|[\"']\w+[\"'])", options)
    return set(re.findall(r"\w+", match[1].removeprefix("%i").removeprefix("%w"))) if match else None


def _class_of(controller: str) -> str:
    """Return the class of a controller: `CartsController` for `admin/carts`."""
    return "".join(part[:1].upper() + part[1:] for part in controller.rpartition("/")[2].split("_")) + "Controller"


def _plural(name: str) -> str:
    return name if name.endswith("s") else f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
