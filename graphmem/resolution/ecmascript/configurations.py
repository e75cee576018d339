"""Read what tsconfig.json and jsconfig.json files say about modules.

They give names to folders (`paths`, `baseUrl`), and name the folders into which a build writes compiled files (`outDir`).
"""

from __future__ import annotations

import itertools
import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from graphmem.resolution.ecmascript.specifiers import folders_above, joined, matched
from graphmem.resolution.ecmascript.tables import LIBRARY
from graphmem.resolution.framework_tables.frameworks import frameworks_of

TABLES: Final = "ecmascript"
"""Folder of `grammars/` with the tables of frameworks."""

MAX_EXTENDED: Final = 64
"""Maximum number of configurations that one inherits from in total; nested lists could grow without limit."""

_ENDINGS: Final = tuple(sorted((*LIBRARY.typescript, *LIBRARY.javascript, *LIBRARY.components), key=len, reverse=True))
_DECLARATIONS: Final = (".d.ts", ".d.mts", ".d.cts")


class _Config(NamedTuple):
    """Settings for modules in a tsconfig.json and the files it extends.

    Folders are paths from the root of the project. None means that no file sets the option.
    """

    base: str | None = None  # folder of baseUrl
    paths: Mapping[str, tuple[str, ...]] | None = None  # pattern → places from the root, both with at most one "*"
    out: str | None = None  # folder of compiled files
    declared: str | None = None  # folder of compiled declarations
    root: str | None = None  # folder of the sources, whose structure the compiled files repeat
    inputs: tuple[str, ...] | None = None  # folders of the sources that `include` and `files` name
    composite: bool | None = None  # the sources are below the folder of the configuration


class Configurations:
    """The tsconfig.json and jsconfig.json files of a project.

    Args:
        documents: all configuration files of the project by path.
        home_of: returns (folder, rest) for a name such as "@a/b/c" that `extends` may name, if a package of the repository has the name.
    """

    def __init__(self, documents: Mapping[str, object], home_of: Callable[[str], tuple[str, str] | None]) -> None:
        self._documents = documents
        self._home_of = home_of
        self._naming: dict[str, list[_Config]] = {}
        self._compiled: dict[str, list[str]] = {}  # folder of compiled files → folders of their sources
        for path in sorted(documents):
            folder, _, name = path.rpartition("/")
            if name.startswith(("tsconfig", "jsconfig")) and isinstance(documents[path], dict):
                config = self._config(path, [])
                if config.base is not None or config.paths:
                    self._naming.setdefault(folder, []).append(config)
                self._add_outputs(folder, config)

    def named(self, folder: str, specifier: str) -> Iterator[str]:
        """Yield the paths that `paths` and `baseUrl` give to an import.

        `specifier` is the imported name, such as "@app/cart", and `folder` the folder of the importing file. Configurations in this folder
        come first, and those of the root last.
        """
        for above in folders_above(folder):
            for config in self._naming.get(above, ()):
                yield from _mapped(config, specifier)

    def sources(self, place: str) -> Iterator[str]:
        """Yield the sources from which a build writes a file, without suffix.

        With `"rootDir": "lib", "outDir": "build"`, the source of `build/a.js` is `lib/a`. `place` is the path of the compiled file.
        """
        for above in folders_above(place.rpartition("/")[0]):
            below = place[len(above) + 1 :] if above else place
            for root in self._compiled.get(above, ()):
                yield without_suffix(f"{root}/{below}" if root else below)

    def _add_outputs(self, folder: str, config: _Config) -> None:
        """Add the folders of compiled files that a configuration names.

        `folder` is the folder of the configuration. Without `rootDir`, the folder of the sources is the one that TypeScript takes: `folder`
        for a composite configuration, or the deepest folder with all sources.
        """
        root = config.root if config.root is not None else folder if config.composite else None
        if root is None and config.inputs:
            root = posixpath.commonpath(config.inputs)
        for output in (config.out, config.declared):
            if root is not None and output is not None and output != root and root not in self._compiled.get(output, ()):
                self._compiled.setdefault(output, []).append(root)

    def _config(self, path: str, around: list[str], leaf: str | None = None, read: list[str] | None = None) -> _Config:
        """Return the settings of a tsconfig.json, with those that it inherits.

        A file that extends itself, directly or indirectly, is read only once.

        Args:
            path: path of the configuration file.
            around: paths of the files that led to this one by `extends`.
            leaf: folder of the first file in the chain; None if this file is the first.
            read: paths of all files read so far for the first file; extended in place, up to `MAX_EXTENDED`.
        """
        document = self._documents.get(path)
        read = [] if read is None else read
        if not isinstance(document, dict) or path in around or len(read) >= MAX_EXTENDED:
            return _Config()
        read.append(path)
        folder = path.rpartition("/")[0]
        leaf = folder if leaf is None else leaf
        found = _Config()
        extended = document.get("extends", ())
        for parent in [extended] if isinstance(extended, str) else extended if isinstance(extended, list) else ():
            above = self._extended(folder, str(parent))
            inherited = self._config(above, [*around, path], leaf, read) if above in self._documents else _generated(folder, str(parent))
            found = _over(inherited, found)
        return _over(_own(document, folder, leaf, found.base), found)

    def _extended(self, folder: str, name: str) -> str:
        """Return the path of the configuration that `extends` names.

        The configuration may be in another package of this repository.
        """
        if name.startswith("."):
            place = joined(folder, name) or ""
        else:
            home = self._home_of(name)
            place = "" if home is None else "/".join(part for part in (home[0], home[1] or "tsconfig.json") if part)
        return next((found for found in (place, f"{place}.json", f"{place}/tsconfig.json") if found in self._documents), place)


