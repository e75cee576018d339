"""Parse code of Go that the query files cannot express.

Examples are package names, composite literals and type switches.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import (
    ITER,
    LAMBDA,
    LITERAL,
    NEW,
    NO_TERM,
    TYPED,
    Import,
    TermIndex,
)
from graphmem.parsing.languages import Helper, Narrowing

if TYPE_CHECKING:
    from tree_sitter import Node

    from graphmem.parsing.terms import TermBuilder

_NAMED_TYPES: Final = frozenset({"type_identifier", "qualified_type", "generic_type"})
_NEW: Final = re.compile(
    rb"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|`[^`]*`|'(?:\\.|[^'\\\n])+'|(?P<new>(?<![\w.])new\()|(?P<bracket>[()])""", re.DOTALL
)
_TYPE: Final = re.compile(rb"\s*(?:(?:func|struct|interface|chan|map|<-)\b|[A-Za-z_\[*][\w.\[\]*,\s]*$)")
"""A type, as the argument of `new`; other arguments are values."""
_VERSION: Final = re.compile(r"^v\d+$|\.v\d+$")


def package_name(path: str) -> str:
    """Return the name that an import of `path` binds by default.

    By convention this is the last part of the path. A version and the affixes `go-`, `-go` and `.go` are removed, and `-` becomes `_`.
    """
    parts = path.split("/")
    last = parts[-2] if len(parts) > 1 and _VERSION.fullmatch(parts[-1]) else _VERSION.sub("", parts[-1])
    return last.removeprefix("go-").removesuffix("-go").removesuffix(".go").replace("-", "_")


class GoHelper(Helper):
    """Parses code of Go that the query files cannot express.

    Examples are package names, composite literals such as `T{a: 1}`, and type switches.
    """

    def mended(self, source: bytes) -> bytes:
        """Return the source with each `new(value)` as a value in brackets.

        The grammar knows only types as arguments of `new`. The length stays the same.
        """
        if b"new(" not in source:
            return source
        rewritten = bytearray(source)
        opened: list[int] = []  # offset after the bracket of each open `new(`; -1 for other brackets
        for match in _NEW.finditer(source):
            if match["new"] or match["bracket"] == b"(":
                opened.append(match.end() if match["new"] else -1)
            elif match["bracket"] and opened:
                start = opened.pop()
                if start >= 0 and not _TYPE.match(source[start : match.start()]) and (start < match.start()):
                    rewritten[start - 4 : start - 1] = b"   "
        return bytes(rewritten)

    def imports(self, found: Import) -> tuple[Import, ...]:
        """Return the import with `alias` set to the name that it binds.

        If the source has no alias, this is the name of the package. The alias `_` binds nothing, so `alias` becomes "".
        """
        if found.kind in ("package", "constraint") or found.name == "*":
            return (found,)
        alias = "" if found.alias == "_" else found.alias or package_name(found.module)
        return (found._replace(alias=alias),)

    def narrowings(self, builder: TermBuilder, node: Node) -> tuple[Narrowing, ...]:
        """Return the type of the variable in one case of a type switch.

        The switch has the form `switch name := value.(type)`. For a case with several types, there is one result for each type.
        """
        switch = node.parent
        alias = switch.child_by_field_name("alias") if switch is not None else None
        if alias is None or not alias.named_children:
            return ()
        first, last = node.start_point.row + 1, node.end_point.row + 1
        types = [named for named in node.children_by_field_name("type") if named.is_named]
        return tuple(Narrowing(alias.named_children[0], named, first, last) for named in types)

    def helper_term(self, builder: TermBuilder, node: Node, what: str) -> TermIndex:
        """Convert a Go node to a term (an expression).

        `what` is the kind of construct that `node` is: "composite" for `T{a: 1}`, "unary" for `&x`, or "function" for an anonymous
        function.
        """
        if what == "composite":
            named = node.child_by_field_name("type")
            if named is None or named.type not in _NAMED_TYPES:
                return builder.add((TYPED, builder.annotation(named)))
            return builder.add((NEW, builder.annotation(named), (), ()))
        if what == "unary":
            operator, operand = node.child_by_field_name("operator"), node.child_by_field_name("operand")
            sign = operator.type if operator is not None else ""
            if sign == "<-":
                return builder.add((ITER, builder.term(operand)))
            return builder.term(operand) if sign in ("&", "*") else builder.add((LITERAL, "bool" if sign == "!" else "int"))
        if what == "function":
            result = node.child_by_field_name("result")
            return builder.add((LAMBDA, builder.add((TYPED, builder.annotation(result))) if result is not None else NO_TERM))
        return super().helper_term(builder, node, what)


HELPER = GoHelper()
