"""Find the `return` statements that a call cannot reach.

An example is `def f(x=None)` with `if x is None: return A()`, then `return B()`. The call `f(1)` cannot reach `return A()`, and `f()`
cannot reach `return B()`. The result of a test is known only for a literal argument or a default value. The function must not assign the
parameter before the test.

The list of a file's bindings has the places where names and attributes get values, such as `x = f()`, and also the `return` statements.
"""

from __future__ import annotations

from graphmem.parsing.facts import DICT, LAMBDA, LIST, LITERAL, OPERATOR, STRING, TUPLE, Binding, Term
from graphmem.resolution.files.file_entry import FileEntry
from graphmem.resolution.interfaces.call import Call


def unreached(entry: FileEntry, scope: int, call: Call, offset: int) -> tuple[int, ...]:
    """Return a function's `return` statements that a call cannot reach.

    Args:
        entry: the file of the function.
        scope: the function.
        call: the call.
        offset: number of parameters that the receiver fills, such as `self`.

    Returns:
        Positions in the file's list of bindings, in ascending order.
    """
    found: set[int] = set()
    bindings = entry.facts.bindings
    for position in entry.demands[scope]:
        binding = bindings[position]
        tests = entry.terms[binding.value]
        known = [_passes(entry, binding, entry.terms[test], call, offset) for test in tests[1]] if tests[0] == TUPLE else []
        if False in known if binding.op == "when" else all(known):
            found.update(i for i in entry.results.get(scope, ()) if binding.line <= bindings[i].line <= binding.end_line)
    return tuple(sorted(found))


def _passes(entry: FileEntry, binding: Binding, test: Term, call: Call, offset: int) -> bool | None:
    """Whether the argument of a call meets a test in the called function.

    The result is None if that is unknown. `test` is the test of a parameter, such as `x is None` in `if x is None: return A()`. `binding`
    is the record of the code that the test guards, here of the `return`. `offset` is the number of parameters that the receiver fills, such
    as `self`.
    """
    if test[0] != OPERATOR:
        return None
    _, demand, operand, _ = test
    tested = entry.terms[operand]
    name = str(tested[-1])
    definition = entry.definitions[binding.scope]
    index = next((i for i, parameter in enumerate(definition.parameters) if parameter.name == name), -1)
    if index < offset or definition.parameters[index].kind in ("rest", "keyword_rest"):
        return None
    slots = entry.names(binding.scope).get(name, ())
    if any(slot.kind != "parameter" and slot.line <= binding.end_line for slot in slots):
        return None
    parameter = definition.parameters[index]
    given = call.written(index - offset if parameter.kind != "keyword" else -1, name)
    if given is None or (given < 0 and parameter.default < 0):
        return None
    return holds(call.entry.terms[given] if given >= 0 else entry.terms[parameter.default], demand)


def holds(literal: Term, demand: str) -> bool | None:
    """Whether a literal, such as `None`, meets a test; None if unknown.

    `demand` is what the test demands of the value: `none` for `x is None`. `none`, `true` and `false` each require that literal. `truthy`
    requires any value that counts as true. A prefix "not " negates the test.
    """
    if demand.startswith("not "):
        found = holds(literal, demand.removeprefix("not "))
        return None if found is None else not found
    if literal[0] not in (LITERAL, STRING, LIST, DICT, TUPLE, LAMBDA):
        return None
    kind = literal[1] if literal[0] == LITERAL else ""
    if demand != "truthy":
        return kind == demand
    if kind in ("none", "true", "false"):
        return kind == "true"
    if literal[0] == LITERAL:
        return None
    return literal[0] == LAMBDA or bool(literal[1])
