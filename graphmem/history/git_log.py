"""Read commits from the streamed output of one `git log`, oldest first.

Nothing in the repository is executed or written.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Final, NamedTuple

from graphmem.errors import GitError, IndexCancelledError
from graphmem.runtime import git as _git

_BLOCK: Final = 1 << 16
_MARK: Final = b"\x01"
_UNREADABLE: Final = re.compile(r"unable to read [^\n]*?\b([0-9a-f]{40,64})\b")
_FORMAT: Final = "%x01%H%x00%ct%x00%aE%x00%aN%x00%s%x00"
_TIMES: Final = tuple(datetime(year, 1, 1, tzinfo=UTC).timestamp() for year in (1, 9999))  # that every function of times takes
SHALLOW: Final = "the clone is shallow, so older commits are missing; `git fetch --unshallow` fetches them"


class Commit(NamedTuple):
    """A Git commit: author, time, subject and changed paths.

    `touched` has added, changed and renamed paths; it is empty if there are too many.
    """

    sha: str
    at: float  # committer's time, seconds since 1970
    email: str  # author's, by the mailmap
    subject: str
    touched: tuple[str, ...]  # added, changed or renamed paths in Git's order; () if there are more than was asked for
    deleted: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...]  # (old, new)
    files: int  # number of all files in the commit
    author: str = ""  # name, by the mailmap


class Repository(NamedTuple):
    """The Git repository of a project: its current commit and its limits.

    The limits are the commits and file contents that a shallow or partial clone lacks.
    """

    head: str  # commit; "" before the first one
    prefix: str  # folder of the project in the repository, ending with '/'; or ""
    boundary: frozenset[str]  # commits of a shallow clone whose parents are missing
    partial: bool  # old contents would have to be fetched, so they are not read


def repository(root: Path) -> Repository | None:
    """Find the repository of a project; None if the project is in none.

    Raises:
        GitError: Git is not installed, or cannot read the repository.
    """
    try:
        inside, prefix, shallow = _ask(root, "rev-parse", "--is-inside-work-tree", "--show-prefix", "--git-path", "shallow").split("\n")[:3]
    except GitError as error:
        if _git.is_no_repository(error):
            return None
        raise
    if inside != "true":
        return None
    head = _ask(root, "rev-parse", "--quiet", "--verify", "HEAD^{commit}", may_fail=True).strip()
    try:
        boundary = frozenset((root / shallow).read_text(encoding="ascii").split())
    except OSError:
        boundary = frozenset()
    partial = bool(_ask(root, "config", "--get-regexp", r"^remote\..*\.promisor$", may_fail=True))
    return Repository(head, prefix, boundary, partial)


def is_there(root: Path, commit: str) -> bool:
    """Whether the repository contains the commit with this hash."""
    return bool(_ask(root, "rev-parse", "--quiet", "--verify", f"{commit}^{{commit}}", may_fail=True))


def has_object(root: Path, name: str) -> bool:
    """Whether the repository contains a commit, file or other Git object."""
    return _git.answer(root, ("cat-file", "-e", name)).returncode == 0


def only_in(root: Path, commit: str, other: str) -> Iterator[str]:
    """Yield the ancestors of `commit` that are not ancestors of `other`."""
    yield from _ask(root, "rev-list", commit, f"^{other}").split()


def count(root: Path, revisions: Sequence[str]) -> int:
    """Count the commits that `commits` would yield for the same revisions."""
    return int(_ask(root, "rev-list", "--count", "--no-merges", *revisions, "--").strip() or 0)


def bodies(root: Path, shas: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Return the messages of commits, without their subjects, by hash.

    The second result has the hashes of commits that Git cannot read.

    Raises:
        GitError: Git is not installed, takes more than a minute, or cannot read any of the commits.
    """
    try:
        return _bodies(root, shas), []
    except GitError as error:
        if len(shas) < 2 or not error.facts.get("stderr"):  # Git itself did not fail on one commit
            raise
    found: dict[str, str] = {}
    unread: list[str] = []
    half = len(shas) // 2
    for some in (shas[:half], shas[half:]):
        try:
            good, bad = bodies(root, some)
        except GitError as error:
            good, bad, last = {}, list(some), error
        found |= good
        unread += bad
    if not found:
        raise last
    return found, unread


def _bodies(root: Path, shas: Sequence[str]) -> dict[str, str]:
    if not shas:
        return {}
    told = _git.run(root, "log", "--no-walk=unsorted", "-z", "--encoding=UTF-8", "--format=%H%n%b", *shas, "--")
    whole = (one.partition("\n") for one in told.decode("utf-8", "replace").split("\0") if one)
    return {sha: body.strip() for sha, _, body in whole}


