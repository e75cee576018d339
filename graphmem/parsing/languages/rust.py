"""Parse code of Rust that the query files cannot express.

Examples are import trees, macros, patterns and `impl` blocks.
"""

from __future__ import annotations

# ruff: noqa: SIM905
import re
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import (
    ATTR,
    CALL,
    EITHER,
    LAMBDA,
    NAME,
    NO_TERM,
    OPERATOR,
    SELF,
    STRING,
    TYPED,
    Import,
    TermIndex,
)
from graphmem.parsing.languages import Helper
from graphmem.parsing.languages.rust_macros import formatted_arguments, name_read, tokens
from graphmem.parsing.languages.rust_uses import used_names
from graphmem.parsing.terms import MAX_ITEMS, TermBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node

_PATH: Final = re.compile(r"\w+::")
_PATHS: Final = frozenset({"scoped_identifier", "scoped_type_identifier"})
_OTHER_BUILD: Final = re.compile(
    rb"#\[cfg\((?![^\n\]]*\bnot\()[^\n\]]*\b(?:test|loom|miri|fuzzing|kani|shuttle)\b[^\n\]]*\)\]\s*(?:(?:#\[[^\n]*\]|//[^\n]*)\s*)*"
)
"""An attribute of what only a build of tests or of a checking tool contains, with the attributes and comments after it."""
_OF_TESTS: Final = re.compile(rb"#\[cfg\((?:test\b|all\([^\n\]()]*\btest\b)")
"""The beginning of an attribute of what only a build of tests contains."""

WRAPPING: Final = frozenset({"Err", "Ok", "Some"})
"""Variants of the standard library whose value a pattern unwraps."""


PARAMETER: Final = "parameter of a closure"
"""Name of a pseudo-function, a call of which is the value that a closure gets."""

_POINTERS: Final = frozenset({"Arc", "Box", "Cow", "Pin", "Rc"})

POINTED: Final = "*"
"""Name of the member of a type that is the value to which it points, if the type implements `Deref`."""

FUNCTION: Final = "type of a function"
"""Name of a pseudo-function, a call of which is the type of a function or closure."""

ITERATING: Final = frozenset(
    "all and_then any filter filter_map find find_map flat_map for_each inspect is_some_and map map_while max_by_key min_by_key position "
    "skip_while sort_by_key take_while".split()
)
"""Methods of which `types.scm` says that their closure gets one of the receiver's items."""


