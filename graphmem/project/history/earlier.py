"""Find the graph of an earlier time or commit.

The graph is rebuilt by undoing index runs. A graph can be rebuilt if the changes of all later index runs are stored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.answers import EarlierState
from graphmem.errors import BadInputError, GitError
from graphmem.indexing import git
from graphmem.indexing.past import FILE, Kept, Past, Undo, joined
from graphmem.model import file_id
from graphmem.parsing.contents import most_bytes, read_regular
from graphmem.parsing.discovery import content_hash
from graphmem.parsing.language import language_of_path, languages
from graphmem.runtime.network.pushes import is_pushed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graphmem.project.graph.graph_source import GraphSource
    from graphmem.projection.graph.view import GraphView

MOST_DIFFERING: Final = 500  # files in which a commit differs from the index; each is read
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d")
_DIFF: Final = ("diff", "--no-ext-diff", "--no-textconv", "--no-renames", "--ignore-submodules=all", "--name-only", "--relative", "-z")
_ABSENT: Final = ""  # instead of the hash of a file


class Earlier(NamedTuple):
    """An earlier graph, and a description of the state that it shows."""

    view: GraphView
    state: EarlierState


@dataclass(eq=False, repr=False)
class EarlierGraphs:
    """Rebuilds earlier graphs by undoing the changes of index runs."""

    graph: GraphSource
    max_file_bytes: int  # larger files are not indexed

    def of(self, as_of: str) -> Earlier:
        """Return the graph as it was at a time or at a commit.

        Args:
            as_of: a time in ISO 8601 (UTC if it has no zone), or a Git revision.

        Raises:
            BadInputError: the changes that lead back to that state are not stored, or `as_of` is neither a time nor a revision.
            GitError: Git is not installed or fails.
        """
        view = self.graph.committed_view()
        states = self._past.states(self.graph.store.meta().get("run", ""))
        time = _time_or_none(as_of)
        undone = self._back_to_commit(as_of, states) if time is None else self._back_to_time(time, as_of, states)
        at = states[undone - 1] if undone else None
        if at is not None:
            view = view.patched(joined(self._past.undo(one) for one in states[:undone]), at.generation)
        indexed_at = at.indexed_at if at is not None else self.graph.store.meta().get("indexed_at", "")
        return Earlier(view, EarlierState(as_of, view.generation, indexed_at, at.until if at is not None else ""))

    def _back_to_time(self, time: datetime, as_of: str, states: Sequence[Kept]) -> int:
        """Return how many index runs to undo to get the graph of a given time.

        The newest runs are undone first. `as_of` is the time as the caller wrote it, and `states` are the stored earlier states of the
        graph.
        """
        begun = [self.graph.store.meta().get("indexed_at", ""), *(one.indexed_at for one in states)]
        for undone, indexed_at in enumerate(begun):
            if indexed_at and _time(indexed_at) <= time:
                return undone
        raise _not_kept(f"graphmem no longer has the graph of {as_of}; {_since(states)}", states)

    def _back_to_commit(self, name: str, states: Sequence[Kept]) -> int:
        """Return how many index runs to undo to get the graph of a commit.

        The newest runs are undone first. `name` is the commit, and `states` are the stored earlier states of the graph. After these runs
        are undone, the graph has exactly the files of the commit.
        """
        root, now = self.graph.root(), _hashes(self.graph.view())
        try:
            commit = git.revision(root, name)
        except GitError as error:
            if is_pushed(root):
                raise BadInputError(
                    f"{name!r} is not a time, and the server has no Git repository in which to look up a revision; use a time in ISO 8601",
                    argument="as_of",
                ) from error
            raise BadInputError(
                f"unknown time or revision {name!r}; use an ISO 8601 time, or a commit, branch or tag", argument="as_of"
            ) from error
        listed = git.run(root, *_DIFF, commit, "--").decode("utf-8", "replace")
        differing = set(filter(None, listed.split("\0"))) | self._changed_since(now)
        if len(differing) > MOST_DIFFERING:
            raise _not_kept(
                f"the revision {name} differs from the index in {len(differing):,} files, more than {MOST_DIFFERING:,}; {_since(states)}",
                states,
            )
        there = {path: git.show(root, commit, path) for path in sorted(differing)}
        wanted = {path: content_hash(data) if data is not None else _ABSENT for path, data in there.items()}
        files, path_of = dict(now), {file_id(self.graph.project, path): path for path in now}
        changed: set[str] = set()
        for undone in range(len(states) + 1):
            if undone:
                undo = self._past.undo(states[undone - 1])
                changed |= _undone(undo, files, path_of)
            if all(
                files.get(path, _ABSENT) == wanted.get(path, now.get(path, _ABSENT)) for path in changed | _comparable(wanted, files, now)
            ):
                return undone
        raise _not_kept(f"the graph was never indexed with exactly the files of revision {name}; {_since(states)}", states)

    def _changed_since(self, hashes: Mapping[str, str]) -> set[str]:
        """Return the paths of indexed files that changed since the last index run.

        `hashes` maps each indexed path to its content hash in the graph.
        """
        found = set()
        for path, known in hashes.items():
            try:
                data = read_regular(str(self.graph.root() / path), most_bytes(path, self.max_file_bytes))
            except OSError:
                data = None
            if not isinstance(data, bytes) or content_hash(data) != known:
                found.add(path)
        return found

    @property
    def _past(self) -> Past:
        return Past(self.graph.data_dir / FILE, 0)


def _hashes(view: GraphView) -> dict[str, str]:
    """Map the paths of a graph's files to their content hashes."""
    columns = view.arrays.paths
    rows = zip(columns.path.to_pylist(), columns.content_hash.to_pylist(), columns.node.tolist(), strict=True)
    return {path: content for path, content, node in rows if node >= 0}


