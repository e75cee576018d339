"""Choose the bindings of a name that apply at a line, or in other scopes.

A binding is a place that gives a name a value, such as `x = f()`.

`entry` is a parsed file. `scope` is a function, a class or the module in it, given as its position among the file's definitions; 0 is the
module.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from graphmem.resolution.files.file_entry import FileEntry, Slot
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.values.symbol import CLASS_KINDS

OTHER_BUILDS: Final = frozenset(("overload", "windows"))
"""Modifiers of definitions that a usual build does not use if there is another definition of the name."""

FALLBACKS: Final = OTHER_BUILDS | {"fallback"}
"""The same modifiers, and that of a fallback, if the name is also imported from a module that is always installed."""


def reaching(slots: Sequence[Slot], line: int) -> Sequence[Slot]:
    """Return those bindings of a name that may set its value at a line.

    After `x = f()` on line 1 and `x = g()` on line 2, only the second sets the value on line 3. `slots` are the bindings in the order of
    their lines. The first rule that finds bindings decides:

    - The last binding before `line` whose block also contains `line`, and all bindings between it and `line`.
    - All bindings before `line`.
    - The bindings on `line`.
    - All bindings.
    """
    if len(slots) == 1:
        return slots
    before = [slot for slot in slots if slot.line < line]
    if not before:
        return [slot for slot in slots if slot.line == line] or slots
    for position in range(len(before) - 1, -1, -1):
        if before[position].last >= line:
            return before[position:]
    return before


def innermost(entry: FileEntry, scope: int, name: str, positions: Sequence[int], line: int) -> int:
    """Return which of several bindings of a name is valid on a line.

    A binding such as the parameter of a lambda is valid on a range of lines. If several are valid on `line`, as in nested lambdas, the
    result is the innermost one, which begins last. `positions` and the result are positions in the file's list of bindings. The result is
    -1 if no binding is valid.
    """
    kept: dict[tuple[int, str], tuple[list[int], list[int], list[int]]] = entry.kept.setdefault("nested", {})
    nested = kept.get((scope, name))
    bindings = entry.facts.bindings
    if nested is None:
        order = sorted(positions, key=lambda i: (bindings[i].line, -bindings[i].end_line, bindings[i].value >= 0, i))
        around: list[int] = []  # of each binding, the one whose lines contain its beginning, as an index into `order`
        begun: list[int] = []
        for index, position in enumerate(order):
            while begun and bindings[order[begun[-1]]].end_line < bindings[position].line:
                begun.pop()
            around.append(begun[-1] if begun else -1)
            begun.append(index)
        nested = kept[scope, name] = (order, [bindings[i].line for i in order], around)
    order, starts, around = nested
    index = bisect_right(starts, line) - 1
    while index >= 0 and bindings[order[index]].end_line < line:
        index = around[index]
    return order[index] if index >= 0 else -1


def depends_on_line(entry: FileEntry, scope: int) -> bool:
    """Whether a name of a scope can have an outer meaning on some lines.

    This is so in blocks of a function of Go, and in class bodies of Python. See `hides_in_blocks` and `begins_in_class`.
    """
    if not scope:
        return False
    rules = rules_of(entry)
    return rules.variables_end_with_blocks or (rules.class_variables_begin_late and entry.definitions[scope].kind == "class")


def hides_in_blocks(entry: FileEntry, scope: int, name: str) -> bool:
    """Whether only some blocks of a function bind a name of an outer scope.

    Outside these blocks, the name keeps its outer meaning. The result is False for a parameter, and in languages in which a variable
    always belongs to the whole function.
    """
    if not rules_of(entry).variables_end_with_blocks:
        return False
    slots = entry.names(scope).get(name)
    if not slots or (scope, name) in entry.locals or any(slot.kind != "binding" for slot in slots):
        return False
    return _is_bound_around(entry, scope, name)


def begins_in_class(entry: FileEntry, scope: int, name: str) -> bool:
    """Whether assignments in a class body bind a name of an outer scope.

    Until the first of these assignments has run, the name in the class body has its outer meaning. The result is False in languages where
    the name always means the variable of the class.
    """
    if not rules_of(entry).class_variables_begin_late or entry.definitions[scope].kind != "class":
        return False
    slots = entry.names(scope).get(name)
    if not slots or (scope, name) in entry.locals or any(slot.kind != "binding" for slot in slots):
        return False
    return _is_bound_around(entry, scope, name)


def _is_bound_around(entry: FileEntry, scope: int, name: str) -> bool:
    """Whether a scope around `scope`, in the same file, binds a name."""
    around = entry.around[scope]
    while around and name not in entry.names(around):
        around = entry.around[around]
    return name in entry.names(around)


def of_blocks(entry: FileEntry, scope: int, name: str, slots: Sequence[Slot]) -> bool:
    """Whether a name is bound only by variables of single blocks of code.

    In Ruby, a variable to which a block assigns first exists only in this block. Elsewhere in the same scope, the name may be that of a
    method. A method does not see the variables of the code around it. `slots` are the bindings of the name in the scope.
    """
    rules = rules_of(entry)
    if not rules.variables_belong_to_blocks or entry.definitions[scope].kind in CLASS_KINDS or not rules.is_of_block(name):
        return False
    return all(slot.kind == "binding" and entry.facts.bindings[slot.index].op == "assign" for slot in slots)


def whole(entry: FileEntry, slots: Sequence[Slot]) -> Sequence[Slot]:
    """Return those bindings of a name that other scopes can see.

    `slots` are all bindings of the name in one scope. Overload signatures and definitions for Windows are left out. In Python, `except
    ImportError` may define a name that the `try` block imports. Such a definition is left out if the import always succeeds, as for the
    standard library. If nothing remains, all bindings are returned.
    """
    if len(slots) < 2:
        return slots
    left_out = OTHER_BUILDS
    if any(slot.kind == "import" and _is_never_missing(entry, slot.index) for slot in slots):
        left_out = FALLBACKS
    real = [s for s in slots if s.kind != "definition" or left_out.isdisjoint(entry.definitions[s.index].modifiers)]
    return real or slots


def _is_never_missing(entry: FileEntry, position: int) -> bool:
    """Whether an imported name comes from a module that is always installed.

    `position` is the position of the import in the file.
    """
    found = entry.facts.imports[position]
    return not found.level and found.module.partition(".")[0] in entry.rules.never_missing