class RustHelper(Helper):
    """Parses code of Rust that the query files cannot express.

    Examples are import trees, macros, patterns and `impl` blocks.
    """

    def regions(self, source: bytes) -> Sequence[tuple[int, int, str]]:
        """Return where code begins that only test or checker builds contain.

        An example is a definition after `#[cfg(test)]`. Each result is (start, end, modifier), with byte offsets. A definition that
        begins between these offsets gets the modifier `overload`. A use of its name then refers to the definition of the same name in
        normal builds. If only builds of tests contain it, it gets the modifier `test`, too.
        """
        found = [(match.end(), _OF_TESTS.match(match[0]) is not None) for match in _OTHER_BUILD.finditer(source)]
        return [(end, end + 1, modifier) for end, tests in found for modifier in ("overload", *(("test",) if tests else ()))]

    def module(self, text: str) -> str:
        """Return the source text of a `use` declaration, without changes.

        The method `imports` later finds the names in the text, and their positions.
        """
        return text

    def imports(self, found: Import) -> tuple[Import, ...]:
        """Return one import for each name of a `use` tree.

        `use a::{b, c as d, e::*}` imports `b` and `c` from `a`, and all of `a::e`.
        """
        if found.kind == "import":
            is_module = found.alias == found.module
            return (found._replace(module=f"self::{found.module}" if is_module else found.module, alias=found.alias or found.module),)
        return tuple(used_names(found))

    def owner(self, text: str) -> str:
        """Return the name of the type in an `impl` block, such as `[u8]`.

        All raw pointers have the name `*`.
        """
        if text.startswith("*"):
            return "*"
        return _PATH.sub("", "".join(text.split()))

    def fields(self, node: Node) -> tuple[tuple[str, Node], ...]:
        """Return (attribute, target) for each part of a pattern.

        For `Some(x)`, the result is (`Some`, `x`). For `Name(x, y)`, the results are (`Name.0`, `x`) and (`Name.1`, `y`). For `Name { x,
        y: z }`, they are (`Name.x`, `x`) and (`Name.y`, `z`). The method `members` uses the same names.
        """
        named = node.child_by_field_name("type")
        variant = (named.text or b"").decode("utf-8", "replace").rpartition("::")[2] if named is not None else ""
        if node.type != "tuple_struct_pattern":
            return tuple((f"{variant}.{name}", child) for name, child in _fields(node))
        inner = [child for child in _parts_of_pattern(node) if child != named]
        if variant in WRAPPING and len(inner) == 1:
            return ((variant, inner[0]),)
        if any(child.type == "remaining_field_pattern" for child in inner):
            inner = inner[: next(place for place, child in enumerate(inner) if child.type == "remaining_field_pattern")]
        return tuple((f"{variant}.{place}", child) for place, child in enumerate(inner) if child.is_named)

    def given(self, builder: TermBuilder, node: Node, target: Node) -> TermIndex:
        """Return the value of a closure's parameter `target`; -1 if unknown.

        An example is the value of `a` in `items.sort_by(|a, b| …)`. The closure is `node`. It must be an argument of a call. The result is
        a call of `PARAMETER` with the call, the position of the closure among its arguments and that of the parameter.
        """
        value = node.parent if node.parent is not None and node.parent.type == "reference_expression" else node
        around = value.parent
        outer = around.parent if around is not None and around.type == "arguments" else None
        parameters = node.child_by_field_name("parameters")
        if around is None or outer is None or parameters is None or outer.type != "call_expression":
            return NO_TERM
        inside = [child.id for child in _parts_of_pattern(parameters)]
        if target.id not in inside or (len(inside) == 1 and _gives_items(outer)):
            return NO_TERM
        argument = [child.id for child in around.named_children if not child.is_extra].index(value.id)
        places = [builder.add((STRING, str(place))) for place in (argument, inside.index(target.id))]
        return builder.add((CALL, builder.add((NAME, PARAMETER)), (builder.term(outer), *places), ()))

    def members(self, builder: TermBuilder, node: Node) -> tuple[tuple[str, TermIndex], ...]:
        """Return (name, type) of the fields of a tuple struct or of a variant.

        The name is `0` for `struct Name(Type)`, `Name.0` for a variant `Name(Type)`, and `Name.field` for a variant `Name { field: Type }`.
        For a constant in `impl Type`, it is `Type.NAME`, and `Type.*` for the target of `impl Deref for Type`.
        """
        if node.type == "impl_item":
            return (*self._constants(builder, node), *self._wrapped_self(builder, node))
        name = node.child_by_field_name("name")
        body = node if name is None else node.child_by_field_name("body")
        if body is None:
            return ()
        start = f"{builder.text(name)}." if name is not None else ""
        if body.type == "ordered_field_declaration_list":
            types = body.children_by_field_name("type")
            return tuple((f"{start}{place}", builder.declaration(found)) for place, found in enumerate(types))
        fields = [(child.child_by_field_name("name"), child.child_by_field_name("type")) for child in body.named_children]
        return tuple((f"{start}{builder.text(field)}", builder.declaration(found)) for field, found in fields if field is not None)

    def _wrapped_self(self, builder: TermBuilder, node: Node) -> Iterator[tuple[str, TermIndex]]:
        """Yield (`Box.self`, type) for `impl Trait for Box<type>`.

        The same holds for other wrappers, such as `Arc`.
        """
        around = node.child_by_field_name("type")
        name = around.child_by_field_name("type") if around is not None and around.type == "generic_type" else None
        if around is not None and name is not None and builder.text(name) in _POINTERS:
            yield f"{builder.text(name)}.self", builder.declaration(around)

    def _function(self, builder: TermBuilder, node: Node) -> TermIndex:
        """Convert a function type to a call of the reserved name `FUNCTION`.

        Its arguments are the types of the result and of the parameters.
        """
        result, parameters = node.child_by_field_name("return_type"), node.child_by_field_name("parameters")
        given = [child for child in parameters.named_children if not child.is_extra] if parameters is not None else []
        types = [builder.term(child.child_by_field_name("type") or child) for child in given[:MAX_ITEMS]]
        return builder.add((CALL, builder.add((NAME, FUNCTION)), (builder.term(result), *types), ()))

    def _constants(self, builder: TermBuilder, node: Node) -> Iterator[tuple[str, TermIndex]]:
        """Yield (`Type.NAME`, type) for each constant of an `impl` block.

        For `impl Deref for Type { type Target = A; }`, the item is (`Type.*`, `A`).
        """
        trait = node.child_by_field_name("trait")
        is_pointer = trait is not None and builder.text(trait).rpartition("::")[2] == "Deref"
        around, body = node.child_by_field_name("type"), node.child_by_field_name("body")
        plain = around.child_by_field_name("type") or around if around is not None else None
        if around is None or plain is None or body is None:
            return
        for child in body.named_children:
            name, declared = child.child_by_field_name("name"), child.child_by_field_name("type")
            if child.type == "const_item" and name is not None and declared is not None:
                is_own = builder.text(declared) == "Self"
                yield f"{self.owner(builder.text(plain))}.{builder.text(name)}", builder.declaration(around if is_own else declared)
            elif is_pointer and child.type == "type_item" and declared is not None:
                yield f"{self.owner(builder.text(plain))}.{POINTED}", builder.declaration(declared)

    def helper_term(self, builder: TermBuilder, node: Node, what: str) -> TermIndex:
        """Convert a Rust syntax node to a term (an expression).

        `what` is the kind of construct that `node` is, such as "macro". A table cannot convert these nodes, because their meaning depends
        on details such as the context or an operator.
        """
        if what == "self":  # `self::a` is a path that begins in the module
            around = node.parent
            is_path = around is not None and around.type in _PATHS and around.child_by_field_name("path") == node
            return builder.add((NAME, "self::") if is_path else (SELF,))
        if what == "macro":
            return builder.add((CALL, builder.term(node.child_by_field_name("macro")), tuple(formatted_arguments(builder, node)), ()))
        if what == "function":
            return self._function(builder, node)
        if what == "unary":
            inner = builder.term(node.named_children[0] if node.named_children else None)
            return builder.add((OPERATOR, builder.text(node.children[0]), inner, NO_TERM))
        if what in ("tokens", "token"):
            found = tokens(builder, node, 0) if what == "tokens" else name_read(builder, node)
            return builder.unknown if found is None else found
        if what == "try":
            inner = builder.term(node.named_children[0] if node.named_children else None)
            return builder.add((CALL, builder.add((ATTR, inner, "?")), (), ()))
        if what == "block":
            inside = [child for child in node.named_children if not child.is_extra]
            return builder.term(inside[-1] if inside else None)
        if what == "match":
            body = node.child_by_field_name("body")
            arms = [child for child in (body.named_children if body is not None else ()) if child.type == "match_arm"]
            return builder.add((EITHER, tuple(builder.term(arm.child_by_field_name("value")) for arm in arms[:MAX_ITEMS])))
        if what == "variant":  # calling `Enum::Variant` gives an `Enum`
            around = node.parent
            while around is not None and around.type not in ("enum_item", "struct_item"):
                around = around.parent
            name = around.child_by_field_name("name") if around is not None else None
            return builder.add((LAMBDA, builder.add((TYPED, builder.annotation(name))))) if name is not None else builder.unknown
        return super().helper_term(builder, node, what)


def _parts_of_pattern(node: Node) -> list[Node]:
    """Return the parts of a Rust pattern, including each placeholder `_`."""
    return [child for child in node.children if (child.is_named or child.type == "_") and not child.is_extra]


def _gives_items(call: Node) -> bool:
    """Whether a call, such as `xs.map(…)`, passes items to its closure.

    A query pattern already binds the closure's parameter in such a call, so the helper need not do it.
    """
    called = call.child_by_field_name("function")
    name = called.child_by_field_name("field") if called is not None and called.type == "field_expression" else None
    return name is not None and (name.text or b"").decode("utf-8", "replace") in ITERATING


def _fields(node: Node) -> Iterator[tuple[str, Node]]:
    for child in node.named_children:
        if child.type != "field_pattern":
            continue
        name, pattern = child.child_by_field_name("name"), child.child_by_field_name("pattern")
        if name is not None:
            yield (name.text or b"").decode("utf-8", "replace"), pattern if pattern is not None else name


HELPER = RustHelper()
