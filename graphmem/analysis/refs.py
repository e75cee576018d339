"""Find the symbol that a reference, typed by a person, means.

Forms, in the order in which they are tried:

* an id (20 hex digits);
* `path:line` or `path:line:column`: the innermost definition around that position, or else the file's top-level code. The line must be in
  the file. `path:first-last` and `path#L5` are the same;
* `path:qualname:line` or `qualname:line`: the definition of that name at that line;
* `path:qualname`, where path may be a suffix (`query.py:QuerySet.filter`), or `path::qualname` as search writes it. `#2` at the end means
  the second definition of that name in the file (a property's setter, the next overload);
* a path, or a suffix of one: the file;
* `module.qualname` (`django.db.models.query.QuerySet`);
* a qualified name, a suffix of one (`QuerySet.filter`), or a bare name;
* `Class.member` or `path:Class.member` for a member that the class inherits: the definition in the nearest base.

An exact dotted name precedes a suffix. Among bare names, symbols other than tests and variables come first, and a class comes before its
constructor of the same name. A name that only files have means their default exports, or else the files. Several definitions with the
same path and qualified name (overloads, a property and its setter) are one answer; the definition that runs comes first. Any other
reference with two matches is ambiguous.
"""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

import numpy as np

from graphmem.errors import AmbiguousSymbolError, BadInputError, SymbolNotFoundError
from graphmem.projection.graph.arrays import EXTERNAL, NODE_KINDS, SYMBOL
from graphmem.runtime.data.text_only import LANGUAGE, text_only_language
from graphmem.runtime.files.inside import inside
from graphmem.runtime.texts.naming import in_project, raw

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from graphmem.projection.graph.view import GraphView

_ID = re.compile(r"[0-9a-f]{20}\Z")
_POSITION = re.compile(r"(?P<path>.+?)(?::|#L)(?P<line>\d+)(?::(?P<column>\d+)|-L?\d+)?\Z")
_TWIN = re.compile(r"(?P<name>.+)#(?P<number>[1-9]\d{0,8})\Z")
_INHERITS = frozenset({"INHERITS"})
MAX_CANDIDATES = 20
_LEAST_LIKE = 0.5  # similarity of a member's name, from 0 to 1
MAX_REF_CHARACTERS = 1000


def resolve_ref(view: GraphView, ref: str, root: Path | None = None) -> list[int]:
    """Return the nodes that a reference like `a.py:QuerySet.filter` means.

    The result has several nodes only if several definitions have the same path and name. The nodes are sorted by line, with overloads last.

    Raises:
        BadInputError: the reference is empty or longer than 1,000 characters.
        AmbiguousSymbolError: several symbols match; `candidates` lists up to 20 of them, `total` counts all.
        SymbolNotFoundError: no symbol matches; `suggestions` holds similar references. With the `root` of the project's files, the error
            names partly parsed files that contain the name. The root also allows absolute paths and URIs of files below it.
    """
    ref = in_project(raw(ref.strip()), root).removesuffix("()")
    if not ref or len(ref) > MAX_REF_CHARACTERS:
        raise BadInputError(
            f"the symbol reference has {len(ref)} characters; write path:name, Class.method or path:line with at most "
            f"{MAX_REF_CHARACTERS} characters",
            argument="ref",
            limit=MAX_REF_CHARACTERS,
        )
    if _ID.match(ref) and ref in view.index_of:
        return [view.index_of[ref]]
    if position := _POSITION.match(ref):
        line = int(position["line"])
        found = _at_position(view, position["path"], line)
        if found:
            return found
        for candidates in _ranks(view, position["path"]):
            there = [node for node in candidates if view.start_line[node] <= line <= view.end_line[node]]
            if there:
                return _one(view, ref, there)
    for candidates in _ranks(view, ref):
        if candidates:
            return _one(view, ref, candidates)
    if inherited := _inherited(view, ref):
        return _one(view, ref, inherited)
    suggestions = suggest(view, ref)
    hint = f"did you mean {', '.join(suggestions[:3])}?" if suggestions else "`graphmem search` finds names by their parts"
    hint = _beyond_the_end(view, ref) or hint
    if root is not None and (partly := _in_part(view, ref, root)):
        more = f" and {len(partly) - 3:,} more" if len(partly) > 3 else ""
        hint = f"it occurs in {', '.join(partly[:3])}{more}, of which only a part could be read, so look there, too; {hint}"
    if root is not None and (unparsed := _unparsed_with(view, ref, root)):
        more = f" and {len(unparsed) - 3:,} more" if len(unparsed) > 3 else ""
        languages = " and ".join(dict.fromkeys(map(text_only_language, unparsed)))
        hint = (
            f"it occurs in {', '.join(unparsed[:3])}{more}, but {languages} files are searched as text only, so their names are not in the "
            f"graph; {hint}"
        )
    if root is not None and (later := _newer_than_the_index(view, ref, root)):
        hint = f"{later}; {hint}"
    raise SymbolNotFoundError(f"the index has no symbol or file named {ref!r}; {hint}", ref=ref, suggestions=suggestions)


