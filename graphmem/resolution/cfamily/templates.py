"""Find type parameters of templates and classes that act as pointers.

`entry` is a parsed file of C++.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import INDEX, NAME, TermIndex
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.terms import items_or_itself

if TYPE_CHECKING:
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference

ARROW: Final = "operator->"

MAX_ALIASES: Final = 3
"""Most aliases that are followed from one to the next."""


def type_parameters(entry: FileEntry, scope: int, first: int, last: int) -> list[str]:
    """Return the type parameters of the template in a range of lines.

    The range is `first` to `last`, and `scope` contains the template. For `template <typename A, typename B> class Map {…};`, the result is
    A and B. It is empty for a declaration that is not a template.
    """
    ranges: dict[int, list[tuple[int, int, str]]] | None = entry.kept.get("type parameters")
    if ranges is None:
        ranges = entry.kept["type parameters"] = {}
        for binding in entry.facts.bindings:
            target = entry.terms[binding.target]
            if binding.op == "local" and binding.value < 0 and binding.annotation < 0 and target[0] == NAME:
                ranges.setdefault(binding.scope, []).append((binding.line, binding.end_line, target[1]))
    around = [found for found in ranges.get(scope, ()) if found[0] <= first and found[1] >= last]
    start = max((found[0] for found in around), default=0)
    return [name for line, _, name in around if line == start]


def pointed(inference: Inference, owner: Symbol) -> int:
    """Return the position of the type parameter to which a class points.

    For `template <typename T> class Ref { T *operator->(); };`, the result is 0. It is -1 for a class that is not such a pointer.
    """
    found = inference.owner(owner, ARROW)
    if not isinstance(found, Symbol):
        return -1
    entry = inference.project.entry(found)
    definition = entry.definitions[found.index]
    parameters = type_parameters(entry, definition.parent, definition.start_line, definition.end_line)
    for function in inference.functions(found, ARROW) if parameters and found is owner else ():
        other = inference.project.entry(function)
        returned = other.definitions[function.index].returns
        position = _parameter_in(entry, found.index, returned, parameters, MAX_ALIASES) if other is entry and returned >= 0 else -1
        if position >= 0:
            return position
    return -1


def _parameter_in(entry: FileEntry, scope: int, term: TermIndex, parameters: list[str], depth: int) -> int:
    """Return the position of the type parameter that a type names.

    For `T *`, it is the position of `T` in `parameters`. The class `scope` may have an alias of the type parameter, such as
    `using Type = std::remove_extent_t<T>`. The result is -1 for other types.
    """
    written = entry.terms[term]
    if written[0] == INDEX:
        return _parameter_in(entry, scope, items_or_itself(entry.terms, written[2])[0], parameters, depth)
    if written[0] != NAME:
        return -1
    if written[1] in parameters:
        return parameters.index(written[1])
    for slot in entry.names(scope).get(written[1], ()) if depth else ():
        value = entry.facts.bindings[slot.index].value if slot.kind == "binding" else -1
        if value >= 0:
            return _parameter_in(entry, scope, TermIndex(value), parameters, depth - 1)
    return -1
