"""Update the memories in a person's Markdown document.

List items of memories are added, changed and removed. Text that the person wrote is left unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.memory.files.markdown import SECTIONS, Item, heading_of, hidden, items, lines_of, one_line, section_of, with_id

if TYPE_CHECKING:
    from graphmem.knowledge import MemoryRow

_END: Final = "\n"


class Line(NamedTuple):
    """A planned change of one list item in a Markdown document."""

    id: str = ""  # the item's short id from now on; "": it belongs to the person alone
    text: str | None = None  # the item's new text; None: unchanged
    is_gone: bool = False  # it is removed


class _Piece(NamedTuple):
    text: str
    id: str = ""  # of a line that may swap places with its neighbours
    is_heading: bool = False


def merged(text: str, fates: Mapping[int, Line], rows: Sequence[MemoryRow], movable: Iterable[str]) -> str:
    """Return the document with list items that match the current memories.

    Memories without a list item in the document are added at the end of their section.

    Args:
        text: the document.
        fates: planned changes of list items, by the number of the item's first line. Items without a planned change stay as they are.
        rows: all memories that have a list item in the result.
        movable: short ids of memories whose list items were not written by a person. Adjacent items of such memories are ordered by use,
            the most used first.
    """
    lines = lines_of(text)
    end = "\r\n" if lines and lines[0].endswith("\r\n") else _END
    found = items(text)
    pieces = [_Piece(line) for line in lines]
    unread, open_at = hidden(lines)
    headings: dict[int, str] = {}
    for number, line in enumerate(lines, 1):
        if number not in unread and (said := heading_of(line)) is not None:
            headings[number] = said
            pieces[number - 1] = _Piece(line, is_heading=True)
    free = set(movable)
    placed: set[str] = set()
    for item in found:
        fate = fates.get(item.line)
        if fate is None:
            continue
        for number in range(item.line if fate.is_gone else item.line + 1, item.last + 1):
            if fate.is_gone or fate.text is not None:
                pieces[number - 1] = _Piece("")
        if not fate.is_gone:
            placed.add(fate.id)
            alone = item.line == item.last or fate.text is not None
            pieces[item.line - 1] = _Piece(with_id(lines[item.line - 1], fate.id, fate.text), fate.id if alone and fate.id in free else "")
    rank = {row.short_id: (-row.used_count - row.confirmed_count, -row.importance, row.id) for row in rows}
    new: dict[str, list[_Piece]] = {}
    for row in sorted((row for row in rows if row.short_id not in placed), key=lambda row: rank[row.short_id]):
        line = f"- [id:{row.short_id}] {one_line(row.content)}{end}"
        new.setdefault(section_of(row.type), []).append(_Piece(line, row.short_id))
    last = (open_at or len(lines) + 1) - 1  # the last line after which text can be inserted
    listed = {number for item in found for number in range(item.line, item.last + 1)}
    behind: dict[int, list[_Piece]] = {}
    for name in SECTIONS:
        if name not in new:
            continue
        at = next((number for number, said in headings.items() if said.casefold() == name.casefold() and number <= last), 0)
        if at:
            stop = min((number for number in headings if number > at), default=last + 1) - 1
            _put(pieces, behind, at, min(stop, last), new[name], listed, end)
        else:
            before = [] if last == 0 and not behind.get(0) else [_Piece(end)]
            behind.setdefault(last, []).extend([*before, _Piece(f"## {name}{end}", is_heading=True), _Piece(end), *new[name]])
    if open_at and behind.get(last):
        behind[last].append(_Piece(end))
    return "".join(piece.text for piece in _by_use(_joined(pieces, behind, end), rank))


def _put(pieces: list[_Piece], behind: dict[int, list[_Piece]], at: int, stop: int, new: list[_Piece], listed: set[int], end: str) -> None:
    """Plan where to insert new lines at the end of a section of a document.

    The new lines go after the section's last line that is not empty.

    Args:
        pieces: the lines of the document.
        behind: receives the plan; maps a line number to the lines to insert after that line.
        at: number of the section's first line, its heading.
        stop: number of the section's last line.
        new: the lines to insert.
        listed: numbers of the document's lines that belong to list items.
        end: the line end.
    """
    number = next(number for number in range(stop, at - 1, -1) if pieces[number - 1].text.strip() or number == at)
    is_blank = number < stop and pieces[number].text != ""
    if number in listed:
        behind.setdefault(number, []).extend(new)
    elif is_blank:
        number += 1
        behind.setdefault(number, []).extend(new)
    else:
        behind.setdefault(number, []).extend([_Piece(end), *new])
    if number == stop and stop < len(pieces):  # the following text begins one line further down
        behind[number].append(_Piece(end))


def _joined(pieces: list[_Piece], behind: Mapping[int, list[_Piece]], end: str) -> list[_Piece]:
    """Insert the planned lines into a document.

    `pieces` are the lines. `behind` maps a line number to the lines to insert after that line. If a line before inserted lines has no line
    end, `end` is added to it.
    """
    found = list(behind.get(0, ()))
    for number, piece in enumerate(pieces, 1):
        more = behind.get(number)
        found.append(piece._replace(text=piece.text + end) if more and piece.text and not piece.text.endswith(("\n", "\r")) else piece)
        found += more or ()
    return found


def _by_use(pieces: list[_Piece], rank: Mapping[str, tuple[float, float, str]]) -> list[_Piece]:
    """Order neighbouring lines of memories by use, the most used first.

    `pieces` are the lines of the document. `rank` maps the short id of a memory to its sort key. Lines that a person wrote are not moved. A
    line directly before a person's text is not moved either, because the text may refer to it.
    """
    found = [piece for piece in pieces if piece.text]
    start = 0
    while start < len(found):
        stop = start
        while stop < len(found) and found[stop].id:
            stop += 1
        following = next((piece for piece in found[stop:] if piece.text.strip()), None)
        upto = stop if following is None or following.is_heading else max(start, stop - 1)
        found[start:upto] = sorted(found[start:upto], key=lambda piece: rank[piece.id])
        start = stop + 1
    return found


def items_by_id(text: str) -> dict[str, Item]:
    """Return the list items of a document, by the ids of their memories.

    Items without an id are left out.
    """
    return {item.id: item for item in items(text) if item.id}