def _undone(undo: Undo, files: dict[str, str], path_of: dict[str, str]) -> set[str]:
    """Undo an index run in the mapping `files`; return the changed paths.

    Args:
        undo: for each file that the run changed, its row before the run; None for a file that the run added.
        files: the content hash of each path after the run; changed in place to the state before the run.
        path_of: maps ids of files to paths; files that the run had removed are added.
    """
    changed = set()
    for id_, row in undo.files.items():
        if row is not None:
            path_of[id_] = row.path
        path = path_of[id_]
        changed.add(path)
        if row is None:
            files.pop(path, None)
        else:
            files[path] = row.content_hash
    return changed


def _comparable(wanted: Mapping[str, str], files: Mapping[str, str], now: Mapping[str, str]) -> set[str]:
    """Return the paths to compare between a graph and a commit.

    Files that graphmem never indexes, such as pictures, are left out. A path of `wanted` is returned if `files` or `now` contains it, or
    if graphmem indexes the language of the file.

    Args:
        wanted: content hashes in the commit, by path, of files that differ between the commit and the working tree, or between the
            working tree and the newest graph.
        files: content hashes in the graph that is compared, by path.
        now: content hashes in the newest graph, by path.
    """
    return {path for path in wanted if path in files or path in now or language_of_path(path) in languages()}


def _time_or_none(text: str) -> datetime | None:
    """Return the time that a string names; None if it names none.

    A tag may begin like a time, as in `2026-05-04.1`.
    """
    try:
        return _time(text) if _TIME.match(text) else None
    except ValueError:
        return None


def _time(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _since(states: Sequence[Kept]) -> str:
    """Return how far back states are kept, as the end of an error message.

    An example is "states since 2026-05-04T12:00:00Z are kept".
    """
    return f"states since {states[-1].indexed_at} are kept" if states else "no earlier state is kept yet, only that of the last index run"


def _not_kept(message: str, states: Sequence[Kept]) -> BadInputError:
    return BadInputError(message, argument="as_of", since=states[-1].indexed_at if states else "")
