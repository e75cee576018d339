"""Parse code of JavaScript and TypeScript that queries cannot express.

TSX is included. Examples are imports, object literals and casts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import CALL, INDEX, LAMBDA, LITERAL, NAME, NO_TERM, SELF, STRING, UNKNOWN, Import, TermIndex
from graphmem.parsing.languages import Helper, Narrowing
from graphmem.parsing.languages.ecmascript_comments import documented
from graphmem.parsing.languages.ecmascript_components import code_of
from graphmem.parsing.languages.ecmascript_mending import mended
from graphmem.parsing.languages.ecmascript_narrowing import always_leaves, implied_tests
from graphmem.parsing.languages.ecmascript_syntax import ANONYMOUS_FUNCTIONS, first_child, has_receiver, pattern_fields
from graphmem.parsing.languages.ecmascript_terms import (
    binary_operation,
    call,
    cast,
    object_literal,
    parenthesized,
    returned_value,
    subscript,
)
from graphmem.parsing.languages.ecmascript_types import function_type, object_type
from graphmem.parsing.languages.ecmascript_words import ATTRIBUTE, LOOKUP, PARAMETER, RETURNED, SIGNATURE
from graphmem.parsing.terms import TermBuilder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tree_sitter import Node

_FUNCTION_TYPES: Final = frozenset({"call_signature", "construct_signature", "constructor_type", "function_type"})
_WITH_RESULT: Final = ANONYMOUS_FUNCTIONS | {"function_declaration", "generator_function_declaration", "method_definition"}

_PARAMETERS: Final = frozenset({"assignment_pattern", "optional_parameter", "required_parameter"})

_TAG: Final = re.compile(r"^\s*@\w+", re.MULTILINE)


class EcmascriptHelper(Helper):
    """Parses code of JavaScript that the query files cannot express.

    Examples are imports, object literals, casts, destructuring patterns and `instanceof` tests. TypeScript uses the same class.
    """

    def docstring(self, text: str) -> str:
        """Return the first paragraph of a `/** … */` comment, without its tags.

        The stars at the beginning of lines are left out too.
        """
        lines = (line.strip().lstrip("*").strip() for line in text.strip().removeprefix("/**").removesuffix("*/").splitlines())
        plain = "\n".join(lines).strip()
        tag = _TAG.search(plain)
        return super().docstring(plain[: tag.start()] if tag else plain)

    def prepared(self, source: bytes) -> bytes:
        """Replace everything but code in a Vue or Svelte component by blanks."""
        return code_of(source)

    def mended(self, source: bytes) -> bytes:
        """Rewrite valid syntax that the grammar of TypeScript cannot parse.

        An example is a missing semicolon. The result is used only if the first parse had errors.
        """
        return mended(code_of(source))

    def documented(self, builder: TermBuilder, text: str) -> Mapping[str, TermIndex]:
        """Return the types that a comment such as `@param {Type} name` declares.

        Only comments in plain JavaScript are read.
        """
        return documented(builder, text) if builder.syntax.spec.name == "javascript" else {}

    def name(self, text: str) -> str:
        """Return the name of a definition with dots replaced by `·`.

        Line ends become blanks. Titles of tests, such as `it("…")`, may contain both.
        """
        return " ".join(text.replace(".", "·").split()) if "." in text or "\n" in text else text

    def imports(self, found: Import) -> tuple[Import, ...]:
        """Return an import, completed with the names that the syntax implies.

        For `import x from`, the imported name is "default". For `export { y } from`, the exported name is `y`.
        """
        if found.kind == "from" and not found.name:
            return (found._replace(name="default"),)
        if found.kind == "require" and found.name and not found.alias:
            return (found._replace(alias=found.name),)
        if found.kind == "augment":
            return (found._replace(alias=""),)
        if found.kind == "reexport" and found.name not in ("", "*") and not found.exported_as:
            return (found._replace(exported_as=found.name),)
        return (found,)

    def fields(self, node: Node) -> tuple[tuple[str, Node], ...]:
        """Return (attribute, target) for each part of `{ a, b: c, d = 1 }`.

        The attributes are `a`, `b` and `d`. The attribute is "" for a rest element (`...rest`) and for a computed key.
        """
        return tuple(pattern_fields(node))

    def is_parameter(self, node: Node) -> bool:
        """Whether a parameter in a function header belongs to that function.

        Returns False for a parameter of a function type, or of a function used as a default value.
        """
        owner = node.parent.parent if node.parent is not None else None
        if owner is None or owner.type in _FUNCTION_TYPES:
            return False
        return owner.parent is None or owner.parent.type not in _PARAMETERS or owner.type not in ANONYMOUS_FUNCTIONS

    def given(self, builder: TermBuilder, node: Node, target: Node) -> TermIndex:
        """Return the value of a callback's parameter `target`; -1 if unknown.

        An example is the value of `a` in `names.sort((a, b) => …)`. The callback is `node`. It must be an argument of a call, the value of
        a JSX attribute, or the result of a function with a declared result type.
        """
        index = _parameter_index(node, target)
        around = node.parent if index >= 0 else None
        said = _returned_type(node, around) if around is not None else None
        if said is not None:
            parts: tuple[TermIndex, ...] = (builder.annotation(said), builder.add((STRING, str(index))))
            return builder.add((CALL, builder.add((NAME, RETURNED)), parts, ()))
        outer = around.parent if around is not None else None
        if around is None or outer is None:
            return NO_TERM
        if around.type == "arguments" and outer.type in ("call_expression", "new_expression"):
            position = [child.id for child in around.named_children if not child.is_extra].index(node.id)
            parts = (builder.term(outer), builder.add((STRING, str(position))), builder.add((STRING, str(index))))
            return builder.add((CALL, builder.add((NAME, PARAMETER)), parts, ()))
        element = outer.parent if outer.type == "jsx_attribute" else None
        name, component = first_child(outer), element.child_by_field_name("name") if element is not None else None
        if name is None or component is None:
            return NO_TERM
        parts = (builder.term(component), builder.add((STRING, builder.text(name))), builder.add((STRING, str(index))))
        return builder.add((CALL, builder.add((NAME, ATTRIBUTE)), parts, ()))

    def narrowings(self, builder: TermBuilder, node: Node) -> tuple[Narrowing, ...]:
        """Return the variables whose class `x instanceof C` implies, with lines.

        The variable has this class in the condition and in the branch of the `if`. If the branch of `if (!(x instanceof C))` exits
        (`return`, `throw`, …), the variable has the class after the `if`.
        """
        statement = node.parent
        if statement is None or b"instanceof" not in builder.source[node.start_byte : node.end_byte]:
            return ()
        first = node.start_point.row + 1
        found: list[Narrowing] = []
        branch = statement.child_by_field_name("consequence") or statement.child_by_field_name("body")
        last = branch.end_point.row + 1 if branch is not None else node.end_point.row + 1
        found += (Narrowing(*test, first, last) for test in implied_tests(node, True))
        block = statement.parent
        if statement.type == "if_statement" and branch is not None and block is not None and always_leaves(branch):
            found += (Narrowing(*test, statement.end_point.row + 2, block.end_point.row + 1) for test in implied_tests(node, False))
        return tuple(found)

    def helper_term(self, builder: TermBuilder, node: Node, what: str) -> TermIndex:
        """Convert a JavaScript or TypeScript node to a term (an expression).

        `what` is the kind of construct that `node` is, such as "object" for an object literal, "cast" or "call".
        """
        if what == "object":
            return object_literal(builder, node)
        if what == "binary":
            return binary_operation(builder, node)
        if what == "cast":
            return cast(builder, node)
        if what == "call":
            return call(builder, node)
        if what == "this":
            return builder.add((SELF,)) if has_receiver(node) else builder.add((UNKNOWN,))
        if what == "function":
            return builder.add((LAMBDA, returned_value(builder, node)))
        if what == "object_type":
            return object_type(builder, node)
        if what == "parenthesized":
            return parenthesized(builder, node)
        if what == "signature":
            return builder.add((NAME, SIGNATURE))
        if what == "function_type":
            return function_type(builder, node)
        if what == "lookup":
            parts = [child for child in node.named_children if not child.is_extra]
            return builder.add((CALL, builder.add((NAME, LOOKUP)), tuple(builder.term(part) for part in parts[:2]), ()))
        if what == "literal_type":
            inner = first_child(node)
            return builder.term(inner) if inner is not None and inner.type == "string" else builder.add((LITERAL, "type"))
        if what == "subscript":
            return subscript(builder, node)
        if what == "array_type":
            return builder.add((INDEX, builder.add((NAME, "Array")), builder.term(first_child(node))))
        if what == "type_query":  # the type of a value: `typeof x`
            return builder.add((CALL, builder.add((NAME, "typeof")), (builder.term(first_child(node)),), ()))
        if what == "import":
            return builder.add((NAME, "import"))
        if what == "last":
            return builder.term(node.named_children[-1] if node.named_children else None)
        return super().helper_term(builder, node, what)


def _parameter_index(node: Node, target: Node) -> int:
    """Return the position of the parameter of `node` that binds `target`.

    The result is -1 for a rest parameter, and if no parameter binds the name.
    """
    if node.type not in ANONYMOUS_FUNCTIONS:
        return -1
    parameters = node.child_by_field_name("parameters")
    if parameters is None:
        return 0
    for index, child in enumerate(child for child in parameters.named_children if not child.is_extra):
        if child.start_byte <= target.start_byte and target.end_byte <= child.end_byte:
            pattern = child.child_by_field_name("pattern") or child
            return -1 if pattern.type == "rest_pattern" else index
    return -1


def _returned_type(node: Node, around: Node) -> Node | None:
    """Return the declared result type of the function that returns `node`.

    `node` is a function that another function returns, as in `make() { return () => … }`. The result is the declared result type of the
    other function, here `make`. It is None if no function returns `node`, or if the other function does not declare a result type.
    `around` is the parent of `node` in the syntax tree.
    """
    owner: Node | None = around
    while owner is not None and owner.type == "parenthesized_expression":
        node, owner = owner, owner.parent
    if owner is not None and owner.type == "return_statement":
        while owner is not None and owner.type not in _WITH_RESULT:
            owner = owner.parent
    elif owner is None or owner.type != "arrow_function" or owner.child_by_field_name("body") != node:
        return None
    return owner.child_by_field_name("return_type") if owner is not None else None


HELPER = EcmascriptHelper()
