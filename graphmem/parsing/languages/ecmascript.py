"""Helper for JavaScript, TypeScript and TSX."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import (
    CALL,
    EITHER,
    INDEX,
    LAMBDA,
    LITERAL,
    NAME,
    NEW,
    NO_TERM,
    OBJECT,
    SELF,
    STRING,
    TUPLE,
    UNKNOWN,
    CallOperator,
    Import,
    TermIndex,
)
from graphmem.parsing.languages import Helper, Narrowing
from graphmem.parsing.languages.ecmascript_comments import declared_type, documented
from graphmem.parsing.languages.ecmascript_components import code_of
from graphmem.parsing.languages.ecmascript_mending import mended
from graphmem.parsing.languages.ecmascript_words import (
    ANCHOR,
    ATTRIBUTE,
    CAST,
    FUNCTION,
    LOOKUP,
    PARAMETER,
    RETURNED,
    SIGNATURE,
    TYPE_ARGUMENTS,
)
from graphmem.parsing.terms import MAX_ITEMS, TermBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tree_sitter import Node

_FUNCTIONS: Final = frozenset({"arrow_function", "function_expression", "generator_function"})
_FUNCTION_TYPES: Final = frozenset({"call_signature", "construct_signature", "constructor_type", "function_type"})
_WITH_RESULT: Final = _FUNCTIONS | {"function_declaration", "generator_function_declaration", "method_definition"}
_REST: Final = 4
"""Number of parameters that replace a rest parameter of an array type."""

_PARAMETERS: Final = frozenset({"assignment_pattern", "optional_parameter", "required_parameter"})
_OWN_THIS: Final = frozenset(
    {
        "class_body",
        "class_static_block",
        "function_declaration",
        "function_expression",
        "generator_function",
        "generator_function_declaration",
        "method_definition",
        "program",
    }
)
_NAMING: Final = frozenset({"assignment_expression", "field_definition", "pair", "public_field_definition", "variable_declarator"})
_NO_TYPES: Final = frozenset({"const", "any", "unknown", "never"})
_STATEMENTS: Final = frozenset(
    {
        "catch_clause",
        "do_statement",
        "else_clause",
        "finally_clause",
        "for_in_statement",
        "for_statement",
        "if_statement",
        "labeled_statement",
        "statement_block",
        "switch_body",
        "switch_case",
        "switch_default",
        "switch_statement",
        "try_statement",
        "while_statement",
        "with_statement",
    }
)
"""Statements that may contain a `return` of the same function."""

MAX_RESULTS: Final = 8
"""Most `return` statements of an anonymous function that are read."""

_LEAVES: Final = frozenset({"return_statement", "throw_statement", "continue_statement", "break_statement"})
_CAST: Final = re.compile(r"^/\*\*\s*@type\s*\{(.*)\}\s*\*/$", re.DOTALL)
_TAG: Final = re.compile(r"^\s*@\w+", re.MULTILINE)


class EcmascriptHelper(Helper):
    """Helper for JavaScript and TypeScript: imports, object literals, casts.

    It also reads patterns and `instanceof`.
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
        return tuple(_fields(node))

    def is_parameter(self, node: Node) -> bool:
        """Whether a parameter in a function header belongs to that function.

        False for a parameter of a function type, or of a function used as a default value.
        """
        owner = node.parent.parent if node.parent is not None else None
        if owner is None or owner.type in _FUNCTION_TYPES:
            return False
        return owner.parent is None or owner.parent.type not in _PARAMETERS or owner.type not in _FUNCTIONS

    def given(self, builder: TermBuilder, node: Node, target: Node) -> TermIndex:
        """Return the value that a callback's parameter `target` gets, or -1.

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
        name, component = _first(outer), element.child_by_field_name("name") if element is not None else None
        if name is None or component is None:
            return NO_TERM
        parts = (builder.term(component), builder.add((STRING, builder.text(name))), builder.add((STRING, str(index))))
        return builder.add((CALL, builder.add((NAME, ATTRIBUTE)), parts, ()))

    def narrowings(self, builder: TermBuilder, node: Node) -> tuple[Narrowing, ...]:
        """Return the variables whose class `x instanceof C` implies, with lines.

        The variable has this class in the condition and in the branch of the `if`. If the branch of `if (!(x instanceof C))` exits
        (`return`, `throw`, …), it has the class after the `if`.
        """
        statement = node.parent
        if statement is None or b"instanceof" not in builder.source[node.start_byte : node.end_byte]:
            return ()
        first = node.start_point.row + 1
        found: list[Narrowing] = []
        branch = statement.child_by_field_name("consequence") or statement.child_by_field_name("body")
        last = branch.end_point.row + 1 if branch is not None else node.end_point.row + 1
        found += (Narrowing(*test, first, last) for test in _tests(node, True))
        block = statement.parent
        if statement.type == "if_statement" and branch is not None and block is not None and _leaves(branch):
            found += (Narrowing(*test, statement.end_point.row + 2, block.end_point.row + 1) for test in _tests(node, False))
        return tuple(found)

    def helper_term(self, builder: TermBuilder, node: Node, what: str) -> TermIndex:
        """Convert a JavaScript or TypeScript node to a term (an expression).

        `what` names the conversion, such as "object" for an object literal, "cast" or "call".
        """
        if what == "object":
            return _object(builder, node)
        if what == "binary":
            return _binary(builder, node)
        if what == "cast":
            return _cast(builder, node)
        if what == "call":
            return _call(builder, node)
        if what == "this":
            return builder.add((SELF,)) if _has_receiver(node) else builder.add((UNKNOWN,))
        if what == "function":
            return builder.add((LAMBDA, _result(builder, node)))
        if what == "object_type":
            return _object_type(builder, node)
        if what == "parenthesized":
            return _parenthesized(builder, node)
        if what == "signature":
            return builder.add((NAME, SIGNATURE))
        if what == "function_type":
            return _function_type(builder, node)
        if what == "lookup":
            parts = [child for child in node.named_children if not child.is_extra]
            return builder.add((CALL, builder.add((NAME, LOOKUP)), tuple(builder.term(part) for part in parts[:2]), ()))
        if what == "literal_type":
            inner = _first(node)
            return builder.term(inner) if inner is not None and inner.type == "string" else builder.add((LITERAL, "type"))
        if what == "subscript":
            return _subscript(builder, node)
        if what == "array_type":
            return builder.add((INDEX, builder.add((NAME, "Array")), builder.term(_first(node))))
        if what == "type_query":  # the type of a value: `typeof x`
            return builder.add((CALL, builder.add((NAME, "typeof")), (builder.term(_first(node)),), ()))
        if what == "import":
            return builder.add((NAME, "import"))
        if what == "last":
            return builder.term(node.named_children[-1] if node.named_children else None)
        return super().helper_term(builder, node, what)


def _parameter_index(node: Node, target: Node) -> int:
    """Return the position of the parameter of `node` that binds `target`.

    The result is -1 for a rest parameter, and if no parameter binds the name.
    """
    if node.type not in _FUNCTIONS:
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
    """Return the result type of the function that returns the function `node`.

    `around` is the parent node of `node`. The result is None if no function returns `node`, or if it does not declare a result type.
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


