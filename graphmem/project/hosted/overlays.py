"""Store and open branches of a project on top of its main branch.

An overlay is an open branch. It stores graph rows only for files that differ from the main branch.
"""

from __future__ import annotations

import shutil
import threading
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from graphmem.errors import BadInputError
from graphmem.indexing.delta import Rows, difference, edges_of, external_uses
from graphmem.knowledge import AboutRow, Anchor
from graphmem.memory.texts.link import link
from graphmem.project.hosted.branch_links import BranchLinks
from graphmem.project.hosted.branch_tree import FOLDER, BranchTrees
from graphmem.project.hosted.branches import GONE, Branch, Branches, BranchId, BranchKey
from graphmem.project.hosted.pushed_rows import body_of, external_rows, rows_by_file, rows_in
from graphmem.security.access import Access, caller
from graphmem.store.base import KeyRow
from graphmem.store.overlays.overlay import OverlayStore
from graphmem.store.overlays.overlay_layer import Judging, Layer, OwnRows
from graphmem.store.writes.anchors import real_moves, states

if TYPE_CHECKING:
    from graphmem.answers import MemoryInfo
    from graphmem.model import GraphDelta
    from graphmem.project.care.runs import IndexRuns
    from graphmem.project.graph.graph_source import GraphSource
    from graphmem.projection.projections import Projections
    from graphmem.store.base import GraphStore

_CACHED: Final = 512  # files of a branch whose rows stay decoded
_NO_LINKS: Final = Judging({}, {}, {}, ())


@dataclass(eq=False)
class Overlay:
    """An open branch of a project: its differences and its open graph."""

    key: BranchKey
    graph: GraphSource
    projections: Projections
    store: OverlayStore
    root: Path
    pushed: Callable[[int], None]  # called with the number of files, after a push of the branch is shown
    seen: int = -1  # generation of the base's memories that the branch shows
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, eq=False)
class PushedBranch:
    """The state of a branch, as it was pushed.

    A digest is a hash of a file's graph rows.

    Attributes:
        by: login of the person who pushes.
        commit_sha: the pushed commit; "" if unknown.
        facts: further data of the branch: "meta" (metadata, by name), "contracts" and "handles" (framework keys, such as routes).
        digests: the digest of each file of the branch.
        main: the digest of each file of the main branch.
        bodies: packed rows of the sent files, by digest. A file whose rows the server has already is not sent.
    """

    by: str
    commit_sha: str
    facts: Mapping[str, Any]
    digests: Mapping[str, str]
    main: Mapping[str, str]
    bodies: Mapping[str, bytes]

    def own(self) -> dict[str, str]:
        """Digests of the files in which the branch differs from the main branch.

        The result maps paths to digests (hashes of the files' rows). The digest of a file that only the main branch has is `GONE`.
        """
        own = {path: digest for path, digest in self.digests.items() if self.main.get(path) != digest}
        return own | dict.fromkeys(self.main.keys() - self.digests.keys(), GONE)


