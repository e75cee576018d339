"""One small helper per language, for facts beyond queries and tables."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from graphmem.parsing.facts import (
    NO_TERM,
    Import,
    OptionalTerm,
    TermIndex,
)
from graphmem.parsing.terms import TermBuilder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tree_sitter import Node


class Narrowing(NamedTuple):
    """Between two lines, inclusive, `target` is known to be a `value`."""

    target: Node
    value: Node
    first_line: int
    last_line: int


def comment_text(text: str, marker: str) -> str:
    """Text of a comment without its signs and closing tags (`@param …`).

    Args:
        text: a block comment, or lines that each begin with `marker`.
        marker: prefix of a comment to the end of the line.
    """
    found: list[str] = []
    for line in text.removeprefix("/*").removesuffix("*/").splitlines():
        plain = line.strip().removeprefix(marker).lstrip("*/!#-").strip()
        if plain.startswith(("@", "\\param", "\\return")) and found:
            break
        found.append(plain)
    return "\n".join(found)


class Helper:
    """The default helper, without special rules.

    Subclass it in `parsing/languages/<name>.py` as `HELPER`.
    """

    def docstring(self, text: str) -> str:
        """First paragraph of a documentation text, on one line."""
        paragraph = text.strip().partition("\n\n")[0]
        return " ".join(paragraph.split())

    def documented(self, builder: TermBuilder, text: str) -> Mapping[str, TermIndex]:
        """Terms of the types that a comment declares.

        Keys: the name of a parameter, or `#0`, `#1`, … by its position; `return`; "" for the documented definition. Any other text that is
        not a name defines an alias of that name, and `<T>` a type parameter T.
        """
        return {}

    def prepared(self, source: bytes) -> bytes:
        """The source with misread syntax rewritten, before every parse.

        The length of the source and its line breaks stay the same.
        """
        return source

    def mended(self, source: bytes) -> bytes:
        """The source with unsupported syntax rewritten, after a failed parse.

        Every byte and line keeps its place.
        """
        return source

    def imports(self, found: Import) -> tuple[Import, ...]:
        """Facts of one import match; most languages return it unchanged."""
        return (found,)

    def module(self, text: str) -> str:
        """The imported module, from the source text."""
        return "".join(text.split())

    def name(self, text: str) -> str:
        """Name of a definition in qualified names, which are divided at dots."""
        return text

    def owner(self, text: str) -> str:
        """The owner of a definition, as a dotted path."""
        return text

    def annotated(self, builder: TermBuilder, annotation: OptionalTerm, target: Node) -> OptionalTerm:
        """The type of one target of an annotation, as its declarator gives it."""
        return annotation

    def regions(self, source: bytes) -> Sequence[tuple[int, int, str]]:
        """From where to where, in bytes, definitions have a modifier."""
        return ()

    def fields(self, node: Node) -> tuple[tuple[str, Node], ...]:
        """(attribute, target) for each part of a destructured object.

        See `[patterns]`.
        """
        return ()

    def is_parameter(self, node: Node) -> bool:
        """False for a parameter of a function inside a header.

        Such a function is a function type or a default.
        """
        return True

    def given(self, builder: TermBuilder, node: Node, target: Node) -> OptionalTerm:
        """Term of the value that an anonymous function gets for a parameter.

        The parameter is a `@binding.local` without a value. -1 if the value is unknown.
        """
        return NO_TERM

    def narrowings(self, builder: TermBuilder, node: Node) -> tuple[Narrowing, ...]:
        """Types that the condition `node` (`@condition`) implies for later lines."""
        return ()

    def helper_term(self, builder: TermBuilder, node: Node, what: str) -> TermIndex:
        """Term of a node with the entry `{op = "helper", method = "<what>"}`.

        Raises:
            NotImplementedError: the helper does not know the name; a test compiles every table.
        """
        raise NotImplementedError(f"{type(self).__name__} does not know the term {what!r}")


def helper_named(name: str) -> Helper:
    """The helper of `parsing/languages/<name>.py`; the default one for ""."""
    if not name:
        return Helper()
    helper = import_module(f"{__name__}.{name}").HELPER
    assert isinstance(helper, Helper)  # noqa: S101 - a programming error in a language module
    return helper
