"""First stage: the facts of one file, from one flat query over its syntax tree.

All matches of a language's query files are sorted by position; a stack of open definitions then tells the
scope of each. Every kind of match is handled by one short method named after its main capture, so this file
knows captures and no language.
"""

from __future__ import annotations

import gc
import hashlib
from bisect import bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tree_sitter import QueryCursor

from graphmem.model import MODULE_QUALNAME
from graphmem.parsing.facts import (
    ATTR,
    ENTER,
    INDEX,
    ITER,
    LIST,
    LITERAL,
    NAME,
    OPERATOR,
    STRING,
    TUPLE,
    UNPACK,
    Binding,
    Definition,
    FileFacts,
    Import,
    Parameter,
    Reference,
)
from graphmem.parsing.grammar import Grammar, load_grammar
from graphmem.parsing.terms import TermBuilder

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

MAX_SIGNATURE: Final = 300
"""Characters of a signature that are kept."""

_MAIN: Final = (
    "definition.",
    "decorator",
    "wrapper",
    "binding.",
    "parameter.",
    "reference.",
    "import.kind.",
    "scope.",
    "condition",
    "doc",
    "modifier.",
    "branch",
    "block",
)
"""Which capture of a pattern names what it is about, first come first served."""

_CLASS_LIKE: Final = frozenset({"class", "interface", "enum"})
_FUNCTION_LIKE: Final = frozenset({"function", "method"})

Captures = dict[str, list["Node"]]

_new_tuple: Final = tuple.__new__  # twice as quick as calling the class, for what every file has hundreds of


def extract(path: str, source: bytes, language: str, content_hash: str) -> FileFacts:
    """Say everything one file says on its own.

    Args:
        path: from the root of the repository, with '/'.
        source: the text as UTF-8 without a byte order mark.
        language: a folder of `grammars/`.
        content_hash: kept in the facts, not computed here.

    Returns:
        Facts in source order. Syntax errors leave the readable parts and a diagnostic; a parse that takes
        too long leaves the module alone.

    Raises:
        UnsupportedLanguageError: no such language.
        GrammarError: its folder is not usable.
    """
    grammar = load_grammar(language)
    return extract_parsed(path, source, grammar, grammar.parse(source), content_hash)


def extract_parsed(path: str, source: bytes, grammar: Grammar, tree: Tree | None, content_hash: str) -> FileFacts:
    """As `extract`, for a caller that has parsed because it needs the tree too; None where parsing took too long."""
    collecting = gc.isenabled()
    gc.disable()  # thousands of short-lived matches would set it off a hundred times a file, to find no cycle
    try:
        return _Extraction(grammar, path, source, content_hash).run(tree)
    finally:
        if collecting:
            gc.enable()


