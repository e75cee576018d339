"""Compare the modules and dependencies of two revisions of a project.

Each revision is indexed in a temporary directory, which is deleted afterwards.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from graphmem.analysis.semantic.carried import carried
from graphmem.analysis.semantic.drift import State, compare
from graphmem.analysis.semantic.entries import Entries
from graphmem.analysis.semantic.modules import Modules
from graphmem.analysis.semantic.naming import Known
from graphmem.indexing import git
from graphmem.project.graph.indexer_source import FACTS
from graphmem.project.structure.derived import packages_of
from graphmem.runtime.files.checksums import unseal

if TYPE_CHECKING:
    from graphmem.answers.semantic import Drift
    from graphmem.projection.graph.view import GraphView

Index = Callable[[Path, Path], contextlib.AbstractContextManager["GraphView"]]
"""Reads a tree into an index in a folder and gives its graph for a while."""


def drift(root: Path, data_dir: Path, project: str, base: str, head: str | None, here: State, index: Index) -> Drift:
    """Compare modules, dependencies and cycles of two revisions of a project.

    Args:
        root: root of the working tree.
        data_dir: directory of the project's index; its cache of parsed files is reused.
        project: name of the project.
        base: the older revision.
        head: the newer revision; None for the current index.
        here: the modules and entry points of the current index.
        index: called with (directory of the files, directory for their index); returns a context manager that yields the graph.

    Raises:
        GitError: git is not installed, or the revision is unknown.
    """
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="graphmem-drift-")))
        new = here
        if head is not None:
            view = stack.enter_context(_indexed(root, data_dir, folder / "head", project, head, index))
            modules = Modules(view, _known(here.modules), project, packages=packages_of(view.languages))
            new = State(modules, Entries(modules.files))
        view = stack.enter_context(_indexed(root, data_dir, folder / "base", project, base, index))
        modules = Modules(view, project=project, packages=packages_of(view.languages), division=partial(carried, new.modules, view))
        ends = git.revision(root, base), git.revision(root, head) if head is not None else "the index as it is"
        return compare(*ends, State(modules, Entries(modules.files)), new)


@contextlib.contextmanager
def _indexed(root: Path, data_dir: Path, folder: Path, project: str, revision: str, index: Index) -> Iterator[GraphView]:
    tree = folder / (project or "project")  # the directory is named like the project, because ids contain the name
    tree.mkdir(parents=True)
    git.unpack(root, revision, tree)
    database = folder / "index"
    database.mkdir()
    _share_facts(data_dir / FACTS, database / FACTS)
    with index(tree, database) as view:
        yield view
    shutil.rmtree(folder, ignore_errors=True)


def _share_facts(known: Path, copy: Path) -> None:
    """Copy the project's cache of parsed files to the index of a revision.

    `known` is the file with the project's cache, and `copy` the new file. A source file with the same content in the revision is then not
    parsed again.
    """
    if known.exists():
        address = f"file:{quote(str(known))}?mode=rw"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as source, contextlib.closing(sqlite3.connect(copy)) as target:
            source.backup(target)
            unseal(target)


def _known(modules: Modules) -> list[Known]:
    return [Known(group.id, group.name, frozenset(group.paths)) for group in modules.groups]