def is_known(view: GraphView, name: str) -> bool:
    """Whether a reference finds a node of the graph.

    The reference is a name, a qualified name or a path, as a person writes it.
    """
    return any(_ranks(view, name)) or bool(_inherited(view, name))


def _newer_than_the_index(view: GraphView, ref: str, root: Path) -> str:
    """Return advice if a reference may name code that is newer than the index.

    An agent often asks about code that it has just written. The advice is to ask again or to run `graphmem index`. The result is "" if
    the file of the reference does not exist, or does not contain the name.
    """
    path, _, name = ref.partition(":")
    file = inside(root, path)
    if not path or file is None or not file.is_file():
        return ""
    if path not in view.path_number:
        new = "if it is new, ask again in a few seconds, or run `graphmem index`"
        return f"{path} exists, but is not in the index; {new}; `graphmem doctor` tells which kinds of files are skipped, and why"
    if name and _containing([path], ref, root):
        return f"the name occurs in {path}; if it is new there, ask again in a few seconds, or run `graphmem index`"
    return ""


def _in_part(view: GraphView, ref: str, root: Path) -> list[str]:
    """Return the partly parsed files in which the last part of `ref` occurs."""
    return _containing(view.failed_paths, ref, root)


def _unparsed_with(view: GraphView, ref: str, root: Path) -> list[str]:
    """Return indexed files that contain the final name of `ref` as text.

    Only files in languages without a grammar are searched.
    """
    language = view.arrays.paths.language
    return _containing(
        [path for number, path in enumerate(view.paths) if text_only_language(path) and language[number].as_py() == LANGUAGE], ref, root
    )


def _containing(paths: Sequence[str], ref: str, root: Path) -> list[str]:
    """Return those of `paths` that contain the final name of `ref` as a word.

    The final name of `a.py:Cart.total`, for example, is `total`.
    """
    names = re.findall(r"[\w$]+", _TWIN.sub(r"\g<name>", ref))
    if not names:
        return []
    word = re.compile(rb"(?<![\w$])" + re.escape(names[-1].encode()) + rb"(?![\w$])")
    found = []
    for path in paths:
        try:
            text = (root / path).read_bytes()
        except OSError:  # the file was removed since
            continue
        if word.search(text):
            found.append(path)
    return found


