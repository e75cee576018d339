"""Find the functions behind a property that a call makes.

An example of such a call is `name = property(get, set)` in a class. The call may be in a function that returns the property, as in `length
= header("Content-Length")`.

The functions here take the binding of a property: the place that gives its name a meaning, here an assignment such as `name = …`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import CALL, NAME, Binding
from graphmem.resolution.interfaces.call import Call
from graphmem.resolution.values.symbol import FUNCTION_KINDS
from graphmem.resolution.values.types import BUILTINS, EMPTY, EXTI, FUNC, INST, ExtInstance, Type, join, ordered

if TYPE_CHECKING:
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference
    from graphmem.resolution.values.symbol import Symbol

GETTER: Final = (0, "fget")
"""The parameter of `property` with the function that a read calls, by position and name."""

MADE_PROPERTY: Final[ExtInstance] = (EXTI, BUILTINS, "property()", None)
"""Type of the result of a call of `property`."""

MAX_NESTED: Final = 4
"""Functions that return each other's properties, beyond which the accessors are not searched."""


def made_accessors(inference: Inference, entry: FileEntry, made: Binding, accessor: tuple[int, str], nested: int = 0) -> list[Symbol]:
    """Return the functions that a property calls for one kind of use.

    `made` is the assignment or the `return` whose value is the property, as in `name = property(get, set)`. `accessor` selects the
    argument of `property`, by position and name: (0, "fget") selects `get`. The result is empty if the value is not a property.
    `nested` is the number of functions around `made` that return the property.
    """
    value = entry.terms[made.value] if made.value >= 0 else None
    if value is None or value[0] != CALL or nested > MAX_NESTED:
        return []
    _, callee, positional, keywords = value
    if entry.terms[callee] != (NAME, "property"):
        found: dict[Symbol, None] = {}
        for atom in ordered(inference.expanded(inference.term(entry, made.scope, callee, made.line))):
            if atom[0] == FUNC:
                inside = inference.project.entry(atom[1])
                for position in inside.results.get(atom[1].index, ()):
                    found |= dict.fromkeys(made_accessors(inference, inside, inside.facts.bindings[position], accessor, nested + 1))
        return list(found)
    place, keyword = accessor
    given = [*positional[place : place + 1], *(term for name, term in keywords if name == keyword)]
    values = (inference.expanded(inference.term(entry, made.scope, term, made.line)) for term in given)
    return [atom[1] for value in values for atom in ordered(value) if atom[0] == FUNC]


def made_property(inference: Inference, owner: Symbol, made: Binding) -> Type:
    """Return the type that reading a property made by a call gives.

    `owner` is the class, and `made` the binding of the property. The type is the result of the getter. A getter inside another function
    is considered only if its result has one class, because the result may depend on the arguments of that function.
    """
    entry = inference.project.entry(owner)
    call = Call(inference, entry, 0, 0)
    found = EMPTY
    for getter in made_accessors(inference, entry, made, GETTER):
        inside = inference.project.entry(getter)
        value = inference.expanded(inference.call_atom((FUNC, getter, (INST, owner, False)), call))
        is_nested = inside.definitions[inside.definitions[getter.index].parent].kind in FUNCTION_KINDS
        if not is_nested or sum(atom[0] == INST for atom in value) <= 1:
            found = join(found, value)
    return found