def _function_type(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert a function type or a call signature to an expression.

    An example is `(name: Type, ...more: Type[]) => Result`. A rest parameter with a tuple type counts as one parameter for each item. A
    rest parameter with an array type counts as four parameters.
    """
    result, parameters = node.child_by_field_name("return_type"), node.child_by_field_name("parameters")
    said = [builder.term(result)]
    for child in parameters.named_children if parameters is not None else ():
        if child.type in ("required_parameter", "optional_parameter"):
            annotation, pattern = child.child_by_field_name("type"), child.child_by_field_name("pattern")
            inner = _first(annotation) if annotation is not None else None
            if pattern is not None and pattern.type == "rest_pattern" and inner is not None and inner.type in ("array_type", "tuple_type"):
                said += _rest(builder, inner)
            elif pattern is None or pattern.type != "this":
                said.append(builder.term(inner))
    return builder.add((CALL, builder.add((NAME, FUNCTION)), tuple(said), ()))


def _rest(builder: TermBuilder, node: Node) -> list[TermIndex]:
    """Return the types of the parameters that `...rest: Type` stands for.

    `node` is the type. An array type stands for four parameters of its item type. A tuple type stands for one parameter for each item; an
    item may have a name or be a rest element.
    """
    if node.type == "array_type":
        return [builder.term(_first(node))] * _REST
    found: list[TermIndex] = []
    for child in node.named_children[:MAX_ITEMS] if node.type == "tuple_type" else ():
        inner = _first(child) if child.type == "rest_type" else None
        if inner is not None:
            found += _rest(builder, inner)
        elif not child.is_extra:
            found.append(builder.annotation(child.child_by_field_name("type") or child))
    return found


def _first(node: Node) -> Node | None:
    return next((child for child in node.named_children if not child.is_extra), None)


def _fields(node: Node) -> Iterator[tuple[str, Node]]:
    for child in node.named_children:
        if child.type == "shorthand_property_identifier_pattern":
            yield _text(child), child
        elif child.type == "object_assignment_pattern":
            left = child.child_by_field_name("left")
            if left is not None:
                yield _text(left) if left.type == "shorthand_property_identifier_pattern" else "", left
        elif child.type == "pair_pattern":
            key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
            if key is not None and value is not None:
                yield _text(key).strip("'\"") if key.type != "computed_property_name" else "", value
        elif child.type == "rest_pattern" and child.named_children:
            yield "", child.named_children[0]


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _object(builder: TermBuilder, node: Node) -> TermIndex:
    keys: list[str] = []
    values: list[TermIndex] = []
    for child in [child for child in node.named_children if not child.is_extra][:MAX_ITEMS]:
        if child.type == "pair":
            key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
            if key is None or key.type == "computed_property_name":
                continue
            keys.append(builder.text(key).strip("'\""))
            is_defined = key.type == "property_identifier" and value is not None and value.type in _FUNCTIONS
            values.append(_anchor(builder, child) if is_defined else builder.term(value))
        elif child.type == "method_definition":
            name = child.child_by_field_name("name")
            kinds = {part.type for part in child.children}
            if name is not None and name.type in ("property_identifier", "private_property_identifier") and "set" not in kinds:
                keys.append(builder.text(name))
                anchor = _anchor(builder, child)
                values.append(builder.add((CALL, anchor, (), ())) if "get" in kinds else anchor)
        elif child.type == "shorthand_property_identifier":
            keys.append(builder.text(child))
            values.append(builder.term(child))
        elif child.type == "spread_element":
            keys.append("...")
            values.append(builder.term(_first(child)))
    return builder.add((OBJECT, tuple(keys), tuple(values)))


def _anchor(builder: TermBuilder, node: Node) -> TermIndex:
    return builder.add((NAME, f"{ANCHOR}{node.start_byte}"))


def _binary(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert a binary operation to an expression.

    `a || b` and `a ?? b` stand for either value, and `a && b` for `b`. Other operations give a number, because classes cannot overload
    operators.
    """
    operator = node.child_by_field_name("operator")
    sign = operator.type if operator is not None else ""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if sign in ("||", "??"):
        return builder.add((EITHER, (builder.term(left), builder.term(right))))
    return builder.term(right) if sign == "&&" else builder.add((LITERAL, "int"))


def _cast(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert `x as C` to an expression.

    The expression stands for an instance of C, or for x if C is `any`.
    """
    children = [child for child in node.named_children if not child.is_extra]
    if node.type == "type_assertion":
        children = children[::-1]
    value = builder.term(children[0] if children else None)
    if len(children) < 2 or _text(children[1]) in _NO_TYPES:
        return value
    named = children[1].named_children[0] if children[1].type == "type_arguments" and children[1].named_children else children[1]
    return builder.add((CALL, builder.add((NAME, CAST)), (builder.term(named), value), ()))


def _parenthesized(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert `(x)`, or the cast `/** @type {C} */ (x)`, to an expression."""
    value = builder.term(_first(node))
    if b"@type" not in builder.source:
        return value
    first = node
    while first.prev_sibling is None and first.parent is not None and first.parent.start_byte == node.start_byte:
        first = first.parent
    before = first.prev_sibling
    if before is None or before.type != "comment":
        return value
    match = _CAST.match(builder.text(before))
    said = declared_type(builder, match[1]) if match is not None else NO_TERM
    return value if said < 0 else builder.add((CALL, builder.add((NAME, CAST)), (said, value), ()))


def _call(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert a call with its type arguments, `f<T>(x)`, to an expression.

    A tagged template (`` tag`text` ``) is also a call.
    """
    callee, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    is_new = callee is None
    if is_new:
        callee = node.child_by_field_name("constructor")
    if callee is not None:
        builder.consumed.add(callee.id)
    called = builder.term(callee)
    positional: tuple[TermIndex, ...] = ()
    if given is not None and given.type == "arguments":
        positional = tuple(builder.term(child) for child in given.named_children if not child.is_extra)
    types = node.child_by_field_name("type_arguments")
    keywords: tuple[tuple[str, TermIndex], ...] = ()
    if types is not None:
        said = tuple(builder.term(child) for child in types.named_children if not child.is_extra)
        keywords = ((TYPE_ARGUMENTS, said[0] if len(said) == 1 else builder.add((TUPLE, said))),) if said else ()
    operator: CallOperator = NEW if is_new else CALL
    return builder.add((operator, called, positional, keywords))


def _result(builder: TermBuilder, node: Node) -> TermIndex:
    """Return the value that the anonymous function `node` returns, or -1.

    The value is the index of an expression. For `x => x.a`, it is the expression `x.a`. For a function with a body in braces, the
    expression stands for any of the values after `return`. `return` statements of nested functions do not count.
    """
    body = node.child_by_field_name("body")
    if body is None:
        return NO_TERM
    if body.type != "statement_block":
        return builder.term(body)
    given: list[TermIndex] = []
    pending = list(body.named_children)
    while pending and len(given) < MAX_RESULTS:
        child = pending.pop()
        if child.type == "return_statement":
            value = _first(child)
            if value is not None:
                given.append(builder.term(value))
        elif child.type in _STATEMENTS:
            pending.extend(child.named_children)
    return given[0] if len(given) == 1 else builder.add((EITHER, tuple(given[::-1]))) if given else NO_TERM


def _has_receiver(node: Node) -> bool:
    """Whether the object that `this` refers to is known at a syntax node.

    The object is unknown inside a function expression, unless the function is assigned to a name or exported. There are two more exceptions
    if the function is passed to a call, as in `f(function () { … })`. The object is known if `this` is another argument, or if the result
    of the call is assigned to a name.
    """
    around = node.parent
    while around is not None and around.type not in _OWN_THIS:
        around = around.parent
    if around is None or around.type not in ("function_expression", "generator_function"):
        return True
    outer = around.parent
    if outer is None or outer.type in _NAMING:
        return True
    if outer.type != "arguments":
        return outer.type == "export_statement"
    # const name = wrap(function () {…}) is a definition; an argument after a function may be its `this`.
    holder = outer.parent.parent if outer.parent is not None else None
    return (holder is not None and holder.type in _NAMING) or any(child.type == "this" for child in outer.named_children)


def _object_type(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert an object type `{ name: Type; call(): R }` to an expression.

    An object type with only an index signature becomes `Record<…>`.
    """
    keys: list[str] = []
    values: list[TermIndex] = []
    held = NO_TERM
    signatures: list[TermIndex] = []
    for child in node.named_children[:MAX_ITEMS]:
        key, given = child.child_by_field_name("name"), child.child_by_field_name("type")
        if child.type == "property_signature" and key is not None and given is not None:
            keys.append(builder.text(key).strip("'\""))
            values.append(builder.annotation(given))
        elif child.type == "method_signature" and key is not None:
            result = child.child_by_field_name("return_type")
            keys.append(builder.text(key).strip("'\""))
            values.append(builder.add((LAMBDA, builder.annotation(result))))
        elif child.type == "index_signature" and given is not None:
            held = builder.annotation(given)
        elif child.type == "call_signature":
            signatures.append(_function_type(builder, child))
    if signatures:
        members = [builder.add((OBJECT, tuple(keys), tuple(values)))] if keys else []
        return builder.add((EITHER, (*signatures, *members)))
    if held >= 0 and not keys:
        arguments = builder.add((TUPLE, (builder.add((LITERAL, "type")), held)))
        return builder.add((INDEX, builder.add((NAME, "Record")), arguments))
    return builder.add((OBJECT, tuple(keys), tuple(values)))


def _subscript(builder: TermBuilder, node: Node) -> TermIndex:
    base, key = builder.term(node.child_by_field_name("object")), builder.term(node.child_by_field_name("index"))
    return builder.add((INDEX, base, key))


def _tests(node: Node, truth: bool) -> Iterator[tuple[Node, Node]]:
    """Yield (value, class) of each `instanceof` test that a condition implies.

    Args:
        node: the condition.
        truth: whether the condition is true or false. For `!(x instanceof C)` and False, the test is (`x`, `C`).
    """
    if node.type == "parenthesized_expression" and node.named_children:
        yield from _tests(node.named_children[0], truth)
    elif node.type == "unary_expression":
        operator, argument = node.child_by_field_name("operator"), node.child_by_field_name("argument")
        if operator is not None and operator.type == "!" and argument is not None:
            yield from _tests(argument, not truth)
    elif node.type == "binary_expression":
        operator, left, right = (node.child_by_field_name(name) for name in ("operator", "left", "right"))
        if operator is None or left is None or right is None:
            return
        if operator.type == "instanceof" and truth:
            yield left, right
        elif operator.type == ("&&" if truth else "||"):
            yield from _tests(left, truth)
            yield from _tests(right, truth)


def _leaves(branch: Node) -> bool:
    if branch.type in _LEAVES:
        return True
    statements = [child for child in branch.named_children if not child.is_extra]
    return branch.type == "statement_block" and bool(statements) and statements[-1].type in _LEAVES


HELPER = EcmascriptHelper()
