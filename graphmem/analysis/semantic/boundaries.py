"""Check whether files depend only on files that the project's rules allow.

A rule has one of three forms:

* `from` and `may_not_use`: files that match `from` may not use files that match `may_not_use`.
* `from` and `may_only_use`: files that match `from` may use only each other and files that match `may_only_use`.
* `layers`: the patterns of layers, the highest layer first. A file may use files of its own layer and of lower layers.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from graphmem.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from graphmem.analysis.semantic.files import I64, FileGraph

Mask = npt.NDArray[np.bool_]

CONFIDENCE: Final = 0.5  # of an edge that counts, unless the rule gives another
BY_VALUE: Final = frozenset({"receiver_type"})  # a call on an object passed from elsewhere does not name the file of the object's class
ARROW: Final = " -> "
_KEYS: Final = frozenset({"name", "because", "from", "may_not_use", "may_only_use", "layers", "except", "min_confidence"})


@dataclass(frozen=True)
class BoundaryRule:
    """A rule on the dependencies between files.

    Patterns have the syntax of gitignore, relative to the root. Exactly one of `may_not_use`, `may_only_use` and `layers` has patterns.
    """

    name: str
    because: str = ""
    source: tuple[str, ...] = ()  # `from` in the file; not used with `layers`
    may_not_use: tuple[str, ...] = ()
    may_only_use: tuple[str, ...] = ()
    layers: tuple[tuple[str, ...], ...] = ()
    exceptions: tuple[str, ...] = ()  # `except`: patterns of used files, or `path -> path`
    min_confidence: float = CONFIDENCE


@dataclass(frozen=True)
class Breach:
    """A dependency between two files that breaks a rule."""

    rule: BoundaryRule
    src: str
    dst: str
    rows: I64  # rows of its edges in the view


@dataclass(frozen=True)
class Checked:
    """Result of checking a rule: dependencies that break it, unused patterns.

    A pattern is unused if no file matches it.
    """

    rule: BoundaryRule
    files: int  # files that it limits
    links: int  # dependencies of these files
    breaches: list[Breach]  # by paths
    unmatched: list[str]  # patterns that match no file


def parse(text: str, name: str) -> list[BoundaryRule]:
    """Read rules from the text of a TOML file.

    Args:
        text: the TOML, with a table `[[rule]]` for each rule.
        name: the file's name, for messages.

    Raises:
        BadInputError: the text is not TOML, or a rule is incomplete or contradictory.
    """
    try:
        table = tomllib.loads(text.removeprefix("\ufeff"))  # Windows editors may write a BOM
    except (ValueError, RecursionError) as error:
        raise _wrong(name, f"the boundary rules {name} are not TOML: {error}; correct the file") from error
    rules = table.get("rule")
    if not isinstance(rules, list) or not rules or table.keys() - {"rule"}:
        raise _wrong(name, f"{name} must contain `[[rule]]` tables and nothing else; write a table [[rule]] for each boundary rule")
    found = [_rule(name, number, one) for number, one in enumerate(rules, 1)]
    if len({one.name for one in found}) < len(found):
        raise _wrong(name, f"{name} has two boundary rules of the same name; give each rule its own name")
    return found


def _rule(file: str, number: int, table: object) -> BoundaryRule:
    where = f"{file}, rule {number}"
    if not isinstance(table, dict):
        raise _wrong(where, f"{where} is not a TOML table; write the rule as a table [[rule]]")
    if unknown := sorted(table.keys() - _KEYS):
        raise _wrong(where, f"{where} has the unknown key {unknown[0]!r}; use {', '.join(sorted(_KEYS))}")
    given = [key for key in ("may_not_use", "may_only_use", "layers") if table.get(key)]
    if not given:
        raise _wrong(where, f"{where} has none of the keys may_not_use, may_only_use and layers; add one of them")
    if len(given) > 1:
        raise _wrong(where, f"{where} has {' and '.join(given)}, but a rule may have only one of these keys; write a rule for each")
    if "from" in table and "layers" in table:
        raise _wrong(where, f"{where} has both `from` and `layers`; remove `from`")
    if "from" not in table and "layers" not in table:
        raise _wrong(where, f"{where} has no key `from`, so it does not apply to any file; add `from` with a path pattern")
    texts = partial(_patterns, where, table)
    layers = table.get("layers", [])
    if not isinstance(layers, list) or len(layers) == 1:
        raise _wrong(where, f'{where} must list two layers or more; write for example layers = ["high/**", "low/**"]')
    name, because, floor = table.get("name", f"rule-{number}"), table.get("because", ""), table.get("min_confidence", CONFIDENCE)
    if not isinstance(because, str):
        raise _wrong(where, f"the `because` of {where} is not a string; write the reason in quotes")
    if not isinstance(name, str) or not name.strip():
        raise _wrong(where, f"the `name` of {where} is empty or not a string; write a name in quotes, or omit it")
    if "\n" in name or ": " in name:
        raise _wrong(
            where,
            f"the `name` of {where} contains a line break, or a space after a colon; write the name on one line without such a space",
        )
    if not isinstance(floor, int | float) or not 0 <= floor <= 1:
        raise _wrong(where, f"{where} has min_confidence = {floor!r}; give a number from 0 to 1")
    return BoundaryRule(
        name.strip(),
        because.strip(),
        texts("from"),
        texts("may_not_use"),
        texts("may_only_use"),
        tuple(_patterns(where, {"layers": one}, "layers") for one in layers),
        texts("except"),
        float(floor),
    )


def _patterns(where: str, table: dict[str, object], key: str) -> tuple[str, ...]:
    """Return the patterns under the key `key` of a rule.

    If the key is missing, the result is empty. The value in `table` is a string or a list of strings. `where` names the rule in errors.
    """
    given = table.get(key, [])
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list) or not all(isinstance(one, str) and one.strip() for one in listed):
        raise _wrong(where, f"{where} has a {key!r} that is not a path pattern; give one path pattern, or a list of them")
    return tuple(one.strip() for one in listed)


def _wrong(where: str, message: str) -> BadInputError:
    return BadInputError(message, argument="rules", path=where)


def check(files: FileGraph, rule: BoundaryRule) -> Checked:
    """Check one rule: find the dependencies between files that break it."""
    unmatched: list[str] = []
    matched = partial(_matched, files.paths, unmatched)
    if rule.layers:
        level = np.full(len(files), -1, np.int64)
        for number, patterns in enumerate(rule.layers):
            level[matched(patterns) & (level < 0)] = number
        limited = level >= 0
        forbidden = limited[files.src] & limited[files.dst] & (level[files.dst] < level[files.src])
    else:
        limited = matched(rule.source)
        used = matched(rule.may_not_use or rule.may_only_use)
        outside = ~used & ~limited if rule.may_only_use else used
        forbidden = limited[files.src] & outside[files.dst]
    pairs = {one for one in rule.exceptions if ARROW in one}
    if targets := tuple(one for one in rule.exceptions if one not in pairs):
        forbidden &= ~matched(targets)[files.dst]
    by_value = np.array([one in BY_VALUE for one in files.view.rules], np.bool_)
    breaches = []
    for link in np.flatnonzero(forbidden).tolist():
        src, dst = files.paths[files.src[link]], files.paths[files.dst[link]]
        rows = files.rows[files.ptr[link] : files.ptr[link + 1]]
        rows = rows[files.view.confidence[rows] >= rule.min_confidence]
        if not by_value[files.view.edge_rule[rows]].all() and f"{src}{ARROW}{dst}" not in pairs:
            breaches.append(Breach(rule, src, dst, rows))
    return Checked(rule, int(limited.sum()), int(limited[files.src].sum()), breaches, unmatched)


def _matched(paths: Sequence[str], unmatched: list[str], patterns: Sequence[str]) -> Mask:
    """Return which of `paths` match one of `patterns`: booleans, one per path.

    Patterns that match no path are appended to `unmatched`.
    """
    from pathspec import GitIgnoreSpec

    found = np.zeros(len(paths), np.bool_)
    for pattern in patterns:
        spec = GitIgnoreSpec.from_lines([pattern])
        mask = np.fromiter((spec.match_file(path) for path in paths), np.bool_, len(paths))
        if not mask.any():
            unmatched.append(pattern)
        found |= mask
    return found


def baseline_line(breach: Breach) -> str:
    """Return the baseline file's line for an accepted breach of a rule.

    The baseline is a file that lists accepted breaches.
    """
    return f"{breach.rule.name}: {breach.src}{ARROW}{breach.dst}"


def baseline_lines(text: str) -> Iterator[str]:
    """Yield the lines of the baseline file, which lists accepted breaches.

    Comments and blank lines are left out.
    """
    for line in text.splitlines():
        if (stripped := line.strip()) and not stripped.startswith("#"):
            yield stripped
