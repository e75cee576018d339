"""Evaluate Python annotations, such as `list[User]`, to types.

A binding of a name is a place that gives the name its meaning, such as `x = f()`, `import x`, `def x` or a parameter.

`entry` is a parsed file. `scope` is a function, a class or the module in it, given as its position among the file's definitions; 0 is the
module.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import ATTR, CALL, EITHER, INDEX, LIST, LITERAL, NAME, OPERATOR, STRING, TUPLE, TermIndex
from graphmem.resolution.python.modules import PythonModules
from graphmem.resolution.python.tables import LIBRARY
from graphmem.resolution.values.symbol import CLASS_KINDS, Symbol
from graphmem.resolution.values.terms import children, items_or_itself, last_name
from graphmem.resolution.values.types import (
    BUILTINS,
    CLASS,
    EMPTY,
    EXT,
    EXTI,
    FUNC,
    INST,
    MODULE,
    NAMESPACE,
    SELFTYPE,
    TYPEVAR,
    UNTYPED,
    Atom,
    Ext,
    Type,
    box,
    class_of,
    join,
    join_all,
    one,
    ordered,
    tuple_of,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Binding, Import, Term
    from graphmem.resolution.files.file_entry import FileEntry, Place
    from graphmem.resolution.interfaces.inference import Inference


_TYPING: Final = LIBRARY.typing

_SEQUENCES: Final = {name: kind for kind, names in LIBRARY.sequences.items() for name in names}

_MAPPINGS: Final = LIBRARY.mappings

_OPEN: Final = LIBRARY.open

_TRANSPARENT: Final = LIBRARY.transparent

_SILENT: Final = LIBRARY.silent

_VARIABLES: Final = LIBRARY.variables


class PythonTypes(PythonModules):
    """The part of the Python rules that evaluates annotations to types."""

    def declared(self, inference: Inference, entry: FileEntry, scope: int, term: TermIndex) -> Type:
        """Return the type that an annotation declares, such as `list[User]`.

        `term` is the index of the annotation in the file's list of expressions. The annotation may contain classes, aliases and types of
        `typing`.
        """
        found = entry.terms[term]
        if found[0] in (NAME, ATTR):
            return self._named_type(inference, entry, scope, term)
        if found[0] == INDEX:
            _, base, key = found
            return self._generic(inference, entry, scope, base, key)
        if found[0] in (EITHER, LIST, TUPLE):
            _, items = found
            return join_all(inference.declared(entry, scope, item) for item in items)
        if found[0] == OPERATOR:
            _, sign, left, right = found
            return join_all(inference.declared(entry, scope, item) for item in (left, right)) if sign == "|" else one((UNTYPED,))
        if found[0] == CALL:
            _, called, arguments, _ = found
            callee = self._objects(inference, entry, scope, called)
            if any(atom[0] == EXT and atom[2].rpartition(".")[2] == "NewType" for atom in callee) and len(arguments) > 1:
                return inference.declared(entry, scope, arguments[1])
            return one((UNTYPED,))
        return EMPTY if found[0] in (LITERAL, STRING) else one((UNTYPED,))

    def parts_of_type(self, inference: Inference, entry: FileEntry, scope: int, found: Term) -> Iterable[TermIndex]:
        """Return the parts of an annotation that are themselves types.

        `found` is an expression in the annotation; the result has indices of expressions. For `dict[A, B]` the parts are `dict` and the
        tuple `A, B`. For `Annotated[A, …]` only `A` is a type. A call and `Literal` have values as arguments, so they have no parts.
        """
        if found[0] == INDEX:
            _, base, key = found
            names = {
                atom[2].rpartition(".")[2] for atom in self._objects(inference, entry, scope, base) if atom[0] == EXT and _is_typing(atom)
            }
            if "Literal" in names:
                return ()
            if "Annotated" in names:
                return items_or_itself(entry.terms, key)[:1]
        return () if found[0] == CALL else children(found)

    def is_type_variable(self, entry: FileEntry, position: int) -> bool:
        """Return whether a binding may define a type alias or type variable.

        `position` is the binding's position in the file. Examples are `Name = dict[str, int]`, `T = TypeVar("T")` and `Name: TypeAlias =
        …`. A binding to a number, string or list does not define one.
        """
        binding = entry.facts.bindings[position]
        if binding.value < 0 or binding.op != "assign":
            return False
        if binding.annotation >= 0:
            return last_name(entry.terms[binding.annotation]) == "TypeAlias"
        return entry.terms[binding.value][0] in (NAME, ATTR, INDEX, CALL, EITHER, OPERATOR)

    def _named_type(self, inference: Inference, entry: FileEntry, scope: int, term: TermIndex) -> Type:
        found = EMPTY
        for atom in ordered(self._objects(inference, entry, scope, term)):
            if atom[0] == CLASS:
                found = join(found, self._instance(inference, atom[1]))
            elif atom[0] == EXT:
                found = join(found, _external_type(atom))
            elif atom[0] not in (MODULE, NAMESPACE, FUNC):
                found = join(found, frozenset((atom,)))
        return found

    def _instance(self, inference: Inference, symbol: Symbol) -> Type:
        """Return the type of an instance of a class.

        For a protocol, `UNTYPED` (an unknown type) is added, because an object of another class may satisfy the protocol.
        """
        found = one((INST, symbol, False))
        return join(found, one((UNTYPED,))) if self.is_protocol(inference, symbol) else found

    def _objects(self, inference: Inference, entry: FileEntry, scope: int, term: TermIndex) -> Type:
        """Return the classes and modules that a name in an annotation refers to.

        A name that a library defines is returned as a tuple that begins with `EXT`. An alias is replaced by the types that it stands for.
        """
        found = entry.terms[term]
        if found[0] == ATTR:
            _, base, name = found
            result = EMPTY
            for atom in ordered(self._objects(inference, entry, scope, base)):
                if atom[0] == MODULE:
                    places = inference.module_places(atom[1], name)
                    result = join(result, self._placed(inference, places) if places else inference.module_member(atom, name))
                elif atom[0] == CLASS:
                    result = join(result, self._nested(inference, atom[1], name))
                elif atom[0] == EXT or atom[0] == NAMESPACE:
                    result = join(result, inference.module_member(atom, name))
            return result
        if found[0] != NAME:
            return EMPTY
        _, name = found
        meant = inference.lookup(entry, scope, name, 1 << 30)
        return self.builtin(name) if meant is None else self._placed(inference, meant)

    def _nested(self, inference: Inference, owner: Symbol, name: str) -> Type:
        for candidate in inference.mro(owner):
            if isinstance(candidate, Symbol):
                entry = inference.project.entry(candidate)
                for slot in entry.names(candidate.index).get(name, ()):
                    if slot.kind == "definition" and entry.symbols[slot.index].kind in CLASS_KINDS:
                        return one((CLASS, entry.symbols[slot.index], False))
        return EMPTY

    def _placed(self, inference: Inference, places: Sequence[Place]) -> Type:
        found = EMPTY
        for entry, scope, slot in places:
            if slot.kind == "definition":
                symbol = entry.symbols[slot.index]
                if symbol.kind in CLASS_KINDS:
                    found = join(found, one((CLASS, symbol, False)))
            elif slot.kind == "import":
                imported = entry.facts.imports[slot.index]
                ask = inference.project.solver.ask
                found = join(found, ask(entry.memo, ("I", slot.index), self._import_objects, inference, entry, imported))
            elif slot.kind == "binding":
                binding = entry.facts.bindings[slot.index]
                found = join(found, self._alias(inference, entry, scope, binding))
        return found

    def _import_objects(self, inference: Inference, entry: FileEntry, imported: Import) -> Type:
        modules = self.import_targets(inference, entry, imported)
        if not imported.name:
            return modules
        found = EMPTY
        for atom in ordered(modules):
            places = inference.module_places(atom[1], imported.name) if atom[0] == MODULE and atom[1] != entry.path else None
            found = join(found, self._placed(inference, places) if places else inference.taken(entry, atom, imported.name))
        return found

    def _alias(self, inference: Inference, entry: FileEntry, scope: int, binding: Binding) -> Type:
        """Return the types that an alias or a type variable stands for.

        `binding` is the definition, such as `Name = dict[str, int]` or `T = TypeVar("T")`. The result is empty if it defines neither.
        """
        if binding.value < 0 or binding.op != "assign":
            return EMPTY
        value = entry.terms[binding.value]
        if value[0] == CALL:
            _, called, _, _ = value
            maker = last_name(entry.terms[called])
            target = entry.terms[binding.target]
            if maker in _VARIABLES:
                return one((TYPEVAR, target[1])) if target[0] == NAME else EMPTY
            if maker == "NewType":
                return inference.declared(entry, scope, binding.value)
            return EMPTY
        if value[0] in (NAME, ATTR):
            ask = inference.project.solver.ask
            return ask(entry.memo, ("o", scope, binding.value), self._objects, inference, entry, scope, binding.value)
        if value[0] in (INDEX, OPERATOR, EITHER):
            return inference.declared(entry, scope, binding.value)
        return EMPTY

    def _generic(self, inference: Inference, entry: FileEntry, scope: int, base: TermIndex, key: TermIndex) -> Type:
        """Return the type that a generic annotation such as `Base[Key]` declares.

        `base` and `key` are the indices of the two expressions.
        """
        arguments = items_or_itself(entry.terms, key)
        found = EMPTY
        for atom in ordered(self._objects(inference, entry, scope, base)):
            if atom[0] == CLASS:
                found = join(found, self._instance(inference, atom[1]))
            elif atom[0] == EXT:
                found = join(found, self._external_generic(inference, entry, scope, atom, arguments))
            elif atom[0] not in (MODULE, NAMESPACE, FUNC):
                found = join(found, frozenset((atom,)))
        return found

    def _external_generic(self, inference: Inference, entry: FileEntry, scope: int, atom: Ext, arguments: Sequence[TermIndex]) -> Type:
        _, package, dotted, _ = atom
        name = dotted.rpartition(".")[2]
        if not _is_typing(atom):
            return one((EXTI, package, dotted, None))

        def part(position: int) -> Type:
            return inference.declared(entry, scope, arguments[position]) if position < len(arguments) else EMPTY

        if name == "Annotated" or name in ("Final", "ClassVar", "Required", "NotRequired"):
            return part(0)
        if name in _TRANSPARENT:
            return join_all(part(i) for i in range(len(arguments)))
        if name in ("Tuple", "tuple"):
            if len(arguments) == 2 and entry.terms[arguments[1]] == (LITERAL, "ellipsis"):
                return box("tuple", _open_is_empty(part(0)))
            return tuple_of([_open_is_empty(part(i)) for i in range(len(arguments))])
        if name in _MAPPINGS:
            return box("dict", _open_is_empty(part(0)), _open_is_empty(part(1)))
        if name == "Coroutine":
            return box("await", _open_is_empty(part(2)))
        if name in _SEQUENCES:
            return box(_SEQUENCES[name], _open_is_empty(part(0)))
        if name in ("Type", "type"):
            return join_all(_class_of(inner) for inner in part(0)) or one((UNTYPED,))
        if name == "Callable":
            return join(one((UNTYPED,)), box("callable", _open_is_empty(part(len(arguments) - 1))))
        if name in _SILENT:
            return EMPTY if name != "Literal" else one((EXTI, BUILTINS, "str", None))
        return one((UNTYPED,))


def _open_is_empty(value: Type) -> Type:
    return frozenset(atom for atom in value if atom[0] != UNTYPED)


def _class_of(atom: Atom) -> Type:
    if atom[0] == INST:
        return one(class_of(atom))
    if atom[0] == EXTI:
        return one((EXT, atom[1], atom[2], None))
    if atom[0] == TYPEVAR or atom[0] == SELFTYPE:
        return box("class", frozenset((atom,)))
    return EMPTY


def _is_typing(atom: Ext) -> bool:
    _, package, dotted, _ = atom
    inner = dotted.rpartition(".")[0]
    return (f"{package}.{inner}" if inner else package) in _TYPING


def _external_type(atom: Ext) -> Type:
    """Return the type of a variable with an external class as annotation.

    `atom` is the class. For `Sequence` the result is a list. For `Any` it is `UNTYPED`, an unknown type.
    """
    _, package, dotted, _ = atom
    name = dotted.rpartition(".")[2]
    if _is_typing(atom):
        if name == "Self":
            return one((SELFTYPE,))
        if name in _OPEN:
            return one((UNTYPED,))
        if name in _SILENT:
            return EMPTY
        if name in _MAPPINGS:
            return box("dict", EMPTY, EMPTY)
        if name in _SEQUENCES:
            return box(_SEQUENCES[name], EMPTY)
        if name in ("Tuple", "tuple"):
            return box("tuple", EMPTY)
    return one((EXTI, package, dotted, None))