def commits(root: Path, here: Repository, revisions: Sequence[str], most: int, cancelled: Callable[[], bool]) -> Iterator[Commit]:
    """Yield the commits of some revisions without merges, oldest first.

    Output is read while Git writes it, so memory does not grow with the history.

    Args:
        root: root directory of the project. Paths start here; paths outside are left out.
        here: result of `repository`.
        revisions: revisions in Git's syntax.
        most: maximum number of files in a commit; a commit with more files is yielded without its paths.
        cancelled: called often; True stops the reading.

    Raises:
        GitError: Git failed, for example on a damaged repository.
        IndexCancelledError: `cancelled` returned True.
    """
    renames = "-M100%" if here.partial else "-M"
    command = [*_git.COMMAND, "log", "--no-merges", "--reverse", renames, "-l1000", "--name-status", "-z", f"--format={_FORMAT}"]
    command += ["--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--no-show-signature", "--encoding=UTF-8"]
    command += [*(["--relative"] if here.prefix else []), *revisions, "--", *(["."] if here.prefix else [])]
    with (
        tempfile.TemporaryFile() as complaints,  # an unread pipe would block Git when full
        subprocess.Popen(
            command, cwd=root, env=_git.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=complaints
        ) as process,
    ):
        assert process.stdout is not None  # noqa: S101 - a pipe was asked for
        try:
            yield from _parsed(_tokens(process.stdout, cancelled), here, most)
            if process.wait():
                complaints.seek(0)
                stderr = complaints.read(_BLOCK)
                why = _git.reason(stderr) or f"exit code {process.returncode}"
                raise GitError(
                    f"`git log` failed before the end of the history: {why}; run `git fsck` to find the cause",
                    command=("log",),
                    stderr=stderr.decode("utf-8", "replace").strip(),
                )
        finally:
            process.kill()


def newest(root: Path, here: Repository, count: int, most: int, head: str = "", path: str = "") -> list[Commit]:
    """Return the newest commits without merges, newest first.

    If the repository lacks the content of an old file, renames are followed only where the content stayed the same.

    Args:
        root: root directory of the project.
        here: result of `repository`.
        count: number of commits.
        most: maximum number of files in a commit; a commit with more files is returned without its paths.
        head: hash of the commit to begin with; "" for the current one.
        path: only commits that changed this file, under all its names, or a file of this directory; "" for all.

    Raises:
        GitError: as for `commits`.
    """
    head = head or here.head
    if not head:
        return []
    revisions = [f"--max-count={count}", head]
    if path:
        shas = _ask(root, "log", "--follow", "--no-merges", "--format=%H", *revisions, "--", path).split()
        if not shas:
            return []
        revisions = ["--no-walk=unsorted", *shas]
    try:
        return list(commits(root, here, revisions, most, lambda: False))[::-1]
    except GitError as error:
        if here.partial or not missing_object(error):
            raise
        return list(commits(root, here._replace(partial=True), revisions, most, lambda: False))[::-1]


def missing_object(error: GitError) -> str:
    """Return the hash of an object that Git could not read; else ""."""
    found = _UNREADABLE.search(str(error.facts.get("stderr", "")))
    return found[1] if found else ""


def _tokens(stream: IO[bytes], cancelled: Callable[[], bool]) -> Iterator[bytes]:
    rest = b""
    while block := stream.read(_BLOCK):
        if cancelled():
            raise IndexCancelledError(
                "reading the output of `git log` was interrupted, and the stored history is unchanged; run the command again",
                stage="history",
            )
        *whole, rest = (rest + block).split(b"\0")
        yield from whole
    if rest:
        yield rest


def _parsed(tokens: Iterator[bytes], here: Repository, most: int) -> Iterator[Commit]:
    """Parse `tokens`, the output of `git log`; yield its commits.

    A commit with more than `most` files gets no paths. Commits at the limit of the shallow clone `here` are left out. A path is recognised
    by its position after a status, so any file name is parsed correctly.
    """
    head: tuple[str, float, str, str] | None = None
    author = ""
    touched: list[str] = []
    deleted: list[str] = []
    renamed: list[tuple[str, str]] = []
    files = 0

    def commit() -> Iterator[Commit]:
        if head is not None and head[0] not in here.boundary:
            yield Commit(*head, tuple(touched) if files <= most else (), tuple(deleted), tuple(renamed), files, author)

    for token in tokens:
        status = token.lstrip(b"\n")
        if status[:1] == _MARK:
            yield from commit()
            at, email, name, subject = (next(tokens, b"") for _ in range(4))  # incomplete if Git died, which its exit code shows
            head = (status[1:].decode("ascii"), float(at or 0), _text(email), _text(subject))
            author = _text(name)
            touched, deleted, renamed, files = [], [], [], 0
        elif status:
            path = os.fsdecode(next(tokens, b""))
            files += 1
            if status[:1] == b"D":
                deleted.append(path)
            elif status[:1] in b"RC":
                new = os.fsdecode(next(tokens, b""))
                if status[:1] == b"R":
                    renamed.append((path, new))
                touched.append(new)
            elif files <= most:
                touched.append(path)
    yield from commit()


def moment(seconds: float) -> datetime:
    """Convert a commit's seconds since 1970 to a time.

    A time that Python has no value for, such as one in the year 10000, becomes the nearest one.
    """
    return datetime.fromtimestamp(min(max(seconds, _TIMES[0]), _TIMES[1]), UTC)


def hashed(email: str, salt: str) -> str:
    """Return a salted hash of an author's address.

    Equal addresses give equal hashes. Without the salt of the index, the address cannot be derived from the hash.
    """
    return hashlib.blake2b(email.strip().lower().encode("utf-8", "replace"), key=bytes.fromhex(salt), digest_size=6).hexdigest()


def _text(token: bytes) -> str:
    return token.decode("utf-8", "replace")


def _ask(root: Path, *arguments: str, may_fail: bool = False) -> str:
    """Run Git with `arguments` and return its output.

    With `may_fail`, the result is "" if Git fails.

    Raises:
        GitError: Git is not installed, takes more than a minute, or fails; `stderr` has its message.
    """
    if may_fail:
        done = _git.answer(root, arguments)
        return "" if done.returncode else os.fsdecode(done.stdout)
    return os.fsdecode(_git.run(root, *arguments))
