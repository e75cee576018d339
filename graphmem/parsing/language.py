"""Read `grammars/<language>/language.toml` as plain data.

No parser is needed. The search for files uses the data to find the language of a file. Extraction uses the data to convert syntax nodes
to expressions. Resolution uses the data to find test files, test functions and the decorators of entry points.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase, translate
from functools import cache
from typing import Any, NamedTuple, Required, TypedDict

from graphmem.errors import UnsupportedLanguageError
from graphmem.runtime.data.resources import data_root
from graphmem.runtime.data.tables import refused

Child = str | int
"""A child of a node: field name, or position among named children.

Comments do not count.
"""

Place = Child | list[Child]
"""A child, or the steps to a descendant."""


class TermEntry(TypedDict, total=False):
    """A row of `[terms]` in `language.toml`, for one type of syntax node.

    The row says how to convert such a node, for example a call, to an expression. It has the operator of the expression, and where to find
    the parts of the expression in the node.
    """

    op: Required[str]  # a key of `term_operators.OPERATORS`, or helper
    alone: list[str]  # attr: node types of a name that counts without its base
    arguments: Place  # call: path to the arguments
    base: Place
    blocks: list[str]  # lambda: node types of bodies that are ignored
    body: Place
    callee: Place
    content: list[str]  # string: node types of its text
    element: Place
    generic: list[str]  # attr, call: node types of a name with type arguments, which are not part of the term
    interpolation: list[str]  # string: node types of computed parts
    items: list[Child]
    key: Place
    keys: Child
    keyword: list[str]  # call: node types of keyword arguments
    keyword_fields: list[Child]  # name and value of a keyword argument
    keyword_mark: str  # call: the token after the name of a keyword argument; other nodes of its type are positional
    kind: str
    left: Place
    left_out: list[str]  # call: node types in an argument list that are not arguments
    lists: list[str]  # call, dotted: node types of argument lists
    lone_is_itself: bool  # tuple, list, set: a single item is not wrapped
    method: str  # helper: argument of `Helper.helper_term`
    name: Place
    nested: list[str]  # call: node types of lists inside the argument list
    of: Place
    pair_fields: list[Child]  # key and value of a pair
    pairs: list[str]  # dict, object: node types of pairs
    parts: list[str]  # string: node types of literals that are joined
    quotes_types: bool  # string: in an annotation, its text is a type
    right: Place
    sign: Place
    spread_keywords: list[str]  # call: node types of spread mappings
    start: list[str]  # string: node types of opening quotes with prefixes
    text: str  # operator: its sign, if no node contains it
    value: Place


class Written(NamedTuple):
    """A decorator: its dotted name and its first string argument.

    For `@app.get("/x")`, the name is `app.get` and the text is `/x`.
    """

    name: str  # `app.get`, without arguments
    text: str | None = None  # the argument that may be a path or a name, if it is a literal string


@cache
def any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Return a regular expression that matches any of some shell patterns.

    The result is cached for each tuple of patterns. Names of definitions are never cached, because a cached name would keep the memory of
    its file in use.
    """
    return re.compile("|".join(map(translate, patterns)))


@dataclass(frozen=True, slots=True)
class EntryPointRule:
    """An entry point that a framework or a convention defines.

    A definition is an entry point if it matches every field that is set. There is one exception: if both `begins` and `objects` are set, it
    needs to match only one of them. Patterns are shell patterns, in which `*` also matches dots. `decorator` is matched against a
    decorator's name, without its arguments.
    """

    kind: str  # main | route | command | test | fixture | export
    decorator: tuple[str, ...] = ()  # patterns, of which one must match; a table may contain a single string
    begins: str = ""  # prefix of the decorator's text
    objects: tuple[str, ...] = ()  # or the name before the decorator's last dot
    name: tuple[str, ...] = ()  # patterns, like `decorator`
    within: str = ""  # name of the enclosing class
    path: str = ""
    modifier: str = ""

    def matches(self, *, decorators: Sequence[Written], name: str, path: str, modifiers: tuple[str, ...], within: str = "") -> bool:
        """Whether a definition with the given properties is an entry point.

        `decorators` and `modifiers` are those of the definition. `within` is the name of the class that contains it, or "".
        """
        return (
            (not self.decorator or any(map(self._is_of, decorators)))
            and (not self.modifier or self.modifier in modifiers)
            and (not self.name or any_of(self.name).match(name) is not None)
            and (not self.within or fnmatchcase(within, self.within))
            and (not self.path or fnmatchcase(path, self.path))
        )

    def _is_of(self, written: Written) -> bool:
        if any_of(self.decorator).match(written.name) is None:
            return False
        if not self.begins and not self.objects:
            return True
        if self.begins and written.text is not None and written.text.startswith(self.begins):
            return True
        holder = written.name.rpartition(".")[0].rpartition(".")[2]
        return bool(self.objects) and any_of(self.objects).match(holder) is not None


