"""Interface of the rules of a language for names, imports and annotations.

A binding of a name is a place that gives the name its meaning, such as `x = f()`, `import x`, `def x` or a parameter.

`entry` is a parsed file. `scope` is a function, a class or the module in it, given as its position among the file's definitions; 0 is the
module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from graphmem.parsing.facts import CALL, TermIndex
from graphmem.resolution.values.symbol import CLASS_KINDS
from graphmem.resolution.values.terms import children
from graphmem.resolution.values.types import (
    BUILTINS,
    EMPTY,
    Atom,
    Module,
    Namespace,
    Package,
    Type,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Binding, Definition, FileFacts, Import, Term
    from graphmem.resolution.files.file_entry import FileEntry, Place
    from graphmem.resolution.interfaces.inference import Inference
    from graphmem.resolution.values.symbol import Symbol


class NameRules:
    """Default rules of a language for names: lexical scopes, no modules."""

    class_scope_is_visible: bool = False
    """Whether a method sees the names of its class without a prefix."""

    this_is_implied: bool = False
    """Whether code inside a class sees its members without a prefix.

    Inherited members count.
    """

    variables_begin_late: bool = False
    """Whether a variable exists only after its declaration, so that the declared value cannot use it."""

    functions_are_apart: bool = False
    """Whether a call `name()` never means a variable."""

    class_variables_begin_late: bool = False
    """Whether a name in a class body means an outer name until the body assigns it, as in `encode = staticmethod(encode)`."""

    variables_end_with_blocks: bool = False
    """Whether a variable exists only from its declaration to the end of its block.

    Before and behind, its name means what it means around the function.
    """

    variables_belong_to_blocks: bool = False
    """Whether a variable exists only in the block that assigns it first, as in Ruby.

    `is_of_block` tells the variables, and `is_closed` the definitions that do not see them.
    """

    own_names_are_below: bool = True
    """Whether an import from the file itself names a module below it.

    An example is `from . import x` in a package.
    """

    def is_of_block(self, name: str) -> bool:
        """Whether a variable of this name exists only in one block of code.

        The method is called only if the rules of the language set `variables_belong_to_blocks` to True.
        """
        return True

    def is_closed(self, definition: Definition) -> bool:
        """Whether a definition does not see the variables of the code around it.

        The method is called only if the rules of the language set `variables_belong_to_blocks` to True.
        """
        return False

    def private_owner(self, entry: FileEntry, scope: int, name: str) -> int:
        """Return the only class whose objects can have a given private attribute.

        `name` is the attribute, and `scope` contains the code that uses it. The result is -1 if the name does not tell the class.
        """
        return -1

    def holder_of(self, inference: Inference, value: Type, name: str) -> Type:
        """Return the type of the object whose member `x.name` is.

        `value` is the type of `x`, and by default the result. In C++, an iterator `x` has the members of the element to which it points.
        """
        return value

    script_endings: tuple[str, ...] = ()
    """Endings of files whose names no other file sees, such as `build.sc`."""

    builtin_package: Package = BUILTINS
    """Package of the names that every file sees."""

    def module_names(self, path: str) -> Sequence[str]:
        """Return the names under which other files may import a file, best first.

        The parts of a name are separated by dots or slashes.
        """
        return ()

    def names_of(self, facts: FileFacts) -> Sequence[str]:
        """Return the names under which other files may import a file.

        In contrast to `module_names`, the names may come from the content of the file, as in languages whose files declare their package.
        """
        return self.module_names(facts.path)

    def listed_as(self, facts: FileFacts) -> Sequence[str]:
        """Return internal names of a file that affects others without an import.

        An example is a C# file with `global using`. `Project.modules` finds the file by these names, which are not names of packages. By
        default there are none.
        """
        return ()

    def shared_names(self, entry: FileEntry) -> Sequence[str]:
        """Return the names of a file that other files of its package can see.

        The method `shared` finds their definitions.
        """
        return ()

    def shared(self, inference: Inference, entry: FileEntry, name: str) -> list[Place] | None:
        """Return the definitions of a name in other files of the same package."""
        return None

    def package_files(self, inference: Inference, package: Namespace, name: str) -> list[Module]:
        """Return the files of a package in which a name is bound.

        `package` is a `NAMESPACE` tuple, and the files are `MODULE` tuples. If `name` is "", the files whose names importers can use are
        returned.
        """
        return []

    def is_open_enum(self, definition: Definition) -> bool:
        """Whether the members of an enum are also names of the enclosing scope."""
        return False

    def may_be_of_receiver(self, name: str) -> bool:
        """Whether a name in a block may be a member of the block's receiver.

        The result is False for names that are looked up only in the code around the block, such as constants in Ruby.
        """
        return True

    def type_names(self, name: str) -> Sequence[str]:
        """Return the keys under which a scope stores the type of a given name.

        In TypeScript, a type and a value of the same name have different keys.
        """
        return (name,)

    def parts_of_type(self, inference: Inference, entry: FileEntry, scope: int, found: Term) -> Iterable[TermIndex]:
        """Return the expressions inside an annotation that can name types.

        `found` is a compound expression in the annotation, such as `A | B`. The result has the indices of the expressions inside `found`.
        For a call, it has only the arguments.
        """
        return found[2] if found[0] == CALL else children(found)

    def owner_in_type(self, inference: Inference, found: Term, value: Type) -> Type:
        """Return the type of `a` in an annotation `a.B`.

        `found` is the expression `a`, and `value` is the inferred type of `a`. By default, `value` is returned.
        """
        return value

    def value_in_type(self, entry: FileEntry, found: Term) -> int:
        """Return the expression `value` in a type `typeof value`.

        `found` is the type. The result is a position in the file's list of expressions. It is -1 for a type without `typeof`.
        """
        return -1

    def is_type_variable(self, entry: FileEntry, position: int) -> bool:
        """Return whether a binding such as `A = dict[str, int]` is a type alias.

        `position` is the binding's position in the file.
        """
        return False

    def passes_on(self, entry: FileEntry, found: Import) -> bool:
        """Return whether an import re-exports the imported name to other files."""
        return False

    def given(self, inference: Inference, entry: FileEntry, name: str) -> tuple[Sequence[str], Sequence[Import]]:
        """Return a file's (names, imports) that may define a given export.

        `name` is the exported name. For `export { a as b }`, the export `b` is defined by the name `a`. The caller uses all of the returned
        names. Of the returned imports, it uses the first that has a target.
        """
        return (name,), ()

    def import_targets(self, inference: Inference, entry: FileEntry, found: Import) -> Type:
        """Return the module that an import names, not the imported members.

        The result contains `MODULE`, `NAMESPACE` and `EXT` tuples. Implementations must look files up through `inference.project` only.
        """
        return EMPTY

    def submodule(self, inference: Inference, module: Atom, name: str) -> Type:
        """Return the submodule `name` of a module; empty if there is none.

        The result contains `MODULE` or `NAMESPACE` tuples.
        """
        return EMPTY

    def exported(self, entry: FileEntry, name: str) -> bool:
        """Return whether `from a import *` imports a given name of the file `a`."""
        return not name.startswith("_")

    def exported_to(self, importer: FileEntry, entry: FileEntry, name: str) -> bool:
        """Return whether a star import in the file `importer` provides a name."""
        return self.exported(entry, name)

    def module_value(self, inference: Inference, module: FileEntry, name: str) -> Type | None:
        """Return the type of the value that a module exports under a name.

        The result is None if the caller must look `name` up among the definitions of the module.
        """
        return None

    def taken(self, inference: Inference, module: Atom, name: str) -> Type:
        """Return the type of the name `b` in `from a import b`."""
        return inference.module_member(module, name)

    def whole_module(self, inference: Inference, module: Atom) -> Type:
        """Return the type of the name `a` in `import a`, bound to a whole module."""
        return frozenset((module,))

    def definition_slot(self, entry: FileEntry, position: int) -> tuple[int, str]:
        """Return the (scope, name) under which look-ups find a definition.

        `position` is the definition's position in the file. The scope is usually the enclosing function, class or module, and the name is
        the definition's own name.
        """
        definition = entry.definitions[position]
        return definition.parent, definition.name

    def scopes_around(self, definitions: Sequence[Definition]) -> Sequence[int]:
        """Return the enclosing scope of each definition of a file.

        A scope is given by the position of its definition; for the module, the enclosing scope is -1.
        """
        return [definition.parent for definition in definitions]

    def is_visible(self, entry: FileEntry, scope: int) -> bool:
        """Return whether inner scopes see the names of `scope` without a prefix.

        By default this is True for functions and modules. It is also True for classes if the rules of the language set
        `class_scope_is_visible` to True.
        """
        return self.class_scope_is_visible or entry.definitions[scope].kind not in ("class", "interface", "enum")

    def sees_own_names(self, entry: FileEntry, scope: int) -> bool:
        """Return whether a scope sees its own names without a prefix.

        By default this is True. It is False for a body of a class whose members need `this`.
        """
        return True

    def seen_first(self, entry: FileEntry, scope: int, places: Sequence[Place]) -> Sequence[Place]:
        """Return those bindings of a name that a scope finds first.

        `places` are bindings outside of functions and classes. In C++, those of the nearest namespace are found first. By default, all are
        returned.
        """
        return places

    def members_elsewhere(self, inference: Inference, owner: Symbol, name: str) -> Sequence[Place]:
        """Return the bindings of a member that a file defines outside its class.

        `owner` is the class, and `name` is the name of the member. By default there are none.
        """
        return ()

    def bound(self, inference: Inference, entry: FileEntry, binding: Binding, value: Type) -> Type:
        """Return the type of a variable, given the type of its initial value."""
        return value

    def builtin(self, name: str) -> Type:
        """Return the type of a built-in name such as `len`; empty if unknown."""
        return EMPTY

    def unbound(self, inference: Inference, entry: FileEntry, scope: int, name: str) -> Type:
        """Return the type of a name that no scope of its file binds.

        By default the result is that of `builtin`. In some languages the type depends on the file and the scope.
        """
        return self.builtin(name)

    def declared(self, inference: Inference, entry: FileEntry, scope: int, term: TermIndex) -> Type:
        """Return the type that an annotation declares.

        If a part is left open, as by `Any`, the type contains `UNTYPED`.
        """
        return EMPTY

    def bounds(self, entry: FileEntry, scope: int, name: str) -> Sequence[TermIndex]:
        """Return the bounds of a type parameter, as indices of expressions.

        In `T extends Base`, the type parameter is `T` and the bound is `Base`.
        """
        return ()

    def implied_class(self, inference: Inference, entry: FileEntry, scope: int) -> Symbol | None:
        """Return the class whose members are visible in a scope without a prefix.

        The scope is the class itself, or a method defined outside the class.
        """
        return entry.symbols[scope] if entry.definitions[scope].kind in CLASS_KINDS else None

    def scripts(self, facts: FileFacts) -> Mapping[str, str]:
        """Map each command and plug-in among a file's functions to its kind.

        The keys are names of functions, and the key "" stands for the file itself. The kind is `command` or `export`. Configuration files
        declare commands and plug-ins.
        """
        return {}

    def sees_globals(self, entry: FileEntry) -> bool:
        """Return whether a name that a file does not define may be a global name.

        A global name is defined in another file and needs no import.
        """
        return True

    def adds_to_platform(self, entry: FileEntry, symbol: Symbol) -> bool:
        """Return whether a type only adds members to a type of the platform.

        `entry` is the file that defines the type. Examples are `declare global { interface Window {…} }` in TypeScript.
        """
        return False

    def sees_methods(self, entry: FileEntry) -> bool:
        """Return whether a bare name in a file may be a method of some class.

        An example is a template, which can use the methods of helper classes without a receiver.
        """
        return False

    def is_common_name(self, name: str) -> bool:
        """Return whether built-in types have a method of this name.

        Such a name does not identify the target of a call.
        """
        return False
