"""Pack memories, rules and code into a number of tokens.

The sections are packed in this order: always, editor context, retrieval (search results), summaries. Unless the request is explicit, the
memories for retrieval are first reduced:

- At most 5 pinned memories are taken.
- Of the other memories, the worst 30 % are dropped.
- Of the rest, at most the best 5 are taken, and at most 2 from one session.

The phase of work divides the tokens of retrieval among types of memory. Tokens that a type leaves unused go to the next best items.
Overlapping pieces of code are merged, and code is grouped by file. The result reports what was left out.
"""

from __future__ import annotations

import re
from collections import Counter as Tally
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.injection.budgets import OTHER, SECTIONS, Budget, retrieval_budget, shares_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from graphmem.injection.formats import Format
    from graphmem.injection.items import Item
    from graphmem.injection.tokens import Counter

MAX_PINNED: Final = 5
MAX_RETRIEVED: Final = 5
MAX_OF_SESSION: Final = 2
DROPPED_SHARE: Final = 0.3  # share of the results that is dropped: the worst
PIECES: Final = 3  # a piece of code takes at most 1/3 of the tokens, while there are other items
_EVEN: Final[Mapping[str, float]] = MappingProxyType({})
_MORE: Final = re.compile(r"… (?P<lines>\d+) more lines")
_LEAST_LINES: Final = 3  # minimum for a truncated piece of code


class Packed(NamedTuple):
    """The memories, rules and code that fit, in the order of display."""

    items: list[Item]
    text: str
    tokens: int  # of the text
    left_out: dict[str, int]  # reason -> items
    cut: list[str]  # ids of truncated pieces of code


def choose(found: Sequence[Item], left_out: Tally[str] | None = None) -> list[Item]:
    """Choose the memories to show: some pinned ones, then the best others.

    Both groups are ordered by score, best first; ties are ordered by id. `left_out` counts the memories that were not chosen, by reason.
    """
    tally: Tally[str] = left_out if left_out is not None else Tally()
    ranked = sorted(found, key=lambda one: (-one.score, one.id))
    pinned = [one for one in ranked if one.pinned]
    tally["pinned beyond the maximum"] += max(0, len(pinned) - MAX_PINNED)
    others = [one for one in ranked if not one.pinned]
    kept = others[: len(others) - int(DROPPED_SHARE * len(others))]
    tally["among the worst results"] += len(others) - len(kept)
    of_session: Tally[str] = Tally()
    best: list[Item] = []
    for one in kept:
        if one.session and of_session[one.session] >= MAX_OF_SESSION:
            tally["too many of one session"] += 1
        elif len(best) >= MAX_RETRIEVED:
            tally["beyond the maximum"] += 1
        else:
            of_session[one.session] += 1
            best.append(one)
    return pinned[:MAX_PINNED] + best


def merged(pieces: Iterable[Item]) -> list[Item]:
    """Merge pieces of code of the same file that overlap or touch.

    The file that has the piece with the best score is first. Within a file the order is by line.
    """
    by_file: dict[str, list[Item]] = {}
    for one in pieces:
        by_file.setdefault(one.path, []).append(one)
    files = sorted(by_file, key=lambda path: (-max(one.score for one in by_file[path]), path))
    return [one for path in files for one in _merged_file(by_file[path])]


def _merged_file(pieces: list[Item]) -> list[Item]:
    whole: list[Item] = []
    for one in sorted(pieces, key=lambda one: (one.start_line, -one.end_line, one.id)):
        last = whole[-1] if whole else None
        if last is None or not _is_whole(one) or not _is_whole(last) or one.start_line > last.end_line + 1:
            whole.append(one)
        elif one.end_line > last.end_line:
            lines = last.text.split("\n") + one.text.split("\n")[last.end_line + 1 - one.start_line :]
            best = max(last, one, key=lambda each: each.score)
            whole[-1] = best._replace(start_line=last.start_line, end_line=one.end_line, text="\n".join(lines))
        elif one.score > last.score:
            whole[-1] = last._replace(score=one.score)
    return whole


def _is_whole(one: Item) -> bool:
    """Return whether a piece of code has all lines of its line range.

    The result is False for a truncated piece.
    """
    return one.start_line > 0 and one.text.count("\n") == one.end_line - one.start_line


def arranged(items: Sequence[Item]) -> list[Item]:
    """Order items for display: pinned memories first, then by score.

    Pieces of code are merged and grouped by file. A file has the score of its best piece. Ties are ordered by id or path.
    """
    groups = [((not one.pinned, -one.score, one.id), [one]) for one in items if one.kind != "code"]
    pieces = merged(one for one in items if one.kind == "code")
    for path in dict.fromkeys(one.path for one in pieces):
        own = [one for one in pieces if one.path == path]
        groups.append(((True, -max(one.score for one in own), path), own))
    return [one for _, group in sorted(groups, key=lambda each: each[0]) for one in group]


