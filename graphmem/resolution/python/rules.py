"""Rules that resolve names and calls in Python code to definitions.

The rules cover calls: decorators, metaclasses, functions of the standard library, and pytest fixtures. `classes` and `special_methods` have
the rules of classes and of operators.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphmem.parsing.facts import TermIndex
from graphmem.resolution.python.classes import PythonClasses
from graphmem.resolution.python.fields import part_of_tuple
from graphmem.resolution.python.fixtures import name_of_decorator
from graphmem.resolution.python.library import (
    BUILTIN_NAMES,
    CALLS,
    COMMON_METHODS,
    class_made,
    container_method,
)
from graphmem.resolution.python.metaclasses import metaclasses, run_on_definition
from graphmem.resolution.python.parametrized import parametrized
from graphmem.resolution.python.shapes import used_as
from graphmem.resolution.python.special_methods import SpecialMethods
from graphmem.resolution.python.structural import StructuralClasses
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.types import (
    BOX,
    BUILTINS,
    CLASS,
    EMPTY,
    EXT,
    FUNC,
    INST,
    PARTIAL,
    PENDING,
    Container,
    Instance,
    Outside,
    Type,
    box,
    join,
    join_all,
    one,
    ordered,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Definition
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.call import Call
    from graphmem.resolution.interfaces.inference import Inference


class PythonRules(PythonClasses, SpecialMethods, StructuralClasses):
    """Rules that resolve names and calls in Python code to definitions."""

    constructors = ("__new__", "__init__")
    call_method = "__call__"
    uses_tell_classes = True
    class_variables_begin_late = True
    classes_are_made_by_name = True
    libraries_give_anything = True
    values_are_checked = True
    never_missing = sys.stdlib_module_names
    type_tests = ("isinstance", "issubclass")
    attribute_readers = (("builtins", "getattr"), ("builtins", "hasattr"))

    def builtin(self, name: str) -> Type:
        """Return the type of a Python builtin such as `len`; empty if unknown."""
        return one((EXT, BUILTINS, name, None)) if name in BUILTIN_NAMES else EMPTY

    def call_external(self, inference: Inference, atom: Outside, call: Call) -> Type | None:
        """Return the result type of a library call; None if it is unknown.

        The table of known functions is in the module `library`.
        """
        known = CALLS.get((atom[1], atom[2]))
        if known is None and atom[2].endswith(".__new__"):
            return join_all(inference.instances(inference.expanded(call.argument(0) or EMPTY))) or None
        return known(inference, call) if known is not None else None

    def made_by_hook(self, inference: Inference, symbol: Symbol, call: Call) -> Type:
        """Return the type of a class call, if `__new__` decides it.

        `symbol` is the called class. The `__new__` of a decorator class may return a function or a `partial`. The `__new__` of a factory
        may return an object of a subclass. If `__new__` returns only objects of the class or of its bases, the result is empty.
        """
        owner = inference.owner(symbol, "__new__")
        if not isinstance(owner, Symbol):
            return EMPTY
        found = EMPTY
        for function in inference.functions(owner, "__new__"):
            found = join(found, inference.expanded(inference.call_atom((FUNC, function, (CLASS, symbol, False)), call)))
        above = inference.project_classes(symbol)
        others = frozenset(atom for atom in found if atom[0] in (FUNC, PARTIAL) or (atom[0] == INST and atom[1] not in above))
        if not others:
            return EMPTY
        return join(others, one((INST, symbol, True))) if any(atom[0] == INST and atom[1] in above for atom in found) else others

    def class_made(self, inference: Inference, symbol: Symbol, call: Call) -> Type:
        """Return the bases of a class made by `Meta(name, bases, members)`.

        The new class itself has no definition, so its bases stand for it. `symbol` is the called class. The result is empty if this class
        does not derive from `type`.
        """
        if not any(not isinstance(base, Symbol) and base[1] == BUILTINS and base[2] == "type" for base in inference.mro(symbol)):
            return EMPTY
        return class_made(inference, call)

    def container_method(self, inference: Inference, container: Container, name: str, call: Call) -> Type:
        """Return the type of a method call's result on a list, dict or similar.

        `container` is the type of the object, and `name` is the name of the method.
        """
        return container_method(inference, container, name, call)

    def result(self, inference: Inference, symbol: Symbol, value: Type) -> Type:
        """Return the type of a call of a function, given the body's result type.

        `value` is the type of the returned values. For a coroutine function, the result is a wrapper that gives `value` after `await`. For
        a function with the decorator `contextmanager`, the result is a wrapper that gives the yielded value after `with`.
        """
        entry = inference.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        for decorator in definition.decorators:
            name = name_of_decorator(entry, decorator)
            if name in ("contextmanager", "asynccontextmanager"):
                return box("enter", inference.element(inference.expanded(value)))
        if "generator" in definition.modifiers:
            return join(value, one((PENDING, symbol)))
        return join(box("await", value), one((PENDING, symbol))) if "async" in definition.modifiers else value

    def decorate(self, inference: Inference, entry: FileEntry, symbol: Symbol, decorator: TermIndex, current: Type) -> Type:
        """Return the types that a decorator adds to a function's name.

        `decorator` is the decorator, and `current` is the type of the function's name before the decorator is applied. The result is empty
        for a decorator of a library, which is assumed to return the function itself.
        """
        from graphmem.resolution.interfaces.call import Call

        scope = entry.definitions[symbol.index].parent
        line = entry.definitions[symbol.index].start_line
        found = EMPTY
        call = Call(inference, entry, scope, line, passed=(current,))
        called = inference.expanded(inference.term(entry, scope, decorator, line))
        made = frozenset(atom for atom in called if atom[0] == INST)
        for partial in [atom for atom in ordered(called) if atom[0] == PARTIAL]:
            called = join(called, inference.expanded(partial[1]))
        for atom in ordered(join(called, inference.expanded(inference.attribute(made, self.call_method)))):
            if atom[0] == FUNC:
                value = inference.substituted(inference.body_result(atom[1]), atom, call)
                found = join(found, frozenset(inner for inner in inference.expanded(value) if inner[0] in (FUNC, INST)))
            elif atom[0] == CLASS:
                found = join(found, one((INST, atom[1], True)))
            elif atom[0] == BOX and atom[1] == "callable":  # its declared result is an instance of a class
                found = join(found, frozenset(inner for inner in atom[2][0] if inner[0] == INST))
        return found

    def implicit_argument(self, inference: Inference, symbol: Symbol, index: int) -> Type:
        """Return the type of the value that pytest passes for a parameter.

        A parameter of a test or fixture requests the fixture of the same name. A parameter of a test may also have values from
        `parametrize`. For any other parameter the result is empty.
        """
        fixture = self._fixture(inference, symbol, index)
        if fixture is None:
            return parametrized(inference, symbol, index)
        value = inference.returned(fixture)
        entry = inference.project.entry(fixture)
        if entry.yields.get(fixture.index):
            value = inference.element(value)
        return inference.awaited(inference.expanded(value))

    def used_as(self, inference: Inference, symbol: Symbol, index: int) -> Type:
        """Infer the type of an unannotated parameter from its used attributes.

        If a function uses `x.read()` and `x.close()`, `x` is an object of the classes that have both methods. See `shapes.used_as`.
        """
        return used_as(inference, symbol, index)

    def part_of_tuple(self, inference: Inference, receiver: Instance, position: int) -> Type:
        """Return the type of the item at `position` of a `NamedTuple` object.

        `receiver` is the object.
        """
        return part_of_tuple(inference, receiver, position)

    def runs_on_definition(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
        """Return the functions that Python runs when a class is defined.

        These are `__new__` and `__init__` of the metaclass, and `__init_subclass__` of a base class.
        """
        return run_on_definition(inference, symbol)

    def runs_on_instantiation(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
        """Return the `__call__` of the metaclass, which runs before `__new__`."""
        found: list[Symbol] = []
        for metaclass in metaclasses(inference, symbol):
            owner = inference.owner(metaclass, "__call__")
            if isinstance(owner, Symbol):
                found += inference.functions(owner, "__call__")
        return found

    def takes(self, definition: Definition, positional: int, keywords: Sequence[str], *, bound: bool) -> bool:
        """Return whether a function accepts the arguments of a call.

        `positional` is the number of positional arguments, and `keywords` are the names of the others. If `bound` is true, the receiver is
        passed implicitly. Too many, unknown or missing arguments are not accepted.
        """
        parameters = list(definition.parameters)
        if bound and definition.kind == "method" and "static" not in definition.modifiers:
            parameters = parameters[1:]
        kinds = {parameter.kind for parameter in parameters}
        places = [parameter for parameter in parameters if parameter.kind in ("normal", "positional")]
        if positional > len(places) and "rest" not in kinds:
            return False
        if "**" in keywords:
            return True
        names = {parameter.name for parameter in parameters if parameter.kind in ("normal", "keyword")}
        if "keyword_rest" not in kinds and any(keyword not in names for keyword in keywords):
            return False
        given = {parameter.name for parameter in places[:positional]} | set(keywords)
        needed = [p for p in parameters if p.default < 0 and p.kind in ("normal", "positional", "keyword")]
        return all(parameter.name in given for parameter in needed)

    def is_common_name(self, name: str) -> bool:
        """Return whether common builtin types have a method of this name."""
        return name in COMMON_METHODS


RULES = PythonRules
