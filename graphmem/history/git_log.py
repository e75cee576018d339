"""Commits as git tells them: one pass over `git log`, streamed, oldest first. Nothing in the repository is run or written by it."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Final, NamedTuple

from graphmem.errors import GitError, IndexCancelledError
from graphmem.runtime import git as _git

_BLOCK: Final = 1 << 16
_MARK: Final = b"\x01"
_FORMAT: Final = "%x01%H%x00%ct%x00%aE%x00%s%x00"


class Commit(NamedTuple):
    """What one commit did to paths."""

    sha: str
    at: float  # committer's time, seconds since 1970
    email: str  # author's, by the mailmap
    subject: str
    touched: tuple[str, ...]  # added or changed, or moved to here, as git lists them; () when there are more than was asked for
    deleted: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...]  # (old, new)
    files: int  # all of them, whatever happened to them


class Repository(NamedTuple):
    """Where a project stands in its git repository."""

    head: str  # commit; "" when there is none yet
    prefix: str  # folder of the project in the repository, with '/' at its end; ""
    boundary: frozenset[str]  # commits of a shallow clone whose parents are not here
    partial: bool  # contents of old files may have to be fetched: they are not looked at


def repository(root: Path) -> Repository | None:
    """The repository a project lies in; None where there is none.

    Raises:
        GitError: git is not installed, or refuses to read it.
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
    """Whether the repository still has a commit."""
    return bool(_ask(root, "rev-parse", "--quiet", "--verify", f"{commit}^{{commit}}", may_fail=True))


def has_object(root: Path, name: str) -> bool:
    """Whether the repository has an object, of whatever kind."""
    return _git.answer(root, ("cat-file", "-e", name)).returncode == 0


def only_in(root: Path, commit: str, other: str) -> Iterator[str]:
    """Commits that `commit` leads back to and `other` does not."""
    yield from _ask(root, "rev-list", commit, f"^{other}").split()


def count(root: Path, revisions: Sequence[str]) -> int:
    """How many commits `commits` will give."""
    return int(_ask(root, "rev-list", "--count", "--no-merges", *revisions, "--").strip() or 0)


def bodies(root: Path, shas: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """(messages of some commits without their subjects, commits that git cannot read). One bad commit costs itself alone.

    Raises:
        GitError: git is not installed, takes more than a minute, or reads none of them.
    """
    try:
        return _bodies(root, shas), []
    except GitError as error:
        if len(shas) < 2 or not error.facts.get("stderr"):  # git itself did not refuse: no commit is to blame
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
    """The commits of some revisions but for merges, oldest first, read while git writes them: memory does not grow with the history.

    Args:
        root: of the project; paths are from here, and what lies beside it is left out.
        here: from `repository`.
        revisions: as git understands them.
        most: a commit of more files is told without what it touched.
        cancelled: asked often.

    Raises:
        GitError: git failed on the way, as with a damaged repository.
        IndexCancelledError: `cancelled` said yes.
    """
    renames = "-M100%" if here.partial else "-M"
    command = [*_git.COMMAND, "log", "--no-merges", "--reverse", renames, "-l1000", "--name-status", "-z", f"--format={_FORMAT}"]
    command += ["--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--no-show-signature", "--encoding=UTF-8"]
    command += [*(["--relative"] if here.prefix else []), *revisions, "--", *(["."] if here.prefix else [])]
    with (
        tempfile.TemporaryFile() as complaints,  # a pipe nobody reads would stop git when it is full
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
                    f"git log ended before the history did: {why}; `git fsck` says what is wrong",
                    command=("log",),
                    stderr=stderr.decode("utf-8", "replace").strip(),
                )
        finally:
            process.kill()


def newest(root: Path, here: Repository, count: int, most: int) -> list[Commit]:
    """The newest commits but for merges, newest first.

    Args:
        root: of the project.
        here: from `repository`.
        count: of commits.
        most: a commit of more files is told without what it touched.

    Raises:
        GitError: as for `commits`.
    """
    return list(commits(root, here, [f"--max-count={count}", here.head], most, lambda: False))[::-1] if here.head else []


def _tokens(stream: IO[bytes], cancelled: Callable[[], bool]) -> Iterator[bytes]:
    rest = b""
    while block := stream.read(_BLOCK):
        if cancelled():
            raise IndexCancelledError("reading the history was interrupted; what was there before is untouched", stage="history")
        *whole, rest = (rest + block).split(b"\0")
        yield from whole
    if rest:
        yield rest


def _parsed(tokens: Iterator[bytes], here: Repository, most: int) -> Iterator[Commit]:
    """A path is taken by its place after a status, so that no name of a file can look like anything else."""
    head: tuple[str, float, str, str] | None = None
    touched: list[str] = []
    deleted: list[str] = []
    renamed: list[tuple[str, str]] = []
    files = 0

    def commit() -> Iterator[Commit]:
        if head is not None and head[0] not in here.boundary:
            yield Commit(*head, tuple(touched) if files <= most else (), tuple(deleted), tuple(renamed), files)

    for token in tokens:
        status = token.lstrip(b"\n")
        if status[:1] == _MARK:
            yield from commit()
            at, email, subject = (next(tokens, b"") for _ in range(3))  # cut short when git died: its exit code says so
            head = (status[1:].decode("ascii"), float(at or 0), _text(email), _text(subject))
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


def hashed(email: str, salt: str) -> str:
    """Who wrote something, as a word that can be compared and not be turned back without the index."""
    return hashlib.blake2b(email.strip().lower().encode("utf-8", "replace"), key=bytes.fromhex(salt), digest_size=6).hexdigest()


def _text(token: bytes) -> str:
    return token.decode("utf-8", "replace")


def _ask(root: Path, *arguments: str, may_fail: bool = False) -> str:
    """What git prints; with `may_fail` "" when it refuses.

    Raises:
        GitError: git is not installed, takes more than a minute, or refuses; `stderr` says why.
    """
    if may_fail:
        done = _git.answer(root, arguments)
        return "" if done.returncode else os.fsdecode(done.stdout)
    return os.fsdecode(_git.run(root, *arguments))
