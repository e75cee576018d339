"""Parse a unified diff, of git or of another program.

Names in a diff have prefixes, such as `a/` and `b/`, which depend on the settings of git. Names with unusual characters are quoted.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_DIFF_BYTES = 20 * 1024 * 1024
_NOWHERE: Final = "/dev/null"
# The prefixes of the old and the new name: a/ and b/, those of diff.mnemonicPrefix, and those of `git diff --no-index`.
_PAIRS: Final = frozenset({"ab", "iw", "ci", "cw", "ow", "oi", "12"})
_HUNK: Final = re.compile(r"@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@")
_BINARY: Final = re.compile(r"Binary files (.+) and (.+) differ$")
_ESCAPE: Final = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPED: Final = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}
_QUOTED: Final = r'"(?:[^"\\]|\\.)*"'
_TWO_NAMES: Final = re.compile(rf"({_QUOTED}|.+?) ({_QUOTED}|[^\"].*)$")


class Side(NamedTuple):
    """The old or the new lines of a hunk.

    `start` is the 1-based number of the first line. Without lines, it is the number of the line before the hunk.
    """

    start: int
    lines: tuple[str, ...]

    @property
    def offset(self) -> int:
        """The index of the first line in the file, from 0."""
        return self.start - 1 if self.lines else self.start


class Hunk(NamedTuple):
    """A block of a diff: consecutive lines before and after the change."""

    old: Side
    new: Side


class FileChange(NamedTuple):
    """A file that a diff changes, with its changed lines.

    Lines are 1-based. A path is "" on the side where the file does not exist. Bytes that are not UTF-8 are decoded to lone surrogates
    (`surrogateescape`).
    """

    old_path: str
    new_path: str
    old_lines: frozenset[int]
    new_lines: frozenset[int]
    hunks: tuple[Hunk, ...]


_NO_LINES: Final = Side(0, ())  # of a file that does not exist


class _File:
    """The header and the hunks of one file, while they are read."""

    def __init__(self, names: tuple[str, str] = ("", "")) -> None:
        self.names = names  # with prefixes; "/dev/null" for a file that does not exist
        self.header = names  # both names in the line `diff --git`, with prefixes
        self.moved = ["", ""]  # the names of a renamed or copied file, without prefixes
        self.old_lines: set[int] = set()
        self.new_lines: set[int] = set()
        self.hunks: list[Hunk] = []


def parse(text: str, exists: Callable[[str], bool] = lambda _: False) -> list[FileChange]:
    """Parse a unified diff (git's or plain) into files, sorted by path.

    Args:
        text: the diff; bytes that are not UTF-8 are decoded to lone surrogates (`surrogateescape`).
        exists: whether the project has a file of this path.

    Raises:
        BadInputError: the text is not a unified diff, or is larger than 20 MiB.
    """
    if len(text) > MAX_DIFF_BYTES:
        raise BadInputError(f"the diff has {len(text)} characters; split the diff into parts of at most {MAX_DIFF_BYTES}", argument="diff")
    files = _files(text)
    if not files and text.strip():
        raise _no_diff(text.strip())
    return sorted((_change(file, exists) for file in files), key=lambda change: change.new_path or change.old_path)


def _no_diff(place: str) -> BadInputError:
    """Return the error for a line that is invalid in a diff.

    `place` says where the line is.
    """
    return BadInputError(f"the text is not a unified diff at {place[:60]!r}; pass the output of `git diff`", argument="diff")


def _files(text: str) -> list[_File]:
    files: list[_File] = []
    lines = iter(text.split("\n"))
    current: _File | None = None  # the file of which hunks may follow
    header: _File | None = None  # the file after whose line `diff --git` no name was read yet
    source: str | None = None
    for line in lines:
        if line.startswith("diff --git "):
            header, current, source = _File(_two_names(line.removeprefix("diff --git ").removesuffix("\r"))), None, None
            files.append(header)
        elif line.startswith("--- "):
            source, current = _name(line), None
        elif line.startswith("+++ "):
            current = None
            if source is not None:
                current = header or _File()
                current.names = (source, _name(line))
                files += [] if header else [current]
                header, source = None, None
        elif line.startswith("@@"):
            found = _HUNK.match(line)
            if current is None or found is None:
                raise _no_diff(line)
            _read_hunk(current, found, lines)
        elif header:
            _read_header(header, line.removesuffix("\r"))
        elif binary := _BINARY.match(line):
            files.append(_File((_unquoted(binary[1]), _unquoted(binary[2]))))
    return files


def _read_header(file: _File, line: str) -> None:
    """Read a line between `diff --git` and the first hunk."""
    if line.startswith("new file mode "):
        file.names = (_NOWHERE, file.names[1])
    elif line.startswith("deleted file mode "):
        file.names = (file.names[0], _NOWHERE)
    for side, word in enumerate(("from ", "to ")):
        for kind in ("rename ", "copy "):
            if line.startswith(kind + word):
                file.moved[side] = _unquoted(line.removeprefix(kind + word))


def _read_hunk(file: _File, found: re.Match[str], lines: Iterator[str]) -> None:
    """Read the lines of a hunk, as many as the hunk's header announces."""
    old_start, new_start = int(found[1]), int(found[3])
    old_length, new_length = int(found[2] or 1), int(found[4] or 1)
    before: list[str] = []
    after: list[str] = []
    while len(before) < old_length or len(after) < new_length:
        line = next(lines, None)
        if line is None:
            raise _no_diff(found[0])
        kind, value = line[:1].replace("\r", ""), line[1:].removesuffix("\r")
        if kind == "\\":
            continue
        if kind not in ("", " ", "-", "+"):
            raise _no_diff(line)
        if kind == "-":
            file.old_lines.add(old_start + len(before))
        if kind == "+":
            file.new_lines.add(new_start + len(after))
        if kind != "+":
            before.append(value)
        if kind != "-":
            after.append(value)
    if len(before) > old_length or len(after) > new_length:
        raise _no_diff(found[0])
    file.hunks.append(Hunk(Side(old_start, tuple(before)), Side(new_start, tuple(after))))


def _name(line: str) -> str:
    """Return the name in a line `--- name` or `+++ name`.

    A tab ends the name. A time or nothing follows the tab.
    """
    name = line[4:].removesuffix("\r")
    return _unquoted(name) if name.startswith('"') else name.partition("\t")[0]


def _unquoted(name: str) -> str:
    """Return a name without git's quotes and escapes.

    git quotes a name with a quote, a backslash or a control character, and with `core.quotepath` also a name beyond ASCII.
    """
    found = re.match(_QUOTED, name)
    if found is None:
        return name
    raw = found[0][1:-1].encode("utf-8", "surrogateescape")
    return _ESCAPE.sub(lambda one: _unescaped(one[1]), raw).decode("utf-8", "surrogateescape")


def _unescaped(code: bytes) -> bytes:
    return bytes([int(code, 8) & 255]) if len(code) == 3 else _ESCAPED.get(code, code)


def _two_names(names: str) -> tuple[str, str]:
    """Split the names after `diff --git`, which may contain blanks.

    Both names are the same except for their prefixes, unless the file was renamed, and then other lines have its names.
    """
    half = len(names) // 2
    if (
        names[half : half + 1] == " "
        and not names.startswith('"')
        and names[:half].partition("/")[2] == names[half + 1 :].partition("/")[2]
    ):
        return names[:half], names[half + 1 :]
    found = _TWO_NAMES.match(names)
    return (_unquoted(found[1]), _unquoted(found[2])) if found else (names, names)


def _change(file: _File, exists: Callable[[str], bool]) -> FileChange:
    old, new = _paths(file, exists)
    if len(file.hunks) == 1:
        old = "" if file.hunks[0].old == _NO_LINES else old
        new = "" if file.hunks[0].new == _NO_LINES else new
    return FileChange(old, new, frozenset(file.old_lines), frozenset(file.new_lines), tuple(file.hunks))


def _paths(file: _File, exists: Callable[[str], bool]) -> tuple[str, str]:
    """Return the old and the new path of a file; "" where it is missing.

    git writes a prefix before each of the two paths, such as `a/` and `b/`. The prefixes are removed only if both paths have one. In a
    diff that git did not write, `a/` and `b/` may be real folders. Then they are kept if the project has a file at one of the paths, but
    none at the paths without `a/` and `b/`.
    """
    if all(file.moved):
        return file.moved[0], file.moved[1]
    old, new = ("" if name == _NOWHERE else name for name in file.names)
    left, right = file.header if all(file.header) else (old or f"a{new[1:]}", new or f"b{old[1:]}")
    letters = left[:1] + right[:1]
    if not (left[1:2] == right[1:2] == "/" and (letters in _PAIRS or letters[::-1] in _PAIRS)):  # reversed by `git diff -R`
        return old, new
    if not all(file.header) and any(exists(one) for one in (old, new) if one) and not any(exists(one[2:]) for one in (old, new) if one):
        return old, new
    return old[2:], new[2:]
