"""Open a project: prepare its directory, open the store, create the parts."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphmem.errors import BadInputError
from graphmem.location import DATABASE, SHARED
from graphmem.maintenance.place import prepare_data_dir, refuse_a_strangers, root_of_copy
from graphmem.maintenance.recovery import open_or_mend
from graphmem.maintenance.worktrees import adopt
from graphmem.project.wiring.connecting import connected
from graphmem.project.wiring.inputs import Inputs
from graphmem.runtime.files.vault import unlock
from graphmem.runtime.worktree import journal_folder
from graphmem.settings import Settings, load_settings
from graphmem.store.capabilities import local_file

if TYPE_CHECKING:
    from graphmem.project.parts import Parts
    from graphmem.project.wiring.inputs import Overlaid
    from graphmem.projection.graph.view import GraphView
    from graphmem.store.base import GraphStore, GraphTables

PATIENCE_S: Final = 60.0


def open_project(
    db: str | Path | None = None,
    repo: str | Path | None = None,
    settings: Settings | None = None,
    keep_warm: bool = True,
    patience_s: float = PATIENCE_S,
) -> Parts:
    """Open the index in the directory `db`; see `GraphMem.open`.

    With `keep_warm`, data for later index runs stays in memory. `patience_s` is the maximum wait for another process.
    """
    if db is None and repo is None:
        raise BadInputError("neither an index nor a repository is given; give the directory of one of them", argument="db")
    settings = settings or load_settings(Path(repo) if repo is not None else None)
    data_dir = Path(db) if db is not None else Path(repo or ".") / ".graphmem"
    if data_dir.exists() and not data_dir.is_dir():
        raise BadInputError(f"the index directory {data_dir} is a file; give a directory for the index", argument="db", path=str(data_dir))
    refuse_a_strangers(data_dir)
    shared = bool(settings.store) or _is_there(data_dir / SHARED)
    if repo is not None and not shared:
        adopt(Path(repo), data_dir, settings.engine)
    prepare_data_dir(data_dir)
    unlock(data_dir, settings, is_new=not any(journal_folder(data_dir).glob("journal-*")) and not _is_there(data_dir / DATABASE))
    if shared:
        from graphmem.project.team.shared_graph import open_shared

        return wired(
            open_shared(data_dir, Path(repo).absolute() if repo is not None else None, settings), data_dir, settings, keep_warm, patience_s
        )
    store = open_or_mend(data_dir / DATABASE, settings)
    if repo is not None and (root := root_of_copy(data_dir, store.meta().get("root", ""), Path(repo))):
        local_file(store, "a copied index").move_to(root)  # otherwise a copied index would use the files of the original
    return wired(store, data_dir, settings, keep_warm, patience_s)


def wired(
    store: GraphStore,
    data_dir: Path,
    settings: Settings,
    keep_warm: bool = True,
    patience_s: float = PATIENCE_S,
    main: Overlaid | None = None,
) -> Parts:
    """Create and return all parts of a project.

    A part is an object that implements some operations, such as search. Every part is created after the parts that it needs.

    Args:
        store: the open store.
        data_dir: the index directory.
        settings: settings of the project.
        keep_warm: see `GraphMem.open`.
        patience_s: see `GraphMem.open`.
        main: parts of the main branch, if the store is that of a branch on a server.
    """
    with contextlib.ExitStack() as opened:  # a failure must not leave the database locked
        opened.callback(store.close)
        inputs = Inputs(
            store=store,
            data_dir=data_dir,
            settings=settings,
            keep_warm=keep_warm,
            patience_s=patience_s,
            main=main,
            view_of=partial(_view_of, settings),
            tables_of=partial(_tables_of, settings),
        )
        parts = connected(inputs, opened)
        opened.pop_all()
    return parts


def _is_there(path: Path) -> bool:
    """Return whether a path exists; False without access to it."""
    return os.path.exists(path)  # noqa: PTH110 -- Path.exists raises for such a directory


@contextlib.contextmanager
def _view_of(settings: Settings, tree: Path, folder: Path) -> Iterator[GraphView]:
    """Index the files of `tree` into the database `folder`; yield the graph."""
    with contextlib.closing(open_project(folder, settings=replace(settings, store=""), keep_warm=False)) as other:
        other.runs.index(tree)
        yield other.graph.view()


def _tables_of(settings: Settings, tree: Path, project: str) -> GraphTables:
    """Index a tree of files in a temporary directory; return its graph.

    `project` becomes the project's name, on which every id in the graph depends.
    """
    with (
        tempfile.TemporaryDirectory(prefix="graphmem-verify-") as folder,
        contextlib.closing(open_project(Path(folder), settings=replace(settings, store=""), keep_warm=False)) as other,
    ):
        other.store.set_meta({"project": project})  # ids contain the project's name
        other.runs.index(tree)
        return other.store.tables()
