"""Find the files and symbols that a memory names, and link them.

Text in the shape of code is looked up: `path:line`, paths, dotted names, calls, CamelCase, snake_case and anything between backticks. A
name is linked if exactly one definition has it. A name that several definitions have is reported instead. A member whose name is a common
word, such as `next`, is linked only if the text also names its class or its file. A plain word that is also the name of the project, such
as JupyterHub, means the project and not its class of that name.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

from graphmem.knowledge import AboutRow, Anchor, NamedFile
from graphmem.model import file_id
from graphmem.projection.graph.arrays import EXTERNAL, FILE, NODE_KINDS, SYMBOL

if TYPE_CHECKING:
    from graphmem.projection.graph.view import GraphView

MAX_NAMES: Final = 64  # names resolved in one content

_PATH: Final = re.compile(r"(?<![\w./:-])(?P<path>(?:[\w.-]+/)*[\w-][\w.-]*\.[A-Za-z]\w{0,7})(?::(?P<line>\d{1,7}))?(?![\w/])")
_NAME: Final = re.compile(
    r"`(?P<quoted>[^`\n]{1,120})`"
    r"|(?P<called>\b[A-Za-z_][\w.]*)\(\)?"
    r"|(?P<dotted>\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)"
    r"|(?P<camel>\b[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+\b|\b[a-z]+[a-z0-9]*(?:[A-Z][a-z0-9]*)+\b)"
    r"|(?P<snake>\b_*[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b)"
)
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][\w.]*\Z")

# Confidence of a link, by the way the code was named.
GIVEN: Final = 1.0
POSITION: Final = 0.95
PATH: Final = 0.9
QUALIFIED: Final = 0.9
BARE: Final = 0.7

_LABELS: Final = {FILE: "File", SYMBOL: "Symbol", EXTERNAL: "External"}


class Links(NamedTuple):
    """The code that a memory is about, and names that match several symbols."""

    about: list[AboutRow]  # without a memory's id, by target and role
    files: list[NamedFile]  # files that are not indexed
    paths: list[str]  # of every file among the targets, sorted
    modules: list[str]  # of those files, sorted
    unresolved: list[str]  # names that fit several symbols


def link(
    content: str, given_files: Iterable[str], given_symbols: Iterable[str], view: GraphView | None, project: str, commit_sha: str
) -> Links:
    """Find the code that a memory's text names, or that its writer named.

    Args:
        content: content of the memory.
        given_files: paths that the writer gave; linked even if they are not indexed.
        given_symbols: references that the writer gave: ids, `path:qualname`, qualified names.
        view: the code graph; None when nothing is indexed.
        project: name of the project, a part of a file's identity.
        commit_sha: the commit at which the memory was learnt, "" if unknown.
    """
    links = _Links(project, commit_sha)
    if view is None:
        for path in given_files:
            links.wait_for(path, GIVEN)
        for match in _PATH.finditer(content):
            if _is_of_tree(path := _path_of(content, match)):
                links.wait_for(path, BARE)
        return links.result(None)
    for path in given_files:
        node = view.file_node(path)
        if node is not None:
            links.add(view, node, "about", GIVEN)
        else:
            links.wait_for(path, GIVEN)
    for ref in given_symbols:
        links.add_all(view, resolve(view, ref), "target", GIVEN, ref)
    spans = _link_paths(links, content, view)
    for name, sure in _names(content, spans, {project.casefold(), *_packages(view)}):
        nodes = _outermost(view, resolve(view, name), name)
        if not nodes:
            continue
        is_one = len(nodes) == 1 or _twins(view, nodes)
        if is_one and _is_common_member(view, nodes[0], name) and not _names_owner(view, nodes[0], content, links.paths):
            continue
        links.add_all(view, nodes, "about", sure, name)
    return links.result(view)


def _link_paths(links: _Links, content: str, view: GraphView) -> list[tuple[int, int]]:
    """Link the files and positions that the content of a memory names.

    Returns:
        The ranges of the paths of indexed files in the content.
    """
    spans: list[tuple[int, int]] = []
    for match in _PATH.finditer(content):
        path = _path_of(content, match)
        file = _file(view, path)
        if file is None:
            if _is_of_tree(path):
                links.wait_for(path, BARE)
            continue
        spans.append(match.span())
        inner = definition_at(view, file, int(match["line"])) if match["line"] else None
        if inner is not None:
            links.add(view, inner, "about", POSITION)
        links.add(view, file, "about", PATH)
    return spans


class _Links:
    """Collects the links of one memory.

    Args:
        project: name of the project.
        commit_sha: the commit at which the memory was learnt.

    Attributes:
        paths: paths of all linked files.
    """

    def __init__(self, project: str, commit_sha: str) -> None:
        self.paths: set[str] = set()
        self._project = project
        self._commit_sha = commit_sha
        self._found: dict[tuple[str, str], AboutRow] = {}
        self._unseen: dict[str, NamedFile] = {}
        self._unresolved: list[str] = []

    def add(self, view: GraphView, node: int, role: str, confidence: float) -> None:
        """Link the memory to a node of the code graph.

        The link has a role, such as `about`, and a confidence from 0 to 1. `node` is an index in `view`. If the node has a link with this
        role, the link with the higher confidence is kept.
        """
        label = _LABELS[int(view.label[node])]
        body = view.body_hash(node) if label == "Symbol" else ""
        row = AboutRow("", view.ids[node], label, role, confidence, body, self._commit_sha, Anchor.VALID.value)
        known = self._found.get((row.target_id, role))
        if known is None or known.confidence < confidence:
            self._found[row.target_id, role] = row
        if label == "File":
            self.paths.add(view.path(node))

    def add_all(self, view: GraphView, nodes: Sequence[int], role: str, confidence: float, name: str) -> None:
        """Link all definitions of a name, if they share qualified name and file.

        Each link has the role `role` and the confidence `confidence`. Overloads share both, and so do a property and its setter. If the
        definitions of `name` differ in file or qualified name, no link is made, and `name` is reported as ambiguous.
        """
        if len(nodes) == 1 or _twins(view, nodes):
            for node in nodes:
                self.add(view, node, role, confidence)
        else:
            self._unresolved.append(name)

    def wait_for(self, path: str, confidence: float) -> None:
        """Link a file that is not indexed, with a given confidence."""
        key = file_id(self._project, path)
        self._unseen[key] = NamedFile(key, path)
        self.paths.add(path)
        row = AboutRow("", key, "File", "about", confidence, "", self._commit_sha, Anchor.ORPHANED.value)
        self._found.setdefault((key, "about"), row)

    def result(self, view: GraphView | None) -> Links:
        """Return the links, with the modules of their files."""
        modules = {info.module for path in self.paths if view is not None and (info := view.file_info(path)) is not None and info.module}
        return Links(
            [self._found[key] for key in sorted(self._found)],
            [self._unseen[key] for key in sorted(self._unseen)],
            sorted(self.paths),
            sorted(modules),
            list(dict.fromkeys(self._unresolved)),
        )


_HEADER: Final = re.compile(r"(?:diff --git(?: a/\S+)?|---|\+\+\+)\s+$")  # of a diff, up to the path in it


def _path_of(content: str, match: re.Match[str]) -> str:
    """Return the path that `match` found in `content`.

    The prefix `a/` or `b/` that diffs put before a path is removed.
    """
    path = match["path"]
    side, _, rest = path.partition("/")
    if side not in ("a", "b") or not rest:
        return path
    other = f"{'b' if side == 'a' else 'a'}/{rest}"
    return rest if other in content or _HEADER.search(content[: match.start()]) else path


def _is_of_tree(path: str) -> bool:
    """Return whether a path that is not indexed may be a project's file.

    The path must be in a folder and must not contain `..`. The first folder must not look like a host. For example, the result is True for
    `src/app.py`. It is False for `app.py`, `../app.py` and `example.com/app.py`.
    """
    parts = path.split("/")
    return len(parts) > 1 and ".." not in parts and "." not in parts[0].lstrip(".")


def resolve(view: GraphView, ref: str) -> list[int]:
    """Return the nodes of the code graph that a reference matches, ascending.

    A reference is an id, `path:qualname`, a dotted name, the last parts of a dotted name, or a bare name. Tests and variables match a bare
    name only if nothing else matches it. The list is empty if nothing matches.
    """
    if ref in view.index_of:
        return [view.index_of[ref]]
    path, colon, name = ref.rpartition(":")
    if colon:
        file = _file(view, path)
        if file is None:
            return []
        if name.isdigit():
            inner = definition_at(view, file, int(name))
            return [] if inner is None else [inner]
        here = [int(node) for node in view.by_path(view.path(file)) if view.label[node] == SYMBOL]
        return sorted(
            [node for node in here if view.qualname(node) == name] or [node for node in here if view.qualname(node).endswith("." + name)]
        )
    if (file := _file(view, ref)) is not None:
        return [file]
    nodes = [int(node) for node in view.by_name(ref.rpartition(".")[2]) if view.label[node] == SYMBOL]
    if "." in ref:
        exact = [node for node in nodes if view.qualname(node) == ref]
        return sorted(exact or [node for node in nodes if _full(view, node) == ref or _full(view, node).endswith("." + ref)])
    plain = [node for node in nodes if NODE_KINDS[view.kind[node]] not in ("variable", "module")]
    return sorted([node for node in plain if not view.is_test[node]] or plain or nodes)


def _outermost(view: GraphView, nodes: list[int], name: str) -> list[int]:
    """Return only the outermost definitions, if all are in one file.

    So `saveCart` in a memory means the function `saveCart`, even if a class in the same file has a method of this name. For a plain word,
    all `nodes` are returned.
    """
    if name.isalpha() and name.islower():
        return nodes
    outer = [node for node in nodes if view.qualname(node) == name]
    return outer if outer and _twins(view, outer) else nodes


def _is_common_member(view: GraphView, node: int, name: str) -> bool:
    """Return whether `node` is a class member whose name is a common word.

    A common word is one lower-case word, such as `next` or `get`. Libraries also have members with such names, so the name alone does not
    identify the member.
    """
    owner = int(view.parent[node])
    return name.isalpha() and name.islower() and owner >= 0 and NODE_KINDS[view.kind[owner]] != "module"


def _names_owner(view: GraphView, node: int, content: str, paths: Container[str]) -> bool:
    """Return whether a memory's text names the class or file of a member.

    `node` is the member, `content` the text, and `paths` are the paths found in the text.
    """
    owner = view.qualname(int(view.parent[node])).rpartition(".")[2]
    return view.path(node) in paths or re.search(rf"\b{re.escape(owner)}\b", content) is not None


def _names(content: str, spans: Sequence[tuple[int, int]], projects: Container[str]) -> list[tuple[str, float]]:
    """Return the distinct names of code in a memory's text, in order.

    Each item is (name, confidence). A link from the memory to the code with this name gets this confidence. The parts of the text in
    `spans`, such as paths, are skipped. A span is (start, end). Plain words in `projects` are skipped, too; these are names of projects and
    packages in lower case.
    """
    names: dict[str, float] = {}
    for match in _NAME.finditer(content):
        if any(start <= match.start() < end for start, end in spans):
            continue
        if match.lastgroup == "camel" and match[0].casefold() in projects:
            continue
        name = match[match.lastgroup or 0].strip().removesuffix("()").strip(".")
        if _IDENTIFIER.match(name) and len(name) > 2:
            names.setdefault(name, QUALIFIED if "." in name else BARE)
        if len(names) >= MAX_NAMES:
            break
    return list(names.items())


def _file(view: GraphView, path: str) -> int | None:
    """Return the indexed file at `path`.

    If no file has exactly this path, the only file whose path ends with `path` is returned. Returns None if none or several end with it.
    """
    path = path.removeprefix("./")
    exact = view.file_node(path)
    if exact is not None or "." not in path:
        return exact
    ends = [one for one in _by_last_part(view).get(path.rpartition("/")[2], ()) if one.endswith("/" + path)]
    return view.file_node(ends[0]) if len(ends) == 1 else None


_last_parts: WeakKeyDictionary[GraphView, dict[str, list[str]]] = WeakKeyDictionary()  # paths of a graph by their last part


def _by_last_part(view: GraphView) -> dict[str, list[str]]:
    parts = _last_parts.get(view)
    if parts is None:
        parts = {}
        for path in view.paths:
            parts.setdefault(path.rpartition("/")[2], []).append(path)
        _last_parts[view] = parts
    return parts


def _packages(view: GraphView) -> set[str]:
    """Return the names of top-level directories of a project, in lower case."""
    return {path.removeprefix("src/").partition("/")[0].casefold() for path in view.paths if "/" in path}


def definition_at(view: GraphView, file: int, line: int) -> int | None:
    """Return the innermost definition that contains a line of a file."""
    around = [
        int(node)
        for node in view.by_path(view.path(file))
        if view.label[node] == SYMBOL and view.start_line[node] <= line <= view.end_line[node] and NODE_KINDS[view.kind[node]] != "module"
    ]
    return min(around, key=lambda node: (int(view.end_line[node] - view.start_line[node]), -int(view.start_line[node]), node), default=None)


def _full(view: GraphView, node: int) -> str:
    number = int(view.path_index[node])
    module = str(view.arrays.paths.module[number].as_py()) if number >= 0 else ""
    return f"{module}.{view.qualname(node)}" if module else view.qualname(node)


def _twins(view: GraphView, nodes: Sequence[int]) -> bool:
    """Return whether all nodes are definitions of the same name in one file.

    Examples are overloads, and a property with its setter.
    """
    return len({(view.path(node), view.qualname(node)) for node in nodes}) == 1
