"""What names mean in a language: modules, imports, scopes, annotations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from graphmem.parsing.facts import CALL
from graphmem.resolution.symbol import CLASS_KINDS
from graphmem.resolution.terms import children
from graphmem.resolution.types import (
    EMPTY,
    Atom,
    Module,
    Namespace,
    Type,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Binding, Definition, FileFacts, Import, Term
    from graphmem.resolution.file_entry import FileEntry, Place
    from graphmem.resolution.inference import Inference
    from graphmem.resolution.symbol import Symbol


class NameRules:
    """Names: lexical scopes, no modules, nothing declared."""

    class_scope_is_visible: bool = False
    """True where code inside a method sees the names of its class without a prefix."""

    this_is_implied: bool = False
    """True where code inside a class sees the members of the class, inherited ones too, without a prefix."""

    own_names_are_below: bool = True
    """True where what a file takes from itself is a module below it (`from . import x` in a package)."""

    builtin_package: str = "builtins"
    """Package of the names every file sees."""

    def module_names(self, path: str) -> Sequence[str]:
        """Every dotted (or slashed) name under which other files may import the file at a path; the best first."""
        return ()

    def names_of(self, facts: FileFacts) -> Sequence[str]:
        """The same as `module_names`, for languages whose files say what they belong to."""
        return self.module_names(facts.path)

    def shared_names(self, entry: FileEntry) -> Sequence[str]:
        """Names of a file that other files of the same module name see; see `shared`."""
        return ()

    def shared(self, inference: Inference, entry: FileEntry, name: str) -> list[Place] | None:
        """What a name the file does not bind means, because files of one package share their names."""
        return None

    def package_files(self, inference: Inference, package: Namespace, name: str) -> list[Module]:
        """`MODULE` atoms of the files of a `NAMESPACE` that bind a name; of all that importers see for ""."""
        return []

    def is_open_enum(self, definition: Definition) -> bool:
        """True of an enum whose members are names of the scope around it."""
        return False

    def type_names(self, name: str) -> Sequence[str]:
        """The names under which a scope keeps what a name means as a type."""
        return (name,)

    def parts_of_type(self, inference: Inference, entry: FileEntry, scope: int, found: Term) -> Iterable[int]:
        """Of a term of an annotation that is no name, the terms in which types can be named; of a call what it is given."""
        return found[2] if found[0] == CALL else children(found)

    def owner_in_type(self, inference: Inference, found: Term, value: Type) -> Type:
        """What stands before a dot in an annotation, of the value it would be elsewhere."""
        return value

    def value_in_type(self, entry: FileEntry, found: Term) -> int:
        """The value whose type a term of an annotation asks for (`typeof value`); -1 for none."""
        return -1

    def is_type_variable(self, entry: FileEntry, position: int) -> bool:
        """True of a binding by which a variable stands for a type (`Alias = dict[str, int]`)."""
        return False

    def passes_on(self, entry: FileEntry, found: Import) -> bool:
        """True of an import by which a file gives one name to others: they may import it from here."""
        return False

    def given(self, inference: Inference, entry: FileEntry, name: str) -> tuple[Sequence[str], Sequence[Import]]:
        """By what a file gives a name to others: names of its own, and imports, of which the first that leads anywhere counts."""
        return (name,), ()

    def import_targets(self, inference: Inference, entry: FileEntry, found: Import) -> Type:
        """The module an import statement names, before any name is taken from it.

        `MODULE`, `NAMESPACE` and `EXT` atoms; look-ups through `inference.project` only.
        """
        return EMPTY

    def submodule(self, inference: Inference, module: Atom, name: str) -> Type:
        """A module below a module, as `MODULE` or `NAMESPACE` atoms."""
        return EMPTY

    def exported(self, entry: FileEntry, name: str) -> bool:
        """True when importing everything from this file brings this name."""
        return not name.startswith("_")

    def module_value(self, inference: Inference, module: FileEntry, name: str) -> Type | None:
        """What a module gives to others under a name, where that is not simply the name's value; None where it is."""
        return None

    def taken(self, inference: Inference, module: Atom, name: str) -> Type:
        """What an import takes from a module under a name."""
        return inference.module_member(module, name)

    def whole_module(self, inference: Inference, module: Atom) -> Type:
        """What a name is bound to that stands for a whole module."""
        return frozenset((module,))

    def definition_slot(self, entry: FileEntry, position: int) -> tuple[int, str]:
        """The scope in which a definition is found, and the name by which."""
        definition = entry.definitions[position]
        return definition.parent, definition.name

    def scopes_around(self, definitions: Sequence[Definition]) -> Sequence[int]:
        """Of each definition of a file the scope it is written in; -1 for the module."""
        return [definition.parent for definition in definitions]

    def is_visible(self, entry: FileEntry, scope: int) -> bool:
        """True where code inside a scope sees the names it binds without a prefix."""
        return self.class_scope_is_visible or entry.definitions[scope].kind not in ("class", "interface", "enum")

    def members_elsewhere(self, inference: Inference, owner: Symbol, name: str) -> Sequence[Place]:
        """Members of a class that are defined outside of it, in its own file or in others."""
        return ()

    def bound(self, inference: Inference, entry: FileEntry, binding: Binding, value: Type) -> Type:
        """The value of a variable, from the value of the expression it is given."""
        return value

    def builtin(self, name: str) -> Type:
        """The value of a name no scope of the project defines."""
        return EMPTY

    def unbound(self, inference: Inference, entry: FileEntry, scope: int, name: str) -> Type:
        """The value of a name no scope defines, where that depends on the file."""
        return self.builtin(name)

    def declared(self, inference: Inference, entry: FileEntry, scope: int, term: int) -> Type:
        """The type an annotation names; with `UNTYPED` in it when it leaves something open."""
        return EMPTY

    def implied_class(self, inference: Inference, entry: FileEntry, scope: int) -> Symbol | None:
        """The class whose members a scope sees without a prefix, where it is one or stands apart from one."""
        return entry.symbols[scope] if entry.definitions[scope].kind in CLASS_KINDS else None

    def scripts(self, facts: FileFacts) -> Mapping[str, str]:
        """Names in a file that configuration files call commands or plug-ins, with the kind of entry point; "" is the file itself."""
        return {}

    def sees_globals(self, entry: FileEntry) -> bool:
        """True when a name that nothing in sight defines may still be one that another file defines."""
        return True

    def is_common_name(self, name: str) -> bool:
        """True for method names of the language's own types, which say nothing about who is meant."""
        return False
