"""Parse code that query files and tables of a language cannot express.

The class `Helper` has the default behaviour. A language with special cases has a subclass of it, called the language helper.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Literal, NamedTuple

from graphmem.parsing.facts import (
    EITHER,
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
    """A range of lines in which the class of a variable is known.

    For `if isinstance(x, A):`, the lines are those of the branch. `target` is the node of `x`, and `value` the node of `A`.
    """

    target: Node
    value: Node
    first_line: int
    last_line: int
    holds: bool = True  # False: the variable does not have the class in these lines


class Demand(NamedTuple):
    """Lines that run or do not run, depending on a function's arguments.

    `tests` are tests of the arguments. If `op` is "when", the lines run only if every test is true. An example is the branch of `if a is
    None and b:`. If `op` is "unless", the lines run only if at least one test is false. An example is the `else` of the same `if`.
    """

    op: Literal["when", "unless"]
    tests: tuple[tuple[Node, str], ...]  # (name of the parameter, demand): none, true, false or truthy, or one of them after "not "
    first_line: int
    last_line: int


def comment_text(text: str, marker: str) -> str:
    """Return the text of a comment without markers and trailing tags.

    Tags are lines such as `@param …`.

    Args:
        text: a block comment, or lines that each begin with `marker`.
        marker: prefix of a line comment, such as `//`.
    """
    found: list[str] = []
    for line in text.removeprefix("/*").removesuffix("*/").splitlines():
        plain = line.strip().removeprefix(marker).lstrip("*/!#-").strip()
        if plain.startswith(("@", "\\param", "\\return")) and found:
            break
        found.append(plain)
    return "\n".join(found)


class Helper:
    """Parsing rules of a language that query files and tables cannot express.

    This class serves languages without special rules. For other languages, `parsing/languages/<name>.py` has a subclass, and an instance
    of it named `HELPER`.
    """

    def docstring(self, text: str) -> str:
        """Return the first paragraph of a documentation text, on one line."""
        paragraph = text.strip().partition("\n\n")[0]
        return " ".join(paragraph.split())

    comments_refine_types = False
    """Whether a type in a comment counts beside the type that the code declares, because it is more exact."""

    def refined(self, builder: TermBuilder, annotation: OptionalTerm, documented: OptionalTerm) -> OptionalTerm:
        """Return the type of a definition from its annotation and its comment.

        `annotation` is the type in the code, and `documented` the type in the comment. Both are indices of expressions, or -1 if missing.
        In most languages, the type in the comment is considered only if the code declares none. In a language with
        `comments_refine_types`, the result is a union of both types.
        """
        if annotation < 0 or documented < 0 or annotation == documented or not self.comments_refine_types:
            return documented if annotation < 0 else annotation
        return builder.add((EITHER, (documented, annotation)))

    def documented(self, builder: TermBuilder, text: str) -> Mapping[str, TermIndex]:
        """Map names to the types that a documentation comment declares for them.

        The values are indices of expressions. Most keys are names of parameters. The other keys are:

        - `#0`, `#1`, …: a parameter by its position
        - "return": the result of the function
        - "": the documented definition itself
        - `<T>`: the type parameter T
        - any other name: a type alias that the comment declares
        """
        return {}

    def prepared(self, source: bytes) -> bytes:
        """Rewrite code that the grammar would misread; return the new source.

        The parser always reads the result in place of `source`. The result has the same length and the same line breaks as `source`.
        """
        return source

    def mended(self, source: bytes) -> bytes:
        """Rewrite code that the grammar cannot parse; return the new source.

        The parser reads the result only if the first parse had errors. The result has the same length and the same line breaks as `source`.
        """
        return source

    def cell(self, lines: Sequence[str]) -> Sequence[str]:
        """Return the lines of a notebook cell that the grammar can read.

        The result has as many lines as `lines`. Commands of the notebook's kernel become empty lines.
        """
        return lines

    def imports(self, found: Import) -> tuple[Import, ...]:
        """Return the imports that one import statement stands for.

        `found` is the import as the syntax query captured it. By default, the result contains only `found`.
        """
        return (found,)

    def module(self, text: str) -> str:
        """Return the name of the imported module, from its source text."""
        return "".join(text.split())

    def name(self, text: str) -> str:
        """Return the name of a definition in the form that qualified names use.

        `text` is the name in the source. By default, the result is `text`.
        """
        return text

    def owner(self, text: str) -> str:
        """Return the dotted path of the class to which a definition belongs.

        `text` is the part of the source that names the class. By default, the result is `text`. For `a::b::f` in C++, the result is `a.b`.
        """
        return text

    def annotated(self, builder: TermBuilder, annotation: OptionalTerm, target: Node) -> OptionalTerm:
        """Return the type of one variable, `target`, of a declaration.

        `annotation` is the type that all variables of the declaration share. In C, `int *a, b` declares different types for `a` and `b`.
        """
        return annotation

    def regions(self, source: bytes) -> Sequence[tuple[int, int, str]]:
        """Return ranges of bytes; the definitions in a range get a modifier.

        Each range is (start, end, modifier). A definition belongs to the range in which it begins. For example, definitions below
        `private:` get the modifier `private`.
        """
        return ()

    def fields(self, node: Node) -> tuple[tuple[str, Node], ...]:
        """Return (attribute, target) for each part of a destructuring pattern.

        For `{a: x, b: y}`, the results are (`a`, `x`) and (`b`, `y`). See `[patterns]` in `grammars/README.md`.
        """
        return ()

    def members(self, builder: TermBuilder, node: Node) -> tuple[tuple[str, TermIndex], ...]:
        """Return (name, type) for each member that is declared without a name.

        In Rust, the member of `struct Name(Type);` gets the name `0`. See `@binding.members` in `grammars/README.md`.
        """
        return ()

    def is_parameter(self, node: Node) -> bool:
        """Whether a parameter in a function header belongs to that function.

        Returns False if the parameter belongs to another function in the header, such as a function type or a function used as a default
        value.
        """
        return True

    def parameter(self, node: Node, kind: str) -> tuple[str, Node | None]:
        """Return the kind and the default value of a parameter.

        `kind` is the kind that the query captured, such as "normal" or "rest". Override this method if the grammar puts the kind or the
        default beside the syntax node of the parameter, not inside it.
        """
        return kind, None

    def given(self, builder: TermBuilder, node: Node, target: Node) -> OptionalTerm:
        """Return the value that `target`, a parameter of a callback, gets.

        The value is the index of an expression; -1 if it is unknown. In `xs.map { x -> … }`, the value of `x` is an item of `xs`. The
        method is called if a query pattern captures no `@value`, and captures either `@binding.local` or `@given`.
        """
        return NO_TERM

    def implied(self, builder: TermBuilder, node: Node) -> tuple[tuple[str, TermIndex], ...]:
        """Return (name, value) for each name that a syntax node binds implicitly.

        An example is `it`, the implicit parameter of a Kotlin lambda. Each value is the index of an expression. The name `this` stands for
        the object on which the node makes calls without a receiver.
        """
        return ()

    def narrowings(self, builder: TermBuilder, node: Node) -> tuple[Narrowing, ...]:
        """Return the variables whose class a condition implies, with their lines.

        For `if isinstance(x, A)`, `x` is an A in the branch. `node` is the syntax node that a query captured as `@condition`.
        """
        return ()

    def demands(self, builder: TermBuilder, node: Node) -> tuple[Demand, ...]:
        """Return lines that run only for certain arguments of the function.

        `node` is a condition, which a query captured as `@condition`. For the condition of `if x is None`, the results are the lines of the
        branch and the lines of the `else`. Type inference uses the results to find what a call that passes None returns.
        """
        return ()

    def helper_term(self, builder: TermBuilder, node: Node, what: str) -> TermIndex:
        """Convert a syntax node that the table in `language.toml` cannot convert.

        The result is the index of a term (an expression). For such a node, the table has the row `{op = "helper", method = "<what>"}`;
        `what` is the kind of construct that `node` is, such as "super".

        Raises:
            NotImplementedError: the helper does not know the kind `what`; a test checks every table.
        """
        raise NotImplementedError(
            f"the method helper_term of {type(self).__name__} cannot convert {what!r}, which [terms] in language.toml names; "
            "add the conversion to the method"
        )


def helper_named(name: str) -> Helper:
    """Return the language helper in the module `name`; for "", the default."""
    if not name:
        return Helper()
    helper = import_module(f"{__name__}.{name}").HELPER
    assert isinstance(helper, Helper)  # noqa: S101 - a programming error in a language module
    return helper
