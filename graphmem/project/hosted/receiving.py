"""Receive an index that `graphmem push` sends.

A push arrives in parts, which are stored in files until all parts have arrived. The texts of the pushed files are written to the disk, and
then one transaction changes the graph. After the transaction, the copies of the graph for fast reads are updated, and the texts are moved
to their paths. A push that is interrupted before the transaction changes nothing. After one that is interrupted later, the next push sends
all files again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NotRequired, TypedDict

from graphmem.contracts import rows as contracts
from graphmem.contracts.rows import ContractRow
from graphmem.errors import BadInputError, ForbiddenError, GenerationChangedError
from graphmem.history.change_log import GIT
from graphmem.indexing.delta import Rows, difference, edges_of, everything, external_uses
from graphmem.memory.repository.code_links import follow_index
from graphmem.model import HandlesRow, IndexProgress, stable_id
from graphmem.project.hosted.branches import BranchKey
from graphmem.project.hosted.overlays import Overlays, PushedBranch, unknown_branch
from graphmem.project.hosted.pushed_commits import commit_of, digest_of
from graphmem.project.hosted.pushed_parts import PushedParts, Reading
from graphmem.project.hosted.pushed_rows import body_of, rows_by_path, text_in
from graphmem.project.hosted.pushed_texts import PushedTexts
from graphmem.project.hosted.received_rows import WRONG, checked, refuse_open_edges
from graphmem.runtime.files.replacing import replace_file
from graphmem.runtime.network.pushes import FORMAT, MOST_PART, PUSHED_FILE
from graphmem.runtime.process.limits import disk_refusal
from graphmem.store.base import HANDLES_OF
from graphmem.store.wire import unpacked

if TYPE_CHECKING:
    from graphmem.model import GraphDelta
    from graphmem.project.care.runs import IndexRuns

FILE: Final = PurePosixPath(PUSHED_FILE).name
MOVING: Final = "moving"
"""Key in FILE: paths of texts that an unfinished push may have moved to the project's directory."""
TEXTLESS: Final = "textless"
"""Key in FILE: paths of files that were sent without their text, because it had changed since the index run."""
TEXTS: Final = "texts"  # below the directory of a push: texts of its files, until the graph has changed


class Held(TypedDict):
    """The state of a project on a server, as JSON, before a push.

    The client reads this state, so that the push sends only what the server lacks.
    """

    format: int
    project: str
    generation: int  # counter of changes of the graph
    files: dict[str, str]  # path -> hash of the file's rows
    commits: str  # hash of all commits
    branches: dict[str, str]  # branches that the person may drop, with their commits


class CommitKeys(TypedDict):
    """The Git hashes of the commits that a server has, as JSON."""

    keys: list[str]


class Added(TypedDict):
    """Number of commits that a server did not have before, as JSON."""

    added: int


class Applied(TypedDict):
    """Result of a push, as JSON."""

    generation: int  # counter of changes of the graph after the push
    dropped: NotRequired[list[str]]  # deleted branches; only for a push without a branch


class Pusher(NamedTuple):
    """The person who pushes, and whether they may change others' branches.

    The login names the person; "" on a server without accounts of people.
    """

    login: str = ""
    curates: bool = True  # may change and drop branches of others