def without_suffix(path: str) -> str:
    """Return a path without the suffix of a file that can be imported."""
    return next((path[: -len(ending)] for ending in _ENDINGS if path.endswith(ending)), path)


def _own(document: Mapping[str, object], folder: str, leaf: str, base: str | None) -> _Config:
    """Return the settings in a file itself, without those that it inherits.

    `document` is the content of the file, `folder` is its folder, and `leaf` is the folder of the first file in the `extends` chain.
    `base` is the inherited `baseUrl`.
    """
    options = document.get("compilerOptions")
    options = options if isinstance(options, dict) else {}

    def place(name: str) -> str | None:
        return _written(folder, options[name], leaf) if isinstance(options.get(name), str) else None

    base = place("baseUrl") if "baseUrl" in options else base
    paths = options.get("paths")
    origin = base if base is not None else folder
    composite = options.get("composite")
    return _Config(
        base=base,
        paths=_table(origin, paths, leaf) if isinstance(paths, dict) else None,
        out=place("outDir"),
        declared=place("declarationDir"),
        root=place("rootDir"),
        inputs=_inputs(document, folder, leaf),
        composite=composite if isinstance(composite, bool) else None,
    )


def _over(upper: _Config, lower: _Config) -> _Config:
    """Combine two tsconfig settings: those of `upper`, else those of `lower`."""
    return lower._replace(**{option: value for option, value in upper._asdict().items() if value is not None})


def _inputs(document: Mapping[str, Any], folder: str, leaf: str) -> tuple[str, ...] | None:
    """Return the folders of the sources in a configuration; None if unlisted.

    `document` is the content of the configuration, and `folder` its folder.

    `leaf` is the folder of the first file in the `extends` chain. For `"include": ["src/**/*"]`, the folder is `src`. Declaration files are
    left out, because no file is compiled from them.
    """
    lists = [document[name] for name in ("include", "files") if isinstance(document.get(name), list)]
    if not lists:
        return None
    patterns = [one for one in itertools.chain(*lists) if isinstance(one, str) and not one.endswith(_DECLARATIONS)]
    places = (_written(folder, _literal(pattern), leaf) for pattern in patterns)
    return tuple(place for place in places if place is not None)


def _literal(pattern: str) -> str:
    """Return the fixed part of a file pattern, up to the first wildcard.

    All files that match the pattern are in this folder.
    """
    parts = pattern.split("/")
    literal = list(itertools.takewhile(lambda part: "*" not in part and "?" not in part, parts))
    return "/".join(literal[:-1] if len(literal) == len(parts) and parts[-1].endswith(_ENDINGS) else literal)


def _generated(folder: str, extended: str) -> _Config:
    """Return the settings of a configuration that a framework generates.

    `extended` is the path that a configuration in `folder` extends. The repository does not contain the generated file. For an unknown
    path, the settings are empty.
    """
    table = frameworks_of(TABLES).generated.get(extended.removeprefix("./"), {})
    return _Config(paths=_table(folder, table, folder)) if table else _Config()


def _table(origin: str, paths: Mapping[str, object], leaf: str) -> Mapping[str, tuple[str, ...]]:
    """Map the patterns of the option `paths` to paths from the project's root.

    `origin` is the folder of the configuration file, and `leaf` the folder of the first file in the `extends` chain.
    """
    return {pattern: _all_written(origin, places, leaf) for pattern, places in paths.items() if isinstance(places, (list, tuple))}


def _written(folder: str, path: str, leaf: str) -> str | None:
    """Return a path in a configuration file as a path from the project's root.

    `folder` is the folder of the configuration file, to which `path` is relative. A leading `${configDir}` stands for `leaf`, the folder of
    the first file in the `extends` chain. The result is None if the path leaves the root.
    """
    below = path.removeprefix("${configDir}")
    return joined(folder, path) if below == path else joined(leaf, below)


def _all_written(folder: str, paths: Iterable[object], leaf: str) -> tuple[str, ...]:
    return tuple(place for path in paths if isinstance(path, str) and (place := _written(folder, path, leaf)) is not None)


def _mapped(config: _Config, specifier: str) -> Iterator[str]:
    """Yield candidate paths by the `paths` and `baseUrl` of a tsconfig.json.

    `specifier` is the imported name, such as "@app/cart". Of the matching patterns in `paths`, only the longest is used. The path below
    `baseUrl` comes last.
    """
    best: tuple[int, tuple[str, ...], str] | None = None
    for pattern, targets in (config.paths or {}).items():
        rest = matched(pattern, specifier)
        if rest is not None and (best is None or len(pattern) > best[0]):
            best = (len(pattern), targets, rest)
    if best is not None:
        yield from (target.replace("*", best[2], 1) for target in best[1])
    if config.base is not None:
        place = joined(config.base, specifier)
        if place is not None:
            yield place
