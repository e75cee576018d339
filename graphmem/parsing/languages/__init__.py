"""One small helper a language, for what a query or a table cannot say."""

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
    from collections.abc import Mapping

    from tree_sitter import Node


class Narrowing(NamedTuple):
    """Between two lines, inclusive, `target` is known to be a `value`."""

    target: Node
    value: Node
    first_line: int
    last_line: int


def comment_text(text: str, marker: str) -> str:
    """What a comment says: without the signs that make it one, and without the tags (`@param …`) at its end.

    Args:
        text: a block comment, or lines that each begin with `marker`.
        marker: what a comment to the end of the line begins with.
    """
    found: list[str] = []
    for line in text.removeprefix("/*").removesuffix("*/").splitlines():
        plain = line.strip().removeprefix(marker).lstrip("*/!#-").strip()
        if plain.startswith(("@", "\\param", "\\return")) and found:
            break
        found.append(plain)
    return "\n".join(found)


class Helper:
    """The default helper: nothing special. Subclass it in `parsing/languages/<name>.py` as `HELPER`."""

    def docstring(self, text: str) -> str:
        """First paragraph of a documentation text, on one line."""
        paragraph = text.strip().partition("\n\n")[0]
        return " ".join(paragraph.split())

    def documented(self, builder: TermBuilder, text: str) -> Mapping[str, TermIndex]:
        """Terms of the types a comment declares.

        Keys: the name of a parameter, or `#0`, `#1`, … by its place; `return`; "" for what is documented itself; any other
        text that is no name defines an alias of that name, and `<T>` a type parameter T.
        """
        return {}

    def mended(self, source: bytes) -> bytes:
        """The source with what the grammar does not know rewritten, every byte and line in its place; asked where parsing failed."""
        return source

    def imports(self, found: Import) -> tuple[Import, ...]:
        """The facts one import match stands for; most languages keep it as it is."""
        return (found,)

    def module(self, text: str) -> str:
        """What an import names, from how it is written."""
        return "".join(text.split())

    def name(self, text: str) -> str:
        """The name of a definition as it stands in qualified names, which divide at dots."""
        return text

    def fields(self, node: Node) -> tuple[tuple[str, Node], ...]:
        """What a target that takes an object apart takes from it: (attribute, target) for each; see `[patterns]`."""
        return ()

    def is_parameter(self, node: Node) -> bool:
        """False for a parameter of a function inside a header: of a function type, or of a default."""
        return True

    def given(self, builder: TermBuilder, node: Node, target: Node) -> OptionalTerm:
        """The term of what a function without a name gets for a parameter (`@binding.local` without a value); -1 where nothing says."""
        return NO_TERM

    def narrowings(self, builder: TermBuilder, node: Node) -> tuple[Narrowing, ...]:
        """What the condition `node` (captured as `@condition`) tells about names in the lines after it."""
        return ()

    def helper_term(self, builder: TermBuilder, node: Node, what: str) -> TermIndex:
        """The term of a node whose table entry is `{op = "helper", method = "<what>"}`.

        Raises:
            NotImplementedError: the table names something the helper does not know; a test compiles every table.
        """
        raise NotImplementedError(f"{type(self).__name__} does not know the term {what!r}")


def helper_named(name: str) -> Helper:
    """The helper of `parsing/languages/<name>.py`; the default one for ""."""
    if not name:
        return Helper()
    helper = import_module(f"{__name__}.{name}").HELPER
    assert isinstance(helper, Helper)  # noqa: S101 - a programming error in a language module
    return helper
