"""Extract the facts of one file by a query over its syntax tree.

Facts are definitions, imports, bindings and references. All matches of a language's query files are sorted by position. A stack of open
definitions then gives the scope of each match. Each kind of match has a short method, named after the main capture of the query pattern. So
this module depends on names of captures, not on languages.

A binding is a place where a name or an attribute gets a value, such as `x = f()`.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from tree_sitter import QueryCursor

from graphmem.parsing.facts import (
    ASSIGNED,
    AWAIT,
    CALL,
    FORMAT,
    INDEX,
    ITER,
    LIST,
    LITERAL,
    NAME,
    NEW,
    NO_TERM,
    OPERATOR,
    REMOVAL,
    REPR,
    STRING,
    TESTS_OF_CLASS,
    TEXT,
    TRUTH,
    TUPLE,
    Definition,
    FileFacts,
    Import,
    Note,
    Reference,
)
from graphmem.parsing.fills import fills
from graphmem.parsing.grammar import Grammar, load_grammar

if TYPE_CHECKING:
    from tree_sitter import Node, Tree


from graphmem.parsing.extract_definitions import Definitions
from graphmem.parsing.extraction import CLASS_LIKE, FUNCTION_LIKE, Captures, OpenDefinition
from graphmem.parsing.salvage import Part, parsed, read

_OPERATIONS: Final = {"truth": TRUTH, "format": FORMAT, "text": TEXT, "repr": REPR, "removal": REMOVAL, "spread": ""}
"""Kinds of references whose operation has no sign in the source, with the sign of their term; "" for one element of an iterable."""

_MAIN: Final = (
    "definition.",
    "base.",
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
"""Capture that names the subject of a pattern; the first one found counts."""


def extract(path: str, source: bytes, language: str, content_hash: str) -> FileFacts:
    """Extract the facts of one file, such as definitions and references.

    Args:
        path: path of the file from the root of the repository, with '/'.
        source: text of the file as UTF-8 without a byte order mark.
        language: name of a folder of `grammars/`.
        content_hash: stored in the facts, not computed here.

    Returns:
        Facts in source order. After syntax errors, they cover the readable parts and include a diagnostic. After a timeout they
        contain only the module.

    Raises:
        UnsupportedLanguageError: the language is unknown.
        GrammarError: the language's folder is not usable.
    """
    grammar = load_grammar(language)
    return extract_parsed(path, source, grammar, parsed(grammar, source), content_hash)


def extract_parsed(path: str, source: bytes, grammar: Grammar, tree: Tree | None, content_hash: str) -> FileFacts:
    """Extract definitions, imports and uses of names from a syntax tree.

    `tree` is None if parsing took too long. The result then contains only the module. `content_hash` is stored in the result.
    """
    collecting = gc.isenabled()
    gc.disable()  # thousands of short-lived matches would start it a hundred times per file, to find no cycle
    try:
        return _Extraction(grammar, path, source, content_hash).run(tree)
    finally:
        if collecting:
            gc.enable()


def extract_near(path: str, source: bytes, grammar: Grammar, tree: Tree, within: tuple[int, int]) -> FileFacts:
    """Extract the facts that touch a range of bytes, with their definitions.

    `within` is the range (first byte, end). A small range takes a fraction of the time of `extract`. The `ordinal` of a definition is its
    number among the returned definitions of the same name.
    """
    extraction = _Extraction(grammar, path, source, "")
    extraction.within = within
    return extraction.run(tree)


class _Extraction(Definitions):
    """Extracts the definitions, imports and uses of names in one file.

    Tree-sitter queries find the places to record, called matches. A method handles each kind of match: for example, `on_import` handles
    imports.
    """

    within: tuple[int, int] | None = None  # range of bytes that a match must touch; None for the whole file

    def run(self, tree: Tree | None) -> FileFacts:
        """Handle all query matches in order; return the facts of the file.

        Facts are definitions, uses of names, and so on.
        """
        self.open_module()
        diagnostics: list[Note] = []
        errors = 0
        if tree is None:
            diagnostics.append(("error", "timeout", "parsing took too long; nothing of this file is in the graph but its text", 0))
        else:
            reading = read(self.grammar, self.source, tree)
            errors = reading.errors
            if errors:
                said = "1 place" if errors == 1 else f"{errors:,} places"
                lines = f"up to {max(1, reading.lost):,} of its {self.lines:,} lines are not in the graph"
                diagnostics.append(("warning", "syntax", f"{said} could not be parsed; {lines}", reading.line))
            self.walk(reading.parts)
        self.apply_scope_statements()
        self.join_owners()
        exports = self.exports()
        definitions = [self.closed(definition, exports or ()) for definition in self.definitions]
        references = self.useful_references()
        if self.grammar.spec.fills:
            self.bindings += list(fills(self.builder, self.grammar.spec.fills, references, self.bindings))
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
            references=references,
            exports=exports,
            error_count=errors,
            diagnostics=tuple(diagnostics),
            extraction_version=self.grammar.extraction_version,
        )

    def walk(self, parts: Sequence[Part]) -> None:
        """Handle all query matches in source order, outer matches first.

        `parts` has the syntax trees of the whole file and of pieces that were parsed again because of errors. Matches of one node follow
        the order of the query files.

        Before a match is handled, `self.scope` is set to the definition to which the match belongs. A match in the body of a definition
        belongs to this definition. A match in the header belongs to the enclosing scope. In languages that compute default values in every
        call, a match in the default value of a parameter belongs to the function.

        This is the inner loop of indexing, so for speed it uses comparisons instead of calls.
        """
        found: list[tuple[int, int, int, int, Node, Captures]] = []
        actions = _actions.setdefault(self.grammar.spec.name, {})
        for number, (pattern, captures) in enumerate(self.matches(parts)):
            action = actions.get(pattern)
            if action is None:
                action = actions[pattern] = _action(captures)
            node = captures[action[1]][0]
            found.append((node.start_byte, -node.end_byte, pattern, number, node, captures))
        found.sort()  # the number is unique, so nodes are never compared
        stack, blocks = self.stack, self.blocks
        top = stack[-1]
        span_end, body_start, block_end = top.span_end, top.body_start, blocks[-1][0]
        declared = self.builder.declared
        for start, _, pattern, _, node, captures in found:
            while span_end <= start and len(stack) > 1:
                stack.pop()
                span_end = stack[-1].span_end
            while block_end <= start and len(blocks) > 1:
                blocks.pop()
                block_end = blocks[-1][0]
            top = stack[-1]
            body_start = top.body_start
            self.scope = top.index if body_start <= start or top.default_start <= start < top.default_end else top.parent
            handler, _, suffix = actions[pattern]
            handler(self, suffix, node, captures)
            if declared:
                self.add_declared()
            span_end, block_end = stack[-1].span_end, blocks[-1][0]

    def matches(self, parts: Sequence[Part]) -> Iterator[tuple[int, Captures]]:
        """Yield (pattern number, captures) for each query match in `parts`.

        `captures` maps the name of each capture to the syntax nodes that it found. Each part has a tree and byte ranges to ignore. Matches
        that begin in an ignored range are left out.
        """
        for tree, without in parts:
            cursor = QueryCursor(self.grammar.query)
            if self.within is not None:
                cursor.set_byte_range(*self.within)
            matches = cursor.matches(tree.root_node)
            if not without:
                yield from matches
                continue
            for pattern, captures in matches:
                begins = min(nodes[0].start_byte for nodes in captures.values())
                if not any(first <= begins < last for first, last in without):
                    yield pattern, captures

    def on_import(self, kind: str, node: Node, captures: Captures) -> None:
        """Add the names that an import statement binds.

        `kind` is the kind of the statement, such as "from". `captures` has the syntax nodes of the module, the names and the alias.
        """
        text = self.builder.text
        module_node = captures["import.module"][0] if "import.module" in captures else None
        module = self.grammar.helper.module(text(module_node)) if module_node is not None else ""
        if module_node is not None:
            literal = self.builder.terms[self.builder.annotation(module_node)]
            if literal[0] == STRING:
                _, module = literal
        level = 0
        if self.grammar.spec.relative_dots:
            level = len(module) - len(module.lstrip("."))
            module = module[level:]
        exported_as = text(captures["import.exported_as"][0]) if "import.exported_as" in captures else ""
        line = self.line(node.start_byte)
        end_line = self.line(node.end_byte - 1) if kind == "package" else 0
        named = [] if "import.star" in captures else captures.get("import.name", [])
        names = ["*"] if "import.star" in captures else [text(found) for found in named] or [""]
        module_spot, alias_spot = self.spot(module_node), self.spot(captures["import.alias"][0] if "import.alias" in captures else None)
        for number, name in enumerate(names):
            alias = text(captures["import.alias"][0]) if "import.alias" in captures else ""
            if not alias and name not in ("", "*") and kind != "reexport":
                alias = name
            name_spot = self.spot(named[number] if named else None)
            found = Import(self.scope, module, level, name, alias, kind, exported_as, line, end_line, module_spot, name_spot, alias_spot)
            self.imports.extend(self.grammar.helper.imports(found))

    def on_reference(self, kind: str, node: Node, captures: Captures) -> None:
        """Add a reference: a place in the file that uses a name.

        `kind` is the kind of use, such as "call". `node` is the syntax node of the expression.
        """
        builder = self.builder
        if kind == "call":
            term = builder.term(node)
            found = builder.terms[term]
            if found[0] == AWAIT:  # `await f<T>(x)` of TypeScript is one node
                _, term = found
            if builder.terms[term][0] in (CALL, NEW):
                around, inner = self.scope, self.stack[-1]
                if self.grammar.spec.constructor_in_header and inner.kind in CLASS_LIKE:
                    self.scope = inner.index
                self.add_reference(kind, term, node)
                self.scope = around
        elif kind == "type":
            if node.id not in builder.told:
                around, self.scope = self.scope, self.stack[-1].index  # names in a header or an alias are used by the definition itself
                self.add_reference(kind, builder.annotation(node), node)
                self.scope = around
        elif kind == "named":
            builder.declaration(node)
            self.add_declared()
        elif kind == "token":
            term = self.grammar.helper.helper_term(builder, node, kind)
            if node.id not in builder.consumed and term != builder.unknown:
                builder.consumed.add(node.id)
                self.add_reference("read", term, node)
        elif kind == "decorate":
            if not node.is_extra:
                self.add_reference(kind, builder.term(node), node)
        elif kind in _OPERATIONS:
            self.on_operation(_OPERATIONS[kind], node)
        elif node.id not in builder.consumed:
            if kind != "read":
                builder.consumed.add(node.id)
            term = builder.term(node)
            if kind != "implicit" or self.has_operands(term):
                self.add_reference(kind, term, node)

    def on_operation(self, sign: str, node: Node) -> None:
        """Add an operation that the source writes without an operator sign.

        An example is the truth test in `if x`. Others are formatting, `repr`, `del x[k]` and spreading (`*x`). Such an operation is
        recorded because a class can define a method for it. `sign` is the name of the operation, and `node` the operand.
        """
        builder = self.builder
        operand = builder.term(node)
        if sign == REMOVAL:
            builder.consumed.add(node.id)
            removed = builder.terms[operand]
            if removed[0] != INDEX:
                return
            _, operand, _ = removed
        term = builder.add((OPERATOR, sign, operand, NO_TERM) if sign else (ITER, operand))
        if builder.terms[operand][0] not in (STRING, LITERAL):
            self.add_reference("implicit", term, node)

    def useful_references(self) -> list[Reference]:
        """Return all references (uses of names) except those of local variables.

        Local variables are those of the function that contains the use, and of the functions around it.
        """
        terms = self.builder.terms
        local: dict[int, set[str]] = {}
        for definition in self.definitions:
            if definition.kind in FUNCTION_LIKE:
                local[definition.index] = {parameter.name for parameter in definition.parameters}
        for binding in self.bindings:
            target = terms[binding.target]
            declares = binding.op not in TESTS_OF_CLASS and binding.op not in ASSIGNED
            if declares and target[0] == NAME and (binding.scope in local or binding.op == "local"):
                local.setdefault(binding.scope, set()).add(target[1])
        for found in self.imports:
            if found.scope in local:
                local[found.scope].discard(found.alias)
        for scope, name in self.named:
            if scope in local:
                local[scope].discard(name)

        def is_local(reference: Reference) -> bool:
            term = terms[reference.term]
            if reference.kind not in ("read", "write") or term[0] != NAME:
                return False
            scope = reference.scope
            while scope >= 0:
                if scope in local and term[1] in local[scope]:
                    return True
                scope = self.definitions[scope].parent
            return False

        return [reference for reference in self.references if not is_local(reference)]

    def closed(self, definition: OpenDefinition, exports: tuple[str, ...]) -> Definition:
        """Return the finished `Definition` for a definition whose end was reached.

        `exports` has the names in the module's list of exports. A top-level definition with such a name gets the modifier `exported`.
        """
        made = definition.close()
        if made.parent != 0 or made.name not in exports or "exported" in made.modifiers:
            return made
        return made._replace(modifiers=tuple(sorted((*made.modifiers, "exported"))))

    def exports(self) -> tuple[str, ...] | None:
        """Return the names in the module's list of exports, such as `__all__`.

        The result is None if the module has no such list. A list that is computed, and not written as a literal, is ignored.
        """
        name = self.grammar.spec.exports_name
        if not name:
            return None
        terms = self.builder.terms
        found: list[str] | None = None
        for binding in self.bindings:
            if binding.scope == 0 and terms[binding.target] == (NAME, name) and binding.value >= 0:
                value = terms[binding.value]
                if value[0] in (LIST, TUPLE):
                    _, items = value
                    found = (found or []) + [term[1] for item in items if (term := terms[item])[0] == STRING]
        return tuple(found) if found is not None else None


Action = tuple[Callable[[_Extraction, str, "Node", Captures], None], str, str]

_actions: dict[str, dict[int, Action]] = {}  # by language and pattern: handler, main capture, rest of the pattern's name


def _action(captures: Captures) -> Action:
    """Return (method, main capture, suffix) for matches of a query pattern.

    A capture is a named part of the pattern. The main capture names the kind of code that the pattern finds, such as a binding. `method`
    of `_Extraction` handles the matches, and gets the suffix of the capture as an argument. For the capture `binding.for`, the method is
    `on_binding`, and the suffix is `for`.
    """
    for prefix in _MAIN:
        for capture in captures:
            if capture.startswith(prefix):
                handler: Callable[[_Extraction, str, Node, Captures], None] = getattr(_Extraction, "on_" + prefix.split(".")[0])
                return handler, capture, capture.removeprefix(prefix)
    raise AssertionError(
        f"a pattern in a tree-sitter query has only unknown captures ({', '.join(sorted(captures))}); add one that grammars/README.md lists"
    )
