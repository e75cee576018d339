"""Rules of a language for names: modules, imports, scopes, annotations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from graphmem.parsing.facts import CALL
from graphmem.resolution.symbol import CLASS_KINDS
from graphmem.resolution.terms import children
from graphmem.resolution.types import (
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
    from graphmem.resolution.file_entry import FileEntry, Place
    from graphmem.resolution.inference import Inference
    from graphmem.resolution.symbol import Symbol


class NameRules:
    """Default rules: lexical scopes, no modules, no declarations."""

    class_scope_is_visible: bool = False
    """Whether a method sees the names of its class without a prefix."""

    this_is_implied: bool = False
    """Whether code inside a class sees its members without a prefix.

    Inherited members count.
    """

    own_names_are_below: bool = True
    """Whether an import from the file itself names a module below it.

    An example is `from . import x` in a package.
    """

    builtin_package: Package = BUILTINS
    """Package of the names that every file sees."""

    def module_names(self, path: str) -> Sequence[str]:
        """Names by which other files may import the file at a path, best first.

        They have dots or slashes.
        """
        return ()

    def names_of(self, facts: FileFacts) -> Sequence[str]:
        """Like `module_names`, for languages whose files declare their package."""
        return self.module_names(facts.path)

    def shared_names(self, entry: FileEntry) -> Sequence[str]:
        """Names of a file that files of the same module name see; see `shared`."""
        return ()

    def shared(self, inference: Inference, entry: FileEntry, name: str) -> list[Place] | None:
        """Meaning of an unbound name that files of one package share."""
        return None

    def package_files(self, inference: Inference, package: Namespace, name: str) -> list[Module]:
        """`MODULE` atoms of the files of a `NAMESPACE` that bind a name.

        For "" all files that importers see.
        """
        return []

    def is_open_enum(self, definition: Definition) -> bool:
        """Whether the members of an enum are names of the scope around it."""
        return False

    def type_names(self, name: str) -> Sequence[str]:
        """Names under which a scope stores the type meaning of a name."""
        return (name,)

    def parts_of_type(self, inference: Inference, entry: FileEntry, scope: int, found: Term) -> Iterable[int]:
        """Terms in which a term of an annotation can name types.

        The term is not a name. For a call these are its arguments.
        """
        return found[2] if found[0] == CALL else children(found)

    def owner_in_type(self, inference: Inference, found: Term, value: Type) -> Type:
        """The owner before a dot in an annotation, as an ordinary value."""
        return value

    def value_in_type(self, entry: FileEntry, found: Term) -> int:
        """Value whose type an annotation takes (`typeof value`); -1 for none."""
        return -1

    def is_type_variable(self, entry: FileEntry, position: int) -> bool:
        """Whether a binding defines a type alias (`Alias = dict[str, int]`)."""
        return False

    def passes_on(self, entry: FileEntry, found: Import) -> bool:
        """Whether an import re-exports a name, so that others may import it here."""
        return False

    def given(self, inference: Inference, entry: FileEntry, name: str) -> tuple[Sequence[str], Sequence[Import]]:
        """Sources of a name that a file exports.

        These are own names, and imports, of which the first with a target counts.
        """
        return (name,), ()

    def import_targets(self, inference: Inference, entry: FileEntry, found: Import) -> Type:
        """The module that an import statement names, without names taken from it.

        `MODULE`, `NAMESPACE` and `EXT` atoms; look-ups through `inference.project` only.
        """
        return EMPTY

    def submodule(self, inference: Inference, module: Atom, name: str) -> Type:
        """A module below a module, as `MODULE` or `NAMESPACE` atoms."""
        return EMPTY

    def exported(self, entry: FileEntry, name: str) -> bool:
        """Whether a star import of this file brings this name."""
        return not name.startswith("_")

    def module_value(self, inference: Inference, module: FileEntry, name: str) -> Type | None:
        """Value that a module exports under a name.

        None if it is the value of that name.
        """
        return None

    def taken(self, inference: Inference, module: Atom, name: str) -> Type:
        """Value that an import takes from a module under a name."""
        return inference.module_member(module, name)

    def whole_module(self, inference: Inference, module: Atom) -> Type:
        """Value of a name that is bound to a whole module."""
        return frozenset((module,))

    def definition_slot(self, entry: FileEntry, position: int) -> tuple[int, str]:
        """Scope and name under which a definition is found."""
        definition = entry.definitions[position]
        return definition.parent, definition.name

    def scopes_around(self, definitions: Sequence[Definition]) -> Sequence[int]:
        """Enclosing scope of each definition of a file; -1 for the module."""
        return [definition.parent for definition in definitions]

    def is_visible(self, entry: FileEntry, scope: int) -> bool:
        """Whether code inside a scope sees its names without a prefix."""
        return self.class_scope_is_visible or entry.definitions[scope].kind not in ("class", "interface", "enum")

    def members_elsewhere(self, inference: Inference, owner: Symbol, name: str) -> Sequence[Place]:
        """Members of a class that are defined outside of it, in any file."""
        return ()

    def bound(self, inference: Inference, entry: FileEntry, binding: Binding, value: Type) -> Type:
        """Value of a variable, from its initial expression."""
        return value

    def builtin(self, name: str) -> Type:
        """Value of a name that the project does not define."""
        return EMPTY

    def unbound(self, inference: Inference, entry: FileEntry, scope: int, name: str) -> Type:
        """Value of a name without a scope, if it depends on the file."""
        return self.builtin(name)

    def declared(self, inference: Inference, entry: FileEntry, scope: int, term: int) -> Type:
        """Type of an annotation, with `UNTYPED` if part of it is open."""
        return EMPTY

    def implied_class(self, inference: Inference, entry: FileEntry, scope: int) -> Symbol | None:
        """Class whose members a scope sees without a prefix.

        The scope is that class, or a method defined outside of it.
        """
        return entry.symbols[scope] if entry.definitions[scope].kind in CLASS_KINDS else None

    def scripts(self, facts: FileFacts) -> Mapping[str, str]:
        """Names in a file that configuration files use as commands or plug-ins.

        Each has a kind of entry point; "" is the file itself.
        """
        return {}

    def sees_globals(self, entry: FileEntry) -> bool:
        """Whether an undefined name may be a global of another file."""
        return True

    def is_common_name(self, name: str) -> bool:
        """Whether built-in types have a method of this name.

        Such a name does not identify a target.
        """
        return False