@dataclass(frozen=True, slots=True)
class TestRule:
    """Rules that recognise test files by path, and tests in them by name."""

    paths: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    set_up: tuple[str, ...] = ()  # functions whose names fit `functions`, but which run before or around the tests
    classes: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()  # decorators of test doubles and test runners, which never make an entry point

    def is_test_path(self, path: str) -> bool:
        """Whether a path names a file of tests or of test helpers.

        The path is given from the root, with '/'.
        """
        slashed = "/" + path
        return any(fnmatchcase(slashed, "*/" + pattern) for pattern in self.paths)


@dataclass(frozen=True, slots=True)
class LanguageSpec:
    """The content of one `language.toml`, checked for unknown keys."""

    name: str  # the folder's name
    grammar: str  # name of the grammar in the installed pack
    extensions: tuple[str, ...]
    filenames: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()  # endings of files that others include as tables; read even if a program wrote them
    folders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # suffix -> ends of folders' names
    foreign: str = ""  # regular expression of what shows that a file below such a folder is in another language; the file is then text
    interpreters: tuple[str, ...] = ()  # as in "#!/usr/bin/env python3"
    helper: str = ""  # module in graphmem/parsing/languages; "" if the tables suffice
    rules: str = ""  # name of the resolution rules; "" if the language has no resolution across files
    terms: Mapping[str, TermEntry] = field(default_factory=dict)
    patterns: Mapping[str, str] = field(default_factory=dict)  # node type of a target -> unpack | fields | splat | through | last
    functions: tuple[str, ...] = ()  # functions that may be anonymous: their return values do not belong to the scope
    exports_name: str = ""  # module variable that lists the names of `import *`
    relative_dots: bool = False  # leading dots of an import string are levels
    private_prefix: str = ""
    words: Mapping[str, str] = field(default_factory=dict)  # name -> self | super | class (that of the receiver)
    defaults_run_once: bool = False  # the default values of parameters are evaluated with the definition, and not in each call
    constructor_in_header: bool = False  # the calls in the header of a class are those of its constructor
    methods_apart: bool = False  # methods may be outside of their type, also in other files
    fills: Mapping[str, str] = field(default_factory=dict)  # method of a container -> what it puts in: see fills.py
    frameworks: str = ""  # folder of grammars/ with the frameworks.toml for this language; "" for none
    imports_namespaces: bool = False  # an import names a namespace, whose files need not be used
    folder_is_package: bool = False  # files of one folder are one package, and packages have no cycles
    line_comment: str = ""  # prefix of a comment to the end of the line, if comments above a definition document it
    resolution: Mapping[str, Any] = field(default_factory=dict)  # for rules that serve several languages
    decorator_modifiers: Mapping[str, str] = field(default_factory=dict)
    tests: TestRule = field(default_factory=TestRule)
    entry_points: tuple[EntryPointRule, ...] = ()


