"""Read a file before parsing, and detect scripts and generated code."""

from __future__ import annotations

import os
import re
import stat
from functools import cache
from pathlib import Path
from typing import Final

from graphmem.parsing.ignore import skipped_files
from graphmem.parsing.language import language_of_path, language_spec, languages
from graphmem.parsing.notebook import is_notebook
from graphmem.parsing.sources import notebook_language, notebook_size
from graphmem.runtime.files.inside import inside
from graphmem.runtime.process import system

_OPEN_FLAGS: Final = os.O_RDONLY | system.OPEN | system.REGULAR
_LINE_LIMIT: Final = 250  # mean bytes per line; hand-written code stays below 80
_LONGEST_LINE: Final = 5000  # bytes; a line this long that is half of its file is data or a bundle
_LEAST_PACKED: Final = 500  # bytes; a shorter file may be one line that a person wrote
_BLANKS: Final = 0.08  # share of blanks in code without layout; written code has more than 0.12
_BLANK: Final = b" \t\r\n"
_GENERATED: Final = re.compile(
    rb"""^[ ]{0,3}(?:\#|//|/\*|\*|--|;|<!--|%|\(\*|\"\"\"|''')[^\n]*?
    (?:@generated\b
      |(?:auto-?generated|automatically[ ]generated|machine[- ]generated)\ by
      |\bgenerated\b[^\n]{0,120}(?:\n[^\n]{0,120}){0,3}?do[ ]not[ ](?:edit|modify|change)
      |do[ ]not[ ](?:edit|modify|change)[^\n]{0,80}(?:\n[^\n]{0,80})?\bgenerated\b)""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_HEAD: Final = 2048  # first bytes, which are searched for a marker
_MAPPED: Final = re.compile(rb"^//[#@][ ]?sourceMappingURL=\S+\s*\Z", re.MULTILINE)
_TAIL: Final = 512  # last bytes, which are searched for the address of a source map
_LEAST_MAPPED: Final = 1_000  # bytes; a shorter file may be written by hand, as an input for tests of a program that reads source maps
_MOST_BYTES: Final = 1 << 30
_NOTEBOOK_BYTES: Final = 128 << 20  # of a notebook with its outputs


def read_regular(absolute: str, limit: int) -> bytes | int | str:
    """Read the regular file at the path `absolute`, of at most `limit` bytes.

    The result is the content as bytes. For a larger file, it is the size as an integer. For anything else, it is the reason to skip it:
    "absent" for a directory, and "special" for other files that are not regular.
    """
    descriptor = os.open(absolute, _OPEN_FLAGS)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return "absent" if stat.S_ISDIR(status.st_mode) else "special"
        if status.st_size > limit:
            return status.st_size
        # One byte more than the size, so one call reaches the end and detects a file that grows meanwhile.
        data = os.read(descriptor, status.st_size + 1)
        while len(data) != status.st_size and len(data) <= limit:
            more = os.read(descriptor, limit + 1 - len(data))
            if not more:
                break
            data += more
        return data if len(data) <= limit else len(data)
    finally:
        os.close(descriptor)


def read_source(absolute: str, limit: int) -> bytes | int | str:
    """Read a file to index, if its source has at most `limit` bytes.

    The outputs of a notebook are ignored.

    Returns:
        As for `read_regular`. The size of a notebook that exceeds the limit is that of its source.
    """
    read = read_regular(absolute, most_bytes(absolute, limit))
    if isinstance(read, bytes) and len(read) > limit and (size := notebook_size(read)) > limit:
        return size
    return read


def most_bytes(path: str, limit: int) -> int:
    """Return the number of bytes to read from a file at most.

    `limit` is the maximum size of the source code. A notebook may be larger, because its outputs are ignored.
    """
    return max(limit, _NOTEBOOK_BYTES) if is_notebook(path) else limit


def read_inside(root: Path, path: str) -> bytes:
    """Read a file of a working tree; b"" if it cannot be indexed.

    The result for a symbolic link is b"", because the link may lead to an excluded file or out of the project.

    Args:
        root: root directory of the project.
        path: path of the file, relative to `root`.
    """
    if inside(root, path) != root.resolve() / path:
        return b""
    try:
        data = read_regular(str(root / path), _MOST_BYTES)
    except OSError:
        return b""
    return data if isinstance(data, bytes) else b""


def language_of(path: str, data: bytes) -> str:
    """Return the language of a file from its path and content.

    The result is "text" if no language of `grammars/` fits. A file may have a language because of its folder, as pages in `templates` have.
    If the content of such a file shows another language, the result is "text", too. A notebook has the language of its kernel.
    """
    if is_notebook(path):
        return notebook_language(data)
    found = language_of_path(path) or language_of_script(data)
    if not found:
        return "text"
    spec = language_spec(found)
    in_folder = spec.foreign and not path.lower().endswith(spec.extensions)
    return "text" if in_folder and _foreign(spec.foreign).search(data) else found


@cache
def _foreign(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode())


def language_of_script(data: bytes) -> str:
    """Return a script's language, from the interpreter in its `#!` line.

    The result is "" without such a line, or if the interpreter is unknown.
    """
    if not data.startswith(b"#!"):
        return ""
    first = data[2 : data.find(b"\n")].decode("utf-8", "replace").replace("/env ", "/").replace("-S ", "").split()
    program = first[0].rpartition("/")[2] if first else ""
    known = {name: spec.name for spec in languages().values() for name in spec.interpreters}
    return known.get(program) or known.get(program.rstrip("0123456789."), "")


def made_by_machine(data: bytes, language: str, name: str) -> str:
    """Return "generated" or "minified" for a file made by a program, else "".

    Marks of a generated file are a notice near the start of `data` and, in a script, the address of a source map at the end. Marks of a
    minified file are very long lines, or shorter lines of scripts and style sheets with hardly any blanks. Files of `language` "text" are
    examined only if `name` has one of the `text_suffixes` of `grammars/skipped.toml`.

    The result is always "" for a notebook, whose long lines are outputs. It is also "" for a table that other files include, such as
    `commands.def` in C. Such a table must be indexed even if a program wrote it, because no other file names the functions in the table.
    """
    if is_notebook(name) or (language == "text" and not name.endswith(skipped_files().text_suffixes)):
        return ""
    spec = languages().get(language)
    if spec is not None and name.endswith(spec.tables):
        return ""
    if _GENERATED.search(data, 0, _HEAD) or _is_bundle(data, name):
        return "generated"
    mean = len(data) / (data.count(b"\n") + 1)
    if mean > _LINE_LIMIT and len(data) > 2 * _LONGEST_LINE:
        return "minified"
    is_long = mean > _LINE_LIMIT and len(data) > _LEAST_PACKED and name.endswith(skipped_files().packed_suffixes)
    if is_long and len(data.translate(None, _BLANK)) > (1 - _BLANKS) * len(data):
        return "minified"
    if mean > 100 and len(data) > _LONGEST_LINE:
        longest = max(map(len, data.split(b"\n")))
        if longest > _LONGEST_LINE and longest * 2 > len(data):
            return "minified"
    return ""


def _is_bundle(data: bytes, name: str) -> bool:
    """Whether a script's source map shows that a compiler or bundler wrote it."""
    is_script = name.endswith(skipped_files().mapped_suffixes) and len(data) >= _LEAST_MAPPED
    return is_script and _MAPPED.search(data, len(data) - _TAIL) is not None
