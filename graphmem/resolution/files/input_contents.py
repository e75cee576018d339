"""Compute the facts in each file on which cached answers may depend.

Such a fact is called an input; `Project.key` lists the kinds of inputs. An input may have parts from several files: the definitions of a
name, for example, may be in two files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from graphmem.resolution.files.file_entry import FileEntry
from graphmem.resolution.files.fingerprint import Fingerprints, Key
from graphmem.resolution.values.symbol import CLASS_KINDS, FUNCTION_KINDS, Symbol
from graphmem.resolution.values.terms import last_name
from graphmem.runtime.process.faults import fault

_CALLABLE_KINDS: Final = CLASS_KINDS | FUNCTION_KINDS

MAX_KEPT: Final = 32
"""Number of files whose contents are cached."""


class InputContents:
    """Computes each file's part of the facts on which cached answers depend.

    Such a fact is called an input. An example is the list of all definitions of a name, to which each file adds its own. The parts of the
    last `MAX_KEPT` requested files are cached.

    Args:
        files: all files by path.
        keys: function that returns the keys of all inputs on which any cached answer depends.
    """

    def __init__(self, files: Mapping[str, FileEntry], keys: Callable[[], Iterable[Key]]) -> None:
        self._files = files
        self._keys = keys
        self._kept: dict[str, tuple[FileEntry, dict[Key, Any]]] = {}  # path -> the file's contents and the entry they were computed from

    def of(self, path: str) -> dict[Key, Any]:
        """Return a file's part of each input, by the input's key.

        The result is cached, because the same few files are edited repeatedly.
        """
        entry = self._files.get(path)
        known = self._kept.pop(path, None)
        if entry is None:
            return {}
        if known is None or known[0] is not entry:
            known = (entry, self._contents(path))
        self._kept[path] = known
        while len(self._kept) > MAX_KEPT:
            del self._kept[next(iter(self._kept))]
        return known[1]

    def _contents(self, path: str) -> dict[Key, object]:
        """Return a file's part of each input, without using the cache.

        An input is a fact of files that answers depend on; `Project.key` lists them. If several files or definitions have a part of an
        input, each key ends with the path or the symbol id. After an edit, the old and the new parts are compared.
        """
        entry = self._files.get(path)
        if entry is None:
            return {}
        contents = self._fingerprints(entry)
        contents["file", path] = True
        contents["clause", path] = (entry.clause, entry.constraint)
        for name in entry.made:
            contents["made", name, path] = True
        for name, symbol in embedded_bases(entry):
            contents["embeds", name, symbol.id] = True
        for dotted in entry.rules.names_of(entry.facts):
            contents["module", dotted, path] = True
            for name in entry.rules.shared_names(entry):
                contents["shared", dotted, name, path] = True
            for folder in outer_folders(dotted):
                contents["module", folder, path, "below"] = True
        for listed in entry.rules.listed_as(entry.facts):
            contents["module", listed, path] = True
        for name, symbol in entry.attributes():
            contents["having", name, symbol.id] = True
        for symbol in entry.symbols:
            if symbol.kind in _CALLABLE_KINDS:
                # A fallback by name depends on the place of a definition and on its parameters.
                definition = entry.definitions[symbol.index]
                signature = (definition.modifiers, tuple((p.name, p.kind, p.default < 0) for p in definition.parameters))
                contents["named", symbol.name, symbol.id] = signature
        for symbol in demanded_methods(entry):
            contents["demands", symbol.name, symbol.id] = True
        return contents

    def _fingerprints(self, entry: FileEntry) -> dict[Key, object]:
        try:
            return dict(Fingerprints(entry).hashes)
        except Exception as error:  # noqa: BLE001 - all facts of the file count as changed, now and at every comparison
            fault(error, "comparing it with what it was", entry.path)
            known: list[Key] = [key for key in self._keys() if entry.path in key[1:2]]
            known += (("calls", name, entry.path) for name in entry.calls)
            known += (("member", name, entry.path) for names in entry.attribute_names.values() for name in names)
            return {key: object() for key in known}


def input_of(key: Key) -> Key:
    """Return the input that changes when the content at a key changes.

    An input is a fact of files that answers depend on. `key` is a key of `InputContents`. If several files or definitions have a part of
    the input, the last item of `key` names one of them and is removed. For example, (`named`, name, symbol id) belongs to the input
    (`named`, name). Otherwise `key` itself is returned.
    """
    if key[0] == "shared":
        return key[:3]
    return key[:2] if key[0] in ("named", "demands", "embeds", "module", "calls", "made", "having", "member") else key


def demanded_methods(entry: FileEntry) -> Iterator[Symbol]:
    """Yield the methods that the structural interfaces of a file declare.

    A class satisfies a structural interface, without naming it, if it has all methods of the interface.
    """
    structural = {position for position in range(len(entry.definitions)) if entry.rules.is_structural(entry, position)}
    if structural:
        for symbol in entry.symbols:
            if symbol.kind == "method" and entry.definitions[symbol.index].parent in structural:
                yield symbol


def embedded_bases(entry: FileEntry) -> Iterator[tuple[str, Symbol]]:
    """Yield (base name, interface) for the structural interfaces of a file.

    A class satisfies a structural interface, without naming it, if it has all methods of the interface. An interface with several bases is
    yielded once for each base.
    """
    for position, definition in enumerate(entry.definitions) if entry.rules.interfaces_are_structural else ():
        if definition.kind == "interface":
            for _, term in definition.bases:
                yield last_name(entry.terms[term]), entry.symbols[position]


def outer_folders(dotted: str) -> list[str]:
    """Return the dotted names of the folders around a module."""
    parts = dotted.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]
