"""Link HTTP calls with the routes that they reach."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.contracts.links import MOST, Link
from graphmem.contracts.services import is_stand_in, service_of, shared_words, tokens, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from graphmem.contracts.rows import ContractRow

HOLE: Final = "{}"
REST: Final = "**"

_EXTERNAL: Final = re.compile(r"(?:^|\s)(?:[\w-]+\.)+(?:com|org|net|io|dev|co|ai|cloud|gov|edu|me|app)(?::\d+)?(?:\s|$)")
_NAMED_HOST: Final = re.compile(r"^[\w.-]+(?::\d+)?$")
_CASE: Final = re.compile(r"test|benchmark|example|fuzz", re.IGNORECASE)
"""Beginning of the names of tests; other functions of a test file may set up a server for all of its tests."""

_BASE: Final = re.compile(r"api|rest|v\d+")
_MOST_BASE: Final = 3
"""Most segments of the base path of an API, such as `api` and `v1`."""

EXACT: Final = 100
"""Score of a hint that has exactly the words of a service."""


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

        `parts` are the segments: `carts` and `7` for the path `/carts/7`.
        """
        last = parts[-1] if HOLE not in parts[-1] else HOLE
        found = list(self._by_end.get((len(parts), last), ()))
        if last != HOLE:
            found += self._by_end.get((len(parts), HOLE), ())
        return found + [one for one in self._open if len(one.parts) <= len(parts) + 1]

    def below_base(self, parts: Sequence[str]) -> list[_Route]:
        """Return the routes that may match a path below the base path of an API.

        `parts` are the segments of the path. Clients often add the base path in one place. The path `/carts/7` may thus reach the route
        `/api/carts/{}`.
        """
        last = parts[-1] if HOLE not in parts[-1] else HOLE
        found: list[_Route] = []
        for more in range(1, _MOST_BASE + 1):
            for end in dict.fromkeys((last, HOLE)):
                routes = self._by_end.get((len(parts) + more, end), ())
                found += [one for one in routes if all(map(_BASE.fullmatch, one.parts[:more]))]
        return found


def _equal(requested: Sequence[str], offered: Sequence[str]) -> int:
    """Return the number of fixed segments that two paths share, or -1.

    A segment is a part between slashes. `requested` has the segments of the client's path, and `offered` those of the route. A variable
    segment such as `{id}` matches any text, and is not a fixed segment: `/carts/7` and `/carts/{id}` share one fixed segment. The result is
    -1 if the paths do not match.
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
        elif HOLE in one and one != HOLE:  # a version such as `v{}`
            if re.fullmatch(re.escape(one).replace(re.escape(HOLE), ".+"), other) is None:
                return -1
        else:
            return -1
    return same


def linked_endpoints(offers: Sequence[ContractRow], asks: Sequence[ContractRow], bases: Mapping[str, str]) -> list[Link]:
    """Return links from HTTP calls (`asks`) to routes (`offers`).

    `bases` has the path that the client of a service puts before the paths of its requests, by the folder of the service.
    """
    routes = _Routes(one for one in offers if one.kind == "http")
    common = shared_words({one.path for one in (*offers, *asks)})
    found: list[Link] = []
    for row in asks:
        if row.kind == "http":
            base = bases.get(service_of(row.path), "")
            verb, _, path = row.name.partition(" ")
            based = _endpoint(row._replace(name=f"{verb} {base}{path}"), routes, common) if base and not row.test else []
            found += [one._replace(asks=row) for one in based] or _endpoint(row, routes, common)
    return found


def _fits(requested: str, offered: str) -> bool:
    return requested == offered or "*" in (requested, offered) or (requested == "HEAD" and offered == "GET")


def _is_in_reach(row: ContractRow, offer: ContractRow) -> bool:
    """Whether a client's call (`row`) can reach a route (`offer`).

    A route that is defined in a test can be reached only from the same test, and a route of a mock only from a mock. All other routes can
    be reached from everywhere.
    """
    if is_stand_in(offer.path) and not is_stand_in(row.path):
        return False
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
        candidates = [one for one in candidates if one.parts[-1] != REST] or candidates
        exact = [one for one in candidates if one.verb == verb]
        chosen = _chosen(row, exact or candidates, " ".join(before), most, common)
        if chosen:
            return chosen
    return _below_base(row, verb, parts, routes, common)


def _below_base(row: ContractRow, verb: str, parts: Sequence[str], routes: _Routes, common: frozenset[str]) -> list[Link]:
    """Return links to routes below a base path that the client adds elsewhere.

    Args:
        row: the client's call, which has no route of its whole path.
        verb: its HTTP verb.
        parts: the segments of its path.
        routes: all routes.
        common: words that many services share.
    """
    if not parts or HOLE in parts[0] or _BASE.fullmatch(parts[0]):
        return []
    graded = [
        (_equal(parts, one.parts[-len(parts) :]), one)
        for one in routes.below_base(parts)
        if _fits(verb, one.verb) and _is_in_reach(row, one.row) and (row.test or one.row.path != row.path)
    ]
    most = max((same for same, _ in graded), default=0)
    candidates = [one for same, one in graded if same == most] if most > 0 else []
    exact = [one for one in candidates if one.verb == verb] or candidates
    found = _chosen(row, exact, "", most, common) if exact else []
    return [one._replace(confidence=round(one.confidence - 0.2, 3)) for one in found]


def _chosen(row: ContractRow, candidates: Sequence[_Route], before: str, same: int, common: frozenset[str]) -> list[Link]:
    """Return links from a client's call to the routes that fit it best.

    Words in the call (host, names of variables, `before`) may name a service. If they fit some routes, only the routes that they fit best
    are linked. Otherwise the first of these rules that applies is used:

    - A call to an external host is not linked.
    - A call with a prefix `before` is not linked if fewer than two fixed segments match.
    - A call to the host of another service is not linked.
    - A call with an empty `row.said` (no host, no variable) is linked only with the candidates of its own service, if there are any.
    - Any other call is linked with all candidates.

    In all cases, more than `MOST` routes are not linked.

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
    """Return a score: how well words in a call name the service of a route.

    `hints` are hosts, variables and path prefixes in the call. Words in `common` are ignored. The score is 0 if no hint names the
    service, and `EXACT` if a hint has exactly the words of the service's name. Otherwise the score is higher if a hint shares more words
    with the name.
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
