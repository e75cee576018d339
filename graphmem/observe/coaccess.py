"""Which files move with these: ranked by what history has seen, by names for files it has hardly seen."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from graphmem.observe.history import History

DAY_S: Final = 86_400.0


class Weights(NamedTuple):
    """What the ranking adds up; chosen by `benchmarks/coaccess.py`."""

    half_life_days: float = 1095.0
    names: float = 0.2  # of paths alone: word overlap of the base names, shared folders


WEIGHTS: Final = Weights()
_SPLIT: Final = re.compile(r"[_\W]+")
_EMPTY_WORDS: Final = frozenset({"", "test", "tests", "init", "spec"})


def rank(history: History, files: Sequence[str], weights: Weights = WEIGHTS) -> list[tuple[int, float, dict[str, float]]]:
    """(node, score, parts) of every file that anything speaks for, best first; ties by path."""
    seeds = [number for path in dict.fromkeys(files) if (number := history.known(path)) is not None]
    moved: dict[int, float] = {}
    half_life_s = weights.half_life_days * DAY_S
    for seed in seeds:
        for change in history.nodes[seed].changes:
            group = history.groups[change]
            if len(group) > 1:
                weight = 0.5 ** ((history.now - history.at[change]) / half_life_s) / (len(group) - 1)
                for other in group:
                    moved[other] = moved.get(other, 0.0) + weight
    named = _named(history, files)
    parts = {"moved": (scaled(moved), 1.0), "names": (scaled(named), weights.names)}
    total: dict[int, float] = {}
    for values, weight in parts.values():
        for node, value in values.items():
            total[node] = total.get(node, 0.0) + weight * value
    given = set(seeds)
    order = sorted(
        (node for node in total if node not in given and history.nodes[node].alive),
        key=lambda node: (-total[node], history.nodes[node].path),
    )
    return [(node, total[node], {name: weight * values.get(node, 0.0) for name, (values, weight) in parts.items()}) for node in order]


class Evidence(NamedTuple):
    """What the changes say of one file and those it was asked for."""

    support: int  # changes that touched it with one of them
    commits: int  # of them commits
    confidence: float  # share of the changes of those files that touched it too
    lift: float  # confidence over the share of all changes that touched it
    direction: str  # follows | leads | mixed | ""
    delay_s: float
    last_at: float


LEADS: Final = 0.8  # one side leads when it comes first in this share of the sessions that say


def evidence(history: History, files: Sequence[str], node: int) -> Evidence:
    """What the changes say of a file and others, counted, without decay."""
    seeds = {number for path in files if (number := history.known(path)) is not None}
    theirs = {change for seed in seeds for change in history.nodes[seed].changes}
    both = sorted(theirs.intersection(history.nodes[node].changes))
    if not both:
        return Evidence(0, 0, 0.0, 0.0, "", 0.0, 0.0)
    delays = []
    for change in both:
        offsets = history.offsets.get(change)
        if offsets is not None:
            at = dict(zip(history.groups[change], offsets, strict=False))
            delays.append(at[node] - min(at[seed] for seed in seeds if seed in at))
    after = sum(delay > 0 for delay in delays)
    before = sum(delay < 0 for delay in delays)
    direction = "" if not delays else "follows" if after >= LEADS * len(delays) else "leads" if before >= LEADS * len(delays) else "mixed"
    confidence = len(both) / len(theirs)
    counted = sum(history.counted)
    return Evidence(
        len(both),
        sum(history.from_git[change] for change in both),
        confidence,
        confidence * counted / len(history.nodes[node].changes),
        direction,
        sum(delays) / len(delays) if delays else 0.0,
        max(history.at[change] for change in both),
    )


def scaled(values: Mapping[int, float]) -> dict[int, float]:
    """The same with 1 as the largest."""
    top = max(values.values(), default=0.0)
    return {key: value / top for key, value in values.items()} if top > 0 else {}


def _named(history: History, files: Collection[str]) -> dict[int, float]:
    out = {}
    for path, node in history.by_path.items():
        if history.nodes[node].alive:
            value = sum(likeness(path, one) for one in files)
            if value:
                out[node] = value
    return out


def likeness(a: str, b: str) -> float:
    """How much two paths look alike: twice the share of common words of their base names, half the share of common folders."""
    mine, others = words(a), words(b)
    value = 2 * len(mine & others) / max(1, len(mine | others))
    folders, theirs = a.split("/")[:-1], b.split("/")[:-1]
    same = 0
    for x, y in zip(folders, theirs, strict=False):
        if x != y:
            break
        same += 1
    return value + 0.5 * same / max(1, len(folders), len(theirs))


@functools.lru_cache(maxsize=100_000)
def words(path: str) -> frozenset[str]:
    """Words of a base name, lower case, without its ending and without what tests add."""
    stem = path.rsplit("/", 1)[-1].rpartition(".")[0] or path.rsplit("/", 1)[-1]
    return frozenset(_SPLIT.split(stem.lower())) - _EMPTY_WORDS
