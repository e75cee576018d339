"""Find the symbols that a diff changes.

The old and the new text of every file are parsed, and their definitions are compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.analysis.diff import DefinitionChange, compare, join_moves, other_side
from graphmem.analysis.unified_diff import FileChange, parse
from graphmem.answers.review import DIFF_TEXT, WORKING_TREE
from graphmem.errors import BadInputError
from graphmem.indexing import git
from graphmem.parsing.contents import language_of
from graphmem.parsing.discovery import content_hash
from graphmem.parsing.encoding import to_utf8
from graphmem.parsing.language import language_of_path, language_spec, languages
from graphmem.parsing.sources import source_of
from graphmem.resolution.symbol_rows import is_case
from graphmem.runtime.files.inside import inside
from graphmem.runtime.texts.lines import decoded_by_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from graphmem.parsing.facts import FileFacts

SHOWN: Final = 12  # characters of a commit id in an answer
Sides = tuple[bytes | None, bytes | None]  # the old and the new content of a file


class Diff(NamedTuple):
    """A unified diff, with the symbols that it changes.

    `base` and `head` are the compared revisions; both are "" for a diff that is given as text.
    """

    base: str
    head: str
    files: list[str]  # ascending; a deleted file has its old path
    changes: list[DefinitionChange]
    unmapped: list[str]  # changed files without a changed definition, or without a grammar
    new: frozenset[str]  # files that the older side lacks
    untracked: Sequence[str] = ()  # files of the working tree that git does not track, and that are not in the diff


def of_text(root: Path, text: str) -> Diff:
    """Read a unified diff, and find the symbols that it changes.

    The working tree may contain the files as they are before or after the diff. The other version of each file is computed from the diff.

    Raises:
        BadInputError: the text is not a diff, or the working tree has neither version of a file.
    """
    changes: list[DefinitionChange] = []
    unmapped: list[str] = []
    files = parse(text, lambda path: _read(root, path) is not None)
    for file in files:
        sides = _sides_of_text(root, file)
        _collect(file, sides, changes, unmapped)
    return _finish(DIFF_TEXT, DIFF_TEXT, files, changes, unmapped)


def of_range(root: Path, base: str, head: str | None) -> Diff:
    """Return the changes between two revisions as a diff with its symbols.

    `base` is the older revision, and `head` the newer one. If `head` is None, there are two cases. If `base` is a range such as
    `main..topic`, both revisions are taken from the range. Otherwise, `base` is compared with the working tree. As in `git diff`, the base
    of the range `main...topic` is the last commit that both contain.

    Raises:
        GitError: git is not installed, the revision is unknown, or the two revisions of a range have no commit in common.
    """
    if head is None and ".." in base:
        first, dots, last = base.partition(git.MERGE_BASE if git.MERGE_BASE in base else "..")
        base, head = base if dots == git.MERGE_BASE else first or "HEAD", last or "HEAD"
    if git.MERGE_BASE in base:
        base = git.revision(root, base)[:SHOWN]
    changes: list[DefinitionChange] = []
    unmapped: list[str] = []
    untracked: list[str] = []
    files: list[FileChange] = []
    for file, sides in _changed(root, base, head, "", untracked):
        files.append(file)
        _collect(file, sides, changes, unmapped)
    return _finish(base, head or WORKING_TREE, files, changes, unmapped)._replace(untracked=untracked)


def _changed(root: Path, base: str, head: str | None, prefix: str, untracked: list[str]) -> Iterator[tuple[FileChange, Sides]]:
    """Yield the changed files of a repository and of its submodules.

    Each comes with its old and its new content. A submodule of which a commit is missing here is yielded as one file without content.

    Args:
        root: root of the repository, or of a submodule.
        base: the older revision.
        head: the newer revision; None for the working tree.
        prefix: path of `root` in the project, ending with '/'; "" for the project itself.
        untracked: receives the files of the working tree that git does not track; see `Diff.untracked`.
    """
    if head is None:
        untracked += [prefix + path for path in git.untracked(root)]
    modules, later = git.submodules(root, base), git.submodules(root, head) if head else {}
    followed: set[str] = set()
    for path, commit in modules.items():
        end = later.get(path) if head else None
        inner = git.with_commit(root, path, commit) if end != commit and (end or not head) else None
        if inner is not None and (end is None or git.with_commit(root, path, end) is not None):
            followed.add(path)
            yield from _changed(inner, commit, end, f"{prefix}{path}/", untracked)
    for file in parse(git.diff(root, base, head)):
        if {file.old_path, file.new_path} <= followed:
            continue
        old = git.show(root, base, file.old_path) if file.old_path and file.old_path not in modules else None
        new = (
            (git.show(root, head, file.new_path) if head else _read(root, file.new_path))
            if file.new_path and file.new_path not in later
            else None
        )
        named = file._replace(old_path=file.old_path and prefix + file.old_path, new_path=file.new_path and prefix + file.new_path)
        yield named, (old, new)


def _sides_of_text(root: Path, file: FileChange) -> Sides:
    if not file.old_path or not file.new_path:
        whole = "\n".join(line for hunk in file.hunks for line in (hunk.old.lines or hunk.new.lines))
        side = whole.encode("utf-8", "surrogateescape") + b"\n"
        return (None, side) if not file.old_path else (side, None)
    there = next((data for path in (file.new_path, file.old_path) if (data := _read(root, path)) is not None), None)
    if there is None:
        raise BadInputError(
            f"the diff changes {file.old_path}, which does not exist in {root}; use a diff of this project", argument="diff"
        )
    # A caller may keep bytes that are not UTF-8, decode each line, or decode each file by its encoding.
    decodings: tuple[Callable[[], str], ...] = (
        lambda: there.decode("utf-8", "surrogateescape"),
        lambda: decoded_by_line(there),
        lambda: to_utf8(there, language_of_path(file.new_path)).source.decode("utf-8"),
    )
    sides = next((found for decode in decodings if (found := other_side(decode(), file)) is not None), None)
    if sides is None:
        raise BadInputError(
            f"the diff does not apply to the current content of {file.new_path}, neither forward nor in reverse; create the diff again "
            "from the current files",
            argument="diff",
        )
    return sides[0].encode("utf-8", "surrogateescape"), sides[1].encode("utf-8", "surrogateescape")


def _read(root: Path, path: str) -> bytes | None:
    """Return the bytes of a file in the working tree at `root`.

    The result is None if the file is missing or outside the tree.
    """
    target = inside(root, path)
    return target.read_bytes() if target is not None and target.is_file() else None


def _collect(file: FileChange, sides: Sides, changes: list[DefinitionChange], unmapped: list[str]) -> None:
    old, new = _facts(file.old_path, sides[0]), _facts(file.new_path, sides[1])
    found = compare(file, old.definitions if old else (), new.definitions if new else ())
    if found:
        tests = new is not None and language_spec(new.language).tests.is_test_path(file.new_path)
        changes.extend(
            one._replace(is_test=tests and new is not None and one.change != "removed" and is_case(new, one.definition)) for one in found
        )
    else:
        unmapped.append(file.new_path or file.old_path)


def _facts(path: str, data: bytes | None) -> FileFacts | None:
    language = language_of(path, data) if data is not None else ""
    if data is None or language not in languages():
        return None
    from graphmem.parsing.extract import extract

    return extract(path, source_of(path, data, language).text, language, content_hash(data))


def _finish(base: str, head: str, files: list[FileChange], changes: list[DefinitionChange], unmapped: list[str]) -> Diff:
    new = frozenset(file.new_path for file in files if not file.old_path)
    return Diff(base, head, sorted({file.new_path or file.old_path for file in files}), join_moves(changes), sorted(unmapped), new)