@dataclass(eq=False, repr=False)
class Receiving:
    """Receives pushed indexes of one project, one after the other."""

    runs: IndexRuns
    data_dir: Path
    overlays: Overlays

    def held(self, branch: str = "", who: Pusher = Pusher()) -> Held:  # noqa: B008 - immutable
        """Return which files and commits of a project the server has.

        The client asks before a push, to send only what the server lacks. The result has the project's name, the counter of changes of the
        graph, a hash of the commits, and a digest (hash of the rows) for each file. If anything but a push has changed the graph, the
        digests are missing, and the client must send all files. The digest of a file without its text is "", so the client sends it again.

        Args:
            branch: the branch that is pushed; "" for the main branch. A new branch has the files of the main branch.
            who: the person who pushes. The result has the commit of each branch that this person may drop.
        """
        store = self.runs.store
        files, generation = self._digests(), store.generation()
        textless: Iterable[str] = self._known().get(TEXTLESS, ())
        commits = digest_of(self.runs.history.log().keys(GIT))
        droppable = [one for one in self.overlays.seen_by(who.login) if _may_drop(one.key, one.pushed_by, who)]
        if branch:
            key = self.overlays.find(branch, who.login)
            known = self.overlays.branches.find(key) if key is not None else None
            generation = known.generation if known is not None else 0
            if key is not None and self.overlays.branches.fits(self.overlays.line_mark()):
                own = self.overlays.branches.own(key)
                files = {path: digest for path, digest in {**files, **own}.items() if digest}
                bodies = self.overlays.branches.bodies(filter(None, own.values()))
                textless = [path for path, digest in own.items() if digest and text_in(bodies[digest]) is None]
            else:
                textless = ()
        files |= {path: "" for path in textless if path in files}
        return {
            "format": FORMAT,
            "project": store.meta().get("project", ""),
            "generation": generation,
            "files": files,
            "commits": commits,
            "branches": {one.key.name: one.commit_sha for one in droppable},
        }

    def _digests(self) -> dict[str, str]:
        """Map each file to a hash of its graph rows; {} if unknown.

        The files are those of the project's main branch.
        """
        known = self._known()
        meta = self.runs.store.meta()
        is_known = known.get("generation") == self.runs.store.generation() or bool(known.get("run") and known["run"] == meta.get("run"))
        return dict(known["digests"]) if is_known else {}

    def drop(self, branch: str, who: Pusher) -> None:
        """Delete a branch.

        Raises:
            BadInputError: the branch is unknown, or hidden from the person.
            ForbiddenError: another person pushed the branch first, and `who` may not change branches of others.
        """
        key = self.overlays.find(branch, who.login)
        known = self.overlays.branches.find(key) if key is not None else None
        if key is None or known is None:
            raise unknown_branch(branch)
        if not _may_drop(key, known.pushed_by, who):
            raise ForbiddenError(
                f"only {known.pushed_by}, who pushed the branch {branch!r}, and people with the role curate may change it; ask one of them",
                needs="curate",
                verb="drop_branch",
            )
        with self.runs.turn:
            self.overlays.drop(key)

    def commits(self) -> CommitKeys:
        """Return the Git hashes of the commits that the server has.

        The result is a dict with one key, `keys`.
        """
        return {"keys": self.runs.history.log().keys(GIT)}

    def take_commits(self, body: bytes) -> Added:
        """Add commits of another machine to the history.

        `body` is a packed part from `pushed_commits.lacking`. The result has the number of new commits as `added`.

        Raises:
            BadInputError: a commit is invalid; no commit of the body is stored.
            HistoryError: the history cannot be written.
        """
        try:
            commits = [commit_of(row) for row in unpacked(body, MOST_PART)]
        except (TypeError, ValueError) as error:
            raise BadInputError(
                f"the pushed commits cannot be read ({error}); update graphmem on both machines, then run `graphmem push` again",
                argument="body",
            ) from error
        return {"added": self.runs.history.log().append(commits)}

    def take(self, push: str, number: int, body: bytes) -> None:
        """Store one part of a push until `finish` applies the push.

        `push` is the name of the push, and `number` the position of the part, from 0.

        Raises:
            BadInputError: the name of the push is invalid, or the push is too large.
            DiskFullError: the part cannot be written.
        """
        PushedParts(self.data_dir, push).keep(number, body)

    def drop_expired(self, days: float) -> list[BranchKey]:
        """Delete the branches that were not pushed for `days` days; return them."""
        with self.runs.turn:
            return self.overlays.drop_expired(days)

    def finish(self, push: str, body: bytes, branch: str = "", who: Pusher = Pusher()) -> Applied:  # noqa: B008 - immutable
        """Apply a completely received push; return the result as JSON values.

        The result has the new `generation` (counter of changes) of the graph. For the main branch, it also has the names of `dropped`
        (deleted) branches.

        Args:
            push: name of the push.
            body: describes the push: the number of parts, and a digest (hash of the graph rows) of each file of the project.
            branch: the pushed branch; "" for the main branch.
            who: the person who pushes.

        Raises:
            BadInputError: a part is missing, or rows of a file are missing or unexpected.
            GenerationChangedError: another push was applied since this one began.
        """
        kept = PushedParts(self.data_dir, push)
        try:
            last = unpacked(body, MOST_PART)
            if last["format"] != FORMAT:
                raise BadInputError(
                    f"the push has format {last['format']}, and this server reads only {FORMAT}; install the same "
                    "version of graphmem on both machines",
                    argument="body",
                )
            parts = kept.read(int(last["parts"]))
            dropped: list[BranchKey] = []
            if branch:
                generation = self._apply_branch(branch, who, last, parts)
            else:
                generation, dropped = self._apply(last, parts, who, PushedTexts(self.data_dir.parent, kept.folder / TEXTS))
        except OSError as error:
            raise disk_refusal(error, "applying a push", kept.folder) from error
        except WRONG as error:
            if isinstance(error, (BadInputError, GenerationChangedError)):
                raise
            raise BadInputError(
                f"the pushed index cannot be read ({type(error).__name__}: {error}); update graphmem on both machines, then "
                "run `graphmem push` again",
                argument="body",
            ) from error
        finally:
            kept.drop()
        if branch:
            return {"generation": generation}
        self.runs.vectors.resume()
        self.runs.fill_vectors()
        follow_index(self.runs.book)
        self.runs.progress.publish(IndexProgress("done", len(last["digests"]), len(last["digests"]), "push"))
        return {"generation": generation, "dropped": sorted(key.name for key in dropped)}

    # ---- inside

    def _apply_branch(self, branch: str, who: Pusher, last: Mapping[str, Any], parts: Reading) -> int:
        """Store the pushed state of a branch; return its new counter of changes.

        `last` describes the push, and `parts` are the pieces in which the rows were sent. `who` is the person who pushes.
        """
        digests, new, sent = checked(last, parts)
        with self.runs.turn:
            if not self.runs.store.generation():
                raise BadInputError(
                    f"the project's main branch was not pushed yet; push it first, and then the branch {branch!r}", argument="branch"
                )
            key = self._key_of(branch, who, is_private=bool(last.get("private")))
            known = self.overlays.branches.find(key)
            if (known.generation if known is not None else 0) != last["base"]:
                raise GenerationChangedError(
                    "another push of this branch was applied during your push; run `graphmem push` again", expected=last["base"], found=-1
                )
            main = self._digests()
            fits = self.overlays.branches.fits(self.overlays.line_mark())
            own = self.overlays.branches.own(key) if known is not None and fits else {}
            if any(digest not in (main.get(path), own.get(path)) and path not in sent for path, digest in digests.items()):
                raise GenerationChangedError(
                    "the project's main branch was changed during your push; run `graphmem push` again", expected=last["base"], found=-1
                )
            refuse_open_edges(parts, new, self.runs.projections.graph(), lambda: self.overlays.branches.bodies(filter(None, own.values())))
            meta = {name: str(value) for name, value in last["meta"].items()}
            facts = {"meta": meta, "contracts": last["contracts"], "handles": last["handles"]}
            bodies: dict[str, bytes] = {}
            for part in parts:
                of_path = rows_by_path(part["rows"])
                bodies |= {digests[path]: body_of(rows, part["externals"], part["texts"].get(path)) for path, rows in of_path.items()}
            return self.overlays.put(key, PushedBranch(who.login, str(last.get("commit", "")), facts, digests, main, bodies))

    def _key_of(self, branch: str, who: Pusher, *, is_private: bool) -> BranchKey:
        """Return the key of the branch that a push changes or adds.

        Raises:
            BadInputError: the push is private, but everybody would see the branch.
        """
        known = self.overlays.find(branch, who.login)
        if is_private and not who.login:
            raise BadInputError(
                "a private branch belongs to a person, and this push has no person; log in with `graphmem login`, or omit --private",
                argument="private",
            )
        if is_private and known is not None and not known.person:
            raise BadInputError(
                f"everybody in the project sees the branch {branch!r}, so a push of it is not private; push to another name, or drop the "
                "branch first, or omit --private",
                argument="private",
            )
        return known or BranchKey(branch, who.login if is_private else "")

    def _apply(self, last: Mapping[str, Any], parts: Reading, who: Pusher, texts: PushedTexts) -> tuple[int, list[BranchKey]]:
        """Apply a push of the main branch to the graph.

        The result is (new counter of changes, dropped branches). A branch is dropped (deleted) if the main branch now contains its changes.
        `last` describes the push, and `parts` are the pieces in which the rows were sent. `texts` keeps the texts of the parts.
        """
        digests, new, sent = checked(last, texts.stored(parts))
        runs = self.runs
        with runs.turn:
            if runs.store.generation() != last["base"]:
                raise GenerationChangedError(
                    "another push to this project was applied during your push; run `graphmem push` again",
                    expected=last["base"],
                    found=runs.store.generation(),
                )
            held = self._digests()
            if missing := next((path for path, digest in digests.items() if held.get(path) != digest and path not in sent), None):
                raise BadInputError(f"the pushed index lacks the data of the file {missing!r}; run `graphmem push` again", argument="body")
            removed = sorted(held.keys() - digests.keys())
            known = self._known()
            stored = {*known.get("digests", ()), *known.get(MOVING, ())}
            if moving := sorted(digests.keys() - stored):
                # If this push ends in the middle, the next one knows which texts may be there.
                replace_file(self.data_dir / FILE, json.dumps({**known, MOVING: [*known.get(MOVING, ()), *moving]}).encode(), durable=True)
            runs.vectors.pause()
            runs.book.flush()
            meta = {name: str(value) for name, value in last["meta"].items()} | {"root": str(self.data_dir.parent)}
            self.overlays.before_line(held, digests, meta["run"])
            generation = self._write(new, sorted({*sent, *removed}) if held else None, meta)
            self._keep_handles(last["handles"], meta["project"])
            found = {path: [ContractRow._make(row) for row in some] for path, some in last["contracts"].items()}
            contracts.write(self.data_dir, meta["run"], meta["project"], found)
            texts.move(digests, sorted(stored - digests.keys()))
            counts = runs.projections.graph().counts
            textless = {*known.get(TEXTLESS, ())} - sent | (sent - texts.paths)
            facts = {"indexed_at": meta["indexed_at"], "files": counts.get("files", 0), "symbols": counts.get("symbols", 0)}
            kept = {
                "generation": generation,
                "run": meta["run"],
                "facts": facts,
                "digests": digests,
                TEXTLESS: sorted(textless & digests.keys()),
            }
            replace_file(self.data_dir / FILE, json.dumps(kept).encode(), durable=True)
            may = {one.key for one in self.overlays.seen_by(who.login) if _may_drop(one.key, one.pushed_by, who)}
            merged = [key for key in may if key.name in last.get("merged", ())]
            dropped = self.overlays.after_line(digests, merged)
        return generation, dropped

    def _write(self, new: Rows, touched: list[str] | None, meta: Mapping[str, str]) -> int:
        """Write the rows of a push; return the new counter of changes.

        `touched` are the sent and the removed files; None replaces the whole graph.
        """
        store, projections = self.runs.store, self.runs.projections
        if touched is None:
            generation = store.replace(everything(new), meta)
            projections.refresh(generation, None)
        else:
            delta = self._difference(new, touched)
            generation = store.apply(delta, meta)
            projections.refresh(generation, delta)
        return generation

    def _difference(self, new: Rows, touched: list[str]) -> GraphDelta:
        store, projections = self.runs.store, self.runs.projections
        if projections.graph().generation != store.generation():
            projections.refresh(store.generation(), None)
        view = projections.graph()
        rows = store.rows_of(touched, touched)
        old = Rows(rows.files, rows.symbols, rows.chunks, edges_of(view, touched), rows.unresolved, rows.occurrences, {})
        ends = {edge.dst for edges in (old.edges, new.edges) for edge in edges}
        return difference(old, new, external_uses(view, ends))

    def _keep_handles(self, keys: list[list[Any]], project: str) -> None:
        rows = sorted(
            HandlesRow(kind, name, framework, symbol, confidence, rule, line)
            for _, kind, name, framework, symbol, confidence, _, rule, line in keys
        )
        mark = stable_id("handles", *("\x1e".join(map(str, row)) for row in rows))
        if self.runs.store.meta().get(HANDLES_OF) != mark:
            self.runs.store.put_handles(mark, project, rows)

    def _known(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads((self.data_dir / FILE).read_bytes())
        except (OSError, ValueError):  # missing or damaged: everything is sent again
            return {}
        return found


def _may_drop(key: BranchKey, pushed_by: str, who: Pusher) -> bool:
    return who.curates or pushed_by == who.login or (bool(key.person) and key.person == who.login)
