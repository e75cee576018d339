"""Helper for Java."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import (
    ATTR,
    CALL,
    INDEX,
    LITERAL,
    NAME,
    NEW,
    STRING,
    TYPED,
    Import,
    TermIndex,
)
from graphmem.parsing.languages import Helper

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from graphmem.parsing.terms import TermBuilder

CONSTRUCTOR: Final = "<init>"
"""Name of constructors, as in `Type::new`."""


class JavaHelper(Helper):
    """Helper for single-type imports, constructor calls and concatenation."""

    def imports(self, found: Import) -> tuple[Import, ...]:
        """Split `import a.b.Name` into the module `a.b` and the name `Name`."""
        if found.kind == "package" or found.name == "*":
            return (found,)
        module, _, name = found.module.rpartition(".")
        return (found._replace(module=module, name=name, alias=name),)

    def helper_term(self, builder: TermBuilder, node: Node, what: str) -> TermIndex:
        """Return the term of a node that depends on the code around it."""
        if what == "creation":
            named = node.child_by_field_name("type")
            plain = named.named_children[0] if named is not None and named.type == "generic_type" else named
            return builder.add((NEW, builder.annotation(plain), tuple(_arguments(builder, node)), ()))
        if what == "constructor":
            called = node.child_by_field_name("constructor")
            if called is not None and called.type == "this":
                return builder.add((NEW, builder.add((NAME, _class_around(builder, node))), tuple(_arguments(builder, node)), ()))
            return builder.add((CALL, builder.term(called), tuple(_arguments(builder, node)), ()))
        if what == "field":
            base, field = node.child_by_field_name("object"), node.child_by_field_name("field")
            if field is not None and field.type == "this":  # `Outer.this`
                return builder.add((TYPED, builder.annotation(base)))
            return builder.add((ATTR, builder.term(base), builder.text(field) if field is not None else ""))
        if what == "reference":
            parts = node.named_children
            is_new = bool(node.children) and node.children[-1].type == "new"
            if not parts or (len(parts) < 2 and not is_new):
                return builder.unknown
            return builder.add((ATTR, builder.term(parts[0]), CONSTRUCTOR if is_new else builder.text(parts[-1])))
        if what == "array":
            element = builder.annotation(node.child_by_field_name("type"))
            return builder.add((TYPED, builder.add((INDEX, builder.add((NAME, "[]")), element))))
        if what == "binary":
            sides = [builder.term(node.child_by_field_name(side)) for side in ("left", "right")]
            operator = node.child_by_field_name("operator")
            if operator is not None and operator.type == "+" and any(builder.terms[side][0] == STRING for side in sides):
                return builder.add((LITERAL, "template"))
            is_comparison = operator is not None and operator.type in ("==", "!=", "<", ">", "<=", ">=", "&&", "||")
            return builder.add((LITERAL, "boolean")) if is_comparison else builder.unknown
        if what == "last":
            return builder.term(node.named_children[-1] if node.named_children else None)
        return super().helper_term(builder, node, what)


def _arguments(builder: TermBuilder, node: Node) -> Iterator[TermIndex]:
    given = node.child_by_field_name("arguments")
    for child in given.named_children if given is not None else ():
        if not child.is_extra:
            yield builder.term(child)


def _class_around(builder: TermBuilder, node: Node) -> str:
    around = node.parent
    while around is not None and not around.type.endswith("_declaration"):
        around = around.parent
    while around is not None and around.type not in ("class_declaration", "enum_declaration", "record_declaration"):
        around = around.parent
    name = around.child_by_field_name("name") if around is not None else None
    return builder.text(name) if name is not None else ""


HELPER = JavaHelper()
