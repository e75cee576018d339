"""Changes that people make to modules on the map, in `map.json`.

The file is `.graphmem/map.json`. An entry holds the changes to one module: name, colour, group, note and position. The file is sorted and
has one object for each module, for people to read and for git to merge.
"""

from __future__ import annotations

import json
import math
import re
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from graphmem.answers.maps import MapEntries, MapEntry
from graphmem.errors import BadInputError, SymbolNotFoundError
from graphmem.memory.repository import fields
from graphmem.runtime.files.inside import inside
from graphmem.runtime.files.own_folder import hide_from_git
from graphmem.runtime.files.replacing import replace_file
from graphmem.runtime.texts.naming import raw

if TYPE_CHECKING:
    from graphmem.analysis.semantic.modules import Modules
    from graphmem.project.graph.graph_source import GraphSource
    from graphmem.project.structure.semantic_source import SemanticSource

FILE: Final = ".graphmem/map.json"  # from the root; people commit it
VERSION: Final = 1
MOST_BYTES: Final = 1_000_000
MOST: Final = 2_000  # modules that people may change
ANCHORS: Final = 5  # files that identify a module
NAME: Final = 60  # characters
NOTE: Final = 2_000
_COLOUR: Final = re.compile(r"#[0-9a-fA-F]{6}\Z")


@dataclass(eq=False, repr=False)
class MapNotes:
    """Reads and writes people's changes to modules on the map."""

    graph: GraphSource
    semantics: SemanticSource
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def map_entries(self) -> MapEntries:
        """List people's changes to modules on the map.

        See `SemanticOperations.map_entries`.

        Raises:
            BadInputError: the file is damaged.
        """
        path = self._path()
        return self._answer(self._read(path))

    def change_map(
        self,
        module: str,
        *,
        name: str | None = None,
        colour: str | None = None,
        group: str | None = None,
        note: str | None = None,
        hidden: bool | None = None,
        pinned: Sequence[float] | None = None,
    ) -> MapEntries:
        """Change the map's entry of a module, such as its colour or its note.

        See `SemanticOperations.change_map`.

        Raises:
            SymbolNotFoundError: the module is unknown.
            BadInputError: a value is invalid, or the file is damaged or cannot be written.
        """
        changed: dict[str, Any] = {}
        if name is not None:
            changed["name"] = fields.text("name", name, NAME, least=0, lines=False)
        if colour is not None:
            changed["colour"] = _colour(colour)
        if group is not None:
            changed["group"] = fields.text("group", group, NAME, least=0, lines=False)
        if note is not None:
            changed["note"] = fields.text("note", note, NOTE, least=0)
        if hidden is not None:
            changed["hidden"] = bool(hidden)
        if pinned is not None:
            changed["pinned"] = _pinned(pinned)
        wanted = raw(module)
        with self._lock:
            path = self._path()
            found = self._read(path)
            # An entry whose module is gone keeps the name that it had.
            entries = [replace(one, module=name or one.module) for one, name in zip(found, self._names(found), strict=True)]
            modules = self._modules()
            at = modules.find(wanted)
            if at is None:
                raise SymbolNotFoundError(f"unknown module {module!r}; choose one from `graphmem modules`", ref=module, suggestions=[])
            group_of = modules.groups[at]
            before = next((one for one, name in zip(entries, self._names(entries), strict=True) if name == group_of.name), None)
            rest = [one for one in entries if one is not before]
            made = replace(before or _plain(group_of.name), files=_anchors(modules, group_of.paths), **changed)
            if replace(made, files=[]) != _plain(group_of.name):
                rest.insert(0, made)
            if len(rest) > MOST:
                raise BadInputError(
                    f"the file {FILE} (names and map positions of modules) has {MOST:,} entries, which is the maximum; remove some before "
                    "you add more",
                    argument="module",
                )
            _write(path, rest)
        return self._answer(rest)

    def _path(self) -> Path:
        path = inside(self.graph.root(), FILE)
        if path is None:
            raise BadInputError(
                f"a symbolic link in the path {FILE} leads out of the project; replace the link with a directory",
                argument="module",
                path=FILE,
            )
        return path

    def _modules(self) -> Modules:
        here = self.semantics.newest()
        with here.lock:
            return here.modules

    def _answer(self, entries: list[MapEntry]) -> MapEntries:
        placed = self._placed(entries)
        lost = [one for one in placed if not one.module]
        notes = [f"an entry of {FILE} with {', '.join(one.files[:2]) or 'no files'} matches no module" for one in lost]
        return MapEntries(placed, FILE, notes)

    def _placed(self, entries: list[MapEntry]) -> list[MapEntry]:
        """Return map entries with the current module names, sorted by name.

        Entries of modules that no longer exist come last, with the name "".
        """
        placed = [replace(one, module=name) for one, name in zip(entries, self._names(entries), strict=True)]
        return sorted(placed, key=lambda one: (not one.module, one.module))

    def _names(self, entries: list[MapEntry]) -> list[str]:
        """Return the current module name of each map entry; "" if there is none.

        An entry lists files of its module. The entry belongs to the module that now has most of these files. If no module has any of the
        files, the entry belongs to the module with the name in the entry. If two entries belong to one module, the second entry gets "".
        """
        modules = self._modules()
        names = {group.name for group in modules.groups}
        taken: set[str] = set()
        found = []
        for one in entries:
            votes = Counter(name for path in one.files if (name := modules.name_of(path)))
            best = max(votes, key=lambda name: (votes[name], name == one.module, name), default="")
            name = best or (one.module if one.module in names else "")
            name = "" if name in taken else name
            taken.add(name)
            found.append(name)
        return found

    def _read(self, path: Path) -> list[MapEntry]:
        try:
            with path.open("rb") as file:
                data = file.read(MOST_BYTES + 1)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise BadInputError(
                f"the file {FILE} (names and map positions of modules) cannot be read ({error}); correct the file",
                argument="module",
                path=FILE,
            ) from error
        try:
            if len(data) > MOST_BYTES:
                raise ValueError(f"{FILE} has more than {MOST_BYTES:,} bytes; shorten the file")
            said = json.loads(data)
            if said["version"] != VERSION:
                raise ValueError(f"the `version` in {FILE} is not {VERSION}; set it to {VERSION}")
            return [_entry(one) for one in said["modules"]]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise BadInputError(
                f"the file {FILE} (names and map positions of modules) is damaged ({error}); correct or remove the file",
                argument="module",
                path=FILE,
            ) from error


