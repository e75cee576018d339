"""Find the names of services in folders, hosts and variables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

from graphmem.runtime.data.tables import read_table

BETWEEN: Final = "\x1f"
"""Between the name of a project and a path, while projects are joined."""

_TOKEN: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


@dataclass(frozen=True, slots=True)
class _Words:
    """The content of `grammars/services.toml`, which explains the keys."""

    folders: frozenset[str]
    general_words: frozenset[str]
    stand_ins: frozenset[str]
    bases: frozenset[str]


@cache
def _words() -> _Words:
    return read_table("services.toml", _Words)


@cache
def tokens(text: str) -> frozenset[str]:
    """Return the words of a name that distinguish services, in lower case.

    `orders-service` gives `order`; general words such as `service` are left out.
    """
    general = _words().general_words
    found = (token.lower() for token in _TOKEN.findall(text))
    return frozenset(
        one.removesuffix("s") if len(one) > 3 else one for one in found if one not in general and not one.isdigit() and len(one) > 1
    )


@cache
def service_of(path: str) -> str:
    """Return the folder of the service to which a file belongs.

    Common names such as `src` at the start of the path do not name a service. The last part of the folder is the first name that is not
    common: `src/cart/api/app.py` gives `src/cart`. A file at the root gives "".
    """
    project, mark, inner = path.partition(BETWEEN + "/")
    if mark:
        return f"{project}/{service_of(inner)}".rstrip("/")
    parts = path.split("/")[:-1]
    for number, part in enumerate(parts):
        if part.lower() not in _words().folders:
            return "/".join(parts[: number + 1])
    return "/".join(parts)


@cache
def is_stand_in(path: str) -> bool:
    """Whether a file is in a folder of mocks, which answer for other services."""
    return not _words().stand_ins.isdisjoint(path.lower().split("/")[:-1])


def is_base(name: str) -> bool:
    """Whether an option, such as `baseURL`, sets the start of all paths.

    The option belongs to a client of a service, which sends its requests to paths below the start.
    """
    return name in _words().bases


@cache
def words_of(path: str) -> frozenset[str]:
    """Return the words that name the service of a file.

    `orders-service/app.py` gives `order`; see `tokens`.
    """
    return tokens(service_of(path).rpartition("/")[2])


def shared_words(paths: Iterable[str]) -> frozenset[str]:
    """Return the words that at least half of all services have in their name.

    `paths` are files, whose folders name the services. Such words do not distinguish services. For two services or fewer, the result is
    empty.
    """
    names = {service_of(path): words_of(path) for path in paths}
    counted = Counter(word for words in names.values() for word in words)
    return frozenset(word for word, count in counted.items() if len(names) > 2 and count * 2 >= len(names))