class _Open:
    """A definition while its parts are still being met."""

    __slots__ = (
        "bases",
        "body_end",
        "body_hash",
        "body_start",
        "branches",
        "decorators",
        "doc",
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
        self.start_line = self.end_line = self.name_line = 1
        self.name_column = 0
        self.signature = self.doc = self.body_hash = ""
        self.modifiers: set[str] = set()
        self.decorators: tuple[int, ...] = ()
        self.parameters: list[Parameter] = []
        self.returns = -1
        self.bases: list[tuple[str, int]] = []
        self.branches = 0
        self.has_body = False
        self.keyword_only = False

    def close(self) -> Definition:
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


class _Extraction:
    """One run over one file."""

    def __init__(self, grammar: Grammar, path: str, source: bytes, content_hash: str) -> None:
        self.grammar = grammar
        self.path = path
        self.source = source
        self.content_hash = content_hash
        self.builder = TermBuilder(grammar, source)
        self.line_starts = [0]
        position = source.find(b"\n")
        while position >= 0:
            self.line_starts.append(position + 1)
            position = source.find(b"\n", position + 1)
        self.lines = len(self.line_starts) - (1 if source.endswith(b"\n") or not source else 0)
        self.definitions: list[_Open] = []
        self.stack: list[_Open] = []
        self.blocks: list[tuple[int, int]] = []  # (end byte, last line)
        self.scope = 0
        self.imports: list[Import] = []
        self.bindings: list[Binding] = []
        self.references: list[Reference] = []
        self.twins: dict[tuple[str, str], int] = {}
        self.named: set[tuple[int, str]] = set()
        self.wrappers: dict[int, Node] = {}
        self.decorators: dict[int, list[int]] = {}
        self.modifiers: dict[int, set[str]] = {}
        self.docs: dict[int, str] = {}
        self.opened: dict[int, _Open] = {}
        self.function_kinds = _function_kinds(grammar)
        self.elsewhere: dict[tuple[int, str], str] = {}  # (scope, name) -> global | nonlocal
        self.pattern_kinds = _pattern_kinds(grammar)

    def run(self, tree: Tree | None) -> FileFacts:
        """Walk the matches in order and close the facts."""
        self.open_module()
        diagnostics: list[tuple[str, str, str, int]] = []
        errors = 0
        if tree is None:
            diagnostics.append(("error", "timeout", "parsing took too long; nothing of this file is in the graph but its text", 0))
        else:
            if tree.root_node.has_error:
                errors, line = _count_errors(tree.root_node)
                diagnostics.append(("warning", "syntax", f"{errors} places could not be parsed; what is around them is in the graph", line))
            self.walk(tree.root_node)
        self.apply_scope_statements()
        definitions = [definition.close() for definition in self.definitions]
        return FileFacts(
            path=self.path,
            language=self.grammar.spec.name,
            content_hash=self.content_hash,
            size_bytes=len(self.source),
            lines=self.lines,
            encoding="utf-8",
            terms=self.builder.terms,
            definitions=definitions,
            imports=self.imports,
            bindings=self.bindings,
            references=self.useful_references(),
            exports=self.exports(),
            error_count=errors,
            diagnostics=tuple(diagnostics),
            extraction_version=self.grammar.extraction_version,
        )

    def walk(self, root: Node) -> None:
        """Handle the matches by start, outer before inner, in the order of the query files for one node.

        Keeps `self.scope` the definition whose body holds the match: headers belong outside. This is the inner
        loop of indexing, hence no call where a comparison does.
        """
        found: list[tuple[int, int, int, int, Node, Captures]] = []
        actions = _actions.setdefault(self.grammar.spec.name, {})
        for number, (pattern, captures) in enumerate(QueryCursor(self.grammar.query).matches(root)):
            action = actions.get(pattern)
            if action is None:
                action = actions[pattern] = _action(captures)
            node = captures[action[1]][0]
            found.append((node.start_byte, -node.end_byte, pattern, number, node, captures))
        found.sort()  # the number is unique: nodes are never compared
        stack, blocks = self.stack, self.blocks
        top = stack[-1]
        span_end, body_start, block_end = top.span_end, top.body_start, blocks[-1][0]
        for start, _, pattern, _, node, captures in found:
            while span_end <= start and len(stack) > 1:
                stack.pop()
                span_end = stack[-1].span_end
            while block_end <= start and len(blocks) > 1:
                blocks.pop()
                block_end = blocks[-1][0]
            top = stack[-1]
            body_start = top.body_start
            self.scope = top.index if body_start <= start else top.parent
            handler, _, suffix = actions[pattern]
            handler(self, suffix, node, captures)
            span_end, block_end = stack[-1].span_end, blocks[-1][0]

    def line(self, byte: int) -> int:
        """1-based line of a byte."""
        return bisect_right(self.line_starts, byte)

    def column(self, byte: int, line: int) -> int:
        """0-based column of a byte, in characters."""
        start = self.line_starts[line - 1]
        if self.builder.ascii is not None:
            return byte - start
        return len(self.source[start:byte].decode("utf-8", "replace"))

    # definitions

    def open_module(self) -> None:
        """The definition every file has."""
        stem = self.path.rpartition("/")[2].partition(".")[0]
        module = _Open(0, "module", stem, MODULE_QUALNAME, -1)
        module.end_byte = module.span_end = module.body_end = len(self.source)
        module.end_line = max(1, self.lines)
        module.has_body = True
        module.body_hash = _hash(self.source)
        self.definitions.append(module)
        self.stack.append(module)
        self.blocks.append((len(self.source) + 1, module.end_line))

    def open_definition(self, kind: str, name: str, node: Node, name_node: Node, owner: str = "") -> _Open:
        """Register a definition in the current scope, or in what the scope calls `owner`."""
        parent = self.definitions[self.scope]
        if owner:
            inside = (found for found in reversed(self.definitions) if found.name == owner and found.parent == parent.index)
            parent = next(inside, parent)
        if kind == "function" and parent.kind in _CLASS_LIKE:
            kind = "method"
        qualname = name if parent.index == 0 else f"{parent.qualname}.{name}"
        found = _Open(len(self.definitions), kind, name, qualname, parent.index)
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
        return found

    def on_definition(self, kind: str, node: Node, captures: Captures) -> None:
        """A named thing; with a body it becomes a scope."""
        name_node = captures["name"][0]
        owner = self.builder.text(captures["owner"][0]) if "owner" in captures else ""
        found = self.open_definition(kind, self.grammar.helper.name(self.builder.text(name_node)), node, name_node, owner)
        self.opened[node.id] = found
        found.doc = self.docs.pop(node.id, "")
        body = captures["body"][0] if "body" in captures else None
        header_end = captures["signature.end"][0].start_byte if "signature.end" in captures else body.start_byte if body else node.end_byte
        found.signature = _one_line(self.builder.slice(node.start_byte, header_end))
        for modifier in captures:
            if modifier.startswith("modifier."):
                found.modifiers.add(modifier[9:])
        found.modifiers |= self.modifiers.pop(node.id, set())
        self.add_decorators(found, node)
        if "returns" in captures:
            found.returns = self.builder.annotation(captures["returns"][0])
        for base in captures.get("base", ()):
            self.add_base(found, base)
        for bases in captures.get("bases", ()):
            for base in bases.named_children:
                if not base.is_extra:
                    self.add_base(found, base)
        if "value" in captures:
            self.bind(
                name_node,
                "assign",
                self.builder.annotation(captures["value"][0]),
                -1,
                node,
                (self.line(node.start_byte), self.line(node.end_byte - 1)),
            )
        if body is not None:
            found.has_body = True
            found.body_start, found.body_end = body.start_byte, body.end_byte
            found.body_hash = self.hash_body(node, name_node)
            self.stack.append(found)
        else:
            found.body_hash = _hash(self.source[node.start_byte : node.end_byte])

    def add_decorators(self, found: _Open, node: Node) -> None:
        """Decorators met before the definition, and what they say about it."""
        found.decorators = tuple(self.decorators.pop(node.id, ()))
        table = self.grammar.spec.decorator_modifiers
        for term in found.decorators:
            words = self.dotted(term).split(".")
            for count in (1, 2):
                modifier = table.get(".".join(words[-count:]))
                if modifier:
                    found.modifiers.add(modifier)

    def add_base(self, found: _Open, base: Node) -> None:
        """A superclass or a keyword of the class header."""
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
        """Hash of everything but the name and the indentation, so that moved and renamed twins are equal."""
        indent = node.start_byte - self.line_starts[self.line(node.start_byte) - 1]
        text = self.source[node.start_byte : name_node.start_byte] + self.source[name_node.end_byte : node.end_byte]
        return _hash(text.replace(b"\n" + b" " * indent, b"\n") if indent else text)

    def dotted(self, term: int) -> str:
        """`a.b` of a term that is a name, an attribute of one, or a call of either; "" otherwise."""
        parts: list[str] = []
        terms = self.builder.terms
        found = terms[term]
        if len(found) == 4 and found[0] not in (NAME, ATTR):
            found = terms[found[1]]
        while found[0] == ATTR:
            parts.append(found[2])
            found = terms[found[1]]
        if found[0] != NAME:
            return ""
        return ".".join([found[1], *reversed(parts)])

    def on_decorator(self, kind: str, node: Node, captures: Captures) -> None:
        """A decorator stands before its definition; it is kept until that one comes."""
        if node.is_extra:  # a comment between decorators
            return
        self.builder.consumed.add(node.id)
        decorated = captures["decorated"][0].id
        self.decorators.setdefault(decorated, []).append(self.builder.term(node))
        if decorated in self.opened:  # the decorator stands inside its definition
            inside = self.opened[decorated]
            earlier = inside.decorators
            self.add_decorators(inside, captures["decorated"][0])
            inside.decorators = earlier + inside.decorators

    def on_wrapper(self, kind: str, node: Node, captures: Captures) -> None:
        """A node around a definition that counts as part of it, with the modifiers it adds."""
        wrapped = captures["wrapped"][0].id
        self.wrappers.setdefault(wrapped, node)
        for modifier in captures:
            if modifier.startswith("modifier."):
                self.modifiers.setdefault(wrapped, set()).add(modifier[9:])

    def on_modifier(self, kind: str, node: Node, captures: Captures) -> None:
        """Something inside a definition that says what it is."""
        self.stack[-1].modifiers.add(kind)

    def on_doc(self, kind: str, node: Node, captures: Captures) -> None:
        """Documentation: of the definition it names with `@doc.of`, or of the scope it stands in."""
        if "doc.of" in captures:
            self.docs[captures["doc.of"][0].id] = self.grammar.helper.docstring(self.builder.text(node))
            return
        scope = self.definitions[self.scope]
        if not scope.doc:
            scope.doc = self.grammar.helper.docstring(self.builder.text(node))

    def on_branch(self, kind: str, node: Node, captures: Captures) -> None:
        """One more way through the definition."""
        self.definitions[self.scope].branches += 1

    def on_block(self, kind: str, node: Node, captures: Captures) -> None:
        """Statements that run together."""
        self.blocks.append((node.end_byte, self.line(max(node.start_byte, node.end_byte - 1))))

    def on_parameter(self, kind: str, node: Node, captures: Captures) -> None:
        """A parameter belongs to the definition whose header is open."""
        owner = self.stack[-1]
        if owner.index == 0 or owner.body_start <= node.start_byte:
            return
        if kind == "after_positional":
            owner.parameters[:] = [parameter._replace(kind="positional") for parameter in owner.parameters]
            return
        if kind == "before_keyword":
            owner.keyword_only = True
            return
        if kind == "normal" and owner.keyword_only:
            kind = "keyword"
        owner.keyword_only = owner.keyword_only or kind == "rest"
        annotation = self.builder.annotation(captures["annotation"][0]) if "annotation" in captures else -1
        default = self.builder.term(captures["default"][0]) if "default" in captures else -1
        target = captures["name"][0]
        name = self.builder.text(target)
        if target.kind_id in self.pattern_kinds:  # the pattern takes apart a parameter that has no name of its own
            name = _one_line(name)
            self.scope = owner.index
            line = self.line(node.start_byte)
            self.bind(target, "assign", self.builder.add((NAME, name)), -1, node, (line, line))
        owner.parameters.append(Parameter(name, annotation, default, kind))

    # imports

    def on_import(self, kind: str, node: Node, captures: Captures) -> None:
        """One name an import binds."""
        text = self.builder.text
        module_node = captures["import.module"][0] if "import.module" in captures else None
        module = "".join(text(module_node).split()) if module_node is not None else ""
        if module_node is not None:
            literal = self.builder.terms[self.builder.term(module_node)]
            if literal[0] == STRING:
                module = literal[1]
        level = 0
        if self.grammar.spec.relative_dots:
            level = len(module) - len(module.lstrip("."))
            module = module[level:]
        exported_as = text(captures["import.exported_as"][0]) if "import.exported_as" in captures else ""
        line = self.line(node.start_byte)
        names = ["*"] if "import.star" in captures else [text(found) for found in captures.get("import.name", ())] or [""]
        for name in names:
            alias = text(captures["import.alias"][0]) if "import.alias" in captures else ""
            if not alias and name not in ("", "*") and kind != "reexport":
                alias = name
            found = Import(self.scope, module, level, name, alias, kind, exported_as, line)
            self.imports.extend(self.grammar.helper.imports(found))

    # bindings

    def on_binding(self, op: str, node: Node, captures: Captures) -> None:
        """A value goes somewhere."""
        builder = self.builder
        annotation = builder.annotation(captures["annotation"][0]) if "annotation" in captures else -1
        extent = captures["extent"][0] if "extent" in captures else node
        value_node = captures["value"][0] if "value" in captures and not captures["value"][0].is_extra else None
        value = builder.term(value_node) if value_node is not None else -1
        end = value_node if value_node is not None and op != "local" else extent
        first = self.line(extent.start_byte)
        lines = (first, max(first, self.line(end.end_byte - 1)) if value_node is not None or op == "local" else first)
        if op in ("return", "yield", "yield_from") and self.is_in_nameless_function(node):
            return
        if op in ("return", "yield", "yield_from", "export"):
            if op == "yield_from":
                value = builder.add((ITER, value))
            self.add_binding(builder.unknown, op.removesuffix("_from"), value, annotation, lines)
            return
        if value >= 0 and op in ("for", "local"):
            value = builder.add((ITER, value))
        elif value >= 0 and op == "with":
            value = builder.add((ENTER, value))
        if value_node is not None and builder.terms[value][0] in (ITER, ENTER):
            self.add_reference("implicit", value, value_node)
        here = self.opened.get(node.id)
        is_defined = here is not None and here.kind != "variable"  # `const f = () => …` says so already
        for target in captures.get("target", ()):
            if is_defined and builder.terms[builder.term(target)][0] == NAME:
                continue
            self.bind(target, op, value, annotation, node, lines)

    def bind(self, target: Node, op: str, value: int, annotation: int, statement: Node, lines: tuple[int, int]) -> None:
        """Bind one target, taking patterns apart."""
        builder = self.builder
        shape = self.pattern_kinds.get(target.kind_id)
        if shape == "unpack":
            children = [child for child in target.named_children if not child.is_extra]
            whole = builder.terms[value] if value >= 0 else (-1, ())
            items = whole[1] if whole[0] in (TUPLE, LIST) and len(whole[1]) == len(children) else None
            for position, child in enumerate(children):
                starred = self.pattern_kinds.get(child.kind_id) == "splat"
                if items is not None and not starred:
                    part = items[position]
                else:
                    part = builder.add((UNPACK, value, -1 if starred else position)) if value >= 0 else -1
                self.bind(child, op, part, -1, statement, lines)
            return
        if shape == "fields":
            for attribute, child in self.grammar.helper.fields(target):
                part = builder.add((ATTR, value, attribute)) if value >= 0 and attribute else -1
                self.bind(child, op, part, -1, statement, lines)
            return
        if shape in ("splat", "through"):
            for child in target.named_children[:1]:
                self.bind(child, op, value, annotation, statement, lines)
            return
        builder.consumed.add(target.id)
        term = builder.term(target)
        operator = builder.terms[term][0]
        self.add_binding(term, op, value, annotation, lines)
        if operator in (ATTR, INDEX):
            self.add_reference("write", term, target)
        elif (
            operator == NAME
            and op in ("assign", "annotate")
            and self.definitions[self.scope].kind not in _FUNCTION_LIKE
            and not self.is_in_nameless_function(target)
        ):
            self.define_variable(target, statement)

    def is_in_nameless_function(self, node: Node) -> bool:
        """True when a function that is no definition stands between a node and the body of its scope."""
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
        """The first binding of a name of a module or a class defines it."""
        name = self.builder.text(target)
        if (self.scope, name) in self.named:
            return
        found = self.open_definition("variable", name, statement, target)
        found.modifiers |= self.modifiers.pop(statement.id, set())
        found.doc = self.docs.pop(statement.id, "")
        found.signature = _one_line(self.builder.text(statement))
        found.body_hash = _hash(self.source[target.end_byte : statement.end_byte])

    def add_binding(self, target: int, op: str, value: int, annotation: int, lines: tuple[int, int]) -> None:
        self.bindings.append(Binding(self.scope, target, op, value, annotation, *lines, self.blocks[-1][1]))

    def on_condition(self, kind: str, node: Node, captures: Captures) -> None:
        """A condition may tell a type where it holds."""
        builder = self.builder
        for found in self.grammar.helper.narrowings(builder, node):
            term, value = builder.term(found.target), builder.term(found.value)
            self.bindings.append(Binding(self.scope, term, "narrow", value, -1, found.first_line, found.last_line, found.last_line))

    def on_scope(self, kind: str, node: Node, captures: Captures) -> None:
        """`global` and `nonlocal`."""
        self.elsewhere[self.scope, self.builder.text(node)] = kind

    def apply_scope_statements(self) -> None:
        """Move bindings of names declared global or nonlocal to the scope they live in."""
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

    def binds(self, scope: int, target: int) -> bool:
        """True when a function's own statements or parameters bind the name."""
        definition = self.definitions[scope]
        if definition.kind not in _FUNCTION_LIKE:
            return False
        name = self.builder.terms[target][1]
        return any(parameter.name == name for parameter in definition.parameters) or any(
            binding.scope == scope and binding.target == target for binding in self.bindings
        )

    # references

    def on_reference(self, kind: str, node: Node, captures: Captures) -> None:
        """A site where something is used."""
        builder = self.builder
        if kind == "call":
            self.add_reference(kind, builder.term(node), node)
        elif kind == "type":
            self.add_reference(kind, builder.annotation(node), node)
        elif kind == "decorate":
            if not node.is_extra:
                self.add_reference(kind, builder.term(node), node)
        elif node.id not in builder.consumed:
            if kind != "read":
                builder.consumed.add(node.id)
            term = builder.term(node)
            if kind != "implicit" or self.has_operands(term):
                self.add_reference(kind, term, node)

    def has_operands(self, term: int) -> bool:
        """False for operations on literals, which the language does itself."""
        terms = self.builder.terms
        found = terms[term]
        operands = (found[1],) if found[0] == INDEX else found[2:] if found[0] == OPERATOR else ()
        return any(operand >= 0 and terms[operand][0] not in (STRING, LITERAL) for operand in operands)

    def add_reference(self, kind: str, term: int, node: Node) -> None:
        start, end = node.start_byte, node.end_byte
        starts = self.line_starts
        line = bisect_right(starts, start)
        last = line if line == len(starts) or end <= starts[line] else bisect_right(starts, end - 1)
        column = start - starts[line - 1] if self.builder.ascii is not None else self.column(start, line)
        self.references.append(_new_tuple(Reference, (kind, self.scope, term, line, column, last)))

    def useful_references(self) -> list[Reference]:
        """References without reads of local variables, which lead nowhere."""
        terms = self.builder.terms
        local: dict[int, set[str]] = {}
        for definition in self.definitions:
            if definition.kind in _FUNCTION_LIKE:
                local[definition.index] = {parameter.name for parameter in definition.parameters}
        for binding in self.bindings:
            if binding.op != "narrow" and terms[binding.target][0] == NAME and (binding.scope in local or binding.op == "local"):
                local.setdefault(binding.scope, set()).add(terms[binding.target][1])
        for found in self.imports:
            if found.scope in local:
                local[found.scope].discard(found.alias)
        for scope, name in self.named:
            if scope in local:
                local[scope].discard(name)

        def is_local(reference: Reference) -> bool:
            term = terms[reference.term]
            if reference.kind != "read" or term[0] != NAME:
                return False
            scope = reference.scope
            while scope >= 0:
                if scope in local and term[1] in local[scope]:
                    return True
                scope = self.definitions[scope].parent
            return False

        return [reference for reference in self.references if not is_local(reference)]

    def exports(self) -> tuple[str, ...] | None:
        """Names the module says it exports; None when it does not say, or not literally."""
        name = self.grammar.spec.exports_name
        if not name:
            return None
        terms = self.builder.terms
        found: list[str] | None = None
        for binding in self.bindings:
            if binding.scope == 0 and terms[binding.target] == (NAME, name) and binding.value >= 0:
                value = terms[binding.value]
                if value[0] in (LIST, TUPLE):
                    found = (found or []) + [terms[item][1] for item in value[1] if terms[item][0] == STRING]
        return tuple(found) if found is not None else None


Action = tuple[Callable[[_Extraction, str, "Node", Captures], None], str, str]

_actions: dict[str, dict[int, Action]] = {}  # by language and pattern: handler, main capture, what follows its first word


def _action(captures: Captures) -> Action:
    """What to do with the matches of a pattern, from the captures of any of them."""
    for prefix in _MAIN:
        for capture in captures:
            if capture.startswith(prefix):
                handler: Callable[[_Extraction, str, Node, Captures], None] = getattr(_Extraction, "on_" + prefix.split(".")[0])
                return handler, capture, capture.removeprefix(prefix)
    raise AssertionError(f"no pattern of the vocabulary has only the captures {sorted(captures)}")


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
        found = _functions[grammar.spec.name] = frozenset(i for node_type in grammar.spec.functions for i in grammar.kind_ids(node_type))
    return found


_functions: dict[str, frozenset[int]] = {}


def _hash(text: bytes) -> str:
    return hashlib.blake2b(text, digest_size=8).hexdigest()


def _one_line(text: str) -> str:
    line = " ".join(text.split()).removesuffix("{").rstrip().removesuffix(":").rstrip()
    return line if len(line) <= MAX_SIGNATURE else line[: MAX_SIGNATURE - 1] + "…"


def _count_errors(root: Node) -> tuple[int, int]:
    """How many ERROR and MISSING nodes there are, and the line of the first."""
    count = first = 0
    pending = [root]
    while pending:
        node = pending.pop()
        if node.is_error or node.is_missing:
            count += 1
            first = min(first or node.start_point.row + 1, node.start_point.row + 1)
        elif node.has_error:
            pending.extend(node.children)
    return count, first