def _plain(name: str) -> MapEntry:
    return MapEntry(name, "", "", "", "", False, [], [])


def _entry(one: dict[str, Any]) -> MapEntry:
    """Read one map entry from `one`, a JSON object of the file of entries.

    Every value is checked, because anybody may write the file.
    """
    return MapEntry(
        fields.text("module", one["module"], fields.PATH_CHARACTERS, lines=False),
        fields.text("name", one.get("name", ""), NAME, least=0, lines=False),
        _colour(one.get("colour", "")),
        fields.text("group", one.get("group", ""), NAME, least=0, lines=False),
        fields.text("note", one.get("note", ""), NOTE, least=0),
        one.get("hidden", False) is True,
        _pinned(one.get("pinned", [])),
        list(fields.texts("files", one.get("files", []), ANCHORS, fields.PATH_CHARACTERS)),
    )


def _colour(value: str) -> str:
    if value and not _COLOUR.match(value):
        raise BadInputError(
            f"colour is {value!r}; write it as #rrggbb, or give an empty string to remove the colour", argument="colour", value=value
        )
    return value.lower()


def _pinned(value: Sequence[float]) -> list[float]:
    numbers = [float(one) for one in value]
    if numbers and (len(numbers) != 2 or not all(math.isfinite(one) and -1 <= one <= 2 for one in numbers)):
        raise BadInputError(
            "`pinned` must be two numbers from -1 to 2, the x and y of the module on the map; give two such "
            "numbers, or an empty list to remove the position",
            argument="pinned",
            value=str(value)[:100],
        )
    return [round(one, 4) for one in numbers]


def _anchors(modules: Modules, paths: Sequence[str]) -> list[str]:
    """Return the largest files of a module, by which it is recognized later.

    `paths` are the files of the module. When modules change, the largest files most likely stay in the module.
    """
    lines = dict(zip(modules.files.paths, modules.files.lines.tolist(), strict=True))
    return sorted(sorted(paths, key=lambda path: (-lines[path], path))[:ANCHORS])


def _write(path: Path, entries: Sequence[MapEntry]) -> None:
    """Replace the file of map entries in one step.

    A failure leaves the old file.
    """
    rows = []
    for one in sorted(entries, key=lambda one: one.module):
        row = {key: value for key, value in asdict(one).items() if value or key == "module"}
        rows.append(row)
    text = json.dumps({"version": VERSION, "modules": rows}, indent=2, ensure_ascii=False) + "\n"
    try:
        path.parent.mkdir(exist_ok=True)
        if path.parent.name == Path(FILE).parent.name:  # a link may lead to a directory of the project's own files
            hide_from_git(path.parent)
        replace_file(path, text.encode(), mode=0o644)
    except OSError as error:
        raise BadInputError(
            f"the file {FILE} (names and map positions of modules) cannot be written ({error}); check the permissions of its directory",
            argument="module",
            path=FILE,
        ) from error
