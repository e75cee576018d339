"""Link calls of remote procedures (gRPC) with their implementations."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from graphmem.contracts.links import MOST, Link
from graphmem.contracts.services import service_of, tokens
from graphmem.runtime.data.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from graphmem.contracts.rows import ContractRow


def _bare(name: str) -> str:
    return name.replace("_", "").lower()


@dataclass(frozen=True, slots=True)
class _Names:
    """The content of `grammars/procedures.toml`, which explains the keys."""

    servers: tuple[str, ...]
    clients: tuple[str, ...]
    own_receivers: frozenset[str]
    as_declared: tuple[str, ...]
    lower_first: tuple[str, ...]
    folder_packages: tuple[str, ...]


@cache
def _names() -> _Names:
    return read_table("procedures.toml", _Names)


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


def linked_procedures(rows: Sequence[ContractRow]) -> list[Link]:
    """Return links from each call of a remote procedure to its implementation.

    `rows` are the declarations, calls and implementations in all files.
    """
    services: dict[str, dict[str, ContractRow]] = {}  # short name -> bare name of the procedure -> its declaration
    for row in rows:
        if row.role == "declares" and row.kind == "grpc":
            service, _, method = row.name.rpartition("/")
            services.setdefault(service.rpartition(".")[2], {})[_bare(method)] = row
    if not services:
        return []
    speakers = {row.path: _speaker(row.said) for row in rows if row.role == "speaks"}
    offered: dict[tuple[str, str], list[ContractRow]] = {}
    for service, method, row in _implementations(rows, services, speakers):
        offered.setdefault((service, method), []).append(row)
    served = {row.symbol for some in offered.values() for row in some}
    callers = _Callers(services, speakers)
    found: list[Link] = []
    for row in rows:
        if row.role == "calls" and row.said not in _names().own_receivers:
            method, here, sure = callers.services_of(row)
            for service in here if len(here) <= MOST else ():
                targets = {one.symbol or one.path: one for one in offered.get((service, method), ()) if row.test or not one.test}
                if row.symbol in targets and row.symbol in served:
                    continue  # the implementation itself
                if targets and len(targets) <= MOST:
                    found += _links(row, services[service][method], list(targets.values()), (0.95 if sure else 0.7) / len(here))
    return found


def _links(row: ContractRow, declared: ContractRow, targets: Sequence[ContractRow], confidence: float) -> list[Link]:
    """Return links of a call to the implementations of a procedure.

    `row` is the call, `declared` the procedure's declaration, and `targets` are the implementations. `confidence` is divided by the number
    of implementations if these belong to several services.
    """
    if len({service_of(one.path) for one in targets}) > 1:
        confidence /= len(targets)
    asked = row._replace(name=declared.name, kind="grpc")
    return [Link(asked, one._replace(name=declared.name), "rpc", round(confidence, 3)) for one in targets]


class _Callers:
    """The services that the code of each file calls.

    Args:
        services: for each service, by name, the declared procedures by their bare names.
        speakers: for each file, the words that show which services it calls.
    """

    def __init__(self, services: Mapping[str, Mapping[str, ContractRow]], speakers: Mapping[str, _Speaker]) -> None:
        self._services = services
        self._methods: dict[str, list[str]] = {}  # bare name of a procedure -> services that have it
        for service, known in services.items():
            for method in known:
                self._methods.setdefault(method, []).append(service)
        self._clients = {
            path: {service for service in services if _says(speaker, service, _names().clients) or _constructs(speaker, service)}
            for path, speaker in speakers.items()
        }
        self._near: dict[str, set[str]] = {}  # the same for each service's files
        for path, some in self._clients.items():
            self._near.setdefault(service_of(path), set()).update(some)

    def services_of(self, row: ContractRow) -> tuple[str, list[str], bool]:
        """Return the services whose procedure a call may call.

        Returns:
            The bare name of the procedure; the services, if it is a procedure; and whether the file of the call has a client of them.
        """
        method = _bare(row.name)
        method = method if method in self._methods else method.removesuffix("async")
        having = self._methods.get(method, [])
        here = [one for one in having if one in self._clients.get(row.path, ())]
        sure = bool(here)
        near = self._near.get(service_of(row.path), ()) if having else ()
        here = here or [one for one in having if one in near and tokens(row.said) & tokens(one)]
        if len(here) > 1:
            here = [one for one in here if tokens(row.said) & tokens(one)] or here
        spelled = [one for one in here if _is_spelled(row, self._services[one][method].name.rpartition("/")[2])]
        return method, spelled, sure


def _is_spelled(row: ContractRow, method: str) -> bool:
    """Whether a call has a procedure's name, in the spelling of the language.

    The language is that of the call. For example, Java code calls the procedure `GetCart` as `getCart`.
    """
    if row.path.endswith(_names().as_declared):
        return row.name in (method, f"{method}Async")
    if row.path.endswith(_names().lower_first):
        return row.name in (method, method[:1].lower() + method[1:])
    return True


def _implementations(
    rows: Sequence[ContractRow], services: Mapping[str, Mapping[str, ContractRow]], speakers: Mapping[str, _Speaker]
) -> Iterable[tuple[str, str, ContractRow]]:
    """Yield (service, procedure, function) for implementations of gRPC.

    There are two kinds: functions that code registers for a service, and functions with the name of a procedure. A function of the second
    kind is considered only if its file has words that name the service.

    Args:
        rows: places in code that may implement a procedure.
        services: for each service, by name, the declared procedures.
        speakers: for each file, the words that show which services it implements.
    """
    serving = {path: {service for service in services if _says(speaker, service, _names().servers)} for path, speaker in speakers.items()}
    folders: dict[str, set[str]] = {}
    for path, some in serving.items():
        if path.endswith(_names().folder_packages):
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