def _freeze(name: str, raw: dict[str, Any], origin: str) -> LanguageSpec:
    known = set(LanguageSpec.__dataclass_fields__) - {"name"}
    unknown = sorted(set(raw) - known)
    if unknown:
        raise refused(origin, f"{origin} has the unknown keys {', '.join(unknown)}; use {', '.join(sorted(known))}")
    missing = sorted({"grammar", "extensions"} - set(raw))
    if missing:
        raise refused(origin, f"{origin} lacks the keys {', '.join(missing)}; add these keys")
    raw = dict(raw)
    tests = {key: tuple(value) for key, value in raw.pop("tests", {}).items()}
    entries = tuple(_entry_point(entry) for entry in raw.pop("entry_points", ()))
    plain = _plain(raw)
    return LanguageSpec(name=name, tests=TestRule(**tests), entry_points=entries, **plain)


def _entry_point(raw: Mapping[str, Any]) -> EntryPointRule:
    patterns = {key: (raw[key],) if isinstance(raw[key], str) else tuple(raw[key]) for key in ("decorator", "name") if key in raw}
    return EntryPointRule(**{**_plain(raw), **patterns})


def _plain(raw: Mapping[str, object]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in raw.items()}


@cache
def languages() -> Mapping[str, LanguageSpec]:
    """Return all languages that have a folder in `grammars/`, sorted by name.

    Raises:
        GrammarError: a `language.toml` is not valid; the message names the file.
    """
    found: dict[str, LanguageSpec] = {}
    root = data_root() / "grammars"
    for folder in sorted(root.iterdir(), key=lambda entry: entry.name):
        spec = _language(folder.name) if folder.is_dir() else None
        if spec is not None:
            found[folder.name] = spec
    return found


def packaged_languages(among: Iterable[str]) -> frozenset[str]:
    """Return the languages in which the files of a folder form one package.

    Only languages in `among` are read and returned, because reading the files of all languages takes a tenth of a second.
    """
    return frozenset(spec.name for spec in _specs(among) if spec.folder_is_package)


def namespaced_languages(among: Iterable[str]) -> frozenset[str]:
    """Return the languages in which an import names a namespace.

    Files of any folder can be in a namespace, and an import does not show which of them are used. Only languages in `among` are returned.
    """
    return frozenset(spec.name for spec in _specs(among) if spec.imports_namespaces)


def _specs(names: Iterable[str]) -> list[LanguageSpec]:
    return [spec for name in sorted(set(names)) if name and (spec := _language(name)) is not None]


@cache
def _language(name: str) -> LanguageSpec | None:
    """Read the data of one language; None if it has no `language.toml`."""
    table = data_root() / "grammars" / name / "language.toml"
    if not table.is_file():
        return None
    origin = f"grammars/{name}/language.toml"
    try:
        return _freeze(name, tomllib.loads(table.read_text(encoding="utf-8")), origin)
    except (tomllib.TOMLDecodeError, TypeError) as error:
        raise refused(origin, f"{origin}: {error}") from error


def language_spec(name: str) -> LanguageSpec:
    """Return the language with a given name.

    Raises:
        UnsupportedLanguageError: `grammars/` has no folder of this name.
    """
    try:
        return languages()[name]
    except KeyError:
        known = ", ".join(languages())
        raise UnsupportedLanguageError(f"graphmem has no grammar named {name!r}; use one of {known}", language=name) from None


@cache
def _by_suffix() -> tuple[dict[str, str], dict[str, str], dict[str, tuple[tuple[str, ...], str]]]:
    suffixes: dict[str, str] = {}
    folders: dict[str, tuple[tuple[str, ...], str]] = {}
    names: dict[str, str] = {}
    for spec in languages().values():
        suffixes.update(dict.fromkeys(spec.extensions, spec.name))
        names.update(dict.fromkeys(spec.filenames, spec.name))
        folders.update((suffix, (tuple(inside), spec.name)) for suffix, inside in spec.folders.items())
    return suffixes, names, folders


def language_of_path(path: str) -> str:
    """Return the language of a file by the names in its path; "" if unknown."""
    suffixes, names, folders = _by_suffix()
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    suffix = name[dot:] if 0 < dot < len(name) - 1 else ""
    found = names.get(name) or suffixes.get(suffix.lower(), "")
    if not found and suffix in folders:
        inside, language = folders[suffix]
        return language if any(folder.endswith(inside) for folder in path.split("/")[:-1]) else ""
    return found
