"""Find the ends of contracts in one file.

An end is a place in code that offers something to other programs or asks for it. Examples are a route and a call of an HTTP client. The
names of both have one normal form, so equal contracts have equal names: `GET /users/{}`. A site is a call whose name is in the table
`grammars/contracts.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from graphmem.parsing.contracts import paths
from graphmem.parsing.contracts.paths import HOLE
from graphmem.parsing.contracts.schemas import schema_ends
from graphmem.parsing.contracts.table import Row, Table, table_of
from graphmem.parsing.contracts.written import arguments, evaluate, split, strings
from graphmem.parsing.facts import ATTR, CALL, NAME, NEW, Definition, FileFacts, Reference, Term

OFFERS: Final = "offers"
ASKS: Final = "asks"
MOUNTS: Final = "mounts"
"""A prefix before all routes of another file."""
DECLARES: Final = "declares"
"""A schema file names it."""

_VERBS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_FUNCTION: Final = re.compile(r"=>|\bfunction\b|\bfunc\s*\(|^\s*(?:async\s+)?\(|\bfn\b|^\s*\|")
_NAMED: Final = re.compile(r"^&?(?:async\s+)?[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)*(?:\(.*\))?$", re.DOTALL)
_VERB: Final = re.compile(r"\b(?:method|type|Method)\s*[:=]\s*(?:\w+\.)*[\"'`]?(\w+)", re.IGNORECASE)
_LIST_OF_VERBS: Final = re.compile(r"\bmethods?\s*=\s*(.*)$", re.DOTALL)
_ASSIGNED: Final = re.compile(
    r"(?:(?:const|let|var|final|auto|val|mut)\s+)*(\w+)\s*(?::\s*[\w.<>]+\s*)?(?::=|=)\s*(?:await\s+|new\s+)?[\w.$]*$"
)
_GENERATED: Final = re.compile(
    r"(?:_pb2(?:_grpc)?\.pyi?|\.pb(?:\.\w+)?\.(?:go|cc|h)|_grpc\.pb\.go|_pb\.(?:js|d\.ts|rb)|_grpc_pb\.js|_pb_service\.\w+)$"
)
_RPC: Final = (b"grpc", b"Grpc", b"gRPC", b"GRPC", b"_pb2", b"genproto")
_PLACE: Final = re.compile(r"/pages/api/(?P<api>.*)\.[jt]sx?$|/(?:app|routes)(?P<app>(?:/[^/]+)*)/(?:route|\+server)\.[jt]sx?$")
_GIVEN: Final = re.compile(r"(?<![\w.$])(?:(?:this|self)\.)?([A-Za-z_$][\w$]*)\s*(?::\s*[\w.<>\[\]| ]+)?\s*(?::=|=(?![=>]))\s*")
"""What stands before a value that a name gets."""

_CHAINING: Final = ("javascript", "typescript", "tsx", "php")
_PATHS: Final = "value path rule url pattern uri topics queues topic destination"
_CAPITAL: Final = re.compile(r"\b(?:new\s+)?(?:\w+(?:\.|::))*[A-Z]\w*(?:(?:\.|::)[A-Za-z]\w*)*|\badd_\w+_to_server\b")


class End(NamedTuple):
    """One end of a contract: a place in code that offers or uses it."""

    role: str  # offers | asks | mounts | declares; of gRPC also speaks | calls | defines
    kind: str  # http | grpc | topic | graphql
    name: str  # "GET /users/{}" (the verb is * for any), "package.Service/Method", a topic, "Query.user"
    scope: int  # the definition it stands in, or that an annotation declares
    line: int
    handler: str = ""  # name of the registered function; "" for the definition itself
    said: str = ""  # words about the other end: host, variable with the address; of a mount the module that is mounted
    framework: str = ""


def ends_of(facts: FileFacts, source: bytes) -> tuple[tuple[object, ...], ...]:
    """Return the ends of contracts in a file as plain tuples, by line."""
    if facts.language == "text":
        return tuple(tuple(End(*one)) for one in schema_ends(facts.path, source))
    if _GENERATED.search(facts.path):
        return ()
    table = table_of(facts.language)
    terms = facts.terms
    sites: list[tuple[Reference, str]] = []
    named = table.by_call
    for reference in facts.references:
        if reference[0] == "call":
            callee = _callee(terms, reference[2])
            if callee[0] == ATTR or callee[0] == NAME:
                name = callee[-1]
                if name in named:
                    sites.append((reference, str(name)))
    annotated = bool(table.annotated) and (
        any(one.decorators for one in facts.definitions) or (facts.language == "php" and b"@Route" in source)
    )
    speaks = any(word in source for word in _RPC) or (facts.language == "go" and b"pb.New" in source)
    by_path = list(_by_path(facts))
    if not sites and not annotated and not speaks and not by_path:
        return ()
    found = _Finding(facts, source.decode("utf-8", "replace"), table)
    ends = {tuple(end) for end in (*by_path, *found.all(sites, annotated=annotated, speaks=speaks))}
    return tuple(sorted(ends, key=_place))


def _by_path(facts: FileFacts) -> Iterator[End]:
    """Yield the routes that follow from a file's path, as in Next.js.

    `pages/api/users.ts` offers `/api/users`.
    """
    match = _PLACE.search("/" + facts.path)
    if match is None or facts.language not in ("javascript", "typescript", "tsx"):
        return
    path = paths.route_path("/" + re.sub(r"/?\([^)]*\)", "", match["api"] or match["app"] or ""))
    if match["api"] is not None:
        path = paths.joined("api", path.removesuffix("/index"))
        named = [
            position
            for position, one in enumerate(facts.definitions)
            if one.kind in ("function", "variable") and "default" in one.modifiers
        ]
        handlers = [one for one in facts.definitions if one.name == "handler"]
        scope = named[0] if named else facts.definitions.index(handlers[0]) if handlers else 0
        yield End(OFFERS, "http", f"* {path}", scope, facts.definitions[scope].name_line, "", "", "next")
        return
    for position, definition in enumerate(facts.definitions):
        if definition.name in _VERBS and definition.parent == 0:
            yield End(OFFERS, "http", f"{definition.name} {path}", position, definition.name_line, "", "", "next, sveltekit")


def _callee(terms: Sequence[Term], index: int) -> Term:
    """Return the term of the function that a call calls.

    For `a.b(x)` it is the term of `a.b`. A term that is not a call is returned unchanged.
    """
    term = terms[index]
    return terms[term[1]] if term[0] == CALL or term[0] == NEW else term


def _place(end: tuple[object, ...]) -> tuple[int, str]:
    return end[4], repr(end)  # type: ignore[return-value]


class _Site(NamedTuple):
    """A call whose name is in the table of contracts, such as `app.get(…)`."""

    reference: Reference
    name: str
    receiver: str  # last name before the call, "" for none
    chain: tuple[str, ...]  # names of calls before it in the same expression, the nearest first
    given: list[str]
    start: int  # of the name
    end: int  # after its arguments


class _Finding:
    def __init__(self, facts: FileFacts, text: str, table: Table) -> None:
        self.facts = facts
        self.terms = facts.terms
        self.text = text
        self.table = table
        self.starts = [0]
        for match in re.finditer("\n", text):
            self.starts.append(match.end())
        self.prefixes: dict[str, str] = {}  # by variable
        self.enclosing: list[tuple[int, int, str]] = []  # first line, last line, prefix
        self.constants: dict[str, str | None] = {}
        self.given: dict[str, list[int]] | None = None
        self.blocks: dict[int, int] | None = None  # routes that are blocks, by first line

    def all(self, calls: Sequence[tuple[Reference, str]], *, annotated: bool, speaks: bool) -> Iterator[End]:
        sites = [site for reference, name in calls if (site := self.site(reference, name)) is not None]
        sites.sort(key=lambda site: site.start)
        for site in sites:
            for row in self.table.by_call[site.name]:
                if row.kind == "prefix":
                    self.prefix(site, row)
        for site in sites:
            for row in self.table.by_call[site.name]:
                if row.kind == "mount":
                    self.mounted_here(site, row)
        for site in sites:
            taken = False
            for row in self.table.by_call[site.name]:
                if taken or not row.is_on(site.receiver):
                    continue
                if row.kind == "route":
                    made = list(self.route(site, row))
                elif row.kind == "client":
                    made = list(self.client(site, row))
                elif row.kind == "topic":
                    made = list(self.topic(site, row))
                elif row.kind == "mount":
                    yield from self.mount(site, row)
                    continue
                else:
                    continue
                taken = bool(made)
                yield from made
        if annotated:
            yield from self.annotations()
        if speaks:
            yield from self.speech()

    def site(self, reference: Reference, name: str) -> _Site | None:
        line, column = (reference.name_line, reference.name_column) if reference.name_line else (reference.line, reference.column)
        start = self.starts[line - 1] + column
        if not self.text.startswith(name, start):
            start = self.text.find(name, start)
            if start < 0:
                return None
        after = start + len(name)
        following = self.text[after : after + 200].lstrip()
        if not following.startswith(("(", "<", "!")) and self.facts.language not in ("ruby", "kotlin"):
            return None
        given, end = arguments(self.text, after)
        if given and self.facts.language == "ruby":
            given[-1] = re.sub(r"\s+do\b.*$|\s*\{\s*(?:\|.*)?$", "", given[-1], flags=re.DOTALL)
        callee = _callee(self.terms, reference.term)
        receiver, chain = "", list[str]()
        base = self.terms[callee[1]] if callee[0] == ATTR else None
        while base is not None and base[0] in (CALL, NEW):
            inner = self.terms[base[1]]
            chain.append(inner[2] if inner[0] == ATTR else inner[1] if inner[0] == NAME else "")
            base = self.terms[inner[1]] if inner[0] == ATTR else None
        if base is not None:
            receiver = base[2] if base[0] == ATTR else base[1] if base[0] == NAME else "this"
        if not receiver and callee[0] == ATTR:
            receiver = chain[0] if chain else "?"
        return _Site(reference, name, receiver, tuple(chain), given, start, end)

    # prefixes

    def prefix(self, site: _Site, row: Row) -> None:
        written = self.argument(site, row.keyword or (0,))
        if "prefix" in site.chain and site.name == "group":
            match = re.search(r"\bprefix\s*\(\s*[\"']([^\"']*)[\"'][^{;]*$", self.text[max(0, site.start - 300) : site.start])
            written = match[1] if match else written
        elif self.facts.language == "ruby" and site.given and re.match(r":\w+$", site.given[0]):
            written = site.given[0][1:]
        if written is None:
            return
        text = paths.route_path(written) if "/" in written or row.keyword or site.name != "prefix" else paths.route_path("/" + written)
        own = paths.joined(self.prefixes.get(site.receiver, ""), self.around(site.reference.line, site.start), text)
        before = self.text[self.starts[site.reference.line - 1] : site.start]
        match = _ASSIGNED.search(before.rstrip().removesuffix("."))
        if match and site.name != "route":
            self.prefixes[match[1]] = own
        body = self.text[site.start : site.end]
        if _FUNCTION.search(body) or re.match(r"\s*(?:\{|do\b)", self.text[site.end :]) or re.search(r"\bdo\s*$", body):
            last = site.reference.end_line
            self.enclosing.append((site.start, self.starts[last] if last < len(self.starts) else len(self.text), text))

    def around(self, line: int, start: int) -> str:
        """Return the joined path prefixes of the groups that enclose an offset.

        A group is a call with a prefix and a block, such as `scope "/api" do … end`.
        """
        return paths.joined(*(prefix for first, last, prefix in self.enclosing if first < start < last))

    def prefix_of(self, site: _Site) -> str:
        chained = ""
        if ("route" in site.chain or "prefix" in site.chain) and self.facts.language in _CHAINING:
            match = re.search(r"\b(?:route|prefix)\s*\(\s*([\"'`][^\"'`]*[\"'`])", self.text[max(0, site.start - 400) : site.start][::1])
            chained = paths.route_path(match[1].strip("\"'`")) if match else ""
        return paths.joined(self.prefixes.get(site.receiver, ""), self.around(site.reference.line, site.start), chained)

    # routes

    def route(self, site: _Site, row: Row) -> Iterator[End]:
        if row.object:
            written = self.of_object(site, row.object)
            verb = self.verb_in(", ".join(site.given))
        else:
            position = row.path[0] if isinstance(row.path[0], int) else 0
            chained = "route" in site.chain and len(site.given) > 0 and self.facts.language in _CHAINING
            written = "" if chained and site.given[0][:1] not in "\"'`" else self.argument(site, row.path)
            rest = site.given[position + (0 if chained and written == "" else 1) :]
            if written is None or (row.function and not self.has_function(rest, row.function)):
                return
            verb = self.verb(site, row, rest)
        if written is None:
            return
        written = written[len(HOLE) :] if written.startswith(HOLE + "/") else written
        if (
            written
            and not written.startswith("/")
            and row.framework != "django"
            and self.facts.language not in ("csharp", "php", "rust", "kotlin", "python")
            and not re.match(r"(?:GET|POST|PUT|PATCH|DELETE) /", written)
        ):
            return
        match = re.match(r"(GET|POST|PUT|PATCH|DELETE|HEAD) (/.*)", written)  # Go 1.22
        if match:
            verb, written = match[1], match[2]
        if row.framework == "django" and "include(" in "".join(site.given[1:2]):
            return
        path = paths.joined(self.prefix_of(site), paths.route_path(written))
        handler = self.handler(site, row)
        scope = site.reference.scope if handler else self.block_of(site)
        for one in verb.split(","):
            yield End(OFFERS, "http", f"{one or '*'} {path}", scope, site.reference.line, handler, "", row.framework)

    def block_of(self, site: _Site) -> int:
        """Return the definition that is the block of a route.

        If the route has no block, return the definition that contains the call.
        """
        blocks = self.blocks
        if blocks is None:
            routes = (found for found in enumerate(self.facts.definitions) if "route" in found[1].modifiers)
            blocks = self.blocks = {definition.start_line: position for position, definition in routes}
        return blocks.get(site.reference.line, site.reference.scope)

    def has_function(self, rest: Sequence[str], how: str) -> bool:
        if not rest:
            return False
        if any(_FUNCTION.search(one) for one in rest):
            return True
        return how == "any" and any(_NAMED.match(one) or one.startswith(("[", "&")) for one in rest)

    def handler(self, site: _Site, row: Row) -> str:
        """Return the name of the function that a route's call passes, or "".

        For `app.get("/users", users.list)` the name is `list`. An anonymous function has none.
        """
        if row.framework.startswith("flask-restful"):
            return site.given[0].rpartition(".")[2]
        for one in reversed(site.given[1:]):
            text = one.partition("=")[2].strip() if re.match(r"\w+\s*=[^=>]", one) else one
            if _FUNCTION.search(text):
                return ""
            if text.startswith("["):
                parts = [re.sub(r"::class$", "", part.strip("\"'")) for part in split(text.strip("[]"))]
                text = parts[-1] if parts else ""
            text = re.sub(r"\.as_view\(.*$|\.bind\(.*$", "", text, flags=re.DOTALL).lstrip("&")
            while (match := re.match(r"[\w.:>-]*\((.+)\)$", text, re.DOTALL)) is not None:
                inner = split(match[1])
                text = inner[-1] if inner else ""
            match = re.match(r"(?:.*[.:>])?([A-Za-z_$]\w*)$", text.strip())
            if match:
                return match[1]
        return ""

    def verb(self, site: _Site, row: Row, rest: Sequence[str]) -> str:
        """Return the HTTP verbs of a call, separated by commas; "" for any verb."""
        how = row.method
        everything = ", ".join(site.given)
        if isinstance(how, int):
            return self.verb_of(site.given[how]) if how < len(site.given) else ""
        if how == "name":
            verb = (
                site.name.removesuffix(row.strip) if row.strip and site.name.endswith(row.strip) else site.name.removeprefix(row.strip)
            ).upper()
            return {"DEL": "DELETE", "ALL": "", "ANY": "", "MATCH": "", "WEBSOCKET": "GET"}.get(verb, verb)
        if how == "begins":
            match = re.match(r"(get|post|put|patch|delete|head)", site.name, re.IGNORECASE)
            return match[1].upper() if match else ""
        if how == "object":
            return self.verb_in(everything) or (
                "GET" if row.kind == "client" and not re.search(r"\bdata\s*=", everything) else "POST" if row.kind == "client" else ""
            )
        if how == "argument":
            match = re.search(r"\b(?:HttpMethod|Method)\.(\w+)", everything)
            return match[1].upper() if match else site.name.upper() if site.name.upper() in _VERBS else ""
        if how == "chain":
            return next((name.upper() for name in site.chain if name.upper() in _VERBS), "") or self.chain_verb(site)
        if how == "chained":
            match = re.match(rf"\s*\.\s*{row.chained}\s*\(([^)]*)\)", self.text[site.end : site.end + 300])
            return ",".join(self.verb_of(one) for one in split(match[1])) if match else ""
        if how == "handler":
            return ",".join(dict.fromkeys(one.upper() for one in re.findall(r"\b(get|post|put|patch|delete|head)\s*\(", " ".join(rest))))
        if how == "methods":
            for one in site.given:
                match = _LIST_OF_VERBS.match(one)
                if match:
                    return ",".join(one.upper() for one in strings(match[1]))
            return "GET" if site.name in ("add_url_rule",) else ""
        return ""

    def chain_verb(self, site: _Site) -> str:
        match = re.search(r"\.method\(\s*(?:HttpMethod\.)?[\"']?(\w+)", self.text[max(0, site.start - 120) : site.start])
        return match[1].upper() if match else ""

    @staticmethod
    def verb_in(text: str) -> str:
        match = _VERB.search(text)
        return match[1].upper() if match and match[1].upper() in _VERBS else ""

    @staticmethod
    def verb_of(text: str) -> str:
        found = re.search(r"(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\b", re.sub(r"Method(?=[A-Z])", "", text).upper())
        return found[1] if found else ""

    # clients

    def client(self, site: _Site, row: Row) -> Iterator[End]:
        text = (
            self.object_text(site, row.object)
            if row.object and site.given and site.given[0].startswith("{")
            else self.text_of(site, row.path)
        )
        for one in self.variants(text, site):
            yield from self.asked(site, row, one)

    def variants(self, text: str, site: _Site) -> list[str]:
        """Return the expressions whose value a variable may have at a call.

        They are those of the last four assignments before the call in its definition. A text that is not a name is returned itself.
        """
        if not re.fullmatch(r"[A-Za-z_$][\w$]*", text):
            return [text] if text else []
        owner = self.facts.definitions[site.reference.scope]
        first = self.starts[owner.start_line - 1] if owner.parent >= 0 else 0
        found = [at for at in self.values(text) if first < at <= site.start]
        return list(dict.fromkeys(self.expression(at) for at in found[-4:])) or [text]

    def asked(self, site: _Site, row: Row, text: str) -> Iterator[End]:
        made = evaluate(text, self.look_up)
        found = paths.address(
            made.pattern, relative=not row.absolute and self.facts.language in ("csharp", "typescript", "tsx", "javascript")
        )
        if found is None or (row.absolute and not (found.host or made.pattern.startswith(HOLE))):
            return
        verb = self.verb(site, row, site.given[1:])
        said = " ".join(dict.fromkeys(word for word in (found.host.replace(HOLE, " ").strip(), *made.names) if word))
        yield End(ASKS, "http", f"{verb or '*'} {found.path}", site.reference.scope, site.reference.line, "", said, row.framework)

    def topic(self, site: _Site, row: Row) -> Iterator[End]:
        text = self.text_of(site, row.path)
        for one in split(text.strip("[]{}")) if text else ():
            made = evaluate(one, self.look_up).pattern
            if made and HOLE not in made and re.fullmatch(r"[\w.:/*#>-]+", made) and not made.startswith("/"):
                yield End(row.role, "topic", made, site.reference.scope, site.reference.line, "", "", row.framework)

    def mount(self, site: _Site, row: Row) -> Iterator[End]:
        prefix = self.argument(site, (*row.keyword, *row.path) if row.keyword else row.path)
        if row.keyword and not any(re.match(rf"(?:{'|'.join(row.keyword)})\s*=", one) for one in site.given) and site.name != "mount":
            prefix = ""
        if prefix is None or (prefix and not prefix.startswith("/") and self.facts.language != "python"):
            return
        whole = paths.joined(self.prefix_of(site), paths.route_path(prefix)) if prefix else self.prefix_of(site)
        if row.given == "include":
            for one in site.given[1:2]:
                match = re.match(r"(?:\w+\.)?include\(\s*\(?\s*([\"'][\w.]+[\"']|[\w.]+)", one)
                if match:
                    yield End(MOUNTS, "http", whole, site.reference.scope, site.reference.line, "", self.module_of(match[1]), row.framework)
            return
        for one in site.given[int(row.given.removesuffix(":")) :]:
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
                    required[1] if required else self.module_of(name),
                    row.framework,
                )

    def mounted_here(self, site: _Site, row: Row) -> None:
        """Add the prefix of a mount to a router that the same file creates.

        An example of a mount is `app.use("/api", router)`.
        """
        for end in self.mount(site, row):
            _, _, prefix, _, _, name, module, _ = end
            if name and not module and prefix != "/" and self.look_up(name, 0) is None and self.values(name):
                self.prefixes[name] = paths.joined(prefix, self.prefixes.get(name, ""))

    def module_of(self, name: str) -> str:
        """Return the module from which the file imports a mounted name, or ""."""
        if name[:1] in "\"'":
            return name.strip("\"'")
        first = name.partition(".")[0]
        for found in self.facts.imports:
            if found.alias == first:
                return "." * found.level + ".".join(part for part in (found.module, found.name) if part and part not in ("*", "default"))
        return ""

    # annotations

    def annotations(self) -> Iterator[End]:
        for position, definition in enumerate(self.facts.definitions):
            if definition.kind not in ("function", "method"):
                continue
            names = [self.annotation(decorator) for decorator in definition.decorators]
            for name in names or (self.table.annotations if self.facts.language == "php" else ()):  # also in comments
                if name.rpartition(".")[2] not in self.table.annotations:
                    continue
                for row in self.table.annotated:
                    if row.fits(name) and (not row.imports or any(word in self.text for word in row.imports)):
                        for given in self.given_to(definition, name):
                            yield from self.annotated(position, definition, row, name, given)
                        break

    def annotation(self, index: int) -> str:
        """Return the dotted name of a decorator: `app.get` for `@app.get("/x")`."""
        term = self.terms[index]
        if term[0] in (CALL, NEW):
            term = self.terms[term[1]]
        parts: list[str] = []
        while term[0] == ATTR:
            parts.append(term[2])
            term = self.terms[term[1]]
        parts.append(term[1] if term[0] == NAME else "")
        return ".".join(reversed(parts))

    def given_to(self, definition: Definition, name: str) -> Iterator[list[str]]:
        """Yield the argument texts of each annotation `name` of a definition."""
        line = definition.start_line - 1
        while line and self.text[self.starts[line - 1] : self.starts[line]].lstrip().startswith(("@", "#[", "[", "*", "/**")):
            line -= 1
        first = self.starts[line]
        last = self.starts[definition.name_line - 1] + definition.name_column
        for match in re.finditer(rf"(?:@|\[|,\s*|#\[)(?:[\w.]*\.|\w+:)?{re.escape(name)}\b", self.text[first:last]):
            after = first + match.end()
            yield arguments(self.text, after)[0] if self.text[after : after + 1] == "(" else []

    def written_in(self, given: Sequence[str], *, only: str = "") -> list[str]:
        """Return the patterns of an annotation's arguments that may be a path.

        They are the first argument and those of keywords such as `path`; with `only`, those of these keywords alone.
        """
        found: list[str] = []
        for position, one in enumerate(given):
            match = re.match(r"(\w+)\s*[=:](?!=)\s*(.*)$", one, re.DOTALL)
            if (match and match[1] not in (only or _PATHS).split()) or (not match and (position or only)):
                continue
            text = match[2] if match else one
            parts = (
                split(text[1:-1]) if text[:1] in "[{" else split(text[text.index("(") + 1 : -1]) if text.startswith("arrayOf(") else [text]
            )
            found += [made for part in parts if part and (made := evaluate(part, self.look_up).pattern)]
        return found

    def annotated(self, position: int, definition: Definition, row: Row, name: str, given: Sequence[str]) -> Iterator[End]:
        line = definition.name_line
        written = self.written_in(given)
        if row.kind == "listener":
            for text in written:
                if HOLE not in text:
                    yield End(OFFERS, "topic", text, position, line, "", "", row.framework)
            return
        last = name.rpartition(".")[2]
        if row.method == "name":
            verb = last.removeprefix(row.strip).removesuffix(row.strip).upper()
            verb = {"ALL": "", "WEBSOCKET": "GET"}.get(verb, verb)
        else:
            methods = [one for one in given if re.match(r"methods?\s*[=:]", one)]
            verbs = [
                verb.upper() for one in methods for verb in re.findall(r"(?:RequestMethod\.|[\"'])?(GET|POST|PUT|PATCH|DELETE|HEAD)\b", one)
            ]
            verb = ",".join(verbs) or ("GET" if last == "route" and "python" in row.languages else "")
        beside = [text for one in [*self.given_to(definition, row.beside)][-1:] for text in self.written_in(one)] if row.beside else []
        around, role, said = self.class_prefix(definition, row)
        prefix = self.prefixes.get(name.rpartition(".")[0].rpartition(".")[2], "")
        for text in written or beside or [""]:
            whole = (
                text
                if text.startswith(("/", "~/")) and row.framework == "asp.net"
                else "/".join((prefix, around, *(beside if written else ()), text))
            )
            path = paths.route_path(self.placeholders(whole.removeprefix("~").removeprefix(HOLE), definition))
            for one in verb.split(","):
                yield End(row.role or role, "http", f"{one or '*'} {path}", position, line, "", said, row.framework)

    def placeholders(self, text: str, definition: Definition) -> str:
        """Fill in ASP.NET's `[controller]` and `[action]`."""
        owner = self.facts.definitions[definition.parent].name.removesuffix("Controller")
        return text.replace("[controller]", owner).replace("[action]", definition.name)

    def class_prefix(self, definition: Definition, row: Row) -> tuple[str, str, str]:
        """Return the path prefix, role and service words of a method's class.

        The annotations of the class give them. The words name the service that a client class calls.
        """
        prefix, role, said = "", OFFERS, ""
        if definition.parent <= 0:
            return prefix, role, said
        owner = self.facts.definitions[definition.parent]
        for name in row.around:
            for given in self.given_to(owner, name):
                prefix = next(iter(self.written_in(given)), prefix)
        for name in row.asks:
            for given in self.given_to(owner, name):
                role = ASKS
                said = " ".join(text for one in given for text in strings(one))
                prefix = next(iter(self.written_in(given, only="path")), prefix)
        return prefix, role, said

    # gRPC

    def speech(self) -> Iterator[End]:
        words = sorted(set(map(" ".join, map(str.split, _CAPITAL.findall(self.text)))))
        yield End("speaks", "grpc", "", 0, 0, "", "\n".join(words))
        for position, definition in enumerate(self.facts.definitions):
            if definition.kind in ("function", "method"):
                owner = self.facts.definitions[definition.parent].name if definition.parent > 0 else ""
                yield End("defines", "grpc", definition.name, position, definition.name_line, "", owner)
        for reference in self.facts.references:
            if reference.kind != "call":
                continue
            callee = _callee(self.terms, reference.term)
            term = self.terms[reference.term]
            if callee[0] != ATTR or not (term[0] == CALL and (term[2] or term[3])):
                continue  # a procedure takes a request
            base = self.terms[callee[1]]
            if base[0] in (CALL, NEW):
                inner = self.terms[base[1]]
                receiver = inner[2] if inner[0] == ATTR else inner[1] if inner[0] == NAME else ""
            else:
                receiver = base[2] if base[0] == ATTR else base[1] if base[0] == NAME else ""
            name = callee[2]
            if name == "addService":
                site = self.site(reference, name)
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

    # arguments

    def text_of(self, site: _Site, which: Sequence[int | str]) -> str:
        """Return the source of the first argument in `which` that a call has.

        `which` lists positions and keywords. The result is "" if the call has none of them.
        """
        for one in which:
            if isinstance(one, str):
                for given in site.given:
                    match = re.match(rf"{one}\s*[=:](?!=)\s*(.*)$", given, re.DOTALL)
                    if match:
                        return match[1]
            elif one < len(site.given) and not re.match(r"\w+\s*=[^=>]", site.given[one]):
                return site.given[one]
        return ""

    def argument(self, site: _Site, which: Sequence[int | str]) -> str | None:
        """Return the pattern of a string argument; None if it is not a string.

        `which` is as in `text_of`; `written` explains patterns.
        """
        text = self.text_of(site, which)
        if not text:
            return None
        made = evaluate(text, self.look_up)
        return made.pattern if made.pattern != HOLE and not text.startswith(("{", "[", "(")) and not _FUNCTION.search(text) else None

    def object_text(self, site: _Site, keys: Sequence[str]) -> str:
        for one in split(site.given[0].strip()[1:-1]) if site.given else ():
            key, _, value = one.partition(":")
            if key.strip().strip("\"'") in keys:
                return value.strip() or key.strip()
        return ""

    def of_object(self, site: _Site, keys: Sequence[str]) -> str | None:
        text = self.object_text(site, keys)
        return evaluate(text, self.look_up).pattern if text else None

    def look_up(self, name: str, depth: int) -> str | None:
        """Return the only string expression that a file assigns to a name.

        For `f()`, it is the only result of the function `f`. None without such an expression, or if several differ.
        """
        last = re.split(r"\.|->|::|\?\.", name)[-1]
        if last in ("url", "uri", "path") and "." in name:
            return None
        found = self.constants.get(last, "")
        if found == "":
            found = self.constants[last] = self.assigned(last)
        return found

    def values(self, name: str) -> list[int]:
        """Return the offsets of the values that the file assigns to a name."""
        if self.given is None:
            self.given = {}
            for match in _GIVEN.finditer(self.text):
                self.given.setdefault(match[1], []).append(match.end())
        return self.given.get(name, [])

    def assigned(self, name: str) -> str | None:
        if name.endswith("()"):
            return self.returned(name[:-2])
        if not re.fullmatch(r"[\w$]+", name):
            return None
        found = self.values(name)
        if not found or len(found) > 4:
            return None
        texts = {self.expression(at) for at in found}
        useful = {text for text in texts if re.search(r"[\"'`]", text)}
        return next(iter(useful)) if len(useful) == 1 else None

    def returned(self, name: str) -> str | None:
        """Return the expression of a function's only `return`; None for others."""
        positions = [one for one in self.facts.definitions if one.name == name and one.kind in ("function", "method")]
        if len(positions) != 1:
            return None
        one = positions[0]
        body = self.text[self.starts[one.start_line - 1] : self.starts[one.end_line] if one.end_line < len(self.starts) else len(self.text)]
        found = re.findall(r"\breturn\s+([^;\n]+)", body)
        return found[0] if len(found) == 1 else None

    def expression(self, at: int) -> str:
        """Return the expression at a position, to the end of its line or brackets."""
        depth, position = 0, at
        text = self.text
        while position < min(len(text), at + 600):
            char = text[position]
            if char in "\"'`":
                end = position + 1
                while end < len(text) and text[end] != char and (char == "`" or text[end] != "\n"):
                    end += 2 if text[end] == "\\" else 1
                position = end + 1
                continue
            depth += (char in "([{") - (char in ")]}")
            if depth < 0 or (not depth and char in ";,"):
                break
            if (
                char == "\n"
                and not depth
                and not re.match(r"\s*(?:[+.?:|]|\|\|)", text[position + 1 : position + 80])
                and not re.search(r"[+|=(.]\s*$", text[at:position])
            ):
                break
            position += 1
        return text[at:position].strip()
