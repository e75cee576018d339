"""Rules that resolve names and calls in Python code to definitions.

The rules cover receivers, operators, decorators, functions of the standard library, and pytest fixtures.
"""

from __future__ import annotations

import builtins
import collections.abc
import re
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import AWAIT, CALL, ENTER, INDEX, ITER, NAME, OPERATOR, STRING
from graphmem.resolution.operators import ASSIGNING, BINARY, METHODS, UNARY
from graphmem.resolution.python.fields import field_value, part_of_tuple
from graphmem.resolution.python.fixtures import name_of_decorator
from graphmem.resolution.python.library import (
    BUILTIN_NAMES,
    CALLS,
    COMMON_METHODS,
    class_made,
    container_method,
)
from graphmem.resolution.python.made_properties import made_accessors
from graphmem.resolution.python.metaclasses import metaclasses, written_bases
from graphmem.resolution.python.parametrized import parametrized
from graphmem.resolution.python.protocols import (
    CALLED_THROUGH,
    CONTAINED,
    CONTAINMENT,
    ENTERED,
    ENTERED_LATER,
    ITERATION,
    KEY,
    PLAIN_TEXT,
    REFLECTED,
    STANDS_FOR,
    UNSIGNED,
)
from graphmem.resolution.python.shapes import used_as
from graphmem.resolution.python.structural import StructuralClasses
from graphmem.resolution.python.tables import LIBRARY
from graphmem.resolution.rules_of_calls import Run, Through
from graphmem.resolution.symbol import CLASS_KINDS, Symbol
from graphmem.resolution.terms import items_or_itself, last_name, string_of
from graphmem.resolution.types import (
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
    Ext,
    ExtInstance,
    Instance,
    Outside,
    Receiver,
    Type,
    box,
    join,
    join_all,
    one,
    ordered,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Binding, Definition
    from graphmem.resolution.call import Call
    from graphmem.resolution.file_entry import FileEntry
    from graphmem.resolution.inference import Inference


_PASSIVE: Final = LIBRARY.passive
"""Packages whose classes never instantiate the classes derived from them."""

_ACCESSORS: Final = {"read": (0, "fget"), "write": (1, "fset")}
"""Kind of use of a property -> the parameter of `property` with the function that runs, by position and name."""

_CONTAINERS: Final = {"builtins": builtins, "collections": collections}
"""Modules whose classes are asked which special methods they have."""

_CONVERSION: Final = re.compile(r"%(?:\(\w*\))?[-#0 +]*[\d*]*(?:\.[\d*]+)?([a-zA-Z])")
"""A conversion in a format such as `"%s: %r"`; its group is the kind."""

_CONVERTED: Final[Mapping[str, Sequence[str]]] = {"r": ("__repr__",), "a": ("__repr__",), "d": ("__int__",), "i": ("__int__",)}
"""Kind of a conversion -> the special methods that it calls, if they are not those of plain text."""

MAX_USERS: Final = 40
"""Classes that use a mixin, beyond which they do not tell where its missing members come from."""


class PythonRules(StructuralClasses):
    """Rules that resolve names and calls in Python code to definitions."""

    constructors = ("__new__", "__init__")
    call_method = "__call__"
    first_parameter_is_receiver = True
    fallback_method = "__getattr__"
    attributes_are_set_anywhere = True
    uses_tell_classes = True
    classes_are_made_by_name = True
    libraries_give_anything = True
    values_are_checked = True
    methods_are_inputs = True
    class_calls_are_virtual = False
    siblings_are_inferred = True
    never_missing = sys.stdlib_module_names
    identity_signs = frozenset({"is", "is not"})
    type_tests = ("isinstance", "issubclass")
    attribute_readers = (("builtins", "getattr"), ("builtins", "hasattr"))
    resuming = frozenset({"__iter__", "__next__", "__aiter__", "__anext__", "__contains__", "__await__"})
    item_method = "__getitem__"
    item_setters = ("__setitem__",)
    key_methods = KEY
    contained_methods = CONTAINED
    wrapped_members: Mapping[tuple[str, str], str] = {(BUILTINS, "property"): "fget", ("functools", "cached_property"): "func"}
    attribute_setter = "__setattr__"
    descriptor_methods: Mapping[str, str] = {"read": "__get__", "write": "__set__"}

    def builtin(self, name: str) -> Type:
        """Return the type of a Python builtin such as `len`; empty if unknown."""
        return one((EXT, BUILTINS, name, None)) if name in BUILTIN_NAMES else EMPTY

    def receiver(self, inference: Inference, symbol: Symbol) -> Type:
        """Return the type of a method's first parameter.

        `self` is an instance of the class. `cls`, and the first parameter of `__new__`, is the class itself.
        """
        entry = inference.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        owner = entry.symbols[definition.parent]
        if owner.kind not in CLASS_KINDS:
            return EMPTY
        if "classmethod" in definition.modifiers or symbol.name in ("__new__", "__init_subclass__", "__class_getitem__"):
            return one((CLASS, owner, True))
        return one((INST, owner, False))

    def is_super_call(self, entry: FileEntry, term: int) -> bool:
        """Return whether an expression is a call of `super`, such as `super()`."""
        found = entry.terms[term]
        return bool(found[0] == CALL and entry.terms[found[1]] == (NAME, "super"))

    def sibling_owners(self, inference: Inference, symbol: Symbol, name: str) -> Sequence[Symbol]:
        """Return the classes that define a member which a mixin uses but lacks.

        `symbol` is the mixin, and `name` the member. Each returned class inherits the mixin, or is another base of a class that inherits
        the mixin. Test classes count only for mixins in tests. The result is empty in these cases:

        - A base class from a library may define the member.
        - Too many classes inherit the mixin.
        - `name` begins with `__`.
        """
        if name.startswith("__") or any(not isinstance(base, Symbol) and base[1] not in _PASSIVE for base in inference.mro(symbol)):
            return ()
        in_tests = inference.project.files[symbol.path].in_tests
        users = [below for below in inference.below(symbol) if in_tests or not inference.project.files[below.path].in_tests]
        if len(users) > MAX_USERS:
            return ()
        owners = {owner for below in users if isinstance(owner := inference.owner(below, name), Symbol)}
        return sorted(owners, key=lambda owner: owner.place)

    def call_external(self, inference: Inference, atom: Outside, call: Call) -> Type | None:
        """Return the result type of a library call, from the table in `library`.

        The result is None if the table does not have the called function.
        """
        known = CALLS.get((atom[1], atom[2]))
        if known is None and atom[2].endswith(".__new__"):
            return join_all(inference.instances(inference.expanded(call.argument(0) or EMPTY))) or None
        return known(inference, call) if known is not None else None

    def receiver_class(self, entry: FileEntry, scope: int, base: int) -> int:
        """Return the class of the receiver `self`; -1 if `base` is no receiver.

        In the method `__new__`, a variable that holds the new object is also a receiver. An example is `made = super().__new__(cls)`.
        """
        found = super().receiver_class(entry, scope, base)
        term = entry.terms[base]
        if found >= 0 or term[0] != NAME or not (made := made_objects(entry)):
            return found
        method = entry.enclosing(scope, ("method",))
        return entry.definitions[method].parent if (method, term[1]) in made else -1

    def private_owner(self, entry: FileEntry, scope: int, name: str) -> int:
        """Return the class around code that uses a private attribute `__name`.

        Only objects of this class can have the attribute, because Python puts the name of the class in front of the attribute's name. The
        result is -1 for other names.
        """
        return entry.enclosing(scope, CLASS_KINDS) if name.startswith("__") and not name.endswith("__") else -1

    def missing_member(self, receiver: Receiver, name: str) -> Type:
        """Return `object.__new__` for `super().__new__`, else an empty type.

        The rule applies to a class without bases.
        """
        return one((EXT, BUILTINS, "object.__new__", None)) if name == "__new__" and receiver[0] == CLASS else EMPTY

    def made_by_hook(self, inference: Inference, symbol: Symbol, call: Call) -> Type:
        """Return the result of a class call, if `__new__` decides it.

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

    def decorate(self, inference: Inference, entry: FileEntry, symbol: Symbol, decorator: int, current: Type) -> Type:
        """Return the types that a decorator adds to a function's name.

        `decorator` is the decorator, and `current` is the type of the function's name before the decorator is applied. The result is empty
        for a decorator of a library, which is assumed to return the function itself.
        """
        from graphmem.resolution.call import Call

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

    def class_value(self, inference: Inference, owner: Symbol, binding: Binding, value: Type) -> Type:
        """Return the type that reading a class attribute gives.

        `value` is the type of the assigned value, and usually the result. There are three exceptions:

        - For a field of a data class, the result also has the arguments that calls of the class pass.
        - For a member of an enum, the result is an instance of the enum.
        - For a descriptor, the result is that of its `__get__`.
        """
        if binding.annotation < 0 and inference.is_enum(owner):
            return one((INST, owner, True))
        found = EMPTY
        for atom in ordered(inference.expanded(field_value(inference, owner, binding, value))):
            if atom[0] == INST and isinstance(inference.owner(atom[1], "__get__"), Symbol):
                found = join(found, inference.method_result(atom, "__get__"))
            else:
                found = join(found, frozenset((atom,)))
        return found

    def operations(self, entry: FileEntry, scope: int, term: int) -> Sequence[Run]:
        """Return the special methods that an expression calls, such as `__add__`.

        Loops, `await`, `with`, subscripts, operators, conditions and formatted strings call special methods. Only a coroutine function can
        contain `async for` and `async with`.
        """
        found = entry.terms[term]
        is_async = "async" in entry.definitions[scope].modifiers
        if found[0] == ITER:
            _, iterable = found
            return (Run(iterable, ITERATION), Run(iterable, ("__aiter__",)))[: 1 + is_async]
        if found[0] == AWAIT:
            _, awaitable = found
            return (Run(awaitable, ("__await__",)),)
        if found[0] == ENTER:
            _, manager = found
            return tuple(Run(manager, (name,)) for name in (*ENTERED, *(ENTERED_LATER if is_async else ())))
        if found[0] == INDEX:
            _, base, key = found
            return (Run(base, ("__getitem__",)), Run(base, ("__missing__",)), Run(key, KEY, base))
        if found[0] != OPERATOR:
            return ()
        _, sign, left, right = found
        if right < 0:
            return (Run(left, UNSIGNED[sign]),) if sign in UNSIGNED else (Run(left, (UNARY[sign],)),) if sign in UNARY else ()
        if sign in ("in", "not in"):
            return (Run(right, CONTAINMENT), Run(left, KEY, right))
        if sign == "%" and entry.terms[left][0] == STRING:
            items = items_or_itself(entry.terms, right)
            kinds = _CONVERSION.findall(string_of(entry.terms[left]).replace("%%", ""))
            written = [_CONVERTED.get(kind, PLAIN_TEXT) for kind in kinds] if len(kinds) == len(items) else [PLAIN_TEXT] * len(items)
            return tuple(Run(item, names) for item, names in zip(items, written, strict=True))
        name = BINARY.get(sign.removesuffix("=") if sign in ASSIGNING else sign)
        if name is None:
            return ()
        reflected = REFLECTED.get(name, f"__r{name[2:]}")
        names = (f"__i{name[2:]}", name) if sign in ASSIGNING else (name, "__eq__") if name == "__ne__" else (name,)
        item = entry.terms[left]
        read = (Run(item[1], ("__getitem__",)),) if sign in ASSIGNING and item[0] == INDEX else ()
        return (*read, Run(left, names), Run(right, (reflected,), first=(left, names)))

    def accessor_functions(self, inference: Inference, entry: FileEntry, position: int, kind: str) -> Sequence[Symbol]:
        """Return the functions that reading or writing an attribute calls.

        The attribute is made by a call `x = property(get, set)` in a class, or by a function that returns such a call. `position` is that
        of its binding, and `kind` is `read` or `write`.
        """
        return made_accessors(inference, entry, entry.facts.bindings[position], _ACCESSORS[kind]) if kind in _ACCESSORS else ()

    def operated(self, inference: Inference, receiver: Instance, sign: str, *, is_unary: bool) -> Type:
        """Return the result type of an operator: `__add__` of `a` for `a + b`."""
        method = METHODS.get(sign)
        return inference.method_result(receiver, method) if method else EMPTY

    def iterated(self, inference: Inference, receiver: Instance) -> Type:
        """Return the element type of a loop over an object of a class.

        The type is the result of `__next__` of the iterator that `__iter__` returns. Asynchronous loops are included.
        """
        given = join(inference.method_result(receiver, "__iter__"), inference.method_result(receiver, "__aiter__"))
        found = EMPTY
        for inner in ordered(inference.expanded(given)):
            if inner[0] == BOX:
                found = join(found, inner[2][0])
            elif inner[0] == INST:
                found = join(found, inference.method_result(inner, "__next__"))
                found = join(found, inference.awaited(inference.method_result(inner, "__anext__")))
        return found

    def part_of_tuple(self, inference: Inference, receiver: Instance, position: int) -> Type:
        """Return the type of an item of an object of a `NamedTuple` class."""
        return part_of_tuple(inference, receiver, position)

    def answers_itself(self, base: Ext, name: str) -> bool:
        """Whether a special method of a library class calls no other such method.

        `base` is the class, and `name` the special method. The result is True if `base` is a container class, such as `list`, that defines
        the method. For example, `__iter__` of `list` does not call `__getitem__`.
        """
        _, package, dotted, _ = base
        inside = _CONTAINERS.get(package)
        found = vars(inside).get(dotted) if inside is not None else None
        return isinstance(found, type) and getattr(found, name, None) not in (None, getattr(object, name, None))

    def library_has(self, base: Ext, name: str) -> bool:
        """Return whether a class in `collections.abc` has a given method.

        `base` is the library class. The result is False for a class that is not in `collections.abc`.
        """
        return hasattr(getattr(collections.abc, base[2].rpartition(".")[2], None), name)

    def satisfies(self, inference: Inference, receiver: Instance, tested: ExtInstance) -> bool:
        """Return whether an object passes `isinstance(x, Iterable)` and similar.

        The object passes if its class derives from the library's class `tested`. It also passes if its class has the method that `tested`
        requires, such as `__iter__` for `Iterable`.
        """
        _, _, dotted, _ = tested
        name = dotted.rpartition(".")[2]
        known = getattr(collections.abc, name, None)
        for base in inference.mro(receiver[1]):
            if not isinstance(base, Symbol):
                other = getattr(collections.abc, base[2].rpartition(".")[2], None)
                if base[2].rpartition(".")[2] == name or (isinstance(known, type) and isinstance(other, type) and issubclass(other, known)):
                    return True
        method = STANDS_FOR.get(name)
        return method is not None and isinstance(inference.owner(receiver[1], method), Symbol)

    def next_step(self, name: str) -> str:
        """Return the method that fetches the next element of an iterator.

        `name` is the method that made the iterator. For `__iter__` the result is `__next__`, for `__aiter__` it is `__anext__`, and
        otherwise "".
        """
        return {"__iter__": "__next__", "__aiter__": "__anext__"}.get(name, "")

    def base(self, inference: Inference, entry: FileEntry, symbol: Symbol, term: int) -> Type:
        """Return the type that a base in the header of a class refers to.

        `with_metaclass(M, A, B)` stands for the bases `A` and `B`.
        """
        given = written_bases(entry, term)
        if not given:
            return super().base(inference, entry, symbol, term)
        return join_all(super(PythonRules, self).base(inference, entry, symbol, one_base) for one_base in given)

    def runs_on_definition(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
        """Return the functions that Python runs when a class is defined.

        These are `__new__` and `__init__` of the metaclass, and `__init_subclass__` of a base class.
        """
        found: list[Symbol] = []
        for metaclass in metaclasses(inference, symbol):
            for name in ("__new__", "__init__"):
                owner = inference.owner(metaclass, name)
                if isinstance(owner, Symbol):
                    found += inference.functions(owner, name)
        owner = inference.owner(symbol, "__init_subclass__", after=symbol)
        if isinstance(owner, Symbol):
            found += inference.functions(owner, "__init_subclass__")
        return found

    def runs_on_instantiation(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
        """Return the `__call__` of the metaclass, which runs before `__new__`."""
        found: list[Symbol] = []
        for metaclass in metaclasses(inference, symbol):
            owner = inference.owner(metaclass, "__call__")
            if isinstance(owner, Symbol):
                found += inference.functions(owner, "__call__")
        return found

    def is_made(self, inference: Inference, symbol: Symbol) -> bool:
        """Return whether instances of a class may exist.

        The result is False for a protocol, and for a class with an abstract method. For other classes it is True in these cases:

        - A file calls the class or uses it as a value.
        - The class is in a test file.
        - The class derives from a library's class, so code outside the project may create instances.
        """
        if self.is_abstract(inference, symbol) or self.is_protocol(inference, symbol):
            return False
        if inference.project.is_made(symbol.name) or inference.project.files[symbol.path].in_tests:
            return True
        return any(not isinstance(base, Symbol) and base[1] not in _PASSIVE for base in inference.mro(symbol))

    def is_abstract(self, inference: Inference, symbol: Symbol) -> bool:
        """Return whether a class has a method that only subclasses implement."""
        for part in inference.mro(symbol):
            if isinstance(part, Symbol):
                entry = inference.project.entry(part)
                if any(inference.owner(symbol, name) is part for name in entry.abstract_methods.get(part.index, ())):
                    return True
        return False

    def called_through(self, package: str, dotted: str) -> Sequence[Through]:
        """Return the calls that a library function makes to its arguments.

        For `sorted(items, key=f)`, these are `f()` and `__lt__` of the items. The function is given by its package and dotted name.
        """
        return CALLED_THROUGH.get((package, dotted), ())

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


def made_objects(entry: FileEntry) -> frozenset[tuple[int, str]]:
    """Return the variables of `__new__` methods that hold the new object.

    An example is `self = super().__new__(cls)`. A variable is given by its method and its name.
    """
    known: frozenset[tuple[int, str]] | None = entry.kept.get("made objects")
    if known is None:
        found = set()
        hooks = {position for position, one in enumerate(entry.definitions) if one.kind == "method" and one.name == "__new__"}
        for binding in entry.facts.bindings if hooks else ():
            value = entry.terms[binding.value] if binding.scope in hooks and binding.value >= 0 else None
            if value is not None and value[0] == CALL and last_name(entry.terms[value[1]]) == "__new__":
                found.add((binding.scope, last_name(entry.terms[binding.target])))
        known = entry.kept["made objects"] = frozenset(found)
    return known


RULES = PythonRules
