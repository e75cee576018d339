"""Find extension functions: functions that add a method to a type.

Examples are `fun String.trimmed()` and `static int Words(this string text)`. An extension function is found by the name of the receiver's
type, then by the names of its base classes. A file can use extensions of its own package and of imported packages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.types import BOX, CLASS, EXT, EXTI, FUNC, INST, TUP, Atom, Instance, Type
from graphmem.runtime.data.conventions import all_conventions

if TYPE_CHECKING:
    from graphmem.parsing.facts import FileFacts
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference


class ExtensionRules(Protocol):
    """Interface of the language rules needed to find extension functions.

    An extension function adds a method to a type from outside. `scoped.ScopedRules` implements this interface.
    """

    separator: str
    string_type: str
    sees_outer_packages: bool
    has_extensions: bool

    def owner_apart(self, inference: Inference, entry: FileEntry, position: int) -> Type:
        """Return the type that owns a method defined outside of the type's body.

        `position` is the position of the method in the file.
        """

    def names_of(self, facts: FileFacts) -> Sequence[str]:
        """Return the names of the packages to which a file belongs."""

    def extended_type(self, entry: FileEntry, position: int) -> str:
        """Return the name of the type that an extension function extends.

        `position` is the function, as a position among the file's definitions.
        """

    def packages_of_project(self, inference: Inference, entry: FileEntry) -> frozenset[str]:
        """Return the packages that every file of the file's project imports."""

    def converted_to(self, name: str) -> Sequence[str]:
        """Return the types to which the language converts type `name` implicitly."""

    def containers_of(self, kind: str) -> Sequence[str]:
        """Return the names of the container types of a kind, such as `list`."""


def extensions(rules: ExtensionRules, inference: Inference, entry: FileEntry, receiver: Atom, name: str) -> list[Symbol]:
    """Return the best fitting extension functions of a given name.

    An extension function adds a method to a type from outside. `rules` are those of the file's language. `receiver` is the object on which
    the function is called. An extension of the receiver's own type fits better than one of a base type. An extension must be in the package
    of the file or in an imported package. If there is none, an extension of another package is returned if it is the only one that fits.
    """
    if not inference.project.knows_name(name):
        return []
    names = _type_names(rules, inference, receiver)
    if not names:
        return []
    seen = packages_seen(rules, inference, entry)
    found: list[tuple[bool, int, Symbol]] = []
    for symbol in inference.project.named(name):
        if symbol.kind != "method":
            continue
        other = inference.project.entry(symbol)
        definition = other.definitions[symbol.index]
        if "extension" not in definition.modifiers or other.rules is not entry.rules or (other.in_tests and not entry.in_tests):
            continue
        rank = _rank(other, symbol, rules.extended_type(other, symbol.index), names)
        if rank < 0 and rules.has_extensions and receiver[0] == INST:
            rank = _aliased(rules, inference, other, symbol, receiver)
        if rank >= 0:
            found.append((seen.isdisjoint(rules.names_of(other.facts)), rank, symbol))
    if all(is_unseen for is_unseen, _, _ in found):
        return [symbol for _, _, symbol in found] if len(found) == 1 else []  # another file may import it for the whole project
    best = min(rank for is_unseen, rank, _ in found if not is_unseen)
    return [symbol for is_unseen, rank, symbol in found if rank == best and not is_unseen]


def of_unknown(rules: ExtensionRules, inference: Inference, entry: FileEntry, receiver: Type, name: str) -> list[Symbol]:
    """Return the extension functions that may fit a value of unknown type.

    An extension function adds a method to a type from outside. `receiver` is the inferred type of the value. The result is empty if this
    type is known after all. It is also empty if any method named `name` in the project is not an extension.
    """
    if not inference.project.knows_name(name):
        return []
    if any((atom[0] != EXT and atom[0] != EXTI) or _type_names(rules, inference, atom) for atom in receiver):
        return []
    seen, found = packages_seen(rules, inference, entry), []
    for symbol in inference.project.named(name):
        other = inference.project.entry(symbol)
        if symbol.kind != "method" or other.rules is not entry.rules:
            continue
        if "extension" not in other.definitions[symbol.index].modifiers:
            return []
        if not seen.isdisjoint(rules.names_of(other.facts)):
            found.append(symbol)
    return found


