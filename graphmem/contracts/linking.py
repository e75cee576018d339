"""Link uses of contracts between programs with the code that offers them.

For example, `fetch("/carts")` is linked with the handler of the route `GET /carts`. A use and an offer with equal names are linked. If
several services offer the same name, words in the use select the service. Such words are the host, and the name of the variable with the
address. If they name no service, the use is linked with every candidate, and the confidence is divided among the links. A use with more
than `MOST` candidates is not linked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from graphmem.contracts.rows import ContractRow
from graphmem.contracts.services import service_of, shared_words, tokens, words_of

MOST: Final = 3
HOLE: Final = "{}"
REST: Final = "**"

_EXTERNAL: Final = re.compile(r"(?:^|\s)(?:[\w-]+\.)+(?:com|org|net|io|dev|co|ai|cloud|gov|edu|me|app)(?::\d+)?(?:\s|$)")
_NAMED_HOST: Final = re.compile(r"^[\w.-]+(?::\d+)?$")
_CASE: Final = re.compile(r"test|benchmark|example|fuzz", re.IGNORECASE)
"""Beginning of the names of tests; other functions of a test file may set up a server for all of its tests."""


EXACT: Final = 100
"""Score of a hint that has exactly the words of a service."""


class Link(NamedTuple):
    """A link from code that uses a contract to the code that offers it."""

    asks: ContractRow
    offers: ContractRow
    rule: str  # endpoint | rpc | topic
    confidence: float


def link(rows: Iterable[ContractRow]) -> list[Link]:
    """Return links from code that uses a contract to code that offers it.

    Of several links between the same two places, the most certain is kept. Links are sorted by path, symbol and line of the use.

    Args:
        rows: places that offer or use contracts; see `ContractRow`.
    """
    every = list(rows)
    offers, asks = expanded(every)
    found = [*_endpoints(offers, asks), *_topics(offers, asks), *_procedures(every)]
    best: dict[tuple[str, str, int, str], Link] = {}
    for one in found:
        key = (one.asks.path, one.asks.symbol, one.asks.line, one.offers.symbol or one.offers.path)
        if key not in best or best[key].confidence < one.confidence:
            best[key] = one
    return [best[key] for key in sorted(best)]


# mounts


def expanded(rows: Sequence[ContractRow]) -> tuple[list[ContractRow], list[ContractRow]]:
    """Return the rows that offer a contract, and the rows that use one.

    A file may be mounted by another file under a prefix, as by `app.use("/api", carts)`. The names of its routes then get the prefix: `GET
    /carts` becomes `GET /api/carts`.
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


# HTTP


class _Route(NamedTuple):
    row: ContractRow
    verb: str
    parts: tuple[str, ...]


def _split(name: str) -> tuple[str, tuple[str, ...]]:
    verb, _, path = name.partition(" ")
    return verb, tuple(part for part in path.lower().split("/") if part)


class _Routes:
    """Index to find HTTP routes by number of segments and last segment."""

    def __init__(self, offers: Iterable[ContractRow]) -> None:
        self._by_end: dict[tuple[int, str], list[_Route]] = {}
        self._open: list[_Route] = []  # with a rest at the end
        for row in offers:
            verb, parts = _split(row.name)
            if parts and parts[-1] == REST:
                if any(part not in (HOLE, REST) for part in parts):
                    self._open.append(_Route(row, verb, parts))
            elif parts:
                last = parts[-1] if HOLE not in parts[-1] else HOLE
                self._by_end.setdefault((len(parts), last), []).append(_Route(row, verb, parts))

    def of(self, parts: Sequence[str]) -> list[_Route]:
        """Return the routes that may match a path, given by its segments.

        The path `/carts/7` has the segments `carts` and `7`.
        """
        last = parts[-1] if HOLE not in parts[-1] else HOLE
        found = list(self._by_end.get((len(parts), last), ()))
        if last != HOLE:
            found += self._by_end.get((len(parts), HOLE), ())
        return found + [one for one in self._open if len(one.parts) <= len(parts) + 1]


