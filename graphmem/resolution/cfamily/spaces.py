"""Choose among definitions of one name in several namespaces of C++.

A namespace is dotted, such as `outer.inner`. Code outside of namespaces has the namespace "". Anonymous namespaces do not count. Neither do
namespaces that a macro opens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphmem.resolution.files.package_blocks import package_at

if TYPE_CHECKING:
    from graphmem.resolution.files.file_entry import Place


def space_of(place: Place) -> str:
    """Return the namespace of a definition or another binding of a name."""
    return package_at(place.entry, place.slot.line)


def is_around(outer: str, space: str) -> bool:
    """Return whether a namespace is `space` itself, or contains it."""
    return not outer or space == outer or space.startswith(f"{outer}.")


def seen_first(spaces: Sequence[str], here: str, *, hides: bool) -> frozenset[str]:
    """Return those namespaces in which a name is found first.

    `spaces` are the namespaces that define the name, and `here` is the namespace of its use. Namespaces around the use come before others.
    If `hides` is True, the innermost of them hides the name in the others, as for classes. Functions of outer namespaces may still be
    overloads. If no namespace is around the use, those inside of another one are left out, because nobody names them.
    """
    around = {space for space in spaces if is_around(space, here)}
    if around:
        return frozenset((max(around, key=len),)) if hides else frozenset(around)
    return _outermost(spaces)


def named_by(spaces: Sequence[str], written: str) -> frozenset[str]:
    """Return those namespaces that a written prefix names.

    `spaces` are the namespaces that define a name. `written` is the prefix, such as `inner` in `inner::name`. For the prefix `b::c`, the
    namespace `a.b.c` is preferred to `x.c`, because more parts at its end are equal. If no end is equal, because the prefix is an alias or
    a macro, the outermost are returned.
    """
    shared = {space: _common_end(space.split("."), written.split(".")) for space in spaces}
    most = max(shared.values())
    return frozenset(space for space, count in shared.items() if count == most) if most else _outermost(spaces)


def _outermost(spaces: Sequence[str]) -> frozenset[str]:
    return frozenset(space for space in spaces if not any(other != space and is_around(other, space) for other in spaces))


def _common_end(left: Sequence[str], right: Sequence[str]) -> int:
    pairs = zip(reversed(left), reversed(right), strict=False)
    return next((count for count, (one, other) in enumerate(pairs) if one != other), min(len(left), len(right)))