@dataclass(eq=False, repr=False)
class Overlays:
    """The branches of one project. Thread-safe.

    Callers of a method that changes something must hold the lock `runs.turn`, so that pushes are serialized.
    """

    runs: IndexRuns
    data_dir: Path
    branches: Branches
    _live: dict[BranchKey, Overlay] = field(default_factory=dict, init=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, init=False)
    _links: BranchLinks = field(init=False)

    def __post_init__(self) -> None:
        self._links = BranchLinks(self.branches)

    @property
    def _trees(self) -> BranchTrees:
        return BranchTrees(self.data_dir, self.branches, self.store)

    @property
    def store(self) -> GraphStore:
        """The store (database) of the main branch."""
        return self.runs.store

    def line_mark(self) -> str:
        """Return a string that identifies the current state of the main branch."""
        return self.store.meta().get("run", "")

    # ---- finding

    def find(self, name: str, login: str) -> BranchKey | None:
        """Return the key of the branch that `name` means to a person.

        `login` names the person. Returns None if the person sees no branch of this name. A key is the name of a branch, with its owner if
        only that person sees the branch.
        """
        found = self.branches.identify(name, login)
        return found.key if found is not None else None

    def identify(self, name: str, login: str) -> BranchId | None:
        """Return the id of the branch that `name` means to a person.

        `login` names the person. Returns None if the person sees no branch of this name; see `Branches.identify`.
        """
        return self.branches.identify(name, login)

    def seen_by(self, login: str) -> list[Branch]:
        """Return branches visible to everybody or to `login`, sorted by name."""
        return self.branches.seen_by(login)

    def elsewhere(self, memory: str, here: BranchKey | None) -> list[str]:
        """Return the other branches with the code to which a memory is linked.

        Only links to code that the main branch lacked when the memory was written are considered. The result is empty if the branch `here`
        has the code. Branches that the caller may not see are left out.

        Args:
            memory: id of the memory.
            here: the branch that answers the request; None for the main branch.
        """
        found = self._links.of_memory(memory)
        if not found:
            return []
        overlay = self._live.get(here) if here is not None else None
        view = (overlay if overlay is not None else self.runs).projections.graph()
        seen = {one.key for one in self.seen_by(login_of(caller()))}
        return sorted({key.name for key, one in found if key in seen and one.target not in view.index_of})

    # ---- states

    def layer(self, key: BranchKey) -> Layer:
        """Return how a branch differs from the project's main branch.

        Raises:
            BadInputError: the branch is unknown, or the main branch was restored or rebuilt since the branch was pushed.
        """
        branch = self.branches.find(key)
        if branch is None:
            raise unknown_branch(key.name)
        if not self.branches.fits(self.line_mark()):
            raise BadInputError(
                f"the project's main branch was restored or rebuilt after the branch {key.name!r} was pushed; push the branch again",
                argument="branch",
            )
        keys = [KeyRow(*row) for row in branch.facts["handles"]]
        return Layer(self.branches.own(key), dict(branch.facts["meta"]), keys, branch.generation)

    def delta_to(self, own: Mapping[str, str], before: OwnRows | None = None) -> GraphDelta:
        """Return the changes from the main branch's graph to a branch's graph.

        `own` maps each path in which the branch differs from the main branch to a digest (hash) of the file's rows on the branch. If
        `before` is given, the changes start from the rows in `before` instead of the rows of the main branch.
        """
        view = self.runs.projections.graph()
        new = _rows(rows_in(self.branches.bodies(filter(None, own.values())).values()))
        paths = sorted(own)
        if before is None:
            rows = self.store.rows_of(paths, paths)
            old = Rows(rows.files, rows.symbols, rows.chunks, edges_of(view, paths), rows.unresolved, rows.occurrences, {})
        else:
            old = _rows(before)
        ends = {edge.dst for edges in (old.edges, new.edges) for edge in edges}
        return difference(old, new, external_uses(view, ends))

    def judging(self, own: Mapping[str, str]) -> Judging:
        """Compute, for a branch, the state of the code that memories link to.

        On the branch, the code may be unchanged, moved, changed or missing. `own` maps each path in which the branch differs from the main
        branch to a digest (hash) of the file's rows on the branch.
        """
        if not own:
            return _NO_LINKS
        delta = self.delta_to(own)
        now = states(delta)
        old = delta.before
        names = {one: f"{old.symbols[one].path}:{old.symbols[one].qualname}" for one in delta.removed_symbols if one in old.symbols}
        names |= {one: old.files[one].path for one in delta.removed_files if one in old.files}
        added = [
            AboutRow(one.memory, one.target, one.label, one.role, one.confidence, one.body_hash, one.commit_sha, Anchor.VALID.value)
            for _, one in self.branches.links()
            if one.target in now and not now[one.target].gone
        ]
        return Judging(real_moves(delta, now), now, names, added)

    # ---- opening

    def prepare(self, key: BranchKey) -> tuple[Path, OverlayStore]:
        """Create and return the directory and the store for opening a branch.

        The caller must hold the lock `runs.turn` until after its call of `attach`.

        Raises:
            BadInputError: the branch is unknown or unusable.
        """
        layer = self.layer(key)
        branch = self.branches.find(key)
        assert branch is not None  # noqa: S101 - `layer` has found it
        root = self._trees.create(branch, layer.own)
        store = OverlayStore(self.store, _cached_rows(self.branches), layer._replace(meta={**layer.meta, "root": str(root)}))
        self._judge(store)
        return root, store

    def attach(self, overlay: Overlay) -> None:
        """Register an open branch, to be updated after pushes.

        A push of the branch or of the main branch then updates `overlay`.
        """
        overlay.seen = self.runs.projections.memories().generation
        with self._lock:
            self._live[overlay.key] = overlay

    def detach(self, overlay: Overlay) -> None:
        """Unregister a branch that was closed, and delete its directory."""
        with self._lock:
            if self._live.get(overlay.key) is overlay:
                del self._live[overlay.key]
        shutil.rmtree(overlay.root, ignore_errors=True)

    def clean(self) -> None:
        """Delete files of branches that an earlier process left open."""
        shutil.rmtree(self.data_dir / FOLDER, ignore_errors=True)

    def follow_memories(self, key: BranchKey) -> None:
        """Make an open branch show the newest memories of the main branch.

        Nothing happens if the branch is not open, or if it already shows the newest memories.
        """
        overlay = self._live.get(key)
        if overlay is None or self.runs.projections.memories().generation == overlay.seen:
            return
        with overlay.lock:
            now = self.runs.projections.memories().generation
            if now != overlay.seen:
                self.runs.book.flush()  # the branch reads them from the store
                self._judge(overlay.store)
                overlay.store.memories_changed()
                overlay.seen = now

    # ---- memories of code that only a branch has

    def link(self, key: BranchKey, info: MemoryInfo, files: Sequence[str], symbols: Sequence[str]) -> None:
        """Store links of a new memory to code that the main branch lacks.

        Args:
            key: the branch on which the memory was written.
            info: the memory, as the main branch describes it.
            files: paths that the writer of the memory gave.
            symbols: names of symbols, such as `Cart.total`, that the writer of the memory gave.
        """
        overlay = self._live.get(key)
        branch = self.branches.find(key)
        if overlay is None or branch is None:
            return
        view, main = overlay.graph.view(), self.runs.projections.graph()
        project = self.store.meta().get("project", "")
        found = link(info.content, files, symbols, view, project, branch.commit_sha).about
        if self._links.add(key, info.id, found, view, main):
            overlay.seen = -1

    # ---- pushes

    def put(self, key: BranchKey, pushed: PushedBranch) -> int:
        """Store the pushed state of a branch; return its new counter of changes.

        If the branch is open, its answers show the new state from then on.
        """
        known = self.branches.find(key)
        generation = (known.generation if known is not None else 0) + 1
        born, first = (known.born, known.pushed_by) if known is not None else (uuid.uuid4().hex, pushed.by)
        branch = Branch(key, born, first, pushed.commit_sha, datetime.now(UTC).isoformat(), generation, pushed.facts)
        own = pushed.own()
        overlay = self._live.get(key)
        if overlay is None:
            self.branches.put(branch, own, own, pushed.bodies, self.line_mark())
            return generation
        old = overlay.store.layer.own
        touched = sorted(path for path in {*old, *own} if old.get(path) != own.get(path))
        before = self._shown(overlay, touched)
        self.branches.put(branch, own, own, pushed.bodies, self.line_mark())
        layer = self.layer(key)
        overlay.store.become(layer._replace(meta={**layer.meta, "root": str(overlay.root)}))
        after = self._stored(overlay, touched)
        ends = {edge.dst for some in (before.edges, after.edges) for edge in some}
        overlay.projections.refresh(generation, difference(before, after, external_uses(overlay.graph.view(), ends)))
        textless = (path for path in own if not (overlay.root / path).exists())  # another push may have sent the text since then
        self._trees.write(overlay.root, branch, own, {*touched, *textless})
        overlay.seen = -1
        self.follow_memories(key)
        overlay.pushed(len(pushed.digests))
        return generation

    def _shown(self, overlay: Overlay, paths: Sequence[str]) -> Rows:
        """Return the graph rows of `paths` as the branch's open graph shows them.

        The rows are nodes, and the edges that begin in these files. The edges come from the open graph.
        """
        rows = overlay.store.rows_of(paths, paths)
        edges = edges_of(overlay.graph.view(), paths)
        return Rows(rows.files, rows.symbols, rows.chunks, edges, rows.unresolved, rows.occurrences, {})

    def _stored(self, overlay: Overlay, paths: Sequence[str]) -> Rows:
        """Return the graph rows of the files `paths` from the branch's store.

        The rows are nodes, and the edges that begin in these files. The store may be newer than the branch's open graph.
        """
        rows = overlay.store.rows_of(paths, paths)
        edges = overlay.store.edges_from(paths)
        wanted = {edge.dst for edge in edges}
        externals = rows_in(self.branches.bodies(filter(None, overlay.store.layer.own.values())).values()).externals
        externals |= {one: row for one, row in external_rows(self.store).items() if one in wanted}
        return Rows(rows.files, rows.symbols, rows.chunks, edges, rows.unresolved, rows.occurrences, externals)

    def before_line(self, old: Mapping[str, str], new: Mapping[str, str], mark: str) -> None:
        """Store the old versions of files that a push of the main branch changes.

        A branch that has the old version of such a file keeps that version. Call this before the push changes the graph. A digest is a hash
        of a file's graph rows.

        Args:
            old: the digest of each file of the main branch; {} if unknown.
            new: the digest of each file of the main branch after the push.
            mark: identifies the state of the main branch after the push.
        """
        if not self.branches.all():
            return
        view = self.runs.projections.graph()
        paths = [path for path in sorted(self.store.file_hashes()) if not old or old.get(path) != new.get(path)]
        externals = external_rows(self.store)
        kept: dict[str, tuple[str, bytes]] = {
            one.path: (old.get(one.path) or one.digest, body_of(one.rows, externals, self._trees.main_text(one.path, one.content_hash)))
            for one in rows_by_file(self.store, view, paths)
        }
        kept |= dict.fromkeys(new.keys() - old.keys() - kept.keys(), (GONE, b""))
        added = self.branches.keep(kept, mark)
        for key, overlay in list(self._live.items()):
            overlay.store.keep_own(added.get(key, {}))

    def after_line(self, digests: Mapping[str, str], merged: Iterable[BranchKey]) -> list[BranchKey]:
        """Drop merged branches, after a push has changed the main branch.

        Args:
            digests: the digest (hash of the graph rows) of each file of the main branch.
            merged: branches whose commit the pushed commit contains.

        Returns:
            The dropped branches: those in `merged`, and branches whose changes the main branch has now.
        """
        known = self.branches.all()
        if not known:
            return []
        self.branches.settle(digests, self.line_mark())
        self._links.adopt(self.runs.book, self.runs.projections.graph())
        dropped = []
        for one in known:
            changed = self.branches.changed(one.key)
            if one.key in set(merged) or all(digests.get(path, GONE) == digest for path, digest in changed.items()):
                dropped.append(one.key)
                self.drop(one.key)
        for key, overlay in list(self._live.items()):
            overlay.seen = -1
            self.follow_memories(key)
        return dropped

    def drop(self, key: BranchKey) -> bool:
        """Delete a branch; return whether it existed.

        A request that is using the branch may still finish. Later requests find no branch.
        """
        with self._lock:
            self._live.pop(key, None)
        gone = self.branches.drop(key)
        self._links.reset()
        return gone

    def drop_expired(self, days: float) -> list[BranchKey]:
        """Delete the branches that were not pushed for `days` days; return them."""
        found = self.branches.expired(days)
        for key in found:
            self.drop(key)
        return found

    def close(self) -> None:
        """Close the file of the branches. Idempotent."""
        self.branches.close()

    # ---- inside

    def _judge(self, store: OverlayStore) -> None:
        store.judge(self.judging(store.layer.own))


def login_of(access: Access) -> str:
    """Return the login of a caller; "" for the owner of the index."""
    return access.name if access.person is not None else ""


def unknown_branch(name: str) -> BadInputError:
    """Return the error for a branch that is missing or hidden from the caller."""
    return BadInputError(f"unknown branch {name[:80]!r}; `graphmem projects` lists the branches", argument="branch", value=name[:80])


def _rows(own: OwnRows) -> Rows:
    return Rows(own.files, own.symbols, own.chunks, own.edges, own.unresolved, own.occurrences, own.externals)


def _cached_rows(branches: Branches) -> Callable[[Iterable[str]], OwnRows]:
    """Return a function that reads the graph rows of files by their hashes.

    The function caches the decoded rows of up to `_CACHED` files.
    """

    @lru_cache(maxsize=_CACHED)
    def one(digest: str) -> OwnRows:
        return rows_in(branches.bodies([digest]).values())

    def read(digests: Iterable[str]) -> OwnRows:
        found = OwnRows.none()
        for digest in digests:
            rows = one(digest)
            for name in OwnRows._fields[:-1]:
                getattr(found, name).extend(getattr(rows, name))
            found.externals.update(rows.externals)
        return found

    return read