def _ranks(view: GraphView, ref: str) -> list[list[int]]:
    """Return lists of nodes, one for each interpretation of a reference.

    The preferred interpretation comes first. The reference means the nodes of the first list that is not empty.
    """
    ranks: list[list[int]] = []
    if ":" in ref:
        path, _, name = ref.rpartition(":")
        nodes = [int(node) for file in _files(view, path.removesuffix(":")) for node in view.by_path(view.path(file))]
        symbols = [node for node in nodes if view.label[node] == SYMBOL]
        if twin := _TWIN.match(name):
            same = [node for node in symbols if view.qualname(node) == twin["name"]]
            ranks.append([node for node in same if view.twin(node) == int(twin["number"])])
        ranks.append([node for node in symbols if view.qualname(node) == name])
        ranks.append([node for node in symbols if view.qualname(node).endswith("." + name)])
        return ranks
    ranks.append(_files(view, ref) if "/" in ref or "." in ref else [])
    by_name = view.by_name(ref.rpartition(".")[2]).tolist()
    if "." in ref:
        ranks.append([node for node in by_name if view.label[node] == SYMBOL and view.qualname(node) == ref])
        ranks.append([node for node in by_name if view.label[node] == SYMBOL and _full_name(view, node) == ref])
        ranks.append([node for node in by_name if view.label[node] == SYMBOL and _full_name(view, node).endswith("." + ref)])
        ranks.append([node for node in view.by_qualname(ref).tolist() if view.label[node] == EXTERNAL])
    else:
        # A bare name means every symbol with it: a function does not hide a method. Tests and variables count only if nothing else matches.
        symbols = [node for node in by_name if view.label[node] == SYMBOL]
        named = _without_constructors(view, [node for node in symbols if NODE_KINDS[view.kind[node]] not in ("variable", "module")])
        ranks += [[node for node in named if not view.is_test[node]], named, _named_after_files(view, symbols)]
        ranks.append([node for node in view.by_qualname(ref).tolist() if view.label[node] == EXTERNAL])
    return ranks


def _named_after_files(view: GraphView, named: list[int]) -> list[int]:
    """Replace the top-level code of files by what the files' names refer to.

    `named` are nodes that the name refers to. The name of a file often stands for the default export of the file, because other code
    imports the export under this name. Without a default export, the name stands for the whole file, because no code depends on the
    top-level code alone.
    """
    found = []
    for node in named:
        if view.qualname(node) == "<module>":
            file = view.file_node(view.path(node))
            symbols = [int(one) for one in view.by_path(view.path(node)) if view.label[one] == SYMBOL]
            found += [one for one in symbols if "default" in view.modifiers(one)] or [node if file is None else file]
        else:
            found.append(node)
    return found


def _without_constructors(view: GraphView, named: list[int]) -> list[int]:
    """Return the symbols `named` without constructors of the classes in it.

    All symbols have one name. In Java and C#, a constructor has the name of its class. Such a name stands for the class.
    """
    every = set(named)
    return [node for node in named if NODE_KINDS[view.kind[node]] != "method" or int(view.parent[node]) not in every]


def _inherited(view: GraphView, ref: str) -> list[int]:
    """Return the definitions of an inherited member, named by `Class.member`.

    The class inherits the member. Only the nearest bases are searched, because a base hides the definitions of its own bases. An abstract
    definition, as in an interface, is considered only if there is no other.
    """
    owner, _, member = ref.rpartition(".")
    members = [node for node in view.by_name(member).tolist() if view.label[node] == SYMBOL] if owner else []
    if not members:
        return []
    classes = next((nodes for nodes in _ranks(view, owner) if nodes), [])
    seen = set(classes)
    found: list[int] = []
    while classes and not found:
        bases = [int(view.dst[row]) for one in classes for row in view.out_edges(one, _INHERITS).tolist()]
        classes = [base for base in dict.fromkeys(bases) if base not in seen]
        seen.update(classes)
        found = [node for node in members if int(view.parent[node]) in classes]
    return [node for node in found if "abstract" not in view.modifiers(node)] or found


def _full_name(view: GraphView, node: int) -> str:
    number = int(view.path_index[node])
    module = str(view.arrays.paths.module[number].as_py()) if number >= 0 else ""
    return f"{module}.{view.qualname(node)}" if module else view.qualname(node)


def _owner(view: GraphView, node: int) -> str:
    return view.qualname(node).rpartition(".")[0].rpartition(".")[2]


def _files(view: GraphView, path: str) -> list[int]:
    path = path.removeprefix("./").strip("/")
    exact = view.file_node(path)
    if exact is not None:
        return [exact]
    return [node for full in view.paths if full.endswith("/" + path) and (node := view.file_node(full)) is not None]


def _at_position(view: GraphView, path: str, line: int) -> list[int]:
    files = _files(view, path)
    if len(files) != 1:
        return []
    around = [
        node
        for node in view.by_path(view.path(files[0]))
        if view.label[node] == SYMBOL and view.start_line[node] <= line <= view.end_line[node] and NODE_KINDS[view.kind[node]] != "module"
    ]
    if around:
        return [int(min(around, key=lambda node: (view.end_line[node] - view.start_line[node], -view.start_line[node], node)))]
    modules = _modules(view, files[0])
    if modules and not 1 <= line <= _lines(view, modules) + 1:
        return []
    return modules or files