def _equal(requested: Sequence[str], offered: Sequence[str]) -> int:
    """Return the number of fixed segments that two paths share, or -1.

    A segment is a part between slashes. A variable one such as `{id}` matches any text and does not count: `/carts/7` and `/carts/{id}`
    share one segment. The result is -1 if the paths do not match.
    """
    if offered and offered[-1] == REST:
        requested, offered = requested[: len(offered) - 1], offered[:-1]
    if len(requested) != len(offered):
        return -1
    same = 0
    for one, other in zip(requested, offered, strict=True):
        if one == other:
            same += one != HOLE
        elif other == HOLE:
            continue
        elif HOLE in other and HOLE not in one:
            if re.fullmatch(re.escape(other).replace(re.escape(HOLE), ".+"), one) is None:
                return -1
        elif HOLE in one and HOLE in other:
            continue
        else:
            return -1
    return same


def _endpoints(offers: Sequence[ContractRow], asks: Sequence[ContractRow]) -> list[Link]:
    routes = _Routes(one for one in offers if one.kind == "http")
    common = shared_words({one.path for one in (*offers, *asks)})
    found: list[Link] = []
    for row in asks:
        if row.kind == "http":
            found += _endpoint(row, routes, common)
    return found


def _fits(requested: str, offered: str) -> bool:
    return requested == offered or "*" in (requested, offered) or (requested == "HEAD" and offered == "GET")


def _is_in_reach(row: ContractRow, offer: ContractRow) -> bool:
    """Whether a client's call (`row`) can reach a route (`offer`).

    A route that is defined in a test can be reached only from the same test. All other routes can be reached from everywhere.
    """
    if not offer.test:
        return True
    if not row.test or row.path != offer.path:
        return False
    here = offer.qualname
    return here.startswith(f"{row.qualname}.") or here in (row.qualname, "<module>") or ("." not in here and not _CASE.match(here))


def _endpoint(row: ContractRow, routes: _Routes, common: frozenset[str]) -> list[Link]:
    verb, parts = _split(row.name)
    for stripped in range(min(4, len(parts))):
        rest = parts[stripped:]
        before = parts[:stripped]
        if stripped and any(HOLE in part for part in before):
            break
        graded = [(_equal(rest, one.parts), one) for one in routes.of(rest)]
        graded = [
            (same, one)
            for same, one in graded
            if _fits(verb, one.verb)
            and _is_in_reach(row, one.row)
            and (one.parts[-1] != REST or not stripped)
            and (
                same > 0
                or (
                    same == 0
                    and stripped
                    and _score([*before, *row.said.split()], one.row, common) == EXACT == _score(before, one.row, common)
                )
            )
        ]
        if not graded:
            continue
        most = max(same for same, _ in graded)
        candidates = [one for same, one in graded if same == most]
        exact = [one for one in candidates if one.verb == verb]
        chosen = _chosen(row, exact or candidates, " ".join(before), most, common)
        if chosen:
            return chosen
    return []


def _chosen(row: ContractRow, candidates: Sequence[_Route], before: str, same: int, common: frozenset[str]) -> list[Link]:
    """Return links from a client's call to the routes that fit it best.

    Words in the call (host, names of variables, `before`) may name a service. If they fit some routes, only the best of these are linked.
    Otherwise all candidates are linked, with three exceptions. A call to an external host, or to another service's host, is not linked. A
    call with a prefix `before` is not linked if fewer than two segments match. If more than `MOST` routes remain, none is linked.

    Args:
        row: the client's call.
        candidates: routes with a matching path.
        before: the prefix that was removed from the call's path to find the candidates.
        same: number of fixed segments that the paths share.
        common: words that many services share; they do not name a service.
    """
    hints = row.said.split() + before.split()
    scores = [_score(hints, one.row, common) for one in candidates]
    best = max(scores)
    host = hints[0] if row.said and _NAMED_HOST.match(hints[0]) and (":" in hints[0] or "-" in hints[0] or "." in hints[0]) else ""
    if _EXTERNAL.search(row.said) and best <= 0:
        return []
    if best > 0:
        kept = [one for one, score in zip(candidates, scores, strict=True) if score == best]
        confidence = 0.95 if not before else 0.9
    else:
        if before and same < 2:
            return []
        if host and "localhost" not in host and not host.startswith((":", "127.", "0.")) and tokens(host) and _is_service(host):
            return []
        kept = list(candidates)
        mine = [one for one in kept if service_of(one.row.path) == service_of(row.path)]
        if len({service_of(one.row.path) for one in kept}) > 1 and mine and not row.said:
            kept = mine
        confidence = 0.9 if not before else 0.7
    targets = {one.row.symbol or one.row.path: one for one in kept}
    if len(targets) > MOST:
        return []
    if len(targets) > 1:
        confidence = 0.5 / len(targets) if len({service_of(one.row.path) for one in kept}) > 1 else confidence - 0.1
    if any("*" in (row.name[0], one.verb) for one in targets.values()):
        confidence -= 0.05
    return [Link(row, one.row, "endpoint", round(confidence, 3)) for one in targets.values()]


