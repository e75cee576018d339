"""Build constraints of Go files: whether one build can contain two files.

A constraint is an operating system and architecture in a file's name (`poll_linux_arm64.go`), or a `//go:build` line.
"""

# ruff: noqa: SIM905

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from itertools import product
from typing import Final

Condition = Callable[[Mapping[str, bool]], bool]
"""A function that returns whether a build with given tags contains a file."""

_SYSTEMS: Final = frozenset(
    "aix android darwin dragonfly freebsd hurd illumos ios js linux netbsd openbsd plan9 solaris wasip1 windows zos".split()
)
_NOT_UNIX: Final = frozenset("js plan9 wasip1 windows zos".split())
_MACHINES: Final = frozenset("386 amd64 arm arm64 loong64 mips mips64 mips64le mipsle ppc64 ppc64le riscv64 s390x wasm".split())
_IMPLIED: Final[Mapping[str, str]] = {"android": "linux", "illumos": "solaris", "ios": "darwin"}
_WORD: Final = re.compile(r"\s*(&&|\|\||[!()]|[\w.]+)")
MAX_TAGS: Final = 6
"""Free tags of two files that are compared in all combinations; files with more can always be built together."""


@cache
def are_built_together(path: str, line: str, other_path: str, other_line: str) -> bool:
    """Return whether one build can contain both of two files.

    `path` and `line` are the path and the `//go:build` line of the first file, `other_path` and `other_line` those of the second. A file
    without that line has "". The result is also True if a constraint cannot be parsed or has too many tags.
    """
    written = [_constraint(path, line), _constraint(other_path, other_line)]
    if "" in written or written[0] == written[1]:
        return True
    tags: set[str] = set()
    conditions = [_parsed(text, tags) for text in written]
    if None in conditions:
        return True
    free = sorted(tags - _SYSTEMS - _MACHINES - {"unix"})
    if len(free) > MAX_TAGS:
        return True
    systems = [*sorted(tags & _SYSTEMS), "freebsd", "plan9"] if tags & (_SYSTEMS | {"unix"}) else [""]
    machines = [*sorted(tags & _MACHINES), ""]
    for (system, machine), values in product(product(systems, machines), product((False, True), repeat=len(free))):
        build = dict(zip(free, values, strict=True))
        build |= {system: True, _IMPLIED.get(system, system): True, machine: True, "unix": system not in _NOT_UNIX}
        if all(condition is not None and condition(build) for condition in conditions):
            return True
    return False


def _constraint(path: str, line: str) -> str:
    """Return the build constraints of a Go file, such as `linux && !cgo`.

    The constraints come from the file's name and from its `//go:build` line.
    """
    parts = path.rpartition("/")[2].removesuffix(".go").removesuffix("_test").split("_")[1:]
    words = [parts[-1]] if parts and parts[-1] in _SYSTEMS | _MACHINES else []
    if words and words[0] in _MACHINES and len(parts) > 1 and parts[-2] in _SYSTEMS:
        words.append(parts[-2])
    written = line.removeprefix("//go:build").strip()
    return " && ".join([*words, f"({written})"] if written else words)


def _parsed(text: str, tags: set[str]) -> Condition | None:
    """Parse a build constraint to a function that evaluates it.

    In `linux && !cgo`, the tags are `linux` and `cgo`; they are added to `tags`. The result is None if `text` is not an expression.
    """
    words = _WORD.findall(text)
    if "".join(words) != re.sub(r"\s", "", text):
        return None
    words.reverse()

    def any_of() -> Condition:
        parts = [all_of()]
        while words and words[-1] == "||":
            words.pop()
            parts.append(all_of())
        return lambda build: any(part(build) for part in parts)

    def all_of() -> Condition:
        parts = [single()]
        while words and words[-1] == "&&":
            words.pop()
            parts.append(single())
        return lambda build: all(part(build) for part in parts)

    def single() -> Condition:
        word = words.pop() if words else ")"
        if word == "!":
            inner = single()
            return lambda build: not inner(build)
        if word == "(":
            inner = any_of()
            if not words or words.pop() != ")":
                raise ValueError(text)
            return inner
        if word in ("&&", "||", ")"):
            raise ValueError(text)
        tags.add(word)
        return lambda build: build.get(word, False)

    try:
        found = any_of()
    except ValueError:
        return None
    return found if not words else None
