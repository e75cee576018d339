"""Find the files that imports in JavaScript and TypeScript may refer to.

The candidates follow the rules of Node, TypeScript and bundlers. The best candidate comes first. The caller looks the candidates up in the
project to check which one exists. The look-up is recorded as a dependency.
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from graphmem.resolution.ecmascript.configurations import Configurations, without_suffix
from graphmem.resolution.ecmascript.specifiers import folders_above, joined, matched, package_of
from graphmem.resolution.ecmascript.tables import LIBRARY
from graphmem.resolution.interfaces.layout import Layout

_TYPESCRIPT: Final = LIBRARY.typescript
_JAVASCRIPT: Final = LIBRARY.javascript
_KNOWN: Final = (*_TYPESCRIPT, *_JAVASCRIPT, *LIBRARY.components)
_COMPILED_FROM: Final = LIBRARY.compiled_from
_BUILT_FOLDERS: Final = LIBRARY.built_folders
_SOURCE_FOLDERS: Final = LIBRARY.source_folders
_CONDITIONS: Final = LIBRARY.conditions
_MAIN_FIELDS: Final = LIBRARY.main_fields
_DEFAULT_ENTRIES: Final = LIBRARY.default_entries
NODE_MODULES: Final = LIBRARY.node_modules


_Pattern = tuple[re.Pattern[str] | None, ...]
"""A folder pattern, split into its parts; None for `**`."""


class ModulePaths:
    """Finds the paths that an import in a project may refer to.

    Args:
        layout: the project's tsconfig.json, jsconfig.json and package.json files.
    """

    def __init__(self, layout: Layout) -> None:
        self._documents: Mapping[str, Any] = layout.documents
        self._packages: dict[str, tuple[str, Mapping[str, Any]]] = {}
        documents = [(path, layout.documents[path]) for path in sorted(layout.documents)]
        tables = [(*path.rpartition("/")[::2], document) for path, document in documents if isinstance(document, dict)]
        members = list(_workspaces(tables))
        packages = [(folder, document) for folder, name, document in tables if name == "package.json"]
        for folder, document in sorted(packages, key=lambda one: (not _is_member(members, one[0]), one[0].count("/"), one[0])):
            if isinstance(document.get("name"), str):
                self._packages.setdefault(document["name"], (folder, document))
        self._configurations = Configurations(self._documents, self._home_of)

    def entry_files(self) -> Mapping[str, str]:
        """Map the paths of entry files to "command", "export" or "main".

        A package.json names commands and exports. The scripts of an index.html are programs ("main"). Not all of the paths exist.
        """
        found: dict[str, str] = {}
        for path in sorted(self._documents):
            document = self._documents[path]
            folder, _, name = path.rpartition("/")
            if name == "package.json" and isinstance(document, dict):
                for kind, target in _named_files(document):
                    for place in (*self._sources(folder, target), *_moved(folder, target)):
                        for candidate in (place, *candidates(place, "x.ts")):  # a program may have no suffix
                            found.setdefault(candidate, kind)
            elif name == "index.html" and isinstance(document, dict):
                for target in document["scripts"]:
                    found.setdefault(posixpath.normpath(posixpath.join(folder, target.lstrip("/"))), "main")
        return found

    def places(self, importer: str, specifier: str) -> Iterator[str]:
        """Yield the paths that an import may refer to, the best first.

        The paths may lack a file suffix, and need not exist.

        Args:
            importer: path of the file with the import.
            specifier: the string that the import names, such as "./a" or "react".
        """
        folder = importer.rpartition("/")[0]
        if specifier.startswith("."):
            place = joined(folder, specifier)
            if place is not None:
                yield place
                document = self._documents.get(f"{place}/package.json")
                if isinstance(document, dict):  # the folder names its own main file
                    yield from self._entries(place, document)
                yield from self._unbuilt(folder, place)
            return
        if specifier.startswith("/"):
            yield specifier.lstrip("/")
            return
        if specifier.startswith("#"):
            yield from self._private(folder, specifier)
        yield from self._configurations.named(folder, specifier)
        package, below = package_of(specifier)
        if package in self._packages:
            yield from self._package_places(package, below)

    def _unbuilt(self, folder: str, place: str) -> Iterator[str]:
        """Yield the sources of a file that a build writes into a package.

        An example is a program `bin/tool.js` that loads `../dist/cli.js`, which the repository does not contain. `folder` is the folder of
        the importing file, and `place` is the path that it imports.
        """
        home = next((one for one in folders_above(folder) if (f"{one}/package.json" if one else "package.json") in self._documents), None)
        if home is not None and place.startswith(f"{home}/" if home else ""):
            yield from itertools.islice(self._sources(home, place[len(home) :].lstrip("/")), 1, None)  # the first is the place itself

    def _private(self, folder: str, specifier: str) -> Iterator[str]:
        """Return candidate paths for an import such as `#name`, the `specifier`.

        The candidates come from `imports` in the package.json that is nearest to `folder`.
        """
        for above in folders_above(folder):
            document = self._documents.get(f"{above}/package.json" if above else "package.json")
            if isinstance(document, dict):
                imports = document.get("imports")
                for target in _exported(imports if isinstance(imports, dict) else {}, specifier):
                    yield from self._sources(above, target)
                return

    def _package_places(self, package: str, below: str) -> Iterator[str]:
        """Return candidate paths for an import from a package of this repository.

        `package` is the name of the package, and `below` is the rest of the imported name. For `import "@a/b/c"`, `package` is `@a/b` and
        `below` is `c`. If `below` is "", the package itself is imported.
        """
        folder, document = self._packages[package]
        exports = document.get("exports")
        key = f"./{below}" if below else "."
        if isinstance(exports, (str, list)) or (isinstance(exports, dict) and not any(name.startswith(".") for name in exports)):
            exports = {".": exports}
        for target in _exported(exports if isinstance(exports, dict) else {}, key):
            yield from self._sources(folder, target)
        if below:
            yield from self._sources(folder, below)
            yield from self._sources(folder, f"src/{below}")
            return
        yield from self._entries(folder, document)

    def _entries(self, folder: str, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield the paths that `import "package"` may load.

        `document` is the content of the package.json in `folder`. The paths in its fields such as `main` come first. Default names such as
        `index` follow.
        """
        for field in _MAIN_FIELDS:
            if isinstance(document.get(field), str):
                yield from self._sources(folder, document[field])
        for entry in _DEFAULT_ENTRIES:
            yield from self._sources(folder, entry)

    def _sources(self, folder: str, target: str) -> Iterator[str]:
        """Yield the path of a target in a package, then paths of its source code.

        The target may be a build product, such as `dist/a.js`, which the repository does not contain. A tsconfig.json may name the folder
        of its source code. Otherwise, the source code may be `src/a` or `lib/a`. Paths of source code have no suffix.
        """
        place = joined(folder, target)
        if place is None:
            return
        yield place
        yield from self._configurations.sources(place)
        below = place[len(folder) + 1 :] if folder else place
        first, _, rest = below.partition("/")
        if first in _BUILT_FOLDERS and rest:
            while rest.partition("/")[0] in _BUILT_FOLDERS:
                rest = rest.partition("/")[2]
            for home in _SOURCE_FOLDERS:
                yield "/".join(part for part in (folder, home, without_suffix(rest)) if part)

    def _home_of(self, name: str) -> tuple[str, str] | None:
        """Return the folder of a package, and the rest of the imported name.

        `name` is the imported name, such as `@a/b/c`: the package is `@a/b` and the rest is `c`. The result is None if the repository
        does not contain the package.
        """
        package, below = package_of(name)
        return (self._packages[package][0], below) if package in self._packages else None


