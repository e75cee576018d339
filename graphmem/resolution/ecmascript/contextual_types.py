"""Infer types of unannotated parameters from the code around a function.

As in TypeScript, the code around a function determines its expected type, which gives the types of its parameters. Examples:
`names.sort((a, b) => …)`, `register({ run: (app) => … })`, `const visit: Visitor = (node) => …`, `<List onPick={(item) => …} />`.

The list of a file's bindings has the places where names and attributes get values, such as `x = f()`, and also the `return` statements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import CALL, LAMBDA, NAME, NEW, OBJECT, TermIndex
from graphmem.parsing.languages.ecmascript_words import ANCHOR, SIGNATURE
from graphmem.resolution.ecmascript.library import PACKAGE, callback_parameter
from graphmem.resolution.interfaces.call import Call
from graphmem.resolution.values.declared_types import OPEN_TAGS, closed
from graphmem.resolution.values.terms import arguments_of, call_at, last_name
from graphmem.resolution.values.types import BOX, BUILTIN, CLASS, EMPTY, EXT, FUNC, INST, PARAM, Atom, Type, join, ordered

if TYPE_CHECKING:
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference
    from graphmem.resolution.values.symbol import Symbol

_DEPTH: Final = 4
"""Maximum nesting of object literals when looking for the expected type."""


def parameter_of(inference: Inference, expected: Type, index: int) -> Type:
    """Return the type of the parameter at position `index` of a function type.

    `expected` is the function type, such as `(name: string) => void`.
    """
    found = EMPTY
    for atom in _functions(inference, inference.expanded(expected)):
        if atom[0] == BOX and atom[1] == "callable" and index + 1 < len(atom[2]):
            found = join(found, closed(atom[2][index + 1]))
        elif atom[0] == FUNC:
            found = join(found, closed(_declared(inference, atom[1], index)))
    return found


def _functions(inference: Inference, value: Type) -> Iterator[Atom]:
    """Yield the alternatives of a type, with interfaces as functions.

    A function type can be written as an interface: `interface F { (x: A): B }`. Such an interface is replaced by its call signatures.
    """
    for atom in ordered(value):
        if atom[0] == INST and atom[1].kind == "interface":
            yield from inference.attribute_of(atom, SIGNATURE)
        else:
            yield atom


def _declared(inference: Inference, symbol: Symbol, index: int) -> Type:
    """Return the declared type of a function's parameter at a position.

    `symbol` is the function, and `index` the position. A rest parameter (`...names`) covers all positions from its own on.
    """
    entry = inference.project.entry(symbol)
    definition = entry.definitions[symbol.index]
    parameters = definition.parameters
    if index >= len(parameters) and parameters and parameters[-1].kind == "rest":
        return inference.element(closed(inference.declared(entry, definition.parent, parameters[-1].annotation)))
    return inference.declared(entry, definition.parent, parameters[index].annotation) if index < len(parameters) else EMPTY


def expected_argument(inference: Inference, entry: FileEntry, scope: int, line: int, call: TermIndex, index: int) -> Type:
    """Return the type that a call expects for one of its arguments.

    `call` is the index of the call's expression, and `index` the argument's position. The expected type is that of the parameter. Type
    variables in the type are inferred from the other arguments.
    """
    term = entry.terms[call]
    if term[0] not in (CALL, NEW):
        return EMPTY
    found = EMPTY
    for atom in _functions(inference, inference.expanded(inference.term(entry, scope, term[1], line))):
        if atom[0] == FUNC:
            declared = frozenset(one for one in _declared(inference, atom[1], index) if one[0] not in OPEN_TAGS)
            found = join(found, inference.substituted(declared, atom, Call(inference, entry, scope, line, term[1], term[2], term[3])))
        elif atom[0] == CLASS:
            owner = inference.owner(atom[1], "constructor")
            if owner is not None and not isinstance(owner, tuple):
                for constructor in inference.functions(owner, "constructor"):
                    found = join(found, closed(_declared(inference, constructor, index)))
        elif atom[0] == BOX and atom[1] == "callable" and index + 1 < len(atom[2]):
            found = join(found, atom[2][index + 1])
    return frozenset(atom for atom in found if atom[0] != PARAM)


def callback(inference: Inference, call: Call) -> Type:
    """Return the type of `a` in a call such as `names.sort((a, b) => …)`.

    `a` is a parameter of a function that is passed to a call. For its type, the parser writes an artificial expression: `<parameter>(call,
    argument, parameter)`. It has three arguments:

    - `call` is the original call, here of `sort`.
    - `argument` is the position of the function among the arguments of the original call.
    - `parameter` is the position of `a` among the function's parameters.

    The Python argument `call` is the artificial expression.
    """
    entry, scope, line = call.entry, call.scope, call.line
    term = entry.terms[call.args[0]]
    argument, index = int(call.literal(1) or 0), int(call.literal(2) or 0)
    found = parameter_of(inference, expected_argument(inference, entry, scope, line, call.args[0], argument), index)
    if term[0] == CALL:
        for atom in ordered(inference.expanded(inference.term(entry, scope, term[1], line))):
            if atom[0] == BUILTIN:
                found = join(found, callback_parameter(inference, atom[1], atom[2], argument, index))
            elif atom == (EXT, PACKAGE, "Array.from", None) and (argument, index) == (1, 0):
                found = join(found, inference.element(inference.expanded(call.term(term[2][0]))))
    return found


def handler(inference: Inference, call: Call) -> Type:
    """Return the type of `item` in JSX like `<List onPick={(item) => …} />`.

    `item` is a parameter of a callback in an attribute. The parser writes the type of `item` as an artificial expression
    `<attribute>(component, name, parameter)`, and the argument `call` is that expression. `name` is the name of the attribute, and
    `parameter` is the index of `item` among the callback's parameters.
    """
    name, index = call.literal(1) or "", int(call.literal(2) or 0)
    found = EMPTY
    for atom in ordered(inference.expanded(call.argument(0) or EMPTY)):
        if atom[0] == FUNC:
            found = join(found, inference.attribute(closed(_declared(inference, atom[1], 0)), name))
    return parameter_of(inference, found, index)


def returned(inference: Inference, call: Call) -> Type:
    """Return the type of a parameter of a function returned by a function.

    In `function f(): Handler { return (event) => … }`, such a parameter is `event`. The parser writes the type of `event` as an artificial
    expression `<returned>(type, parameter)`, and the argument `call` is that expression. `type` is the declared result of `f`, here
    `Handler`. `parameter` is the position of `event` among the parameters of the returned function.
    """
    declared = closed(inference.declared(call.entry, call.scope, call.args[0]))
    return parameter_of(inference, inference.awaited(declared), int(call.literal(1) or 0))


def implied_parameter(inference: Inference, symbol: Symbol, index: int) -> Type:
    """Return the type of an unannotated parameter of a named function.

    In `const visit: Visitor = (node) => …`, the declared type `Visitor` of the variable gives the type of `node`. For a method of an object
    literal, the type comes from the type that the surrounding code expects of the literal. For a function that another function returns, it
    comes from the declared result of the other function.
    """
    entry = inference.project.entry(symbol)
    definition = entry.definitions[symbol.index]
    inference.project.touch_top(entry, "*")
    found = EMPTY
    for scope, annotation in _typed_functions(entry).get((definition.parent, definition.name_line), ()):
        found = join(found, inference.awaited(closed(inference.declared(entry, scope, annotation))))
    if definition.kind == "method":
        literal = literals(entry).get(definition.start_byte)
        if literal is not None:
            found = join(found, inference.attribute(_expected(inference, entry, literal, _DEPTH), definition.name))
    return parameter_of(inference, found, index)


def _expected(inference: Inference, entry: FileEntry, literal: TermIndex, depth: int) -> Type:
    """Return the type that the surrounding code expects of an object literal.

    `literal` is the index of the object literal. The literal may be an argument, the value of a variable, a result, or a member of another
    literal. The expected type is the declared type of that parameter, variable, result or member. `depth` limits how many outer literals
    are examined.
    """
    found = EMPTY
    for kind, position, index in _uses(entry).get(literal, ()):
        if kind == "call":
            reference = entry.facts.references[position]
            _, callee, _, _ = call_at(entry.terms, reference.term)
            if name := last_name(entry.terms[callee]):
                inference.project.touch("calls", name)
            found = join(found, expected_argument(inference, entry, reference.scope, reference.line, reference.term, index))
        elif kind == "binding":
            binding = entry.facts.bindings[position]
            found = join(found, closed(inference.declared(entry, binding.scope, binding.annotation)))
        elif kind == "return":
            definition = entry.definitions[position]
            declared = closed(inference.declared(entry, definition.parent, definition.returns))
            found = join(found, inference.awaited(declared))
        elif depth:
            outer = _expected(inference, entry, TermIndex(position), depth - 1)
            holder = entry.terms[position]
            found = join(found, inference.attribute(outer, holder[1][index]) if holder[0] == OBJECT else EMPTY)
    return closed(found)


def literals(entry: FileEntry) -> Mapping[int, TermIndex]:
    """Map each method of an object literal to the literal that contains it.

    A key is the position of the method's first byte. A value is the index of the literal among the expressions of the file. The result is
    cached in `entry`.
    """
    kept: dict[int, TermIndex] | None = entry.kept.get("literals")
    if kept is None:
        kept = entry.kept["literals"] = {}
        for index, term in enumerate(entry.terms):
            if term[0] == OBJECT:
                _, _, values = term
                for value in values:
                    held = entry.terms[value]
                    if held[0] == CALL:
                        _, callee, arguments, _ = held
                        held = held if arguments else entry.terms[callee]  # the value is a getter
                    if held[0] == NAME and held[1].startswith(ANCHOR):
                        kept[int(held[1][len(ANCHOR) :])] = TermIndex(index)
    return kept


def _uses(entry: FileEntry) -> Mapping[int, Sequence[tuple[str, int, int]]]:
    """Map each object literal to its uses that may give its expected type.

    Keys are indices of expressions. Only literals that contain functions, directly or in a nested literal, are included. A use is one of
    these tuples:

    * ("call", position of the call, position of the argument)
    * ("binding", position of the annotated binding, 0)
    * ("return", position of the function that returns the literal, 0)
    * ("object", index of the outer literal, position of the member)
    """
    kept: dict[int, list[tuple[str, int, int]]] | None = entry.kept.get("uses")
    if kept is None:
        kept = entry.kept["uses"] = {}
        for literal, use in _found_uses(entry, set(literals(entry).values())):
            kept.setdefault(literal, []).append(use)
    return kept


def _found_uses(entry: FileEntry, wanted: set[int]) -> Iterator[tuple[int, tuple[str, int, int]]]:
    terms = entry.terms
    for index, term in enumerate(terms):  # children come before their parents
        if term[0] == OBJECT:
            _, _, values = term
            for position, value in enumerate(values):
                if value in wanted:
                    wanted.add(index)
                    yield value, ("object", index, position)
    for number, reference in enumerate(entry.facts.references):
        if reference.kind == "call":
            for position, argument in enumerate(arguments_of(terms[reference.term])):
                if argument in wanted:
                    yield argument, ("call", number, position)
    for number, binding in enumerate(entry.facts.bindings):
        if binding.value in wanted and binding.annotation >= 0:
            yield binding.value, ("binding", number, 0)
        elif binding.value in wanted and binding.op == "return" and entry.definitions[binding.scope].returns >= 0:
            yield binding.value, ("return", binding.scope, 0)


def _typed_functions(entry: FileEntry) -> Mapping[tuple[int, int], Sequence[tuple[int, TermIndex]]]:
    """Map the (scope, line) of anonymous functions to their declared types.

    The function is the value of an annotated variable, or is returned by a function with a declared result. Each declared type is (scope of
    the annotation, index of its expression).
    """
    kept: dict[tuple[int, int], list[tuple[int, TermIndex]]] | None = entry.kept.get("typed")
    if kept is None:
        kept = entry.kept["typed"] = {}
        for binding in entry.facts.bindings:
            if binding.op == "annotate" and entry.terms[binding.target][0] == LAMBDA:
                kept.setdefault((binding.scope, binding.line), []).append((binding.scope, binding.annotation))
            elif binding.op == "return" and binding.value >= 0 and entry.terms[binding.value][0] == LAMBDA:
                around = entry.definitions[binding.scope]
                if around.returns >= 0:
                    kept.setdefault((binding.scope, binding.line), []).append((around.parent, around.returns))
    return kept