def pack(
    items: Sequence[Item],
    budget: Budget,
    form: Format,
    count: Counter,
    phase: str = "",
    *,
    explicit: bool = False,
    leaning: Mapping[str, float] = _EVEN,
) -> Packed:
    """Pack memories, rules and code into a token budget, as one text.

    Args:
        items: items of any section. Retrieval (search results) is filtered and divided by type; other sections are taken in order.
        budget: limits in tokens; the text never exceeds them.
        form: writes the text.
        count: counts tokens. The count of a string is the sum of the counts of its lines.
        phase: phase of work, which divides the tokens of retrieval among types of memory.
        explicit: True for an explicit request, which gets all results; False selects only the best few.
        leaning: factors of memory types in this phase, from accepted weights; see `budgets.shares_of`.
    """
    left_out: Tally[str] = Tally()
    cut: list[str] = []
    room = budget.total - form.frame_cost(count)
    taken: list[Item] = []
    for section in SECTIONS:
        own = [one for one in items if one.section == section]
        if section == "retrieval":
            memories = [one for one in own if one.kind != "code"]
            own = arranged([*(memories if explicit else choose(memories, left_out)), *(one for one in own if one.kind == "code")])
        if not own:
            continue
        heading = form.heading_cost(section, count)
        share = retrieval_budget(budget, phase) if section == "retrieval" and not explicit else budget.section(section)
        allowed = min(share, room) - heading
        shares = shares_of(phase, leaning) if section == "retrieval" else None
        chosen = _fill(own, allowed, form, count, shares, left_out, cut)
        if chosen:
            room -= heading + sum(form.cost(one, count) for one in chosen)
            taken += chosen
    text = form.write(taken)
    tokens = count(text)
    while taken and tokens > budget.total:  # a counter whose lines do not exactly add up
        taken.pop()
        left_out["no room"] += 1
        text = form.write(taken)
        tokens = count(text)
    return Packed(taken, text, tokens, {reason: number for reason, number in sorted(left_out.items()) if number}, cut)


def _fill(
    items: Sequence[Item],
    allowed: int,
    form: Format,
    count: Counter,
    shares: Mapping[str, float] | None,
    left_out: Tally[str],
    cut: list[str],
) -> list[Item]:
    """Return the items that fit into `allowed` tokens, in order.

    An item is a memory, a rule or a piece of code. If `shares` limits an item's type and the item is beyond that limit, it is tried again
    with the remaining tokens. Code that does not fit is truncated if possible. `left_out` counts omitted items by reason, and `cut`
    collects ids of truncated code.
    """
    items = [_bounded(one, allowed // PIECES, form, count, cut) if one.kind == "code" and len(items) > 1 else one for one in items]
    costs = {place: form.cost(one, count) for place, one in enumerate(items)}
    used: Tally[str] = Tally()
    chosen: dict[int, Item] = {}
    left = allowed
    if shares is not None:
        for place, one in enumerate(items):
            name = one.type if one.type in shares else OTHER
            if not one.pinned and (costs[place] > left or used[name] + costs[place] > shares.get(name, 0.0) * allowed):
                continue
            if costs[place] <= left:
                used[name] += costs[place]
                left -= costs[place]
                chosen[place] = one
    if any(one.kind == "code" for one in items):  # code can be truncated and memories cannot, so memories take half of the space first
        half = left // 2
        for place, one in enumerate(items):
            if one.kind != "code" and place not in chosen and costs[place] <= half:
                half -= costs[place]
                left -= costs[place]
                chosen[place] = one
    for place, one in enumerate(items):
        if place in chosen:
            continue
        if costs[place] <= left:
            left -= costs[place]
            chosen[place] = one
        elif one.kind == "code" and (part := _first_lines(one, left, form, count)) is not None:
            left -= form.cost(part, count)
            chosen[place] = part
            cut += [one.id] if one.id not in cut else []
        else:
            left_out["no room"] += 1
    return [chosen[place] for place in sorted(chosen)]


def _bounded(one: Item, most: int, form: Format, count: Counter, cut: list[str]) -> Item:
    """Truncate a piece of code to `most` tokens, to leave room for others.

    `form` and `count` give the number of its tokens. The id of truncated code is added to `cut`. If fewer than 3 lines would fit, the code
    is returned whole.
    """
    if form.cost(one, count) <= most or (part := _first_lines(one, most, form, count)) is None:
        return one
    cut.append(one.id)
    return part


def _first_lines(one: Item, room: int, form: Format, count: Counter) -> Item | None:
    """Truncate code to `room` tokens, and note how many lines are missing.

    `form` and `count` give the number of tokens. The result is None if fewer than 3 lines fit. Memories are never truncated, because half a
    sentence can have the opposite meaning.
    """
    lines = one.text.split("\n")
    low, high = 0, len(lines) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if form.cost(_shortened(one, lines, middle), count) <= room:
            low = middle
        else:
            high = middle - 1
    return _shortened(one, lines, low) if low >= _LEAST_LINES else None


def _shortened(one: Item, lines: list[str], kept: int) -> Item:
    more = len(lines) - kept
    if (before := _MORE.fullmatch(lines[-1])) is not None:  # truncated before
        more += int(before["lines"]) - 1
    text = "\n".join([*lines[:kept], f"… {more} more lines"])
    return one._replace(text=text, end_line=one.start_line + kept - 1 if one.start_line else 0)
