"""Extract definitions, such as classes and functions, with their headers.

A binding is a place where a name or an attribute gets a value, such as `x = f()`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import (
    ATTR,
    CALL,
    LAMBDA,
    NAME,
    NEW,
    NO_TERM,
    Parameter,
    TermIndex,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node


from graphmem.parsing.extract_bindings import Bindings
from graphmem.parsing.extraction import CLASS_LIKE, FUNCTION_LIKE, Captures, OpenDefinition, digest, one_line
from graphmem.parsing.languages import comment_text

QUOTES: Final = "\"'"
"""Signs around the path of a route."""

_COMMENT: Final = re.compile(r"#|//|/\*|--|<!--")

MAX_DOC_LINES: Final = 200
"""Most line comments above a definition that are read as documentation."""


class Definitions(Bindings):
    """The part of extraction that records definitions and their headers."""

    def on_definition(self, kind: str, node: Node, captures: Captures) -> None:
        """Begin a named definition; one with a body becomes the current scope.

        `kind` is the kind of definition, such as "class". `captures` has the syntax nodes of its parts, such as the name and the body. If
        several query patterns match the same `node`, the first pattern is used.
        """
        if node.id in self.opened:
            return
        name_node = captures["name"][0]
        owner = self.grammar.helper.owner(self.builder.text(captures["owner"][0])) if "owner" in captures else ""
        name = self.grammar.helper.name(self.builder.text(name_node))
        if "verb" in captures:
            name = f"{self.builder.text(captures['verb'][0]).upper()} {name.strip(QUOTES)}"
        if "modifier.anonymous" in captures:
            name = f"<{name.partition('<')[0].rpartition('.')[2]}>"  # named after its base, in a form that no source can look up
        found = self.open_definition(kind, name, node, name_node, owner)
        self.opened[node.id] = found
        found.doc = self.docs.pop(node.id, "")
        bodies: Sequence[Node] = captures.get("body", ())
        body = bodies[0] if bodies else None
        header_end = captures["signature.end"][0].start_byte if "signature.end" in captures else body.start_byte if body else node.end_byte
        found.signature = one_line(self._header(node, header_end))
        for modifier in captures:
            if modifier.startswith("modifier."):
                found.modifiers.add(modifier[9:])
        found.modifiers |= self.modifiers.pop(node.id, set())
        found.modifiers.update(modifier for first, last, modifier in self.regions if first <= node.start_byte < last)
        self.add_decorators(found, node)
        found.documented_types = self.documented_types.get(node.id, {})
        returns = self.builder.declaration(captures["returns"][0]) if "returns" in captures else NO_TERM
        found.returns = self.grammar.helper.refined(self.builder, returns, found.documented_types.get("return", NO_TERM))
        if "" in found.documented_types and kind in FUNCTION_LIKE:
            line = self.line(node.start_byte)
            self.add_binding(self.builder.add((LAMBDA, NO_TERM)), "annotate", NO_TERM, found.documented_types[""], (line, line))
        self._add_bases(found, captures)
        if "value" in captures:
            self.bind(
                name_node,
                "assign",
                self.builder.declaration(captures["value"][0]),
                NO_TERM,
                node,
                (self.line(node.start_byte), self.line(node.end_byte - 1)),
            )
        self._begin_body(found, node, name_node, bodies)

    def _add_bases(self, found: OpenDefinition, captures: Captures) -> None:
        """Add the base classes in a class header."""
        for base in captures.get("base", ()):
            self.add_base(found, base)
        for bases in captures.get("bases", ()):
            for base in bases.named_children:
                if not base.is_extra:
                    self.add_base(found, base)

    def _begin_body(self, found: OpenDefinition, node: Node, name_node: Node, bodies: Sequence[Node]) -> None:
        """Record the body of a definition, which becomes the current scope.

        `found` is the definition, `node` its syntax node, `name_node` that of its name, and `bodies` has the nodes of its body. Without a
        body, only a definition that may have parameters, bases or types becomes the scope.
        """
        if bodies:
            body = bodies[0]
            found.has_body = True
            found.body_start, found.body_end = body.start_byte, bodies[-1].end_byte
            found.body_hash = self.hash_body(node, name_node)
            self.stack.append(found)
        else:
            found.body_hash = digest(self.source[node.start_byte : node.end_byte])
            if found.kind in FUNCTION_LIKE or found.kind in CLASS_LIKE or found.kind == "type":  # parameters, bases and types follow
                found.body_start = found.body_end = node.end_byte
                self.stack.append(found)

    def _header(self, node: Node, end: int) -> str:
        """Return the source of a definition up to `end`, without comments."""
        text = self.builder.slice(node.start_byte, end)
        if not _COMMENT.search(text):
            return text
        parts, at = [], node.start_byte
        waiting = [node]
        while waiting:
            one = waiting.pop()
            if one.start_byte >= end:
                continue
            if one.is_extra:
                parts.append(self.builder.slice(at, one.start_byte))
                at = one.end_byte
            else:
                waiting.extend(reversed(one.named_children))
        return " ".join([*parts, self.builder.slice(at, end)]) if at < end else "".join(parts)

    def add_decorators(self, found: OpenDefinition, node: Node) -> None:
        """Add the decorators of `node` to its definition `found`.

        If a decorator implies a modifier, such as `static`, the modifier is added as well. The table `decorator_modifiers` of the language
        lists these decorators.
        """
        found.decorators = tuple(self.decorators.pop(node.id, ()))
        table = self.grammar.spec.decorator_modifiers
        for term in found.decorators:
            words = self.dotted(term).split(".")
            for count in (1, 2):
                modifier = table.get(".".join(words[-count:]))
                if modifier:
                    found.modifiers.update(modifier.split())

    def on_base(self, kind: str, node: Node, captures: Captures) -> None:
        """Add a base class that is named inside the body of its class.

        In Ruby, `include Name` in a class adds the base `Name`. If a method of the class names the base, the base is added to the class as
        well. An example is `def self.included(other); other.extend Name`. A base of the kind "mixed" is put before the other bases, so that
        its members are found first.
        """
        found = self.stack[-1]
        while found.kind in FUNCTION_LIKE and found.parent:
            found = self.definitions[found.parent]
        self.add_base(found, node)
        if kind == "mixed":
            found.bases.insert(0, found.bases.pop())

    def add_base(self, found: OpenDefinition, base: Node) -> None:
        """Add a base class, or a keyword of the class header, to a class.

        `found` is the class. `base` is the syntax node of the base class or of a keyword such as `metaclass=M`.
        """
        keyword = base.child_by_field_name("name") if base.type == "keyword_argument" else None
        value = base.child_by_field_name("value") if keyword is not None else base
        if value is None:
            return
        self.builder.consumed.add(value.id)
        term = self.builder.term(value)
        found.bases.append((self.builder.text(keyword) if keyword is not None else "", term))
        if keyword is None:
            self.add_reference("inherit", term, value)

    def hash_body(self, node: Node, name_node: Node) -> str:
        """Return a hash of a definition's text without its name and indentation.

        A definition that was moved or renamed therefore has the same hash. `name_node` is the syntax node of the name.
        """
        indent = node.start_byte - self.line_starts[self.line(node.start_byte) - 1]
        text = self.source[node.start_byte : name_node.start_byte] + self.source[name_node.end_byte : node.end_byte]
        return digest(text.replace(b"\n" + b" " * indent, b"\n") if indent else text)

    def dotted(self, term: TermIndex) -> str:
        """Return the dotted name of an expression: `a.b` for `a.b` and `a.b(c)`.

        `term` is the index of the expression. The result is "" for an expression that is not a name, a dotted name or a call of one, such
        as `a[b].c`.
        """
        parts: list[str] = []
        terms = self.builder.terms
        found = terms[term]
        if found[0] in (CALL, NEW):
            _, callee, _, _ = found
            found = terms[callee]
        while found[0] == ATTR:
            _, base, name = found
            parts.append(name)
            found = terms[base]
        if found[0] != NAME:
            return ""
        _, name = found
        return ".".join([name, *reversed(parts)])

    def on_decorator(self, kind: str, node: Node, captures: Captures) -> None:
        """Record a decorator for the definition to which it belongs.

        In most grammars, the definition begins after the decorator, so the decorator is kept until then. In some grammars, the decorator is
        inside the definition. In this case, the decorator is added to the definition at once.
        """
        if node.is_extra:  # a comment between decorators
            return
        self.builder.consumed.add(node.id)
        decorated = captures["decorated"][0].id
        self.decorators.setdefault(decorated, []).append(self.builder.term(node))
        if decorated in self.opened:  # the decorator is inside its definition
            inside = self.opened[decorated]
            earlier = inside.decorators
            self.add_decorators(inside, captures["decorated"][0])
            inside.decorators = earlier + inside.decorators

    def on_wrapper(self, kind: str, node: Node, captures: Captures) -> None:
        """Record a definition's modifiers, and the node that encloses it.

        An example of such a syntax `node` is an `export` statement. The definition gets the span of this node, and the modifiers that the
        query captured in the node.
        """
        wrapped = captures["wrapped"][0].id
        self.wrappers.setdefault(wrapped, node)
        for modifier in captures:
            if modifier.startswith("modifier."):
                self.modifiers.setdefault(wrapped, set()).add(modifier[9:])

    def on_modifier(self, kind: str, node: Node, captures: Captures) -> None:
        """Add the modifier `kind`, such as "static", to the current definition."""
        self.stack[-1].modifiers.add(kind)

    def on_doc(self, kind: str, node: Node, captures: Captures) -> None:
        """Record a documentation text, such as a docstring.

        The text belongs to the definition that the query captures as `@doc.of`, or else to the scope that contains the text.
        """
        if "doc.of" in captures:
            marker = self.grammar.spec.line_comment
            text = self.with_lines_above(node, marker) if marker else self.builder.text(node)
            self.add_documented_types(captures["doc.of"][0], node, text)
            if marker:
                below = node.next_sibling or captures["doc.of"][0]  # an attribute may stand between
                if _last_row(node) + 1 < below.start_point.row:
                    return  # an empty line between: it describes something else
                text = comment_text(text, marker)
            self.docs[captures["doc.of"][0].id] = self.grammar.helper.docstring(text)
            return
        scope = self.definitions[self.scope]
        if not scope.doc:
            marker = self.grammar.spec.line_comment
            text = comment_text(self.with_lines_below(node, marker), marker) if marker else self.builder.text(node)
            scope.doc = self.grammar.helper.docstring(text)

    def with_lines_above(self, node: Node, marker: str) -> str:
        """Return the text of a comment, with the line comments directly above.

        Line comments begin with `marker`, such as `//`. A comment of another form, such as `/* … */`, is returned alone.
        """
        text = self.builder.text(node)
        lines, above = [text.rstrip("\r\n")], node.prev_sibling
        while text.startswith(marker) and above is not None and above.type == node.type and len(lines) < MAX_DOC_LINES:
            if _last_row(above) + 1 < node.start_point.row or not self.builder.text(above).startswith(marker):
                break
            lines.append(self.builder.text(above).rstrip("\r\n"))
            node, above = above, above.prev_sibling
        return "\n".join(reversed(lines))

    def with_lines_below(self, node: Node, marker: str) -> str:
        """Return the text of a comment, with the line comments directly below.

        Line comments begin with `marker`, such as `//`. Only comments that also have the next character of the first one, such as `//!`,
        are included.
        """
        text = self.builder.text(node)
        sign = text[: len(marker) + 1]
        lines, below = [text.rstrip("\r\n")], node.next_sibling
        while below is not None and below.type == node.type and len(lines) < MAX_DOC_LINES:
            line = self.builder.text(below)
            if _last_row(node) + 1 < below.start_point.row or not line.startswith(sign):
                break
            lines.append(line.rstrip("\r\n"))
            node, below = below, below.next_sibling
        return "\n".join(lines)

    def add_documented_types(self, documented: Node, comment: Node, text: str) -> None:
        """Record the types that a documentation comment declares.

        `text` is the text of the comment, with the line comments above. Types of parameters and results are recorded for the definition
        `documented`, which is below the comment. Type aliases are recorded for the scope that contains the comment.
        """
        declared = self.grammar.helper.documented(self.builder, text)
        if not declared:
            return
        self.documented_types[documented.id] = declared
        line = self.line(comment.start_byte)
        for name, term in declared.items():
            if name.startswith("<"):
                self.add_binding(self.builder.add((NAME, name[1:-1])), "local", NO_TERM, term, (line, self.line(documented.end_byte)))
            elif " " in name:
                self.add_binding(self.builder.add((NAME, name)), "assign", term, NO_TERM, (line, line))

    def on_branch(self, kind: str, node: Node, captures: Captures) -> None:
        """Count one more branch, such as an `if`, in the current definition.

        The number of branches gives the complexity of the definition.
        """
        self.definitions[self.scope].branches += 1

    def on_block(self, kind: str, node: Node, captures: Captures) -> None:
        """Record where a block of statements ends.

        `node` is the syntax node of the block. Every binding (`x = f()`) in the block stores the last line of the block.
        """
        self.blocks.append((node.end_byte, self.line(max(node.start_byte, node.end_byte - 1))))

    def on_parameter(self, kind: str, node: Node, captures: Captures) -> None:
        """Add a parameter to the function whose header is being read.

        `kind` is, for example, "normal" or "rest". The kinds "after_positional" and "before_keyword" are the marks `/` and `*` between
        parameters, as in Python.
        """
        owner = self.stack[-1]
        if owner.index == 0 or owner.kind == "type" or owner.body_start <= node.start_byte or not self.grammar.helper.is_parameter(node):
            return
        if kind == "after_positional":
            owner.parameters[:] = [parameter._replace(kind="positional") for parameter in owner.parameters]
            return
        if kind == "before_keyword":
            owner.keyword_only = True
            return
        kind, beside = self.grammar.helper.parameter(node, kind)
        if kind == "normal" and owner.keyword_only:
            kind = "keyword"
        owner.keyword_only = owner.keyword_only or kind == "rest"
        annotation = self.builder.declaration(captures["annotation"][0]) if "annotation" in captures else NO_TERM
        place = len(owner.parameters)
        written = captures["default"][0] if "default" in captures else beside
        default = self.builder.term(written) if written else NO_TERM
        if written and owner.kind in FUNCTION_LIKE and not self.grammar.spec.defaults_run_once:
            owner.default_start, owner.default_end = written.start_byte, written.end_byte
        if "name" not in captures:  # only its type is given
            owner.parameters.append(Parameter("", annotation, default, kind))
            return
        target = captures["name"][0]
        name = self.builder.text(target)
        if annotation >= 0:
            annotation = self.grammar.helper.annotated(self.builder, annotation, target)
        if owner.documented_types:
            by_place = owner.documented_types.get(f"#{place}", NO_TERM) if target.kind_id in self.pattern_kinds else NO_TERM
            annotation = self.grammar.helper.refined(self.builder, annotation, owner.documented_types.get(name, by_place))
        if target.kind_id in self.pattern_kinds:  # the pattern destructures a parameter that has no name of its own
            name = one_line(name)
            self.scope = owner.index
            line = self.line(node.start_byte)
            self.bind(target, "assign", self.builder.add((NAME, name)), NO_TERM, node, (line, line))
        owner.parameters.append(Parameter(name, annotation, default, kind))


def _last_row(node: Node) -> int:
    """Return the last row of a comment.

    Some grammars count the line's end as part of a comment. Its end is then the beginning of the next row.
    """
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point.row else row
