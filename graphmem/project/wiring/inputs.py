"""Values and later parts that the steps of the wiring share."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from graphmem.injection.injector import Injector
from graphmem.project.hosted.overlays import Overlays
from graphmem.project.memories.writing import Memories
from graphmem.settings import Settings

if TYPE_CHECKING:
    from graphmem.projection.graph.view import GraphView
    from graphmem.projection.words.index import WordIndex
    from graphmem.store.base import GraphStore, GraphTables


class Overlaid(NamedTuple):
    """Data of the project's main branch that an open branch uses, too.

    Attributes:
        log: path of the file with the main branch's change history.
        elsewhere: called with the id of a memory; returns the names of other branches that have the code to which the memory is linked.
        made: graph and index of words of the branch, derived from the main branch. None if the branch must build both from its own rows.
    """

    log: Path
    elsewhere: Callable[[str], list[str]]
    made: tuple[GraphView, WordIndex] | None


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """The values from which all steps create parts.

    Attributes:
        store: the open store.
        data_dir: the index directory.
        settings: settings of the project.
        keep_warm: see `GraphMem.open`.
        patience_s: see `GraphMem.open`.
        main: parts of the main branch, if the store is that of a branch on a server.
        view_of: indexes a tree of files and returns its graph.
        tables_of: indexes a tree of files and returns the rows of its graph.
    """

    store: GraphStore
    data_dir: Path
    settings: Settings
    keep_warm: bool
    patience_s: float
    main: Overlaid | None
    view_of: Callable[[Path, Path], contextlib.AbstractContextManager[GraphView]]
    tables_of: Callable[[Path, str], GraphTables]


class Later:
    """Parts of later steps that parts of earlier steps call.

    A later step sets the fields. No earlier part uses them before all parts exist.
    """

    overlays: Overlays
    injector: Injector
    memories: Memories
