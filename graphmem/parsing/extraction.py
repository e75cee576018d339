"""The state that all parts of extraction share while reading one file.

Extraction converts a syntax tree to facts: definitions, imports, bindings and references.

A binding is a place where a name or an attribute gets a value, such as `x = f()`.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from graphmem.model import MODULE_QUALNAME
from graphmem.parsing.facts import (
    AWAIT,
    CALL,
    INDEX,
    LITERAL,
    NO_TERM,
    NOWHERE,
    OPERATOR,
    STRING,
    Binding,
    Definition,
    Import,
    OptionalTerm,
    Parameter,
    Reference,
    Spot,
    TermIndex,
    written_name,
)
from graphmem.parsing.grammar import Grammar
from graphmem.parsing.terms import TermBuilder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tree_sitter import Node


MAX_SIGNATURE: Final = 300
"""Most characters of a stored signature."""

CLASS_LIKE: Final = frozenset({"class", "interface", "enum"})
FUNCTION_LIKE: Final = frozenset({"function", "method"})

Captures = dict[str, list["Node"]]

_new_tuple: Final = tuple.__new__  # twice as fast as calling the class; every file creates hundreds


class OpenDefinition:
    """A class, function or other definition whose parts are being collected."""

    __slots__ = (
        "bases",
        "body_end",
        "body_hash",
        "body_start",
        "branches",
        "decorators",
        "default_end",
        "default_start",
        "doc",
        "documented_types",
        "end_byte",
        "end_line",
        "has_body",
        "index",
        "keyword_only",
        "kind",
        "modifiers",
        "name",
        "name_column",
        "name_line",
        "ordinal",
        "parameters",
        "parent",
        "qualname",
        "returns",
        "signature",
        "span_end",
        "start_byte",
        "start_line",
    )

    def __init__(self, index: int, kind: str, name: str, qualname: str, parent: int) -> None:
        self.index = index
        self.kind = kind
        self.name = name
        self.qualname = qualname
        self.parent = parent
        self.ordinal = 0
        self.start_byte = self.end_byte = self.span_end = self.body_start = self.body_end = 0
        self.default_start = self.default_end = 0  # of the latest parameter with a default value that runs in each call
        self.start_line = self.end_line = self.name_line = 1
        self.name_column = 0
        self.signature = self.doc = self.body_hash = ""
        self.modifiers: set[str] = set()
        self.decorators: tuple[TermIndex, ...] = ()
        self.parameters: list[Parameter] = []
        self.returns: OptionalTerm = NO_TERM
        self.bases: list[tuple[str, TermIndex]] = []
        self.branches = 0
        self.has_body = False
        self.keyword_only = False
        self.documented_types: Mapping[str, TermIndex] = {}  # types that its documentation declares, see `Helper.documented`

    def close(self) -> Definition:
        """Return the finished `Definition` with all collected parts."""
        return Definition(
            self.kind,
            self.name,
            self.qualname,
            self.ordinal,
            self.parent,
            self.start_byte,
            self.end_byte,
            self.start_line,
            self.end_line,
            self.name_line,
            self.name_column,
            self.signature,
            self.doc,
            tuple(sorted(self.modifiers)),
            self.decorators,
            tuple(self.parameters),
            self.returns,
            tuple(self.bases),
            1 + self.branches if self.has_body else 0,
            self.body_hash,
        )


class Extraction:
    """The state of extracting one file: collected facts and current position."""

    def __init__(self, grammar: Grammar, path: str, source: bytes, content_hash: str) -> None:
        self.grammar = grammar
        self.path = path
        self.source = source
        self.content_hash = content_hash
        self.builder = TermBuilder(grammar, grammar.terms, source)
        self.line_starts = [0]
        position = source.find(b"\n")
        while position >= 0:
            self.line_starts.append(position + 1)
            position = source.find(b"\n", position + 1)
        self.lines = len(self.line_starts) - (1 if source.endswith(b"\n") or not source else 0)
        self.definitions: list[OpenDefinition] = []
        self.stack: list[OpenDefinition] = []
        self.blocks: list[tuple[int, int]] = []  # (end byte, last line)
        self.scope = 0
        self.imports: list[Import] = []
        self.bindings: list[Binding] = []
        self.references: list[Reference] = []
        self.holders: dict[tuple[int, str], OpenDefinition] = {}  # (parent, name) -> types that may have methods outside of them
        self.apart: list[tuple[OpenDefinition, str]] = []  # methods that precede their class in the file, each with the name of the class
        self.twins: dict[tuple[str, str], int] = {}
        self.named: set[tuple[int, str]] = set()
        self.wrappers: dict[int, Node] = {}
        self.decorators: dict[int, list[TermIndex]] = {}
        self.modifiers: dict[int, set[str]] = {}
        self.docs: dict[int, str] = {}
        self.documented_types: dict[int, Mapping[str, TermIndex]] = {}
        self.opened: dict[int, OpenDefinition] = {}
        self.function_kinds = _function_kinds(grammar)
        self.elsewhere: dict[tuple[int, str], str] = {}  # (scope, name) -> global | nonlocal
        self.pattern_kinds = _pattern_kinds(grammar)
        self.regions = grammar.helper.regions(source)

    def line(self, byte: int) -> int:
        """Return the 1-based line that contains a byte offset."""
        return bisect_right(self.line_starts, byte)

    def column(self, byte: int, line: int) -> int:
        """Return the 0-based column of a byte offset, in characters."""
        start = self.line_starts[line - 1]
        if self.builder.ascii is not None:
            return byte - start
        return len(self.source[start:byte].decode("utf-8", "replace"))

    def open_module(self) -> None:
        """Begin the module, which is the first definition of every file."""
        stem = self.path.rpartition("/")[2].partition(".")[0]
        module = OpenDefinition(0, "module", stem, MODULE_QUALNAME, -1)
        module.end_byte = module.span_end = module.body_end = len(self.source)
        module.end_line = max(1, self.lines)
        module.has_body = True
        module.body_hash = digest(self.source)
        self.definitions.append(module)
        self.stack.append(module)
        self.blocks.append((len(self.source) + 1, module.end_line))

    def open_definition(self, kind: str, name: str, node: Node, name_node: Node, owner: str = "") -> OpenDefinition:
        """Add a definition to the current scope, or to the class `owner`.

        A class `owner` is given for a method that is written outside its class. `node` is the syntax node of the definition, and
        `name_node` is the syntax node of its name.
        """
        parent = self.definitions[self.scope]
        if owner and not (parent.index and parent.name == owner):
            apart = self.grammar.spec.methods_apart
            if apart:
                holder = self.holder(parent.index, owner)
            else:
                inside = (found for found in reversed(self.definitions) if found.name == owner and found.parent == parent.index)
                holder = next(inside, None)
            if holder is None and apart:
                return self.open_apart(kind, name, node, name_node, owner)
            parent = holder or parent
        if kind == "function" and parent.kind in CLASS_LIKE and "friend" not in self.modifiers.get(node.id, ()):
            kind = "method"
        qualname = name if parent.index == 0 else f"{parent.qualname}.{name}"
        return self.registered(kind, name, qualname, parent, node, name_node)

    def holder(self, parent: int, owner: str) -> OpenDefinition | None:
        """Return the class `owner` of a method that is written elsewhere.

        `owner` is the name or the dotted path of the class, and the path may begin with namespaces. `parent` is the scope in which the
        method is written. The result is None if the file has no such class before the method.
        """
        found = self.holders.get((parent, owner))
        parts = owner.split(".")
        for first in range(len(parts) if found is None and len(parts) > 1 else 0):
            found = self.holders.get((parent, parts[first]))
            for name in parts[first + 1 :]:
                found = self.holders.get((found.index, name)) if found is not None else None
            if found is not None:
                break
        return found

    def open_apart(self, kind: str, name: str, node: Node, name_node: Node, owner: str) -> OpenDefinition:
        """Begin a method or class that is written outside its class `owner`.

        This is for an `owner` that is further down in the file, or in another file. Until `join_owners` finds `owner`, the new definition
        belongs to the current scope.
        """
        parent = self.definitions[self.scope]
        outer = f"{parent.qualname}.{owner}" if parent.index else owner
        found = self.registered(kind if kind in CLASS_LIKE else "method", name, f"{outer}.{name}", parent, node, name_node)
        self.apart.append((found, owner))
        return found

    def join_owners(self) -> None:
        """Attach methods and classes to classes that are defined further down.

        `open_apart` began these methods and classes outside their class. A class with a repeated name, such as `RDoc::RDoc`, is never
        attached to itself.
        """
        for method, owner in self.apart:
            holder = self.holder(method.parent, owner)
            if holder is not None and not self._is_around(method, holder):
                method.parent = holder.index

    def _is_around(self, outer: OpenDefinition, inner: OpenDefinition) -> bool:
        """Whether `outer` contains the definition `inner`, or is the same one."""
        while inner is not outer and inner.index:
            inner = self.definitions[inner.parent]
        return inner is outer

    def registered(self, kind: str, name: str, qualname: str, parent: OpenDefinition, node: Node, name_node: Node) -> OpenDefinition:
        """Add a new definition with its position in the file; return it.

        `parent` is the definition that contains the new one. `node` is the syntax node of the new definition, and `name_node` is the syntax
        node of its name.
        """
        found = OpenDefinition(len(self.definitions), kind, name, qualname, parent.index)
        found.ordinal = self.twins.get((kind, qualname), 0)
        self.twins[kind, qualname] = found.ordinal + 1
        self.named.add((parent.index, name))
        outer = self.wrappers.get(node.id, node)
        found.start_byte, found.end_byte = outer.start_byte, outer.end_byte
        found.start_line, found.end_line = self.line(outer.start_byte), self.line(max(outer.start_byte, outer.end_byte - 1))
        found.name_line = self.line(name_node.start_byte)
        found.name_column = self.column(name_node.start_byte, found.name_line)
        found.span_end = node.end_byte
        prefix = self.grammar.spec.private_prefix
        if prefix and name.startswith(prefix) and not name.endswith("__"):
            found.modifiers.add("private")
        self.definitions.append(found)
        if kind in CLASS_LIKE:
            self.holders.setdefault((parent.index, name), found)
        return found

    def add_binding(self, target: TermIndex, op: str, value: OptionalTerm, annotation: OptionalTerm, lines: tuple[int, int]) -> None:
        """Add a binding, such as `x = f()`, to the current scope.

        `target` and `value` are indices of the expressions `x` and `f()`, and `op` is the kind of binding. `lines` is (first line of the
        binding, last line of the value). If the binding is valid only in some lines, such as a branch, `lines` is (first, last) of these
        lines.
        """
        self.bindings.append(Binding(self.scope, target, op, value, annotation, *lines, self.blocks[-1][1]))

    def has_operands(self, term: TermIndex) -> bool:
        """Whether the class of an operand may define the operation `term`.

        `term` is the index of an expression. The result is True for `a + b`. It is False for `1 + 2`, because both operands are literals.
        """
        terms = self.builder.terms
        found = terms[term]
        operands: tuple[OptionalTerm, ...] = ()
        if found[0] == INDEX:
            _, base, _ = found
            operands = (base,)
        elif found[0] == CALL:
            _, callee, _, _ = found
            operands = (callee,)
        elif found[0] == AWAIT:
            _, awaited = found
            operands = (awaited,)
        elif found[0] == OPERATOR:
            _, _, left, right = found
            operands = (left, right)
        return any(operand >= 0 and terms[operand][0] not in (STRING, LITERAL) for operand in operands)

    def add_reference(self, kind: str, term: TermIndex, node: Node) -> None:
        """Add a reference, which is a use of a name, to the current scope.

        `kind` is the kind of use, such as "call". `term` is the index of the expression, and `node` its syntax node.
        """
        start, end = node.start_byte, node.end_byte
        starts = self.line_starts
        line = bisect_right(starts, start)
        last = line if line == len(starts) or end <= starts[line] else bisect_right(starts, end - 1)
        column = start - starts[line - 1] if self.builder.ascii is not None else self.column(start, line)
        name_line, name_column = self.name_place(term, self.builder.spots.get(node.id, start), start, end)
        self.references.append(_new_tuple(Reference, (kind, self.scope, term, line, column, last, name_line, name_column)))

    def name_place(self, term: TermIndex, spot: int, start: int, end: int) -> tuple[int, int]:
        """Return the line and column of an expression's last name.

        For `a.b(c)`, the last name is `b`. The name is searched for at `spot` first, then in the whole expression. The result is (0, 0) if
        the expression has no name, or its source does not contain the name.

        Args:
            term: the expression, as its index among the file's expressions.
            spot: byte offset where the name is expected.
            start: first byte of the expression.
            end: the byte after the expression.
        """
        name = written_name(self.builder.terms, term)
        if not name:
            return 0, 0
        text, ascii_text = name.encode(), self.builder.ascii
        if not (self.source.startswith(text, spot) if ascii_text is None else ascii_text.startswith(name, spot)):
            spot = end - len(text)
            if spot < start or not self.source.startswith(text, spot):
                found = re.search(rb"(?<![\w$])" + re.escape(text) + rb"(?![\w$])", self.source[start:end])
                if found is None:
                    return 0, 0
                spot = start + found.start()
        line = bisect_right(self.line_starts, spot)
        return line, self.column(spot, line)

    def add_declared(self) -> None:
        """Add a reference for each name in a declared type that was just read.

        In `x: list[A]`, the names are `list` and `A`. Later, an edge from the declaration to each named type is made from these references.
        """
        for term, spot in self.builder.declared:
            line, column = self.name_place(term, spot, spot, spot)
            if line:
                self.references.append(_new_tuple(Reference, ("named", self.scope, term, line, column, line, line, column)))
        self.builder.declared.clear()

    def spot(self, node: Node | None) -> Spot:
        """Return (line, column, length) of a syntax node that is on one line.

        The result is `NOWHERE` if `node` is None.
        """
        if node is None:
            return NOWHERE
        line = self.line(node.start_byte)
        return line, self.column(node.start_byte, line), len(self.builder.text(node))


def _pattern_kinds(grammar: Grammar) -> dict[int, str]:
    found = _patterns.get(grammar.spec.name)
    if found is None:
        found = {i: shape for node_type, shape in grammar.spec.patterns.items() for i in grammar.kind_ids(node_type)}
        _patterns[grammar.spec.name] = found
    return found


_patterns: dict[str, dict[int, str]] = {}


def _function_kinds(grammar: Grammar) -> frozenset[int]:
    found = _functions.get(grammar.spec.name)
    if found is None:
        found = _functions[grammar.spec.name] = grammar.kinds(grammar.spec.functions)
    return found


_functions: dict[str, frozenset[int]] = {}


def digest(text: bytes) -> str:
    """Return a hash of source text, 16 hex digits."""
    return hashlib.blake2b(text, digest_size=8).hexdigest()


def one_line(text: str) -> str:
    """Put source text on one line, cut at `MAX_SIGNATURE` characters.

    A `{`, `:` or `=` at the end is removed.
    """
    line = " ".join(text.split()).removesuffix("{").rstrip().removesuffix(":").removesuffix("=").rstrip()
    return line if len(line) <= MAX_SIGNATURE else line[: MAX_SIGNATURE - 1] + "…"