def _is_service(host: str) -> bool:
    """Whether a host is a service's name, such as `ts-order-service:12031`."""
    return "." not in host.partition(":")[0]


def _score(hints: Sequence[str], offer: ContractRow, common: frozenset[str]) -> int:
    """Return how well words in a call name the service of a route, from 0.

    `hints` are the words: hosts, variables and path prefixes. Words in `common` do not count. The result is 0 if no word names the service.
    The more words agree, the higher is the result; equal names give the highest.
    """
    wanted = words_of(offer.path) - common
    if not wanted:
        return 0
    best = 0
    for hint in hints:
        words = tokens(hint) - common
        if words == wanted:
            best = max(best, EXACT)
        elif wanted < words:
            best = max(best, 10 + len(wanted))
        elif words and words < wanted and len(words) * 2 >= len(wanted):
            best = max(best, 1 + len(words))
        elif "".join(sorted(wanted)) in hint.lower():
            best = max(best, 5)
    return best


# topics


def _topics(offers: Sequence[ContractRow], asks: Sequence[ContractRow]) -> list[Link]:
    by_name: dict[str, list[ContractRow]] = {}
    for row in offers:
        if row.kind == "topic":
            by_name.setdefault(row.name, []).append(row)
    return [
        Link(row, other, "topic", 0.9 if service_of(row.path) != service_of(other.path) else 0.8)
        for row in asks
        for other in (by_name.get(row.name, ()) if row.kind == "topic" else ())
        if (row.test or not other.test) and (row.path, row.line) != (other.path, other.line)
    ]


# gRPC


def _bare(name: str) -> str:
    return name.replace("_", "").lower()


_SERVERS: Final = (
    "Register{}Server", "Unimplemented{}Server", "{}Servicer", "add_{}Servicer_to_server", "{}ImplBase", "{}.{}Base", "{}CoroutineImplBase",
    "{}::Service", "{}.Service", "{}.service", "{}Server::new", "{}Interface", "{}_server",
)  # fmt: skip
_CLIENTS: Final = (
    "New{}Client", "{}Client", "{}Stub", "{}BlockingStub", "{}FutureStub", "{}CoroutineStub", "{}Grpc.newBlockingStub", "{}Grpc.newStub",
    "{}Grpc.newFutureStub", "{}::Stub", "{}::NewStub", "{}.Stub", "{}.new", "create{}Client",
)  # fmt: skip


class _Speaker(NamedTuple):
    """Words in one file that may belong to gRPC, such as `NewCartClient`.

    Each of `words` may have parts, joined by dots or `::`. `ends` has the last part of each word, the last two parts, and the last three.
    For `shop.CartClient`, these are `CartClient` and `shop.CartClient`.
    """

    words: frozenset[str]
    ends: frozenset[str]  # of the words: the last one, two and three parts


def _speaker(names: str) -> _Speaker:
    words = frozenset(names.split("\n"))
    ends: set[str] = set()
    for word in words:
        bare = word.removeprefix("new ")
        for sign in ("::", "."):
            parts = bare.split(sign)
            ends.add(parts[-1])
            ends.update(sign.join(parts[-n:]) for n in (2, 3) if len(parts) >= n)
    return _Speaker(words, frozenset(ends))


def _says(speaker: _Speaker, service: str, forms: Sequence[str]) -> bool:
    return any(form.replace("{}", service) in speaker.ends for form in forms)


def _constructs(speaker: _Speaker, service: str) -> bool:
    return any(word.startswith("new ") and re.split(r"\.|::", word)[-1] == service for word in speaker.words)


