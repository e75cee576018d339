"""Rules that resolve names and calls in Java code to definitions.

The rules cover packages, unqualified inherited members, overloads, and the containers of the standard library.

The package clause of a file is the line that names its package, such as `package shop`.

`entry` is a parsed file. `scope` is a function, a class or the module in it, given as its position among the file's definitions; 0 is the
module.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from graphmem.parsing.facts import CALL, NAME, TermIndex
from graphmem.parsing.languages.java import ARITHMETIC, CLASS_LITERAL, CONSTRUCTOR
from graphmem.resolution.java.fitness import ARRAYS, FINAL, PRIMITIVES, TYPE_PARAMETER, fit, is_unknown
from graphmem.resolution.java.functions import function_type
from graphmem.resolution.java.library import result
from graphmem.resolution.java.tables import JDK, LIBRARY
from graphmem.resolution.packages import PackageRules, mapped
from graphmem.resolution.scoped.lambdas import PSEUDO
from graphmem.resolution.type_inference.names import is_type_parameter, local_names
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.types import (
    BOX,
    BUILTIN,
    CLASS,
    EMPTY,
    EXT,
    INST,
    NAMESPACE,
    Atom,
    Container,
    Language,
    Outside,
    Package,
    Receiver,
    Type,
    box,
    one,
)
from graphmem.runtime.data.conventions import conventions_of

if TYPE_CHECKING:
    from graphmem.parsing.facts import FileFacts, Import
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.call import Call
    from graphmem.resolution.interfaces.inference import Inference

_OBJECT: Final = LIBRARY.object_methods


_GIVES_ELEMENT: Final = LIBRARY.elements
_GIVES_SAME: Final = LIBRARY.same
_GIVES_KIND: Final = {name: kind for kind, names in LIBRARY.kinds.items() for name in names}
_GIVES_VALUE: Final = LIBRARY.values
_OF_ENUMS: Final = frozenset(name for names in LIBRARY.enums.values() for name in names)


class JavaRules(PackageRules):
    """Rules that resolve names and calls in Java code to definitions."""

    name = Language("java")
    builtin_package = Package("java.lang")
    standard_packages = LIBRARY.standard
    builtin_types = PRIMITIVES | LIBRARY.lang
    constructors = (CONSTRUCTOR,)
    class_scope_is_visible = True
    this_is_implied = True
    functions_are_apart = True
    has_overloads = conventions_of("java").overloads
    final_types = FINAL
    value_types = PRIMITIVES
    lists_of_arguments = ARRAYS
    overloads_are_inherited = True
    collects_last = True
    decorators_are_types = True
    class_calls_are_virtual = False
    calls_extensions = False
    containers: ClassVar = {
        "[]": ("array", (0,)),
        **dict.fromkeys(LIBRARY.lists, ("list", (0,))),
        **dict.fromkeys(LIBRARY.holders, ("holder", (0,))),
        **dict.fromkeys(["Iterator", "ListIterator"], ("iterator", (0,))),
        "Iterable": ("iterable", (0,)),
        "Stream": ("stream", (0,)),
        **dict.fromkeys(LIBRARY.maps, ("map", (0, 1))),
        "Entry": ("entry", (0, 1)),
        "Optional": ("optional", (0,)),
    }
    common_names = LIBRARY.common

    # packages

    def names_of(self, facts: FileFacts) -> Sequence[str]:
        """Return the package that a file declares; `<default>` if none."""
        return (next((found.module for found in facts.imports if found.kind == "package"), "<default>"),)

    def import_targets(self, inference: Inference, entry: FileEntry, found: Import) -> Type:
        """Return the package or class from which an import takes its names.

        For a static import, this is the class. The result is empty for the package clause of the file.
        """
        if found.kind == "package" or not found.module:
            return EMPTY
        ask = inference.project.solver.ask
        return ask(entry.memo, ("module", found.module), self._target, inference, found.module)

    def _target(self, inference: Inference, module: str) -> Type:
        parts = module.split(".")
        for count in range(len(parts), 0, -1):
            package = ".".join(parts[:count])
            if inference.project.modules(package):
                found = one((NAMESPACE, package, self.name))
                for name in parts[count:]:
                    found = inference.attribute(found, name)
                if found:
                    return found
        count = next((i for i, part in enumerate(parts) if part[:1].isupper()), len(parts))
        return one((EXT, Package(".".join(parts[:count])), ".".join(parts[count:]), None))

    def taken(self, inference: Inference, module: Atom, name: str) -> Type:
        """Return the type of `Name` in `import a.Name`.

        `module` is the package or class `a`, and `name` is a class or member in it.
        """
        found = inference.attribute_of(module, name) if module[0] == CLASS else super().taken(inference, module, name)
        return found or (self._functions_of_file(inference, f"{module[1]}.{name}") if module[0] == NAMESPACE else EMPTY)

    def _functions_of_file(self, inference: Inference, name: str) -> Type:
        """Return the class that stands for a Kotlin file, such as `ItemsKt`.

        Java code calls the top-level functions of a Kotlin file `Items.kt` as methods of this class.
        """
        return one((NAMESPACE, name, self.name)) if inference.project.modules(name) else EMPTY

    def builtin(self, name: str) -> Type:
        """Return the type of a name that Java itself defines.

        Such a name is a type of `java.lang`, a method of `Object` or an operator.
        """
        if name in (ARITHMETIC, CLASS_LITERAL) or name in PSEUDO:
            return one((EXT, self.builtin_package, name, None))
        return one((EXT, self.builtin_package, f"Object.{name}", None)) if name in _OBJECT else super().builtin(name)

    def unbound(self, inference: Inference, entry: FileEntry, scope: int, name: str) -> Type:
        """Return the type of a name that no scope of its Java file binds.

        The name is a type of `java.lang` or of a library, the first part of a package, or a class that stands for a Kotlin file: `ItemsKt`
        for `Items.kt`.
        """
        found = super().unbound(inference, entry, scope, name)
        if found:
            return found
        if not name[:1].isupper():
            return one((NAMESPACE, name, self.name)) if inference.project.is_folder(name) else EMPTY
        return self._functions_of_file(inference, f"{self.names_of(entry.facts)[0]}.{name}") or self._through_star(inference, entry, name)

    def _through_star(self, inference: Inference, entry: FileEntry, name: str) -> Type:
        """Return the JDK class of a given name that an `import a.*` provides.

        The result is empty unless exactly one of the imported packages of the JDK has the class. The name may then belong to the project
        or to another library.
        """
        found = {entry.facts.imports[position].module for position in entry.stars}
        listed = [package for package in found if name in JDK.packages.get(package, ()) and not inference.project.modules(package)]
        is_known = len(listed) == 1 and name not in local_names(entry)
        return one((EXT, Package(listed[0]), name, None)) if is_known else EMPTY

    def submodule(self, inference: Inference, module: Atom, name: str) -> Type:
        """Return the type of a member of a package: a class or an inner package."""
        found = super().submodule(inference, module, name)
        if found or module[0] != NAMESPACE:
            return found
        below = f"{module[1]}.{name}"
        is_package = inference.project.modules(below) or inference.project.is_folder(below)
        return one((NAMESPACE, below, self.name)) if is_package else EMPTY

    # classes

    def property_of(self, accessor: str) -> str:
        """Return the Kotlin property that a Java accessor reads or writes.

        For `getPrice` and `setPrice` the property is `price`, and for `isOpen` it is `isOpen`. For other names the result is "".
        """
        ending = accessor[3:] if accessor[:3] in ("get", "set") else ""
        return ending[:1].lower() + ending[1:] if ending[:1].isupper() else accessor if accessor[:2] == "is" else ""

    def definition_slot(self, entry: FileEntry, position: int) -> tuple[int, str]:
        """Return the (scope, name) under which look-ups find a definition.

        `position` is the definition's position in the file. The name is usually the definition's own. A constructor, which the source names
        after its class, has the name `CONSTRUCTOR` instead.
        """
        definition = entry.definitions[position]
        if definition.kind == "method" and definition.returns < 0 and definition.name == entry.definitions[definition.parent].name:
            return definition.parent, CONSTRUCTOR
        return super().definition_slot(entry, position)

    def missing_member(self, receiver: Receiver, name: str) -> Type:
        """Return the type of a member that a class does not define.

        A class without an explicit constructor has an implicit one. If `name` is the constructor, the result is the class, because a call
        of the class also creates an object.
        """
        if name in _OF_ENUMS and receiver[0] == CLASS and receiver[1].kind == "enum":
            return one((BUILTIN, receiver, name))
        is_constructor = name == CONSTRUCTOR and receiver[0] == CLASS
        return frozenset((receiver,)) if is_constructor else super().missing_member(receiver, name)

    def result(self, inference: Inference, symbol: Symbol, value: Type) -> Type:
        """Return the result type of a method; a constructor returns its class."""
        entry = inference.project.entry(symbol)
        scope, name = self.definition_slot(entry, symbol.index)
        return one((INST, entry.symbols[scope], False)) if name == CONSTRUCTOR else value

    def overrides(self, inference: Inference, base: Symbol, method: Symbol) -> bool:
        """Return whether `method` overrides `base`, a method of a base class.

        Both methods have the same name. Their parameters must have the same types, but a type parameter of `base` matches any type.
        """
        above, below = (inference.project.entry(symbol) for symbol in (base, method))
        if base.index < 0 or method.index < 0:
            return True
        first, second = above.definitions[base.index], below.definitions[method.index]
        if len(first.parameters) != len(second.parameters):
            return False
        for left, right in zip(first.parameters, second.parameters, strict=True):
            wanted = inference.declared(above, first.parent, left.annotation)
            given = inference.declared(below, second.parent, right.annotation)
            if wanted and given and wanted != given and not is_type_parameter(above, base.index, left.annotation):
                return False
        return True

    def fit(self, inference: Inference, given: Type, declared: Type) -> int | None:
        """Score how well an argument fits a Java parameter; -1 if it does not.

        `given` and `declared` are the types of the argument and the parameter. Numbers may be widened and boxed. For example, an `int` fits
        `long` and `Integer`.
        """
        return fit(inference, given, declared)

    def fit_type_parameter(self, given: Type) -> int:
        """Score how well an argument fits a parameter of the type `T`.

        `given` is the type of the argument, and `T` a type parameter without a bound. The score is 0 if the type of the argument is
        unknown, else `TYPE_PARAMETER`.
        """
        return 0 if all(is_unknown(atom) for atom in given) else TYPE_PARAMETER

    def function_type(self, inference: Inference, entry: FileEntry, scope: int, annotation: TermIndex) -> Type:
        """Return the type of the function that a functional interface stands for.

        `annotation` is the interface: one of the library, such as `Function<A, B>`, or one of the project with one abstract method.
        """
        return function_type(self, inference, entry, scope, annotation)

    def call_external(self, inference: Inference, atom: Outside, call: Call) -> Type | None:
        """Return the result type of an operator, or of a method of Java's library."""
        if atom[2] in PSEUDO:
            return PSEUDO[atom[2]](inference, call)
        return result(inference, atom, call, self.containers)

    def given_outside(self, inference: Inference, atom: Outside, call: Call) -> Collection[Symbol]:
        """Return the project classes that the arguments of an external call name.

        In `context.getBean(Shelf.class)`, the class is `Shelf`, and the result of the call is an object of it.
        """
        terms = call.entry.terms
        literals = [terms[argument] for argument in call.args if terms[argument][0] == CALL]
        named = [term[2][0] for term in literals if term[0] == CALL and terms[term[1]] == (NAME, CLASS_LITERAL)]
        return {atom[1] for value in named for atom in inference.expanded(call.term(value)) if atom[0] == INST}

    # values

    def container_method(self, inference: Inference, container: Container, name: str, call: Call) -> Type:
        """Return the result type of a method of a collection, map or stream.

        `Optional` is included, and the methods that every enum has.
        """
        if container[0] == CLASS:
            member = one((INST, container[1], False))
            return box("array", member) if name in LIBRARY.enums["array"] else member
        if container[0] != BOX:
            return EMPTY
        kind, parts = container[1], container[2]
        if kind == "map":
            return _of_map(name, parts)
        if kind == "entry":
            return parts[0] if name == "getKey" else parts[1] if name in ("getValue", "setValue") else EMPTY
        if name in _GIVES_ELEMENT.get(kind, ()):
            return parts[0]
        if name in _GIVES_SAME:
            return frozenset((container,))
        if name in _GIVES_KIND:
            return box(_GIVES_KIND[name], parts[0])
        if name in ("findFirst", "findAny", "min", "max", "reduce"):
            return box("optional", parts[0])
        if name in ("map", "flatMap") and call.args:
            return box(kind, mapped(inference, call.argument(0) or EMPTY))
        return EMPTY


def _of_map(name: str, parts: Sequence[Type]) -> Type:
    if name in _GIVES_VALUE:
        return parts[1]
    if name == "values":
        return box("list", parts[1])
    if name in ("keySet", "navigableKeySet"):
        return box("list", parts[0])
    return box("list", box("entry", *parts)) if name == "entrySet" else EMPTY


RULES = JavaRules
