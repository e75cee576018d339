"""Find the indexed code that an edit changes.

Both versions of the file are parsed, because the index may have an older version: an agent edits a file several times in a row. Definitions
of the file are found in the graph by their names, and not by their lines.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.parsing.contents import language_of
from graphmem.parsing.notebook import is_notebook
from graphmem.parsing.sources import source_of
from graphmem.project.reviews.rewrites import replacements
from graphmem.project.reviews.signatures import accepts_old_uses, lost_parameters
from graphmem.projection.graph.arrays import CLASS_CODES, FUNCTION_CODES, NODE_KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graphmem.injection.consequences import Edit
    from graphmem.parsing.facts import Definition
    from graphmem.parsing.touched import Change, Text
    from graphmem.parsing.versions import Versions
    from graphmem.project.reviews.signatures import Lost
    from graphmem.projection.graph.view import GraphView

NEAR: Final = 2_000  # characters before and after a change, in which the signature of the edited definition is searched
_BODIES: Final = frozenset({*FUNCTION_CODES, *CLASS_CODES})
_FUNCTIONS: Final = frozenset(NODE_KINDS[code] for code in FUNCTION_CODES)
_KINDS: Final = frozenset(NODE_KINDS[code] for code in _BODIES)
_FIELDS: Final = frozenset({"dataclass"})  # modifiers of classes whose constructor takes their fields
_OPTIONAL: Final = re.compile(r"\s*(?:[\w$]+\?:|//|/?\*|$)")  # a line with an optional member or a comment
_SPACE: Final = re.compile(r"\s+")


class EditedCode(NamedTuple):
    """The definitions that an edit touches, as graph nodes."""

    nodes: dict[int, bool]  # node -> whether uses of its old signature fail
    is_silent: bool  # only comments, docstrings or blank lines change
    lost: Mapping[int, Lost] = MappingProxyType({})  # of the nodes, those of which only uses of some optional parameters fail


def edited_code(view: GraphView, edit: Edit, content: str, versions: Versions) -> EditedCode:
    """Return the innermost indexed definitions that an edit touches.

    `content` is the content of the file, before or after the edit. New definitions that the index lacks are left out. `versions` has the
    file's last version, and gets the version after the edit.
    """
    before, parts = replacements(edit, content)
    old = _parsed(edit.path, before, language_of(edit.path, content.encode("utf-8", "surrogatepass")), versions) if parts else None
    if old is None:
        return EditedCode({}, is_silent=False)
    changes = [_change(before, part) for part in parts]
    new = old.changed(changes)
    if new is not None:
        versions.keep(new)
    nodes: dict[int, bool] = {}
    lost: dict[int, Lost] = {}
    known = _Known(view, edit.path)
    is_silent, moved = new is not None, 0
    for part, (start, end, text) in zip(parts, changes, strict=True):
        is_silent = is_silent and new is not None and old.tokens(start, end) == new.tokens(start + moved, start + moved + len(text))
        for one in _touched(old, new, part, before, (start, end, start + moved, text)):
            if (node := known.node(one)) is not None:
                is_changed = _changes_signature(one.signature, part, before)
                both = _both(one, (old, start, end), (new, start + moved, start + moved + len(text))) if is_changed and new else None
                is_broken = is_changed and not (both and accepts_old_uses(*both, old.grammar.spec.name))
                nodes[node] = nodes.get(node, False) or is_broken
                if is_broken and both and (its := lost_parameters(*both, old.grammar.spec.name)) is not None:
                    lost[node] = its
        moved += len(text) - (end - start)
    return EditedCode(nodes, is_silent, lost)


class _Known:
    """The indexed functions and classes of a file, by name."""

    def __init__(self, view: GraphView, path: str) -> None:
        self._view = view
        self._named: dict[str, list[int]] = {}
        for node in map(int, view.by_path(path)):
            if view.kind[node] in _BODIES:
                name = view.qualname(node)
                for one in {name, f".{name.rpartition('.')[2]}"}:
                    self._named.setdefault(one, []).append(node)

    def node(self, one: Definition) -> int | None:
        """Return the node of a definition; None if the index lacks it.

        If several have the qualified name, the nearest is returned. A method without the name of its class belongs to a class that is
        elsewhere in the file, as in `Counter.prototype.next = function () {}`. Such a method is found if its own name is unique.
        """
        found = self._named.get(one.qualname, [])
        if not found and one.kind == "method" and one.qualname == one.name:
            found = self._named.get(f".{one.name}", [])
            found = found if len(found) == 1 else []
        return min(found, key=lambda node: abs(int(self._view.start_line[node]) - one.start_line), default=None)


def _parsed(path: str, text: str, language: str, versions: Versions) -> Text | None:
    """Parse code that an agent edits; None for unknown languages.

    Of a notebook, `text` is the code of its cells.
    """
    data = text.encode("utf-8", "surrogatepass")
    source = data if is_notebook(path) else source_of(path, data, language).text
    return versions.text(path, source, language) if len(source) == len(data) else None  # else positions differ


def _change(text: str, part: Edit) -> Change:
    """Return a replacement as (first byte, byte after it, new bytes).

    `part` gives the place and the new text in characters.
    """
    start = len(text[: part.at].encode("utf-8", "surrogatepass"))
    old, new = ((one or "").encode("utf-8", "surrogatepass") for one in (part.old, part.new))
    return start, start + len(old), new


def _touched(old: Text, new: Text | None, part: Edit, before: str, at: tuple[int, int, int, bytes]) -> list[Definition]:
    """Return the innermost functions and classes that a change touches.

    Inserted lines touch the definition around them. A new member touches only a class whose constructor takes its fields, and an optional
    member such as `size?: number` touches nothing.

    Args:
        old: the version before the edit.
        new: the version after the edit.
        part: the change.
        before: the content before the edit.
        at: start and end of the change in `old`, its start in `new`, and its new bytes.
    """
    start, end, moved, text = at
    given = (part.old or "").encode("utf-8", "surrogatepass")
    if new is None or not text.startswith(given):
        first = before.count("\n", 0, part.at) + 1
        return _innermost(old.definitions(start, end), first, first + (part.old or "").rstrip().count("\n"))
    inserted = text[len(given) :]
    if not inserted.strip():
        return []
    blank = len(inserted) - len(inserted.lstrip())
    first = new.source.count(b"\n", 0, moved + len(given) + blank) + 1
    last = first + inserted.strip().count(b"\n")
    around = new.definitions(moved + len(given) + blank, moved + len(text.rstrip()))
    there = [one for one in around if one.start_line <= first and one.end_line >= last and (one.start_line, one.end_line) != (first, last)]
    inner = _innermost(there, first, last)
    is_optional = all(map(_OPTIONAL.match, inserted.decode("utf-8", "replace").strip().split("\n")))
    affected = [one for one in inner if one.kind in _FUNCTIONS or not is_optional]
    return [one for one in affected if one.kind != "class" or not _FIELDS.isdisjoint(one.modifiers)]


def _innermost(found: Sequence[Definition], first: int, last: int) -> list[Definition]:
    """Return the functions and classes on some lines, without their parents.

    The lines are `first` to `last`. A function or class is left out if another result is inside it.
    """
    there = [one for one in found if one.kind in _KINDS and one.start_line <= last and one.end_line >= first]
    return [one for one in there if not any(other.qualname.startswith(f"{one.qualname}.") for other in there)]


def _both(one: Definition, before: tuple[Text, int, int], after: tuple[Text, int, int]) -> tuple[Definition, Definition] | None:
    """Return both versions of a function whose signature changes.

    `before` and `after` are the version, and the start and end of the change in it. The result is None for a class, or if the definition is
    gone.
    """
    old, new = _whole(one, *before), _whole(one, *after)
    return (old, new) if old is not None and new is not None and old.kind in _FUNCTIONS else None


def _whole(one: Definition, text: Text, start: int, end: int) -> Definition | None:
    """Return the definition in some changed bytes that has the name of `one`.

    The lines around it are parsed, so that the definition has all its parameters. The result is None if no such definition is there.
    """
    near = next((its for its in text.definitions(start, max(end, start + 1)) if its.qualname == one.qualname), None)
    if near is None:
        return None
    found = text.definitions(near.start_byte, min(near.end_byte, near.start_byte + NEAR))
    return next((its for its in found if its.qualname == one.qualname), None)


def _changes_signature(signature: str, part: Edit, text: str) -> bool:
    """Whether a change alters the signature of a definition.

    `text` is the content of the file before the change. The result is also True if only a part of the signature changes.
    """
    signature = _SPACE.sub("", signature)
    old, at = part.old or "", part.at
    if not signature:
        return False
    head, tail = text[max(0, at - NEAR) : at], text[at + len(old) :][:NEAR]
    before, after = (_SPACE.sub("", head + middle + tail) for middle in (old, part.new))
    return after.count(signature) != before.count(signature)  # another definition may have the same one