def _procedures(rows: Sequence[ContractRow]) -> list[Link]:
    services: dict[str, dict[str, ContractRow]] = {}  # short name -> bare name of the procedure -> its declaration
    for row in rows:
        if row.role == "declares" and row.kind == "grpc":
            service, _, method = row.name.rpartition("/")
            services.setdefault(service.rpartition(".")[2], {})[_bare(method)] = row
    if not services:
        return []
    speakers = {row.path: _speaker(row.said) for row in rows if row.role == "speaks"}
    offers = list(_implementations(rows, services, speakers))
    offered: dict[tuple[str, str], list[ContractRow]] = {}
    for service, method, row in offers:
        offered.setdefault((service, method), []).append(row)
    served = {row.symbol for some in offered.values() for row in some}
    methods: dict[str, list[str]] = {}
    for service, known in services.items():
        for method in known:
            methods.setdefault(method, []).append(service)
    clients: dict[str, set[str]] = {
        path: {service for service in services if _says(speaker, service, _CLIENTS) or _constructs(speaker, service)}
        for path, speaker in speakers.items()
    }
    near: dict[str, set[str]] = {}
    for path, some in clients.items():
        near.setdefault(service_of(path), set()).update(some)
    found: list[Link] = []
    for row in rows:
        if row.role != "calls" or row.said in ("self", "this", "super", "super()"):
            continue
        method = _bare(row.name)
        method = method if method in methods else method.removesuffix("async")
        if method not in methods:
            continue
        here = [one for one in methods[method] if one in clients.get(row.path, ())]
        sure = bool(here)
        here = here or [one for one in methods[method] if one in near.get(service_of(row.path), ()) and tokens(row.said) & tokens(one)]
        if len(here) > 1:
            named = [one for one in here if tokens(row.said) & tokens(one)]
            here = named or here
        here = [one for one in here if _is_spelled(row, services[one][method].name.rpartition("/")[2])]
        for service in here if len(here) <= MOST else ():
            targets = {one.symbol or one.path: one for one in offered.get((service, method), ()) if row.test or not one.test}
            if row.symbol in targets and row.symbol in served:
                continue  # the implementation itself
            if not targets or len(targets) > MOST:
                continue
            confidence = (0.95 if sure else 0.7) / len(here)
            if len({service_of(one.path) for one in targets.values()}) > 1:
                confidence /= len(targets)
            declared = services[service][method]
            asked = row._replace(name=declared.name, kind="grpc")
            found.extend(Link(asked, one._replace(name=declared.name), "rpc", round(confidence, 3)) for one in targets.values())
    return found


def _is_spelled(row: ContractRow, method: str) -> bool:
    """Whether a call has the name of a procedure, in its language's spelling.

    For example, Java code calls the procedure `GetCart` as `getCart`.
    """
    if row.path.endswith((".go", ".py", ".cs", ".cc", ".cpp", ".php")):
        return row.name in (method, f"{method}Async")
    if row.path.endswith((".java", ".kt", ".scala", ".js", ".ts", ".tsx", ".mjs", ".cjs", ".swift", ".dart")):
        return row.name in (method, method[:1].lower() + method[1:])
    return True


def _implementations(
    rows: Sequence[ContractRow], services: Mapping[str, Mapping[str, ContractRow]], speakers: Mapping[str, _Speaker]
) -> Iterable[tuple[str, str, ContractRow]]:
    """Yield (service, procedure, function) for implementations of gRPC.

    There are two kinds: functions that code registers for a service, and functions with the name of a procedure. A function of the second
    kind counts only if its file has words that name the service.

    Args:
        rows: places in code that may implement a procedure.
        services: for each service, by name, the declared procedures.
        speakers: for each file, the words that show which services it implements.
    """
    serving = {path: {service for service in services if _says(speaker, service, _SERVERS)} for path, speaker in speakers.items()}
    folders: dict[str, set[str]] = {}
    for path, some in serving.items():
        if path.endswith(".go"):  # a package is a folder
            folders.setdefault(path.rpartition("/")[0], set()).update(some)
    done: set[tuple[str, str, str]] = set()
    for row in rows:
        if row.role != "serves":
            continue
        for service, known in services.items():
            if re.search(rf"\b{service}\b", row.said) and _bare(row.name) in known:
                done.add((service, _bare(row.name), service_of(row.path)))
                yield service, _bare(row.name), row._replace(role="offers")
    for row in rows:
        if row.role != "defines":
            continue
        method = _bare(row.name)
        for service in sorted({*serving.get(row.path, ()), *folders.get(row.path.rpartition("/")[0], ())} if row.path in serving else ()):
            known = services[service]
            name = method if method in known else method.removesuffix("async") if method.removesuffix("async") in known else ""
            if name and (service, name, service_of(row.path)) not in done and not _is_client(row, service):
                yield service, name, row._replace(role="offers")


def _is_client(row: ContractRow, service: str) -> bool:
    """Whether the class with a method is a gRPC client, such as `CartStub`."""
    owner = _bare(row.said)
    return owner.endswith(("client", "stub", "gateway")) and not owner.endswith("server")