def _named_files(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield ("command" or "export", path) of files that a package.json names.

    `document` is the content of the package.json.
    """
    commands = document.get("bin")
    for target in commands.values() if isinstance(commands, dict) else (commands,):
        if isinstance(target, str):
            yield "command", target
    for field in _MAIN_FIELDS:
        if isinstance(document.get(field), str):
            yield "export", document[field]
    exports = document.get("exports")
    for value in exports.values() if isinstance(exports, dict) else (exports,):
        for target in _targets(value, "*"):
            if "*" not in target:
                yield "export", target


def _workspaces(tables: Iterable[tuple[str, str, Mapping[str, object]]]) -> Iterator[tuple[bool, _Pattern]]:
    """Yield (is excluded, folder pattern) for npm, yarn and pnpm workspaces.

    A workspace is a set of packages in one repository. `tables` has (folder, file name, content) of each configuration file. A pattern that
    begins with "!" excludes folders.
    """
    for folder, name, document in tables:
        said = document.get("workspaces") if name == "package.json" else document.get("packages") if name.startswith("pnpm") else None
        listed = said.get("packages") if isinstance(said, dict) else said
        for pattern in listed if isinstance(listed, list) else ():
            if isinstance(pattern, str):
                place = joined(folder, pattern.removeprefix("!")) or ""
                yield pattern.startswith("!"), tuple(map(_part, place.split("/")))


def _part(text: str) -> re.Pattern[str] | None:
    """Compile one part of a folder pattern to a regular expression.

    A part is the text between two slashes, such as `pack*`. The result is None for `**`, which matches one or more folders. Each string
    between two stars is matched at its first occurrence only, because trying all occurrences could take very long.
    """
    if text == "**":
        return None
    first, *between = map(re.escape, text.split("*"))
    if not between:
        return re.compile(first)
    return re.compile(first + "".join(f"(?>.*?{one})" for one in between[:-1]) + ".*" + between[-1])


def _is_member(members: Sequence[tuple[bool, _Pattern]], folder: str) -> bool:
    """Return whether a folder is a package of a workspace.

    `members` are the patterns of the workspace as (is excluded, folder pattern). A pattern must match the folder, and no excluding pattern
    may match.
    """
    parts = folder.split("/")
    matching = [is_out for is_out, pattern in members if _matches(pattern, parts)]
    return bool(matching) and not any(matching)


def _matches(pattern: _Pattern, parts: Sequence[str]) -> bool:
    """Return whether a folder pattern matches a path.

    `parts` are the folder names of the path. The pattern's part `**` matches one or more of them.
    """
    reached = {0}  # possible numbers of path parts matched by the pattern so far
    for part in pattern:
        if part is None:
            reached = set(range(min(reached) + 1, len(parts) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(parts) and part.fullmatch(parts[at])}
        if not reached:
            return False
    return len(parts) in reached


def candidates(place: str, importer: str) -> Iterator[str]:
    """Yield the files to which a path in an import may refer.

    For `./a`, one of them is `a.ts`. `place` is the path, relative to the project's root, and `importer` is the importing file. Candidates
    are the path with a suffix, the source of a compiled file, and the index file of a folder. If the importer is TypeScript, TypeScript
    files come first.
    """
    endings = (*_TYPESCRIPT, *_JAVASCRIPT) if importer.endswith(_TYPESCRIPT) else (*_JAVASCRIPT, *_TYPESCRIPT)
    if place.endswith(_KNOWN):
        stem, dot, suffix = place.rpartition(".")
        sources = [stem + ending for ending in _COMPILED_FROM.get(dot + suffix, ())]
        yield from [*sources, place] if importer.endswith(_TYPESCRIPT) else [place, *sources]
    if place:
        yield from (place + ending for ending in endings)
    yield from (f"{place}/index{ending}".lstrip("/") for ending in endings)


def _exported(table: Mapping[str, object], key: str) -> Iterator[str]:
    """Yield the paths for a key of `exports` or `imports` in a package.json.

    `table` is the value of `exports` or `imports`. If `table` has the key itself, only that entry is used. Otherwise all patterns that
    match the key are used, the longest first.
    """
    if key in table:
        yield from _targets(table[key], "")
        return
    for pattern in sorted((name for name in table if "*" in name), key=lambda name: (-len(name), name)):
        rest = matched(pattern, key)
        if rest is not None:
            yield from _targets(table[pattern], rest)


def _targets(value: object, rest: str) -> Iterator[str]:
    """Yield the paths to which an entry of `exports` can lead, best first.

    `value` is the entry: a path, a list of entries, or a mapping from conditions to entries. The condition `source` comes first, so for
    `{"import": "a.js", "source": "a.ts"}`, the first path is `a.ts`. In each path, `*` is replaced by `rest`.
    """
    if isinstance(value, str):
        yield value.replace("*", rest)
    elif isinstance(value, list):
        for item in value:
            yield from _targets(item, rest)
    elif isinstance(value, dict):
        known = [name for name in _CONDITIONS if name in value]
        for name in [*known, *sorted(set(value) - set(known))]:
            yield from _targets(value[name], rest)


def _moved(folder: str, target: str) -> Iterator[str]:
    """Yield the source of a file that a build moves to the package's root.

    For `"bin": "./cli.js"` the source is `src/cli`, if the package is published from the folder into which it is built.
    """
    place = joined(folder, target)
    if place is not None:
        below = place[len(folder) + 1 :] if folder else place
        if below.partition("/")[0] not in {*_BUILT_FOLDERS, "src"}:
            yield "/".join(part for part in (folder, "src", without_suffix(below)) if part)