def _modules(view: GraphView, file: int) -> list[int]:
    return [int(node) for node in view.by_path(view.path(file)) if NODE_KINDS[view.kind[node]] == "module"]


def _lines(view: GraphView, modules: list[int]) -> int:
    """Return the number of lines of a file, given the nodes of its modules."""
    return max(int(view.end_line[node]) for node in modules)


def _beyond_the_end(view: GraphView, ref: str) -> str:
    """Return advice if a reference names a line that its file lacks; else ""."""
    position = _POSITION.match(ref)
    files = _files(view, position["path"]) if position else []
    modules = _modules(view, files[0]) if len(files) == 1 else []
    if not modules:
        return ""
    path, end = view.path(files[0]), _lines(view, modules)
    return f"the last line of {path} is {end:,}; if the file has grown, ask again in a few seconds, or run `graphmem index`"


def _one(view: GraphView, ref: str, candidates: list[int]) -> list[int]:
    named: dict[tuple[str, str], list[int]] = {}
    for node in candidates:
        named.setdefault((view.path(node), view.qualname(node)), []).append(node)
    groups = [sorted(group, key=lambda node: _in_file(view, node)) for group in named.values()]
    if len(groups) == 1:
        return groups[0]
    first = sorted(
        (group[0] for group in groups), key=lambda node: (bool(view.is_test[node]), view.path(node), int(view.start_line[node]), node)
    )
    infos = [view.info(node) for node in first[:MAX_CANDIDATES]]
    shown = ", ".join(info.ref for info in infos[:3])
    raise AmbiguousSymbolError(
        f"{ref!r} matches {len(groups)} symbols ({shown}{', …' if len(groups) > 3 else ''}); write path:qualname to choose one of them",
        ref=ref,
        candidates=infos,
        total=len(groups),
    )


def _in_file(view: GraphView, node: int) -> tuple[bool, int, int]:
    """Return a sort key for definitions of one name: overloads last, by line."""
    return "overload" in view.modifiers(node) if view.label[node] == SYMBOL else False, int(view.start_line[node]), node


def suggest(view: GraphView, ref: str, limit: int = 5) -> list[str]:
    """Return names similar to a reference that was not found, best first.

    The reference may have the form `Class.member`. The names are found in this order:

    * members of the class with the most similar names, because members are often renamed;
    * symbols whose name differs from the final name of `ref` only in case;
    * symbols whose name has a similar spelling.

    Each name of the last two groups gives at most two symbols.
    """
    owners, _, last = ref.rpartition(":")[2].rpartition(".")
    name, owner = last or ref, owners.rpartition(".")[2]
    folded = name.casefold()
    names = view.names()
    same = [other for other in names if other.casefold() == folded and other != ref]
    near = difflib.get_close_matches(name, [other for other in names if other[:1].casefold() == folded[:1]], n=limit, cutoff=0.75)
    wanted = list(dict.fromkeys([*same, *near]))[:limit]
    refs = _members_like(view, owner, name)
    for other in wanted:
        nodes = sorted(
            (node for node in view.by_name(other).tolist() if view.label[node] == SYMBOL),
            key=lambda node: (owner != _owner(view, node), bool(view.is_test[node]), node),
        )
        refs.extend(view.info(node).ref for node in nodes[:2])
    return list(dict.fromkeys(refs))[:limit]


def _members_like(view: GraphView, owner: str, name: str) -> list[str]:
    """Return similarly named members of the classes called `owner`.

    The names of the members must be like `name`.
    """
    if not owner:
        return []
    classes = {node for node in view.by_name(owner).tolist() if view.label[node] == SYMBOL and not view.is_test[node]}
    members: dict[str, int] = {}
    for node in np.flatnonzero(np.isin(view.parent, list(classes))).tolist() if classes else []:
        members.setdefault(view.name(node), node)
    return [view.info(members[one]).ref for one in difflib.get_close_matches(name, members, n=3, cutoff=_LEAST_LIKE)]
