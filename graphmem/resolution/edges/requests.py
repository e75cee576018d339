"""Find the route handlers that answer requests in tests.

For `client.get("/users")` in a test, an edge leads to the function that is registered for `/users`. The table `request` of
`frameworks.toml` describes the test clients. Routes come from decorators and from the table `hands_over`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import ATTR, CALL, NO_TERM, OPERATOR, Reference, Term, TermIndex
from graphmem.resolution.edges import framework_keys
from graphmem.resolution.edges.target import Target
from graphmem.resolution.files.call_index import CallSite
from graphmem.resolution.files.file_entry import FileEntry
from graphmem.resolution.framework_tables import routes
from graphmem.resolution.framework_tables.framework_rows import HandsOver, Request
from graphmem.resolution.framework_tables.routes import ROUTE
from graphmem.resolution.rules import AMBIGUOUS_LIMIT, RULES
from graphmem.resolution.values.symbol import CLASS_KINDS, FUNCTION_KINDS, Symbol
from graphmem.resolution.values.terms import arguments_of, call_at, last_name, string_of
from graphmem.resolution.values.types import BOX, CLASS, EXT, EXTI, FUNC, MODULE, OBJ, PARTIAL, TUP, Type, ordered

if TYPE_CHECKING:
    from graphmem.resolution.interfaces.inference import Inference

_WORDS: Final = re.compile(r"[/_.-]")


class Requests:
    """Finds the route handlers that answer the requests in one test file."""

    def __init__(self, inference: Inference, entry: FileEntry) -> None:
        self.inference = inference
        self.project = inference.project
        self.entry = entry
        self.tables = entry.frameworks

    def answering(self, reference: Reference, receiver: TermIndex, name: str) -> list[Target]:
        """Return the handlers of the routes that answer a test's request.

        In `client.get("/users")`, `receiver` is the expression `client`, and `name` is `get`.
        """
        terms = self.entry.terms
        rows = [row for row in self.tables.requesting[name] if self._is_client(reference, receiver, row)]
        arguments = arguments_of(terms[reference.term])
        at = 1 if name in ("request", "stream") else 0
        if not rows or len(arguments) <= at:
            return []
        method = string_of(terms[arguments[0]]).lower() if at else name.partition("_")[0]
        asked = terms[arguments[at]]
        if asked[0] == OPERATOR and asked[1] == "+":
            asked = terms[asked[2]]
        named = asked[0] == CALL and any(last_name(terms[asked[1]]) in row.by_name for row in rows)
        if named:
            names = arguments_of(asked)
            return self._shared(self._named_routes(string_of(terms[names[0]]) if names else "", method))
        callee = terms[asked[1]] if asked[0] == CALL else asked
        if callee[0] == ATTR and any(callee[2] in row.filled for row in rows):
            asked = terms[callee[1]]
        path = string_of(asked)
        return self._shared(self._routes(path, method, reference.scope)) if "/" in path else []

    def _shared(self, found: Sequence[Symbol]) -> list[Target]:
        """Return the handlers of one request as targets.

        `found` are the handlers. The confidence of the rule `request` is divided equally among them. The result is empty for more than
        `AMBIGUOUS_LIMIT` handlers.
        """
        if len(found) > AMBIGUOUS_LIMIT:
            return []
        return [Target(symbol, None, "request", round(RULES["request"].confidence / len(found), 3)) for symbol in found]

    def _is_client(self, reference: Reference, receiver: TermIndex, row: Request) -> bool:
        terms = self.entry.terms
        held = terms[receiver]
        while held[0] == CALL:
            held = terms[held[1]]
        if any(fnmatchcase(last_name(held), pattern) for pattern in row.on):
            return True
        outside = [
            atom[2]
            for atom in ordered(self.inference.expanded(self.inference.term(self.entry, reference.scope, receiver, reference.line)))
            if atom[0] in (EXT, EXTI)
        ]
        return any(fnmatchcase(part.partition("(")[0], pattern) for name in outside for part in name.split(".") for pattern in row.on)

    def _named_routes(self, text: str, method: str) -> list[Symbol]:
        """Return the handlers of the routes that have a given name.

        `text` is the name, such as `blueprint.name`. `method` is the HTTP method, or "" for any. If no route has the name, functions of
        this name with a route decorator are returned.
        """
        name = text.replace(":", ".").rpartition(".")[2]
        found = [symbol for site, _ in self._route_sites(f"{ROUTE}:{name}", -1) for symbol in self._handlers(site, method)] if name else []
        if not found and name:
            for symbol in self.project.named(name):
                entry = self.project.files[symbol.path]
                if symbol.kind in FUNCTION_KINDS and not entry.in_tests:
                    keys = framework_keys.decorated(self.project.entry(symbol), symbol)
                    found += [symbol for kind, _, _ in keys if kind == "route"][:1]
        return list(dict.fromkeys(found or self._of_group(name, method)))

    def _of_group(self, name: str, method: str) -> Iterator[Symbol]:
        """Yield the class that handles the route `cart-list`, and its method.

        The class is registered under `cart`. The rest of the route's name, such as `list` or `detail`, is the name of the method.
        """
        for at in (at for at, letter in enumerate(name) if letter == "-"):
            action = name[at + 1 :].replace("-", "_")
            for site, _ in self._route_sites(f"{ROUTE}:{name[:at]}-", -1):
                for symbol in self._registered(site):
                    if symbol.kind in CLASS_KINDS:
                        yield symbol
                        owner = self.inference.owner(symbol, action)
                        yield from self.inference.functions(owner, action) if isinstance(owner, Symbol) else ()

    def linked(self, text: str) -> Sequence[Symbol]:
        """Return the handlers of the route that `text` (`blueprint.name`) names.

        If several routes match, a handler is preferred if the path of its file contains the blueprint's name. Of the preferred handlers,
        those nearest to this file are returned. The result is empty for more than `AMBIGUOUS_LIMIT` handlers.
        """
        found = self._named_routes(text, "")
        group = text.replace(":", ".").rpartition(".")[0].rpartition(".")[2]
        found = [symbol for symbol in found if group and any(group in part for part in symbol.path.split("/"))] or found
        found = nearest(self.entry.path, found)
        return found if len(found) <= AMBIGUOUS_LIMIT else ()

    def _routes(self, path: str, method: str, scope: int) -> list[Symbol]:
        """Return the handlers of the routes that match a request's path best.

        `path` and `method` are those of the request, and `scope` is the function that sends the request. A handler is a function that
        answers requests to a route.
        """
        found: list[tuple[routes.Match, CallSite]] = []
        for key in routes.keys_of_request(path):
            for site, text in self._route_sites(key, scope):
                module = PurePosixPath(site.path).stem
                score = routes.match(text, path, module) if self._takes(site, method) else None
                if score is not None:
                    found.append((score, site))
        for best in sorted({score for score, _ in found}, reverse=True):
            handlers = [symbol for score, site in found if score == best for symbol in self._handlers(site, method)]
            if handlers:
                return list(dict.fromkeys(handlers))
        return []

    def _route_sites(self, key: str, scope: int) -> Iterator[tuple[CallSite, str]]:
        """Yield (call, route) for each call that registers a route under a key.

        The index of calls contains each route under two keys:

        - one for the path of the route: "/" and the last fixed segment of the path;
        - one for the name of the route: `ROUTE`, a colon and the name.

        A registration in a test file is used only for requests in the same scope or in a scope inside it. If too many calls have the key,
        nothing is yielded.
        """
        sites, are_all = self.project.call_sites(key)
        for site in sites if are_all else ():
            other = self.project.files[site.path]
            if other.in_tests and (other is not self.entry or site.scope not in self._around(scope)):
                continue
            self.project.touch("passed", site.path, other.definitions[site.scope].qualname, key)
            arguments = arguments_of(other.terms[site.term])
            yield site, string_of(other.terms[arguments[0]]) if arguments else ""

    def _around(self, scope: int) -> Iterator[int]:
        while scope >= 0:
            yield scope
            scope = self.entry.definitions[scope].parent

    def _takes(self, site: CallSite, method: str) -> bool:
        """Whether a registration such as `@app.get` accepts an HTTP method."""
        terms = self.project.files[site.path].terms
        call = terms[site.term]
        written = last_name(terms[call[1]]) if call[0] == CALL and site.decorated >= 0 else ""
        return written not in routes.VERBS or written == method

    def _handlers(self, site: CallSite, method: str) -> Iterator[Symbol]:
        """Yield the functions that a route registration runs for an HTTP method.

        `method` is "" for any. The registration may be `Index.as_view("index")`, which names the route of a class.
        """
        entry = self.project.files[site.path]
        if site.decorated >= 0:
            yield entry.symbols[site.decorated]
            return
        found = list(self._registered(site))
        functions = [symbol for symbol in found if symbol.kind in FUNCTION_KINDS]
        answering = [one for one in functions if one.kind != "method" or not method or self.tables.answers(method, one.name)]
        yield from answering or (symbol for symbol in found if symbol.kind in CLASS_KINDS)

    def _registered(self, site: CallSite) -> Iterator[Symbol]:
        """Yield the functions and classes that a call registers for a route."""
        entry = self.project.files[site.path]
        terms = entry.terms
        _, called, positional, keywords = call_at(terms, site.term)
        view = self._view_of(terms, site.term)
        rows = self.tables.route_rows(last_name(terms[called])) if view < 0 else self.tables.rows_of_views
        for row in rows:
            for index in given(row, (), positional, keywords) if view < 0 else (view,):
                of_class = self._view_of(terms, index)
                index = of_class if of_class >= 0 else index
                value = self.inference.expanded(self.inference.term(entry, site.scope, index, site.line))
                yield from registered(self.inference, value, row)

    def _view_of(self, terms: Sequence[Term], index: TermIndex) -> TermIndex:
        """Return the index of the class in `Index.as_view()`; -1 for others.

        `index` is the index of the whole expression `Index.as_view()`. The called method may be any method in the table `view`.
        """
        found = terms[index]
        callee = terms[found[1]] if found[0] == CALL else found
        return callee[1] if found[0] == CALL and callee[0] == ATTR and callee[2] in self.tables.views else NO_TERM


def nearest(path: str, found: Sequence[Symbol]) -> list[Symbol]:
    """Return the symbols whose files are nearest to a path.

    The nearest files have the most leading words of their paths in common with `path`. `app/users/urls.py` is near `app/users/views.py`.
    """
    words = _WORDS.split(path)
    pairs = [zip(words, _WORDS.split(symbol.path), strict=False) for symbol in found]
    shared = [sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], both)) for both in pairs]
    return [symbol for symbol, count in zip(found, shared, strict=True) if count == max(shared)]


def registered(inference: Inference, value: Type, row: HandsOver) -> Iterator[Symbol]:
    """Yield the functions and classes in an argument passed to a framework.

    `value` is the type of the argument: a function, a class, or a list or object that contains them. For a class, its methods that `row`
    lists are added.
    """
    for atom in ordered(value):
        if atom[0] == FUNC:
            yield atom[1]
        elif atom[0] == CLASS:
            yield atom[1]
            for name in row.members:
                owner = inference.owner(atom[1], name)
                if isinstance(owner, Symbol):
                    yield from inference.functions(owner, name)
        elif atom[0] == MODULE and row.texts:
            yield inference.project.files[atom[1]].symbols[0]
        elif atom[0] == PARTIAL:
            yield from registered(inference, inference.expanded(atom[1]), row)
        else:
            parts = atom[2] if atom[0] == BOX else atom[1] if atom[0] == TUP else [part for _, part in atom[1]] if atom[0] == OBJ else ()
            for part in parts:
                yield from registered(inference, inference.expanded(part), row)


def given(
    row: HandsOver, receiver: Sequence[TermIndex], positional: Sequence[TermIndex], named: Sequence[tuple[str, TermIndex]]
) -> Iterator[TermIndex]:
    """Yield those arguments of a call that a framework will call later.

    The call registers functions with the framework. For `path("x/", view)`, the argument is `view`. `row` is the row of `frameworks.toml`
    that says which arguments these are. `receiver` has the object before the dot, `positional` the positional arguments, and `named` the
    (name, value) pairs of the keyword arguments.
    """
    for which in row.functions:
        if isinstance(which, int):
            yield from positional[which : which + 1]
        elif which == ".":
            yield from receiver
        elif which == "**":
            yield from (term for _, term in named)
        elif which.endswith(":"):
            yield from positional[int(which[:-1]) :]
        else:
            yield from (term for name, term in named if name == which)
