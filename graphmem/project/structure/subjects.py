"""Texts about modules and flows, from which a model writes paragraphs.

The texts have only facts from the code: paths, names, signatures, first sentences of documentation. Facts that change without the code,
such as heat (a score of risk), are omitted. So a paragraph stays valid until the code changes.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypedDict

from graphmem.analysis.semantic.modules import Modules, first_sentence
from graphmem.memory.texts.redact import redact

if TYPE_CHECKING:
    from graphmem.answers.findings import Flow
    from graphmem.answers.modules import ModuleInfo
    from graphmem.projection.graph.view import GraphView

FORM: Final = "1"  # version of text and prompt; a new number rewrites every paragraph
FILES: Final = 40  # files of a module, those with most definitions first
NAMES: Final = 10  # definitions listed for one file
NEIGHBOURS: Final = 12
LONGEST: Final = 240  # characters of a signature or a sentence


class _File(TypedDict):
    """A file of a module, as JSON for the language model that describes it."""

    path: str
    says: str  # first sentence of its documentation; "" without one
    defines: list[str]  # names of its outermost definitions


class Subject(NamedTuple):
    """Facts about a module or a flow, from which a model describes it.

    A module is a group of files, and a flow is a path of calls.
    """

    key: str  # hash of `data`
    data: str  # JSON


def of_module(modules: Modules, info: ModuleInfo) -> Subject:
    """Return facts about a module, from which a language model describes it.

    The facts are the module's files, its most used definitions, its dependencies and its dependents.
    """
    view, files = modules.view, modules.files
    at = modules.find(info.id)
    paths = modules.groups[at].paths if at is not None else []
    number = {path: i for i, path in enumerate(files.paths)}
    own = [path for path in paths if not files.is_test[number[path]]] or paths
    shown = sorted(own, key=lambda path: (-int(files.symbols[number[path]]), path))[:FILES]
    told = {
        "module": info.name,
        "folder": info.path,
        "files": [_file(view, path) for path in sorted(shown)],
        "more files": len(own) - len(shown),
        "most used": [{"name": one.qualname, "signature": one.signature[:LONGEST]} for one in info.central],
        "depends on": sorted(one.dst_name for one in modules.dependencies if one.src == info.id)[:NEIGHBOURS],
        "is used by": sorted(one.src_name for one in modules.dependencies if one.dst == info.id)[:NEIGHBOURS],
    }
    return _subject("module", told)


def of_flow(view: GraphView, flow: Flow) -> Subject:
    """Return facts about a flow (a path of calls), for a model to describe.

    The facts are the steps in order, with signature and comment.
    """
    steps = [flow.entry, *(step.dst for step in flow.steps)]
    told = {
        "flow": flow.name,
        "begins at": flow.kind,
        "through modules": flow.modules,
        "steps": [
            {
                "name": one.qualname,
                "path": one.path,
                "signature": one.signature[:LONGEST],
                "says": first_sentence(view.doc(view.index_of[one.id]))[:LONGEST],
            }
            for one in steps
        ],
    }
    return _subject("flow", told)


def _file(view: GraphView, path: str) -> _File:
    symbols = view.by_path(path).tolist()
    top = [node for node in symbols if int(view.parent[node]) >= 0 and int(view.parent[int(view.parent[node])]) < 0]
    return {
        "path": path,
        "says": first_sentence(view.doc(symbols[0]))[:LONGEST] if symbols else "",
        "defines": [view.name(node) for node in top[:NAMES]],
    }


def _subject(kind: str, facts: dict[str, Any]) -> Subject:
    data = redact(json.dumps({"kind": kind, **facts}, ensure_ascii=False, sort_keys=True))[0]
    return Subject(hashlib.blake2b(f"{FORM}\0{data}".encode("utf-8", "replace"), digest_size=16).hexdigest(), data)
