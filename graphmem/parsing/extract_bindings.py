"""Extract bindings: places where a name or an attribute gets a value.

A binding is a place where a name or an attribute gets a value, such as `x = f()`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from graphmem.parsing.facts import (
    ASSIGNED,
    ATTR,
    ENTER,
    INDEX,
    ITER,
    LIST,
    NAME,
    NO_TERM,
    OPERATOR,
    TUPLE,
    UNPACK,
    Binding,
    OptionalTerm,
    TermIndex,
)

if TYPE_CHECKING:
    from tree_sitter import Node


from graphmem.parsing.extraction import FUNCTION_LIKE, Captures, Extraction, digest, one_line


class Bindings(Extraction):
    """Records the places in code where a name or an attribute gets a value.

    Such a place, for example `x = f()`, is called a binding. The class is one part of extraction.
    """

    def on_binding(self, op: str, node: Node, captures: Captures) -> None:
        """Add the bindings that one query match finds, such as `x = f()`.

        `op` is the kind of binding, such as "assign", "for" or "return". `captures` has the nodes of the target, the value and the
        annotation.
        """
        builder = self.builder
        annotation = self.documented_types.get(node.id, {}).get("", NO_TERM)
        if "annotation" in captures:  # a name bound inside an expression is used by the whole expression
            annotate = builder.annotation if op == "local" else builder.declaration
            annotation = self.grammar.helper.refined(builder, annotate(captures["annotation"][0]), annotation)
        extent = captures["extent"][0] if "extent" in captures else node
        value_node = captures["value"][0] if "value" in captures and not captures["value"][0].is_extra else None
        value = builder.term(value_node) if value_node is not None else NO_TERM
        end = value_node if value_node is not None and op != "local" else extent
        first = self.line(extent.start_byte)
        lines = (first, max(first, self.line(end.end_byte - 1)) if value_node is not None or op in ("local", "implied") else first)
        if "extent.inside" in captures:
            lines = self.lines_inside(captures["extent.inside"][0])
        if op in ("implied", "members"):
            self._add_unwritten(op, node, lines)
            return
        if op == "assign" and "extent" in captures:  # a pattern before the code on its own line
            lines = (first, first - 1)
        if op in ("return", "yield", "yield_from", "export"):
            if op == "export" or not self.is_in_nameless_function(node):
                if op == "yield_from":
                    value = builder.add((ITER, value))
                    if value_node is not None:
                        self.add_reference("implicit", value, value_node)
                self.add_binding(builder.unknown, op.removesuffix("_from"), value, annotation, lines)
            return
        if value >= 0 and op in ("for", "local"):
            value = builder.add((ITER, value))
        elif value >= 0 and op == "with":
            value = builder.add((ENTER, value))
        if value_node is not None and builder.terms[value][0] in (ITER, ENTER):
            self.add_reference("implicit", value, value_node)
        here = self.opened.get(node.id)
        is_defined = here is not None and here.kind != "variable"  # `const f = () => …` is a definition already
        for target in captures.get("target", ()):
            if op == "local" and "extent.inside" in captures and self.stands_before(target, lines[0]):
                continue
            if is_defined and builder.terms[builder.term(target)][0] == NAME:
                continue
            asks = value < 0 and (op == "local" or "given" in captures)
            given = self.grammar.helper.given(builder, node, target) if asks else value
            declared = self.grammar.helper.annotated(builder, annotation, target) if annotation >= 0 else annotation
            self.bind(target, op, given, declared, node, lines)

    def lines_inside(self, block: Node) -> tuple[int, int]:
        """Return the first and last line inside a block in braces.

        The lines with the braces are left out, because other code may be on them. If the whole block is on one line, the result is this
        line twice.
        """
        first, last = self.line(block.start_byte), self.line(block.end_byte - 1)
        return (first, last) if first == last else (first + 1, max(first + 1, last - 1))

    def stands_before(self, target: Node, line: int) -> bool:
        """Whether a name also occurs earlier on the same line.

        A binding is valid for whole lines, so it would also apply to the earlier occurrence. The earlier occurrence may be a different
        variable: in `r.Get(func(r *R) {})`, the first `r` is not the parameter `r`. `target` is the name, and `line` is the first line in
        which the binding is valid.
        """
        if self.line(target.start_byte) != line:
            return False
        left = self.builder.slice(self.line_starts[line - 1], target.start_byte)
        return re.search(rf"\b{re.escape(self.builder.text(target))}\b", left) is not None

    def _add_unwritten(self, op: str, node: Node, lines: tuple[int, int]) -> None:
        """Add bindings of names that the source implies.

        `op` is "implied" or "members", and `lines` are the (first, last) lines in which the bindings are valid. The language helper finds
        the names: those of an implied local variable, or the members that a declaration implies.
        """
        builder, helper = self.builder, self.grammar.helper
        if op == "implied":
            for name, term in helper.implied(builder, node):
                self.add_binding(builder.add((NAME, name)), "local", term, NO_TERM, lines)
        else:
            for name, declared in helper.members(builder, node):
                self.add_binding(builder.add((NAME, name)), "annotate", NO_TERM, declared, lines)

    def bind(self, target: Node, op: str, value: OptionalTerm, annotation: OptionalTerm, statement: Node, lines: tuple[int, int]) -> None:
        """Record that a statement gives values to the names in its target.

        For a target of several names, such as `a, b`, each name gets a binding (a record of its value) with its part of `value`. `op` is
        the kind of binding, such as "assign" or "for". `statement` is the syntax node of the assignment. `lines` is the range of lines to
        store in each binding; see `add_binding`.
        """
        builder = self.builder
        shape = self.pattern_kinds.get(target.kind_id)
        if shape == "each":
            shape = "through" if target.named_child_count == 1 else "unpack"
        if shape == "unpack":
            children = [child for child in target.children if (child.is_named or child.type == "_") and not child.is_extra]
            items = self.items_of(value, len(children))
            for position, child in enumerate(children):
                if not child.is_named:
                    continue
                starred = self.pattern_kinds.get(child.kind_id) == "splat"
                if items is not None and not starred:
                    part = items[position]
                else:
                    part = builder.add((UNPACK, value, -1 if starred else position)) if value >= 0 else NO_TERM
                self.bind(child, op, part, NO_TERM, statement, lines)
            return
        if shape == "fields":
            for attribute, child in self.grammar.helper.fields(target):
                part = builder.add((ATTR, value, attribute)) if value >= 0 and attribute else NO_TERM
                self.bind(child, op, part, NO_TERM, statement, lines)
            return
        if shape in ("splat", "through"):
            for child in target.named_children[:1]:
                self.bind(child, op, value, annotation, statement, lines)
            return
        if shape == "last":
            for child in target.named_children[-1:]:
                self.bind(child, op, value, annotation, statement, lines)
            return
        self._bind_one(target, op, value, annotation, statement, lines)

    def _bind_one(
        self, target: Node, op: str, value: OptionalTerm, annotation: OptionalTerm, statement: Node, lines: tuple[int, int]
    ) -> None:
        """Add the binding of a target that is a single name, attribute or item.

        For the parameters, see `bind`.
        """
        builder = self.builder
        builder.consumed.add(target.id)
        term = builder.term(target)
        operator = builder.terms[term][0]
        if op == "set" and (operator != NAME or self.definitions[self.scope].kind not in FUNCTION_LIKE):
            op = "assign"  # only a plain name in a function can belong to an outer scope
        self.add_binding(term, op, value, annotation, lines)
        if operator in (ATTR, INDEX) or (operator == NAME and self._may_be_outer(op, self.builder.text(target))):
            self.add_reference("write", term, target)
        elif (
            operator == NAME
            and op in ("assign", "annotate")
            and self.definitions[self.scope].kind not in FUNCTION_LIKE
            and not self.is_in_nameless_function(target)
        ):
            self.define_variable(target, statement)

    def _may_be_outer(self, op: str, name: str) -> bool:
        """Whether an assignment to a name may change a variable outside.

        `op` is the kind of binding. The function in which the name is assigned does not declare it by this assignment.
        """
        is_in_function = self.definitions[self.scope].kind in FUNCTION_LIKE
        return is_in_function and (op in ASSIGNED or (self.scope, name) in self.elsewhere)

    def items_of(self, value: OptionalTerm, count: int) -> tuple[TermIndex, ...] | None:
        """Return the items of a tuple or list expression with `count` items.

        `value` and the items are indices of expressions. The result is None if the expression is not a tuple or list, or has another number
        of items.
        """
        if value < 0:
            return None
        term = self.builder.terms[value]
        if term[0] not in (TUPLE, LIST):
            return None
        _, items = term
        return items if len(items) == count else None

    def is_in_nameless_function(self, node: Node) -> bool:
        """Whether an anonymous function lies between a node and its scope.

        The scope is the innermost named function, class or module that contains the syntax node.
        """
        kinds = self.function_kinds
        if not kinds:
            return False
        start = self.definitions[self.scope].body_start
        found = node.parent
        while found is not None and found.start_byte >= start:
            if found.kind_id in kinds:
                body = found.child_by_field_name("body")
                if body is not None and body.start_byte <= node.start_byte:
                    return body.start_byte != start or self.scope == 0
            found = found.parent
        return False

    def define_variable(self, target: Node, statement: Node) -> None:
        """Define a variable at the first binding of a name in a module or class.

        `target` is the syntax node of the name, and `statement` the statement that binds it. Later bindings of the name add nothing.
        """
        name = self.builder.text(target)
        if (self.scope, name) in self.named:
            return
        found = self.open_definition("variable", name, statement, target)
        self.opened.setdefault(statement.id, found)
        found.modifiers |= self.modifiers.pop(statement.id, set())
        found.doc = self.docs.pop(statement.id, "")
        found.signature = one_line(self.builder.text(statement))
        found.body_hash = digest(self.source[target.end_byte : statement.end_byte])

    def on_condition(self, kind: str, node: Node, captures: Captures) -> None:
        """Record what a condition implies about a variable in its branch.

        For `if isinstance(x, A)`, a binding records that `x` is an A in the lines of the branch, and none in those of the `else`. For
        `if x is None`, a binding records that the branch runs only in calls whose parameter `x` is None.
        """
        builder = self.builder
        for found in self.grammar.helper.narrowings(builder, node):
            term, value = builder.term(found.target), builder.term(found.value)
            op = "narrow" if found.holds else "exclude"
            tested = max(found.target.end_point.row, found.value.end_point.row) + 1  # an assignment in this line may precede the test
            after = max(found.first_line, tested + 1)
            self.bindings.append(Binding(self.scope, term, op, value, NO_TERM, found.first_line, found.last_line, after))

        parameters = {parameter.name for parameter in self.definitions[self.scope].parameters}
        for demand in self.grammar.helper.demands(builder, node) if parameters else ():
            tests = [(text, need) for name, need in demand.tests if (text := builder.text(name)) in parameters]
            if tests and (demand.op == "when" or len(tests) == len(demand.tests)):
                terms = tuple(builder.add((OPERATOR, need, builder.add((NAME, text)), NO_TERM)) for text, need in tests)
                lines = (demand.first_line, demand.last_line, demand.last_line)
                self.bindings.append(Binding(self.scope, builder.unknown, demand.op, builder.add((TUPLE, terms)), NO_TERM, *lines))

    def on_scope(self, kind: str, node: Node, captures: Captures) -> None:
        """Record a name that a `global` or `nonlocal` statement declares.

        `kind` is "global" or "nonlocal", and `node` the syntax node of the name.
        """
        self.elsewhere[self.scope, self.builder.text(node)] = kind

    def apply_scope_statements(self) -> None:
        """Move bindings of `global` and `nonlocal` names to the right scope.

        Such a binding was first recorded in the function that contains the `global` or `nonlocal` statement. The right scope is the module
        for `global`. For `nonlocal`, it is the nearest outer function that binds the name.
        """
        if not self.elsewhere:
            return
        terms = self.builder.terms
        for position, binding in enumerate(self.bindings):
            target = terms[binding.target]
            where = self.elsewhere.get((binding.scope, target[1])) if target[0] == NAME else None
            if where == "global":
                self.bindings[position] = binding._replace(scope=0)
            elif where == "nonlocal":
                scope = self.definitions[binding.scope].parent
                while scope > 0 and not self.binds(scope, binding.target):
                    scope = self.definitions[scope].parent
                self.bindings[position] = binding._replace(scope=max(scope, 0))

    def binds(self, scope: int, target: TermIndex) -> bool:
        """Whether the function `scope` itself binds the name `target`.

        A function binds the names of its parameters and the names to which its own statements assign. `scope` is the index of the function
        among the definitions. `target` is the index of the expression that has the name.
        """
        definition = self.definitions[scope]
        if definition.kind not in FUNCTION_LIKE:
            return False
        term = self.builder.terms[target]
        if term[0] != NAME:
            return False
        _, name = term
        return any(parameter.name == name for parameter in definition.parameters) or any(
            binding.scope == scope and binding.target == target for binding in self.bindings
        )
