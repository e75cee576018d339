"""Rank files that change together with given files.

The ranking uses the history of changes. Names and code edges help with files that have little history. A score is the logarithm of a
product, computed as a sum. Every answer shows the terms of the sum:

    score = log(strength / strongest + 0.01)          changed with given files, see `_strengths`
          + 0.5 * log(own_changes + 0.02)             in the last changes of given files, see `_own_changes`
          + 1.7 * sqrt(likeness of the names)         of base names, in [0, 1]
          - 0.3 * log(1 + number of changes after the file's last change); recently changed files change again
          + 0.5 if an edge of the code joins the file with a given one

If there are several given files, two terms are added:

          + 0.6 if the file is in the folder of a given file
          - 0.2 * log(1 + number of changes after the common change that `_last_together` returns)

The form and the numbers were chosen on the histories of two projects and confirmed on four others. `benchmarks/coaccess.py` prints the
table of variants. Similar values perform equally well, so a second digit is not needed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from math import log, log1p, sqrt
from typing import Final, NamedTuple

from graphmem.history.co_edits import History, words

DAY_S: Final = 86_400.0
LEADS: Final = 0.8  # one side leads if it comes first in this share of the sessions with an order
VIA: Final = 30  # middle files of a second step, the strongest first
LEAST_OWN_CHANGES: Final = 0.02
SMALL: Final = 8  # files of a change that is counted for `Evidence.focus`
LEAST_SMALL: Final = 2  # such changes of both files; a single one may be chance
DOUBT: Final = 2  # imagined small changes without the file, for `Evidence.chance`
RECENT: Final = 50  # last changed files, the fallback without history and similar names


class Weights(NamedTuple):
    """Parameters of the ranking of files that change together."""

    age_days: float = 30.0  # a change weighs 1 / sqrt(1 + age / this): half as much after 90 days, a tenth after eight years
    age_power: float = 0.5
    spread: float = 1.3  # and 1 / (its other files) ** this
    overlap: float = 4.0  # and (how many of the given files it touched) ** this
    floor: float = 0.01
    names: float = 1.7
    since: float = 0.3
    edge: float = 0.5
    own_changes: float = 0.5
    half: float = 5.0  # changes of a given file after which one counts half in `own_changes`
    folder: float = 0.6  # this and the next: only for several given files
    apart: float = 0.2


WEIGHTS: Final = Weights()


class Ranked(NamedTuple):
    """One file that changes with the given files, with its score."""

    node: int
    score: float
    parts: dict[str, float]
    depth: int
    via: int  # the middle file of depth 2; else -1


class Evidence(NamedTuple):
    """Counts of the changes that touched a file together with given files.

    "Together" means in the same commit or session. Old and new changes have equal weight.
    """

    support: int  # changes that touched it with one of them
    commits: int  # of them commits
    confidence: float  # share of the changes of those files that also touched it
    focus: float  # the same share, of changes with at most SMALL files; 0.0 if fewer than LEAST_SMALL of them touched it
    chance: float  # `focus` as if DOUBT more such changes had not touched it: few changes show little
    lift: float  # confidence over the share of all changes that touched it
    direction: str  # follows | leads | mixed | ""
    delay_s: float
    last_at: float


def rank(
    history: History,
    files: Sequence[str],
    *,
    edges: Mapping[str, Collection[str]] | None = None,
    depth: int = 1,
    min_support: int = 0,
    weights: Weights = WEIGHTS,
) -> list[Ranked]:
    """Rank the files that change together with given files, best first.

    Ties are ordered by path.

    Args:
        history: the changes. Ages are relative to the newest change, so that the same history gives the same answer on any day.
        files: the given files; unknown files are allowed.
        edges: the files that edges of the code join with a given file, as path -> kinds of edges, such as CALLS.
        depth: 1 finds files that changed with a given file. 2 also finds files that changed with those; the strength of such a file is the
            product of both steps.
        min_support: minimum number of common changes of a pair; with 1 or more, a file is found only if it changed with a given file.
        weights: parameters of the ranking.
    """
    given = {number for path in files if (number := history.known(path)) is not None}
    strengths, via = _walk(history, given, depth, min_support, weights)
    linked = {number for path in edges or () if (number := history.known(path)) is not None}
    names = _names(history, files, None if min_support == 0 else strengths)
    candidates = set(strengths)
    if min_support == 0:
        candidates |= names.keys() | linked | history.latest(RECENT + len(given))
    strongest = max(strengths.values(), default=1.0)
    own_changes = _own_changes(history, given, weights)
    together = _last_together(history, given) if len(given) > 1 else {}
    folders = {path.rpartition("/")[0] for path in files} if len(given) > 1 else set()
    total = len(history)
    found = []
    for node in candidates - given:
        one = history.nodes[node]
        if not one.alive:
            continue
        parts = {
            "moved": log(strengths.get(node, 0.0) / strongest + weights.floor),
            "names": weights.names * sqrt(names.get(node, 0.0)),
            "recent": -weights.since * log1p(total - one.all[-1] if one.all else total),
            "edge": weights.edge if node in linked else 0.0,
            "own_changes": weights.own_changes * log(own_changes.get(node, 0.0) + LEAST_OWN_CHANGES),
            "folder": weights.folder if one.path.rpartition("/")[0] in folders else 0.0,
            "apart": -weights.apart * log1p(total - together.get(node, -1)) if together else 0.0,
        }
        found.append(Ranked(node, sum(parts.values()), parts, 2 if node in via else 1, via.get(node, -1)))
    found.sort(key=lambda one: (-one.score, history.nodes[one.node].path))
    return found


def _walk(history: History, given: set[int], depth: int, min_support: int, weights: Weights) -> tuple[dict[int, float], dict[int, int]]:
    """Return how strongly each file is connected with given files.

    Files are connected if they changed together at least `min_support` times. The first step finds the files that changed with the given
    files. If `depth` is 2, a second step finds the files that changed with those of the first step. In each step, a file passes on
        strengths whose sum is 1 or less. A far file is one that only the second step finds. The second result maps each far file to its
        middle file: the file of the first
       step that led to it most strongly.
    """
    first = _shares(_strengths(history, given, min_support, weights))
    via: dict[int, int] = {}
    if depth < 2:
        return first, via
    both = dict(first)
    best: dict[int, float] = {}
    for middle in sorted(first, key=lambda node: (-first[node], history.nodes[node].path))[:VIA]:
        for node, share in _shares(_strengths(history, {middle}, min_support, weights)).items():
            if node in given:
                continue
            strength = first[middle] * share
            both[node] = both.get(node, 0.0) + strength
            if node not in first and strength > best.get(node, 0.0):
                best[node], via[node] = strength, middle
    return both, via


def _strengths(history: History, given: Collection[int], min_support: int, weights: Weights) -> dict[int, float]:
    """Return scores of files that changed in the same changes as given files.

    The score is a sum over the changes that touched given files. Each change adds overlap**4 / others**1.3 / sqrt(1 + age / 30 days).
    `overlap` counts the given files in the change, and `others` its other files. A small change is stronger evidence than a large one, and
    a new change than an old one. A change that contains two given files is much stronger evidence than a change with one. The exponents
    were chosen by measurement. Files that changed together with given files fewer than `min_support` times are left out.
    """
    overlaps: dict[int, int] = defaultdict(int)
    for one in given:
        for change in history.nodes[one].changes:
            overlaps[change] += 1
    out: dict[int, float] = defaultdict(float)
    support: dict[int, int] = defaultdict(int)
    scale = weights.age_days * DAY_S
    for change in sorted(overlaps):
        group = history.groups[change]
        others = len(group) - overlaps[change]
        if others:
            age = max(0.0, history.now - history.at[change])
            weight: float = overlaps[change] ** weights.overlap / others**weights.spread / (1.0 + age / scale) ** weights.age_power
            for node in group:
                if node not in given:
                    out[node] += weight
                    support[node] += 1
    return {node: value for node, value in out.items() if support[node] >= min_support}


def _own_changes(history: History, given: Collection[int], weights: Weights) -> dict[int, float]:
    """Return scores of files that the last changes of given files touched.

    `_strengths` measures the age of a change in days, which means little for a file that changes twice a year. This function counts changes
    instead. Let `place` be 0 for the newest change of a given file, and 1 for the one before. The score is a sum over the changes of each
    given file. Each change adds 1 / (1 + place / 5) / others. Here, `others` is the number of other files in the change.
    """
    out: dict[int, float] = defaultdict(float)
    for one in sorted(given):
        for place, change in enumerate(reversed(history.nodes[one].changes)):
            group = history.groups[change]
            for node in group:
                if node not in given:
                    out[node] += 1 / (1 + place / weights.half) / (len(group) - 1)
    return out


def _last_together(history: History, given: Collection[int]) -> dict[int, int]:
    """Find how far back a file's common changes with all given files reach.

    A common change touched both the file and a given file. For each given file, the newest common change is found. The result maps the file
    to the number of the oldest of these changes. The number is -1 if the file has no common change with at least one given file.
    """
    out: dict[int, int] = {}
    for place, one in enumerate(sorted(given)):
        last = {node: change for change in history.nodes[one].changes for node in history.groups[change]}  # ascending: the last one stays
        out = {node: min(out.get(node, -1), last.get(node, -1)) for node in {*out, *last}} if place else last
    return out


def _shares(values: Mapping[int, float]) -> dict[int, float]:
    total = sum(values.values())
    return {node: value / total for node, value in values.items()}


def evidence(history: History, files: Sequence[str], nodes: Sequence[int]) -> list[Evidence]:
    """Return how often files changed together with any of the given `files`.

    `nodes` has the numbers of the files to count; the results are in their order.
    """
    seeds = {number for path in files if (number := history.known(path)) is not None}
    theirs = {change for seed in seeds for change in history.nodes[seed].changes}
    small = {change for change in theirs if len(history.groups[change]) <= SMALL}
    return [_evidence(history, seeds, theirs, small, node) for node in nodes]


def _evidence(history: History, seeds: set[int], theirs: set[int], theirs_small: set[int], node: int) -> Evidence:
    both = sorted(theirs.intersection(history.nodes[node].changes))
    if not both:
        return Evidence(0, 0, 0.0, 0.0, 0.0, 0.0, "", 0.0, 0.0)
    delays = []
    for change in both:
        offsets = history.offsets.get(change)
        if offsets:
            delays.append(offsets[node] - min(at for one, at in offsets.items() if one in seeds))
    after = sum(delay > 0 for delay in delays)
    before = sum(delay < 0 for delay in delays)
    direction = "" if not delays else "follows" if after >= LEADS * len(delays) else "leads" if before >= LEADS * len(delays) else "mixed"
    confidence = len(both) / len(theirs)
    small, of_small = len(theirs_small.intersection(both)), len(theirs_small)
    is_enough = small >= LEAST_SMALL
    return Evidence(
        len(both),
        sum(history.from_git[change] for change in both),
        confidence,
        small / of_small if is_enough else 0.0,
        small / (of_small + DOUBT) if is_enough else 0.0,
        confidence * history.counted / len(history.nodes[node].changes),
        direction,
        sum(delays) / len(delays) if delays else 0.0,
        max(history.at[change] for change in both),
    )


def _names(history: History, files: Sequence[str], only: Mapping[int, float] | None) -> dict[int, float]:
    """Return how similar the names of files are to those of the given files.

    The similarity of two base names is the number of their common words, divided by the number of all words in both. The result is the mean
    similarity over the given files. Without `only`, all existing files with a similarity above 0 are returned. With `only`, the result is
    restricted to these files.
    """
    given = [words(path) for path in files]
    out: dict[int, float] = {}
    alike = only if only is not None else {node for mine in given for word in mine for node in history.by_word.get(word, ())}
    for node in alike:
        theirs = words(history.nodes[node].path)
        likeness = sum(_likeness(theirs, mine) for mine in given) / len(given)
        if likeness:
            out[node] = likeness
    return out


def _likeness(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a and b else 0.0
