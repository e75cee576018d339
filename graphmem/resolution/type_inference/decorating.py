"""Find the functions that a decorator is used on.

A decorator is a function, a class whose objects replace functions, an object with the method `__call__`, or a call that returns one of
these: `@timed`, `@Task`, `@Route("/")`, `@Task(name="x")`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.values.symbol import FUNCTION_KINDS, Symbol
from graphmem.resolution.values.terms import call_at
from graphmem.resolution.values.types import CLASS, FUNC, INST, PARTIAL, Atom, Func, Type, ordered

if TYPE_CHECKING:
    from graphmem.resolution.files.call_index import CallSite
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference


def called_name(entry: FileEntry, symbol: Symbol) -> tuple[str, Symbol | None]:
    """Return the name under which code calls a function.

    The result is (name, class). Code calls a constructor by the name of its class, so the second item is this class. For any other
    function, the second item is None.
    """
    if symbol.kind == "method" and symbol.name in rules_of(entry).constructors:
        owner = entry.symbols[entry.definitions[symbol.index].parent]
        return owner.name, owner
    return symbol.name, None


def factory_keys(entry: FileEntry, symbol: Symbol, owner: Symbol | None) -> Sequence[str]:
    """Return the key by which the index of calls lists uses of a decorator.

    `symbol` is a function that a decorator `@name(…)` may run. The result is the key `@name` in these cases:

    - `symbol` is nested in a function `name`.
    - `symbol` is the method `__call__` of a class `name`.
    - `symbol` is a constructor of a class `name`. Then `owner` is the class.

    For any other function, the result is empty.
    """
    around = owner or entry.symbols[entry.definitions[symbol.index].parent]
    is_call_method = symbol.kind == "method" and symbol.name == rules_of(entry).call_method
    return (f"@{around.name}",) if owner is not None or is_call_method or around.kind in FUNCTION_KINDS else ()


def called_at(inference: Inference, entry: FileEntry, site: CallSite) -> Type:
    """Return the type of the value that a call or a decorator calls."""
    term = site.term if site.decorated >= 0 else call_at(entry.terms, site.term)[1]
    return inference.expanded(inference.term(entry, site.scope, term, site.line))


def receivers(inference: Inference, symbol: Symbol, owner: Symbol | None, called: Type, *, is_decorator: bool) -> Iterator[Atom | None]:
    """Yield the receivers on which a called value runs a function.

    A receiver is the object or the class on which the function is called. It is None for a function without a receiver.

    Args:
        inference: infers types.
        symbol: the function.
        owner: the class if `symbol` is a constructor, else None.
        called: the type of the called value.
        is_decorator: whether the value may also be an object with the method `__call__`, or a class with some arguments bound by
            `functools.partial`.
    """
    for atom in ordered(called):
        if atom[0] == FUNC and (atom[1] is symbol or _may_run_instead(inference, symbol, atom)):
            yield atom[2]
        elif atom[0] == CLASS and owner is not None and owner in inference.project_classes(atom[1]):
            yield atom
        elif not is_decorator or symbol.kind != "method":
            continue
        elif atom[0] == PARTIAL and owner is not None:
            yield from receivers(inference, symbol, owner, inference.expanded(atom[1]), is_decorator=False)
        elif atom[0] == INST and owner is None and symbol.name == rules_of(inference.project.files[symbol.path]).call_method:
            yield from (one[2] for one in ordered(inference.attribute_of(atom, symbol.name)) if one[0] == FUNC and one[1] is symbol)


def _may_run_instead(inference: Inference, symbol: Symbol, called: Func) -> bool:
    """Whether a call of a method runs a method that overrides it.

    `called` is the method of the call, and `symbol` the overriding method. The receiver of the call must be an object whose class may be a
    subclass. A static method has no receiver, so it must be abstract.
    """
    _, base, receiver = called
    if base.name != symbol.name or symbol.kind != "method" or base.kind != "method":
        return False
    if not rules_of(inference.project.files[symbol.path]).siblings_are_inferred:
        return False
    owner = _class_around(inference, symbol)
    if receiver is None:
        modifiers = inference.project.definition(base).modifiers
        around = _class_around(inference, base)
        return "static" in modifiers and "abstract" in modifiers and owner is not around and around in inference.project_classes(owner)
    return receiver[0] == INST and not receiver[2] and owner is not receiver[1] and receiver[1] in inference.project_classes(owner)


def _class_around(inference: Inference, method: Symbol) -> Symbol:
    """Return the class that defines a method."""
    entry = inference.project.entry(method)
    return entry.symbols[entry.definitions[method.index].parent]


def decorated_by(inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
    """Return the functions that are decorated with a class or its subclasses.

    For `@A def f`, the class `A` decorates the function `f`. `symbol` is the class.
    """
    project = inference.project
    return project.solver.ask(project.shared, ("H", symbol), _decorated_by, inference, symbol)


def _decorated_by(inference: Inference, symbol: Symbol) -> tuple[Symbol, ...]:
    project = inference.project
    found: dict[Symbol, None] = {}
    for name in dict.fromkeys(one.name for one in (symbol, *inference.below(symbol))):
        for site in project.decorations(name):
            other = project.files[site.path]
            asked = ("t", site.scope, site.term, site.line, "decorates")
            called = project.solver.ask(other.memo, asked, called_at, inference, other, site)
            if any(atom[0] == CLASS and symbol in inference.project_classes(atom[1]) for atom in called):
                found[other.symbols[site.decorated]] = None
    return tuple(one for one in found if one.kind in FUNCTION_KINDS)


def decorated(inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
    """Return the functions that a decorator with very many uses replaces.

    `symbol` is the decorator, or the constructor of its class. A function is returned only if the project calls a function of this name.
    The result is empty for a decorator with few uses, because then type inference finds the decorated functions.
    """
    project = inference.project
    return project.solver.ask(project.shared, ("W", symbol), _decorated, inference, symbol)


def _decorated(inference: Inference, symbol: Symbol) -> tuple[Symbol, ...]:
    project = inference.project
    entry = project.entry(symbol)
    name, owner = called_name(entry, symbol)
    keys = (name, *factory_keys(entry, symbol, owner))
    if all(project.call_sites(key, symbol.path)[1] for key in keys):
        return ()
    found: dict[Symbol, None] = {}
    for key in keys:
        for site in project.decorations(key):
            other = project.files[site.path]
            one = other.symbols[site.decorated]
            if one.kind not in FUNCTION_KINDS or not project.is_called(one.name):
                continue
            asked = ("t", site.scope, site.term, site.line, "decorates")
            called = project.solver.ask(other.memo, asked, called_at, inference, other, site)
            if next(receivers(inference, symbol, owner, called, is_decorator=True), symbol) is not symbol:
                found[one] = None
    return tuple(found)
