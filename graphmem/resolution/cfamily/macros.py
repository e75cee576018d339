"""Find the calls that C and C++ macros make where the macros are used.

The compiler replaces `CHECK(x)` by the text of the macro, and runs the calls of that text inside the function around it. The text is
expanded token by token, through other macros, and its calls are resolved with the names visible at the place of use.

A binding of a name is a place that gives the name its meaning, such as `x = f()`, `import x`, `def x` or a parameter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.parsing.facts import CALL, NAME, NEW, NO_TERM, OPERATOR, SELF, STRING, TermIndex
from graphmem.parsing.languages.cfamily import MACRO
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.scoped.classes import CONSTRUCTOR
from graphmem.resolution.values.symbol import FUNCTION_KINDS, Symbol
from graphmem.resolution.values.types import CLASS, EMPTY, FUNC, INST, Type, join_all, one, ordered

if TYPE_CHECKING:
    from graphmem.resolution.files.file_entry import FileEntry, Place
    from graphmem.resolution.interfaces.inference import Inference

MAX_DEPTH: Final = 8
"""Most macros that are expanded inside one another."""

MAX_TOKENS: Final = 5000
"""Most tokens of one expansion that are read."""

_BEFORE_MEMBER: Final = (".", "->", "::")
_ENDS_DECLARATION: Final = ("(", "{", "=", ";", "[", ",", ")")
_NO_CALLEE: Final = frozenset("alignof catch decltype defined for if return sizeof switch typeof while".split())  # noqa: SIM905

Piece = str | TermIndex
"""A token of source text, or the index of a term: an argument that is not a plain name."""


class Macro(NamedTuple):
    """The parameters and the text of a macro, as tokens."""

    parameters: tuple[str, ...]
    tokens: tuple[str, ...]
    takes_arguments: bool


class Expansion:
    """Expands macros at one place of use, and finds the calls in their text."""

    def __init__(self, inference: Inference, entry: FileEntry, scope: int, line: int) -> None:
        self.inference = inference
        self.entry = entry
        self.scope = scope
        self.line = line
        self.left = MAX_TOKENS
        self.bound: dict[str, Sequence[Place]] = {}  # names already looked up
        self.known: dict[str, list[Macro]] = {}

    def of_call(self, term: TermIndex) -> list[tuple[Symbol, int]]:
        """Return the functions that a use of a macro, such as `CHECK(x)`, runs.

        `term` is the use. Each item is (function, number of functions that fit the same call).
        """
        found = self.entry.terms[term]
        callee = self.entry.terms[found[1]] if found[0] in (CALL, NEW) else None
        if callee is None or callee[0] != NAME or found[0] not in (CALL, NEW):
            return []
        macros = self.macros(callee[1])
        _, _, arguments, _ = found
        written = [self._argument(argument) for argument in arguments]
        tokens: list[Piece] = []
        for macro in macros:
            self._expand_into(tokens, macro, written, frozenset((callee[1],)))
        return self._called(tokens)

    def of_definition(self, term: TermIndex) -> list[tuple[Symbol, int]]:
        """Return the functions that the text of a macro calls.

        `term` is the macro's definition. Each item is (function, number of functions that fit the same call).
        """
        macro = _macro(self.entry, term)
        tokens: list[Piece] = []
        if macro is not None:
            self._expand_into(tokens, macro, [], frozenset())
        return self._called(tokens)

    def macros(self, name: str) -> list[Macro]:
        """Return the visible macros with the name `name`.

        There are several if the branches of an `#if` define the name differently.
        """
        found = self.known.get(name)
        if found is None:
            found = self.known[name] = [macro for place in self._places(name) for macro in _macro_at(self.inference, place)]
        return found

    def _places(self, name: str) -> Sequence[Place]:
        """Return the places that define a name, as seen from the use of the macro.

        Examples of such a place are `#define name`, a variable and a parameter.
        """
        found = self.bound.get(name)
        if found is None:
            found = self.bound[name] = self.inference.lookup(self.entry, self.scope, name, self.line) or ()
        return found

    def _argument(self, term: TermIndex) -> list[Piece]:
        found = self.entry.terms[term]
        return [found[1]] if found[0] == NAME else ["this"] if found[0] == SELF else [term]

    def _expand_into(self, found: list[Piece], macro: Macro, arguments: Sequence[Sequence[Piece]], inside: frozenset[str]) -> None:
        """Add the tokens of a macro's text to `found`, and expand its macros.

        `arguments` replace the parameters of `macro`. `inside` has the names of the macros that are being expanded; these are not expanded
        again.
        """
        given = dict(zip(macro.parameters, arguments, strict=False))
        if macro.parameters[-1:] == ("...",):
            rest = arguments[len(macro.parameters) - 1 :]
            given["__VA_ARGS__"] = [token for position, one in enumerate(rest) for token in ([","] if position else []) + list(one)]
        tokens: list[Piece] = []
        for token in macro.tokens:
            if tokens[-1:] == ["##"]:
                tokens.pop()
                left, right = tokens.pop() if tokens else "", given.get(token, [token])
                first = right[0] if right else ""
                tokens += [f"{left}{first}" if isinstance(left, str) and isinstance(first, str) else first, *right[1:]]
            elif token in given:
                tokens += given[token]
            elif token in macro.parameters:
                tokens.append("")
            else:
                tokens.append(token)
        self._rescan_into(found, tokens, inside)

    def _rescan_into(self, found: list[Piece], tokens: Sequence[Piece], inside: frozenset[str]) -> None:
        position = 0
        while position < len(tokens) and self.left > 0:
            token = tokens[position]
            position += 1
            self.left -= 1
            if not isinstance(token, str) or not token[:1].isidentifier() or token in inside or len(inside) >= MAX_DEPTH:
                found.append(token)
                continue
            is_member = position > 1 and tokens[position - 2] in _BEFORE_MEMBER
            macros = self.macros(token) if not is_member else []
            if macros and tokens[position : position + 1] != ["("]:
                macros = [macro for macro in macros if not macro.takes_arguments]
            if not macros:
                found.append(token)
                continue
            arguments: list[list[Piece]] = []
            if macros[0].takes_arguments:
                close = _closing(tokens, position)
                arguments = _split(tokens[position + 1 : close])
                position = close + 1
            for macro in macros:
                self._expand_into(found, macro, arguments, inside | {token})

    def _called(self, tokens: Sequence[Piece]) -> list[tuple[Symbol, int]]:
        """Return the functions that the expansion of a macro may call.

        `tokens` are those after the expansion. Each item of the result is (function, number of functions that fit the same call).
        """
        values: dict[int, Type] = {}  # by the last token of an expression
        local: dict[str, Type] = {}
        found: dict[Symbol, int] = {}
        for position, token in enumerate(tokens):
            if isinstance(token, int):
                values[position] = self._expand(self.inference.term(self.entry, self.scope, token, self.line))
                continue
            if token in ("this",):
                values[position] = self._this()
                continue
            if not token[:1].isidentifier() or token in _NO_CALLEE:
                continue
            before = tokens[position - 1] if position else ""
            if before in _BEFORE_MEMBER:
                base = values.get(position - 2, EMPTY)
                value = self._expand(self.inference.attribute(base, token))
                if not base and before == "::":  # of a namespace
                    value = self._named(token)
            else:
                value = local[token] if token in local else self._named(token)
            following = tokens[position + 1 : position + 2]
            if following == ["("]:
                close = _closing(tokens, position + 1)
                count = len(_split(tokens[position + 2 : close]))
                values[close] = self._note(found, value, count)
            elif any(atom[0] == CLASS for atom in value):
                self._declaration(found, local, value, tokens, position)
                values[position] = value
            else:
                values[position] = value
        return list(found.items())

    def _declaration(self, found: dict[Symbol, int], local: dict[str, Type], value: Type, tokens: Sequence[Piece], position: int) -> None:
        """Record the variable declared by `Class name(…)`, and its constructor.

        `value` is the class, and `position` is the place of its name in `tokens`. The variable is added to `local`, and the constructor to
        `found`. Tokens that are not such a declaration are ignored.
        """
        after = position + 1
        while after < len(tokens) and tokens[after] in ("*", "&", "const"):
            after += 1
        name = tokens[after] if after < len(tokens) else ""
        if (
            not isinstance(name, str)
            or not name[:1].isidentifier()
            or after + 1 >= len(tokens)
            or tokens[after + 1] not in _ENDS_DECLARATION
        ):
            return
        local[name] = frozenset((INST, atom[1], False) for atom in value if atom[0] == CLASS)
        if after == position + 1 and tokens[after + 1] in ("(", "{", ";"):
            close = _closing(tokens, after + 1) if tokens[after + 1] == "(" else after + 1
            self._note(found, value, len(_split(tokens[after + 2 : close])))

    def _note(self, found: dict[Symbol, int], value: Type, count: int) -> Type:
        """Record the functions that a call runs; return the type of its result.

        `value` is the type of the called name, and `count` is the number of arguments. `found` maps each function to the number of
        functions that fit the call; the new functions are added.
        """
        results: list[tuple[Symbol, Type]] = []
        for atom in ordered(value):
            if atom[0] == FUNC and atom[1].kind in FUNCTION_KINDS:
                results.append((atom[1], self.inference.returned(atom[1])))
            elif atom[0] == CLASS:
                made = one((INST, atom[1], True))
                makers = self.inference.functions(atom[1], CONSTRUCTOR)
                results += [(maker, made) for maker in makers]
                if not makers:
                    found.setdefault(atom[1], 1)
                    return made
        fitting = [(symbol, result) for symbol, result in results if self._takes(symbol, count)] or results
        for symbol, _ in fitting:
            found.setdefault(symbol, len(fitting))
        return self._expand(join_all(result for _, result in fitting))

    def _takes(self, symbol: Symbol, count: int) -> bool:
        entry = self.inference.project.entry(symbol)
        return rules_of(entry).takes(entry.definitions[symbol.index], count, (), bound=False)

    def _this(self) -> Type:
        return rules_of(self.entry).this(self.inference, self.entry, self.scope)

    def _named(self, name: str) -> Type:
        if self.macros(name):
            places: Sequence[Place] = [place for place in self._places(name) if not _macro_at(self.inference, place)]
        else:
            places = self._places(name)
        return self._expand(join_all(self.inference.slot(place) for place in places))

    def _expand(self, value: Type) -> Type:
        return self.inference.expanded(value)


def _macro_at(inference: Inference, place: Place) -> Sequence[Macro]:
    """Return a list with the macro that a binding of a name defines.

    The list is empty if the binding does not define a macro.
    """
    entry, _, slot = place
    if slot.kind == "definition":
        definition = entry.definitions[slot.index]
        is_macro = definition.kind in FUNCTION_KINDS and definition.returns >= 0 and entry.terms[definition.returns][0] == OPERATOR
        term, name = definition.returns if is_macro else NO_TERM, definition.name
    elif slot.kind == "binding":
        binding = entry.facts.bindings[slot.index]
        target = entry.terms[binding.target]
        is_macro = binding.op == "assign" and binding.annotation < 0
        term, name = binding.value if is_macro else NO_TERM, target[1] if target[0] == NAME else ""
    else:
        return ()
    macro = _macro(entry, term) if term >= 0 else None
    if macro is None:
        return ()
    inference.project.touch_top(entry, name)
    return (macro,)


def _macro(entry: FileEntry, term: TermIndex) -> Macro | None:
    """Return the macro that the expression `term` defines, or None.

    If `term` is a single name, the result is a macro without parameters that expands to this name.
    """
    found = entry.terms[term]
    if found[0] == NAME:
        return Macro((), (found[1],), takes_arguments=False)
    if found[0] != OPERATOR or found[1] != MACRO:
        return None
    kept: dict[int, Macro] = entry.kept.setdefault("macros", {})
    macro = kept.get(term)
    if macro is None:
        text = entry.terms[found[3]]
        words = text[1].split() if text[0] == STRING else []
        close = words.index(")") if ")" in words else 0
        parameters = tuple(word for word in words[1:close] if word != ",")
        if parameters[-3:] == (".", ".", "."):
            parameters = (*parameters[:-3], "...")
        macro = kept[term] = Macro(parameters, tuple(words[close + 1 :]), found[2] >= 0 and bool(parameters))
    return macro


def _closing(tokens: Sequence[Piece], opening: int) -> int:
    """Return the position of the bracket that closes an opening bracket.

    `opening` is the position of a bracket. The result is the number of tokens if the bracket is not closed.
    """
    depth = 0
    for position in range(opening, len(tokens)):
        depth += (tokens[position] == "(") - (tokens[position] == ")")
        if depth == 0:
            return position
    return len(tokens)


def _split(tokens: Sequence[Piece]) -> list[list[Piece]]:
    """Split the tokens between the brackets of a call into its arguments.

    For the tokens `a`, `,`, `f`, `(`, `b`, `)`, the arguments are `a` and `f(b)`.
    """
    found: list[list[Piece]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token in ("(", "{", "[")) - (token in (")", "}", "]"))
        if token in (",",) and not depth:
            found.append([])
        else:
            found[-1].append(token)
    return found if found != [[]] else []
