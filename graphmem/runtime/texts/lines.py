"""Split strings into lines as git and the grammars count them."""

from __future__ import annotations


def lines_of(text: str) -> list[str]:
    r"""Return the lines of a string, without their endings `\n` and `\r\n`.

    `str.splitlines` also ends a line at a form feed, at U+2028 and at a lone carriage return, and so counts more lines than git, an editor
    or a grammar.
    """
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def decoded_by_line(data: bytes) -> str:
    """Decode each line as UTF-8, or as Latin-1 if it is not UTF-8.

    A diff has lines of files in several encodings. Requests to a server contain no bytes that are not UTF-8.
    """
    return "\n".join(_decoded(line) for line in data.split(b"\n"))


def _decoded(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("latin-1")