def is_own(value: Type) -> bool:
    """Whether the type of a member `x.name` is a known function or object.

    `value` is the type. If the result is True, `name` is a member of the class of `x`, and not an extension function.
    """
    return any(atom[0] in (FUNC, INST, BOX, TUP) for atom in value)


def _rank(entry: FileEntry, symbol: Symbol, written: str, names: Sequence[Sequence[str]]) -> int:
    """Return the distance of an extended type from the receiver's type.

    `written` is the extended type, and `names` are the names of the receiver's type and its bases. The distance is 0 for the receiver's own
    type, 1 for its nearest base, and so on. The distance is greatest for a type parameter and for the type of all objects. The result is -1
    if the receiver does not have the extended type.
    """
    if written in all_conventions().universal_types:
        return len(names) + 1
    for rank, group in enumerate(names):
        if written in group:
            return rank
    scope = symbol.index
    while scope >= 0:
        if (scope, written) in entry.locals:  # a type parameter
            return len(names)
        scope = entry.definitions[scope].parent
    return -1


def _aliased(rules: ExtensionRules, inference: Inference, entry: FileEntry, symbol: Symbol, receiver: Instance) -> int:
    """Return the distance of an extended type, written as an alias.

    The function `symbol` extends this type. The distance is 0 if the type is the class of `receiver`, 1 if it is the nearest base class,
    and so on. The result is -1 if the receiver does not have the type.
    """
    owners = {atom[1] for atom in rules.owner_apart(inference, entry, symbol.index) if atom[0] == CLASS}
    return next((rank for rank, base in enumerate(inference.mro(receiver[1])) if base in owners), -1) if owners else -1


def _type_names(rules: ExtensionRules, inference: Inference, receiver: Atom) -> list[Sequence[str]]:
    """Return the names of a value's type and of its bases, the nearest first.

    Each item has all spellings of one type, such as `a.b` and `b`.
    """
    if receiver[0] == INST:
        return [
            _endings(base.qualname) if isinstance(base, Symbol) else (base[2].rpartition(".")[2],) for base in inference.mro(receiver[1])
        ]
    if receiver[0] == EXT or receiver[0] == EXTI:
        _, _, dotted, _ = receiver
        own = rules.string_type if dotted in ("str", "template") else dotted.rpartition(".")[2]
        if receiver[0] == EXT or not own or "(" in own or "[" in own:
            return []
        return [(own,), *((wider,) for wider in rules.converted_to(own))]
    if receiver[0] == BOX:
        kind = "list" if receiver[1] == "tuple" else receiver[1]
        return [rules.containers_of(kind)]
    return []


def _endings(qualname: str) -> list[str]:
    """Return `a.b.c`, `b.c` and `c` for the path `a.b.c`."""
    parts = qualname.split(".")
    return [".".join(parts[first:]) for first in range(len(parts))]


def packages_seen(rules: ExtensionRules, inference: Inference, entry: FileEntry) -> frozenset[str]:
    """Return the packages whose extension functions a file can use."""
    kept: frozenset[str] | None = entry.kept.get("packages seen")
    if kept is None:
        found = set(rules.names_of(entry.facts))
        for package in tuple(found) if rules.sees_outer_packages else ():
            parts = package.split(".")
            found.update(".".join(parts[:count]) for count in range(1, len(parts)))
        around = tuple(found)
        for one_import in entry.facts.imports:
            module = one_import.module.replace(rules.separator, ".")
            found.update((module, module.rpartition(".")[0]))
            if rules.sees_outer_packages:  # `using Tools;` inside `namespace Shop`
                found.update(f"{package}.{module}" for package in around)
        kept = entry.kept["packages seen"] = frozenset(found - {""})
    return kept | rules.packages_of_project(inference, entry)
