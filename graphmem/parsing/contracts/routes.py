"""Find routes that calls register, and the path prefixes of routers.

An example is `app.get("/users", list)`.

A contract is a name on which two programs agree, such as the HTTP route `GET /users` or a message topic.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

from graphmem.parsing.contracts import paths
from graphmem.parsing.contracts.end import MOUNTS, OFFERS, End
from graphmem.parsing.contracts.paths import HOLE
from graphmem.parsing.contracts.source import FUNCTION, Site, Source
from graphmem.parsing.contracts.table import Row
from graphmem.parsing.contracts.verbs import verb_at, verb_in
from graphmem.parsing.contracts.written import split, strings

_ASSIGNED: Final = re.compile(
    r"(?:(?:const|let|var|final|auto|val|mut)\s+)*(\w+)\s*(?::\s*[\w.<>]+\s*)?(?::=|=)\s*(?:await\s+|new\s+)?[\w.$]*$"
)
_NAMED: Final = re.compile(r"^&?(?:async\s+)?[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)*(?:\(.*\))?$", re.DOTALL)
_HANDLER: Final = re.compile(r"(?:\w*\\)*(\w+)::class$|[\"'](\w+)@(\w+)[\"']$")  # `Users::class`, `"Users@show"`
_NEW: Final = re.compile(r"new\s+([A-Z]\w*)\s*\(")
UP: Final = ".."
"""Part of a path that removes the segment before it."""


class Routes:
    """Finds the routes that calls register, such as `app.get("/users", list)`."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.prefixes: dict[str, str] = {}  # by variable
        self._enclosing: list[tuple[int, int, str]] = []  # first offset, last offset, prefix
        self._lists: list[tuple[int, int, int, str]] = []  # of a list of routes: first line, last line, where it is included, prefix
        self._blocks: dict[int, int] | None = None  # routes that are blocks, by first line

    def prefix(self, site: Site, row: Row) -> None:
        """Record the path prefix that a call gives to a router or to a block.

        Examples are `Blueprint("users", url_prefix="/users")` and `scope "/api" do … end`.
        """
        written = self.source.argument(site, row.keyword or (0,))
        if "prefix" in site.chain and site.name == "group":
            match = re.search(r"\bprefix\s*\(\s*[\"']([^\"']*)[\"'][^{;]*$", self.source.text[max(0, site.start - 300) : site.start])
            written = match[1] if match else written
        elif self.source.has_habit("symbols_as_paths") and site.given and re.match(r":\w+$", site.given[0]):
            written = site.given[0][1:]
        if written is None:
            return
        text = paths.route_path(written) if "/" in written or row.keyword or site.name != "prefix" else paths.route_path("/" + written)
        own = paths.joined(self.prefixes.get(site.receiver, ""), self._enclosing_prefix(site.start), text)
        before = self.source.text[self.source.starts[site.reference.line - 1] : site.start]
        match = _ASSIGNED.search(before.rstrip().removesuffix("."))
        if match and site.name != "route":
            self.prefixes[match[1]] = own
        self.enclose(site, text)

    def enclose(self, site: Site, prefix: str) -> tuple[int, int] | None:
        """Record the path prefix of the routes in the block of a call.

        The result is the first and the last offset of the block, or None if the call has no block.
        """
        body = self.source.text[site.start : site.end]
        if FUNCTION.search(body) or re.match(r"\s*(?:\{|do\b)", self.source.text[site.end :]) or re.search(r"\bdo\s*$", body):
            starts, last = self.source.starts, site.reference.end_line
            block = site.start, starts[last] if last < len(starts) else len(self.source.text)
            self._enclosing.append((*block, prefix))
            return block
        return None

    def below(self, site: Site, *parts: str) -> str:
        """Return the path of a route with the prefixes of the blocks around it.

        `site` is the call that registers the route, and `parts` are parts of the route's own path. The result is in normal form, such as
        `/users/{}`. A block with the prefix `..` cancels the variable segment of the block around it.
        """
        whole = paths.joined(self._prefix_of(site), *parts)
        return paths.route_path(re.sub(rf"(?:/[^/]*)?/{re.escape(UP)}(?=/|$)", "", whole))

    def _enclosing_prefix(self, start: int) -> str:
        """Return the joined path prefixes of the groups around offset `start`.

        A group is a call with a prefix and a block, such as `scope "/api" do … end`.
        """
        return paths.joined(*(prefix for first, last, prefix in self._enclosing if first < start < last))

    def _prefix_of(self, site: Site) -> str:
        chained = ""
        if ("route" in site.chain or "prefix" in site.chain) and self.source.has_habit("chained_prefixes"):
            match = re.search(r"\b(?:route|prefix)\s*\(\s*([\"'`][^\"'`]*[\"'`])", self.source.text[max(0, site.start - 400) : site.start])
            chained = paths.route_path(match[1].strip("\"'`")) if match else ""
        elif "Group" in site.chain and self.source.has_habit("grouped_prefixes"):
            match = re.search(r"\bGroup\(\s*[\"`]([^\"`]*)[\"`]", self.source.line_before(site))
            chained = paths.route_path(match[1]) if match else ""
        return paths.joined(self.prefixes.get(site.receiver, ""), self._enclosing_prefix(site.start), chained)

    def _prefixes_of_lists(self, site: Site) -> list[str]:
        """Return the prefixes of the lists of routes around a call.

        For `urls = [path("x", view)]` and `path("v1/", include(urls))`, the prefix of the list `urls` is `/v1`. A list that is included
        twice has two prefixes.
        """
        return self._around(site.start, frozenset()) or [""]

    def _around(self, start: int, seen: frozenset[int]) -> list[str]:
        line = bisect_right(self.source.starts, start)
        found: list[str] = []
        for first, last, included, prefix in self._lists:
            if first <= line <= last and included not in seen:
                found += [paths.joined(before, prefix) for before in self._around(included, seen | {included}) or [""]]
        return list(dict.fromkeys(found))

    def route(self, site: Site, row: Row) -> Iterator[End]:
        """Yield an `End` for each route that a call registers.

        For `app.get("/users", list)`, the contract is `GET /users`. A call that names several HTTP verbs gives one `End` for each verb.
        """
        if row.before:
            inside = self._with_path_before(site, row)
            if inside is None:
                return
            site = inside
        if row.object:
            written = self.source.of_object(site, row.object)
            verb = verb_in(", ".join(site.given))
        else:
            position = row.path[0] if isinstance(row.path[0], int) else 0
            chained = "route" in site.chain and len(site.given) > 0 and self.source.has_habit("chained_prefixes")
            written = "" if chained and site.given[0][:1] not in "\"'`" else self.source.argument(site, row.path)
            rest = site.given[position + (0 if chained and written == "" else 1) :]
            if written is None or (row.function and not self._has_function(rest, row.function)):
                return
            verb = verb_at(self.source, site, row, rest)
        if written is None:
            return
        written = written[len(HOLE) :] if written.startswith(HOLE + "/" if row.framework != "django" else HOLE) else written
        if (
            written
            and not written.startswith("/")
            and not row.unrooted
            and row.framework != "django"
            and not self.source.has_habit("added_slashes")
            and not (self.source.has_habit("added_slashes_of_verbs") and site.name.isupper())
            and not re.match(r"(?:GET|POST|PUT|PATCH|DELETE) /", written)
        ):
            return
        match = re.match(r"(GET|POST|PUT|PATCH|DELETE|HEAD) (/.*)", written)  # Go 1.22
        if match:
            verb, written = match[1], match[2]
        if row.framework == "django" and "include(" in "".join(site.given[1:2]):
            return
        path = paths.joined(self._prefix_of(site), paths.route_path(written))
        handler = self._handler(site, row)
        handler = next((one.name for one in self.source.facts.imports if handler and one.alias == handler and one.name), handler)
        scope = site.reference.scope if handler else self._block_of(site)
        named = self._name_of(site, row)
        for prefix in self._prefixes_of_lists(site):
            for one in verb.split(","):
                contract = f"{one or '*'} {paths.joined(prefix, path)}"
                yield End(OFFERS, "http", contract, scope, site.reference.line, handler, named, row.framework)

    def _with_path_before(self, site: Site, row: Row) -> Site | None:
        """Return a call with the path that a call before it in the expression has.

        For `r.Methods("GET").Path("/users").Handler(list)`, the arguments are `"/users", list`. The result is None without such a path.
        """
        if not set(row.before) & set(site.chain):
            return None
        before = self.source.text[max(0, site.start - 400) : site.start]
        found = list(re.finditer(rf"\b({'|'.join(row.before)})\(\s*([\"`])([^\"`]*)\2", before))
        if not found:
            return None
        path = found[-1][3].rstrip("/") + ("/*" if found[-1][1] == row.before[-1] and len(row.before) > 1 else "")
        return site._replace(given=[f'"{path}"', *site.given])

    def _name_of(self, site: Site, row: Row) -> str:
        """Return the name that a call gives to its route; "" without one.

        Examples are `path("x", view, name="x")` and `Route::get("x", view)->name("x")`.
        """
        for one in row.named:
            text = self.source.text_of(site, (one,))
            chained = re.search(rf"^[^;]*->\s*{one}\(\s*([\"'][^\"']+[\"'])", self.source.text[site.end : site.end + 300])
            found = next(strings(text or (chained[1] if chained else "")), "")
            if found:
                return found
        return ""

    def _block_of(self, site: Site) -> int:
        """Return the index of the definition that handles a route.

        If the call has a block, as in `get "/users" do … end`, the block is this definition. Otherwise it is the definition that contains
        the call.
        """
        blocks = self._blocks
        if blocks is None:
            routes = (found for found in enumerate(self.source.facts.definitions) if "route" in found[1].modifiers)
            blocks = self._blocks = {definition.start_line: position for position, definition in routes}
        return blocks.get(site.reference.line, site.reference.scope)

    def _has_function(self, rest: Sequence[str], how: str) -> bool:
        if not rest:
            return False
        if any(FUNCTION.search(one) for one in rest):
            return True
        return how == "any" and any(_NAMED.match(one) or one.startswith(("[", "&")) for one in rest)

    def _handler(self, site: Site, row: Row) -> str:
        """Return the name of the function that a route's call passes, or "".

        For `app.get("/users", users.list)`, the name is `list`. For `app.get("/users", users.list())`, the name is also `list`, because the
        call may return the handler. The result is "" for an anonymous function.
        """
        if row.framework.startswith("flask-restful"):
            return site.given[0].rpartition(".")[2]
        texts: list[str] = []
        for one in reversed(site.given[1:]):
            text = one.partition("=")[2].strip() if re.match(r"\w+\s*=[^=>]", one) else one
            if FUNCTION.search(text):
                return ""
            if text.startswith("["):
                parts = [re.sub(r"::class$", "", part.strip("\"'")) for part in split(text.strip("[]"))]
                if len(parts) == 2 and self.source.has_habit("handlers_in_strings"):
                    return f"{parts[0].rpartition(chr(92))[2]}.{parts[1]}"
                text = parts[-1] if parts else ""
            elif self.source.has_habit("handlers_in_strings") and (match := _HANDLER.match(text)):
                return f"{match[1]}.__invoke" if match[1] else f"{match[2]}.{match[3]}"
            text = re.sub(r"\.as_view\(.*$|\.bind\(.*$", "", text, flags=re.DOTALL).lstrip("&")
            while (match := re.match(r"[\w.:>-]*\((.+)\)$", text, re.DOTALL)) is not None:
                inner = split(match[1])
                text = inner[-1] if inner else ""
            texts.append(text.strip())
        for text in (*texts, *(re.sub(r"\(\s*\)$", "", one) for one in reversed(texts))):  # at last those that a call returns
            match = re.match(r"(?:.*[.:>])?([A-Za-z_$]\w*)$", text)
            if match:
                return match[1]
        return ""

    def mount(self, site: Site, row: Row) -> Iterator[End]:
        """Yield an `End` for each module or router that a call mounts at a path.

        For `app.use("/api", router)`, the path prefix is `/api` and the router is `router`.
        """
        prefix = self.source.argument(site, (*row.keyword, *row.path) if row.keyword else row.path)
        first = int(row.given.removesuffix(":")) if row.given.endswith(":") else 0
        if prefix is None and first and not row.keyword and self._prefix_of(site) != "/":  # `api.use(carts)`, and `api` has a prefix
            prefix, first = "", 0
        if row.keyword and not any(re.match(rf"(?:{'|'.join(row.keyword)})\s*=", one) for one in site.given) and site.name != "mount":
            prefix = ""
        if prefix is None or (prefix and not prefix.startswith("/") and not self.source.has_habit("added_slashes_of_prefixes")):
            return
        prefix = prefix.removeprefix(HOLE) if row.given == "include" else prefix
        whole = paths.joined(self._prefix_of(site), paths.route_path(prefix)) if prefix else self._prefix_of(site)
        if row.given == "new":
            for one in site.given[1:]:
                made = next(
                    (match for text in (one, *map(self.source.expression, self.source.values(one))) if (match := _NEW.match(text))), None
                )
                if made:
                    yield End(MOUNTS, "http", whole, site.reference.scope, site.reference.line, one, made[1], row.framework)
            return
        if row.given == "include":
            for one in site.given[1:2]:
                match = re.match(r"(?:\w+\.)?include\(\s*\(?\s*([\"'][\w.]+[\"']|[\w.]+)", one)
                module = self.source.module_of(match[1]) if match else ""
                if match and not module and match[1].isidentifier():
                    self._include(match[1], site.start, whole)
                elif match:
                    for around in self._prefixes_of_lists(site):
                        name = paths.joined(around, whole)
                        yield End(MOUNTS, "http", name, site.reference.scope, site.reference.line, "", module, row.framework)
            return
        for one in site.given[first:]:
            text = one.partition("=")[2].strip() if re.match(r"app\s*=", one) else one
            required = re.match(r"require\(\s*[\"']([^\"']+)[\"']\s*\)", text)
            name = required[1] if required else text.partition("(")[0]
            if required or re.fullmatch(r"[A-Za-z_$][\w$.]*", name):
                yield End(
                    MOUNTS,
                    "http",
                    whole,
                    site.reference.scope,
                    site.reference.line,
                    name,
                    required[1] if required else self.source.module_of(name),
                    row.framework,
                )

    def _include(self, name: str, start: int, prefix: str) -> None:
        """Record that a call includes a list of routes of this file.

        For `path("v1/", include(urls))`, `name` is `urls` and `prefix` is `/v1`. `start` is the position of the call in the text.
        """
        lists = [
            (one.start_line, one.end_line, start, prefix) for one in self.source.facts.definitions if one.name == name and not one.parent
        ]
        self._lists += [one for one in lists if one not in self._lists]

    def mounted_here(self, site: Site, row: Row) -> None:
        """Record the path prefix of a router that this file creates and mounts.

        For the call `app.use("/api", router)`, the prefix of `router` becomes `/api`.
        """
        for end in self.mount(site, row):
            _, _, prefix, _, _, name, module, _ = end
            if name and not module and prefix != "/" and self.source.look_up(name) is None and self.source.values(name):
                self.prefixes[name] = paths.joined(prefix, self.prefixes.get(name, ""))
