"""Rules that resolve names and calls in Rust code to definitions.

The rules cover implicit calls, patterns, and the wrapper types of the standard library. The rules for traits and modules are in other
files.

A type is a set of alternatives: the type of `x` may be `A | B`.

`entry` is a parsed file. `scope` is a function, a class or the module in it, given as its position among the file's definitions; 0 is the
module.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from graphmem.parsing.facts import ATTR, CALL, NAME, UNPACK, TermIndex
from graphmem.parsing.languages.rust import FUNCTION, PARAMETER, POINTED, WRAPPING
from graphmem.resolution.interfaces.call import Call
from graphmem.resolution.rust.closures import passed_to_closure
from graphmem.resolution.rust.containers import ITERATES, SAME, new_container, result_of_method
from graphmem.resolution.rust.library import BINARY, METHODS_OF_TRAITS, UNARY
from graphmem.resolution.rust.modules import LIBRARIES
from graphmem.resolution.rust.pointers import pointed, pointed_argument, pointed_member
from graphmem.resolution.rust.tables import LIBRARY
from graphmem.resolution.rust.trait_calls import implied
from graphmem.resolution.rust.traits import RustTraits
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.types import (
    BOX,
    BUILTIN,
    CLASS,
    EMPTY,
    EXT,
    INST,
    TUP,
    UNTYPED,
    Container,
    Ext,
    Instance,
    Language,
    Outside,
    Package,
    Receiver,
    Type,
    box,
    join,
    join_all,
    one,
    ordered,
    tuple_of,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Binding, Definition, Reference
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference

_MAKERS: Final = LIBRARY.wrapper_makers
_EMPTY_MAKERS: Final = LIBRARY.empty_makers
"""Functions of containers of the library that return an empty container."""


class RustRules(RustTraits):
    """Rules that resolve names and calls in Rust code to definitions.

    The project's `Cargo.toml` files give the names of crates.
    """

    name = Language("rust")
    libraries_hand_back = True
    methods_are_declared_once = True
    builtin_package = Package("std")
    builtin_types = LIBRARY.prelude
    builtin_functions = LIBRARY.macros
    class_calls_are_virtual = False
    variables_begin_late = True
    header_is_inside = True
    item_method = "index"
    item_setters = ("index_mut",)
    own_names_are_below = False
    containers: ClassVar = {
        **dict.fromkeys(LIBRARY.lists, ("list", (0,))),
        **dict.fromkeys(LIBRARY.maps, ("map", (0, 1))),
        "Option": ("option", (0,)),
        "Result": ("result", (0, 1)),
    }
    transparent: ClassVar = LIBRARY.transparent
    common_names = LIBRARY.common

    def takes(self, definition: Definition, positional: int, keywords: Sequence[str], *, bound: bool) -> bool:
        """Return whether a function accepts a call with `positional` arguments.

        `keywords` and `bound` are as in `CallRules.takes`. The call must have one argument for each parameter. It may have one more if it
        passes the receiver explicitly, as `Type::method(object)` does. A macro accepts any number of arguments.
        """
        is_macro = not definition.signature  # a macro has no header, so its signature is empty
        return is_macro or positional in (len(definition.parameters), len(definition.parameters) + 1)

    def sees_globals(self, entry: FileEntry) -> bool:
        """Return True: an unbound name may be a macro of any other file."""
        return True

    # implicit calls

    def implied(self, inference: Inference, entry: FileEntry, reference: Reference) -> Iterable[tuple[Symbol, int]]:
        """Return the trait methods that an operation calls implicitly.

        Operators, loops, format strings and conversions call trait methods. Each item is (method, number of alternatives). Of several
        alternatives only one runs.
        """
        return implied(inference, entry, reference)

    def operated(self, inference: Inference, receiver: Instance, sign: str, *, is_unary: bool) -> Type:
        """Return the type of an operation, from the trait method that it calls.

        `receiver` is the left operand, `sign` the operator, and `is_unary` tells whether there is no other operand. If its type has no such
        method, a unary operator such as `*x` returns `receiver` itself. For a binary operator the result is then empty.
        """
        for method in (UNARY if is_unary else BINARY).get(sign, ()):
            name = method.rpartition(".")[2]
            if isinstance(inference.owner(receiver[1], name), Symbol):
                return inference.method_result(receiver, name) or (pointed(inference, receiver) if sign == POINTED else EMPTY)
        return frozenset((receiver,)) if is_unary else EMPTY

    def iterated(self, inference: Inference, receiver: Instance) -> Type:
        """Return the type of the variable of a loop over an object.

        The object is an iterator, or can create one.
        """
        made = (
            inference.method_result(receiver, "into_iter")
            if isinstance(inference.owner(receiver[1], "into_iter"), Symbol)
            else frozenset((receiver,))
        )
        found = EMPTY
        for atom in ordered(made):
            if atom[0] == INST:
                given = inference.method_result(atom, "next")
                found = join(found, join_all(inner[2][0] for inner in given if inner[0] == BOX and inner[1] == "option"))
            elif atom[0] == BOX and atom[2]:
                found = join(found, atom[2][0])
        return found

    # values

    def bound(self, inference: Inference, entry: FileEntry, binding: Binding, value: Type) -> Type:
        """Return the type of a variable that a pattern binds.

        In `if let Some(x) = value`, `x` is the wrapped value. `Ok(x)` and `Err(x)` also unwrap the value. In `Name(x)` and `Name { x }`,
        `x` is a field of a variant or of a struct.
        """
        found = entry.terms[binding.value]
        while found[0] == UNPACK:
            found = entry.terms[found[1]]
        if found[0] != ATTR or (found[2] not in WRAPPING and "." not in found[2]):
            return value
        return self._unwrapped(inference, entry, binding, binding.value)

    def _unwrapped(self, inference: Inference, entry: FileEntry, binding: Binding, term: TermIndex) -> Type:
        """Return the type of the part of a value that a pattern binds.

        In `Some(x)`, the part is the value inside `Some`.
        """
        found = entry.terms[term]
        if found[0] == UNPACK:
            whole = self._unwrapped(inference, entry, binding, found[1])
            items = (atom[1] for atom in whole if atom[0] == TUP)
            return join_all(inner[found[2]] for inner in items if found[2] < len(inner))
        if found[0] != ATTR or (found[2] not in WRAPPING and "." not in found[2]):
            return inference.expanded(inference.term(entry, binding.scope, term, binding.line))
        whole = self._unwrapped(inference, entry, binding, found[1])
        if found[2] in WRAPPING:
            position = 1 if found[2] == "Err" else 0
            return inference.expanded(join_all(atom[2][position] for atom in whole if atom[0] == BOX and position < len(atom[2])))
        parts = EMPTY
        for atom in ordered(whole):
            if atom[0] == INST:
                variant, _, field = found[2].rpartition(".")
                part = inference.attribute_of(atom, found[2] if atom[1].kind == "enum" else field)
                # A field whose type is a type parameter gets the type of the variant, so that its methods are not guessed by name.
                parts = join(parts, part or inference.attribute_of(atom, variant))
        return inference.expanded(parts)

    def missing_member(self, receiver: Receiver, name: str) -> Type:
        """Return the type of a member that the receiver's type does not define.

        The member is a method that the standard library gives to many types, such as `clone` or `to_string`. For a type itself (not an
        object), the member is `default`.
        """
        if receiver[0] == CLASS:
            return one((BUILTIN, receiver, name)) if name == "default" else super().missing_member(receiver, name)
        return one((BUILTIN, receiver, name)) if name in SAME or name in ("to_string", "eq", "cmp", "hash", "fmt") else EMPTY

    def member_outside(self, inference: Inference, receiver: Receiver, base: Ext, name: str) -> Type:
        """Return the type of a member that an external trait may define.

        The table `METHODS_OF_TRAITS` lists all methods of the known traits. A trait that is not listed may define any member.
        """
        known = self.missing_member(receiver, name)
        if known:
            return known
        for trait in inference.mro(receiver[1]):
            if not isinstance(trait, Symbol) and trait[2].rpartition(".")[2] != "Deref":
                if trait[1] in LIBRARIES and trait[2].endswith("Iterator") and name in ITERATES:
                    return one((BUILTIN, (INST, receiver[1], True), name))
                methods = METHODS_OF_TRAITS.get(trait[2].rpartition(".")[2]) if trait[1] in LIBRARIES else None
                if methods is None or name in methods:
                    return super().member_outside(inference, receiver, trait, name)
        return pointed_member(inference, receiver, name)

    def call_external(self, inference: Inference, atom: Outside, call: Call) -> Type | None:
        """Return the type of a call such as `Some(x)`, `Ok(x)` or `Box::new(x)`.

        A wrapper such as `Box` is ignored: the type of `Box::new(x)` is that of `x`. For any other call the result is None.
        """
        if atom[2] == PARAMETER:
            return passed_to_closure(inference, call)
        parts = atom[2].split(".")
        if parts[-1] == "Some":
            return box("option", call.argument(0) or EMPTY)
        if parts[-1] in ("Ok", "Err"):
            given = call.argument(0) or EMPTY
            return box("result", *((given, EMPTY) if parts[-1] == "Ok" else (EMPTY, given)))
        if len(parts) > 1 and parts[-2] in self.transparent and parts[-1] in _MAKERS:
            return call.argument(0) or EMPTY
        if len(parts) > 1 and parts[-2] in self.containers and parts[-1] in _EMPTY_MAKERS:
            return new_container(inference, self.containers[parts[-2]], call)
        if parts[-1] == "vec":
            return box("list", *(join_all(call.term(item) for item in call.args),))
        return None

    def declared(self, inference: Inference, entry: FileEntry, scope: int, term: TermIndex) -> Type:
        """Return the type that an annotation declares.

        For `Fn(A) -> B` and `fn(A) -> B`, it is a callable object with the types of the result and of the parameters.
        """
        found = entry.terms[term]
        if found[0] == CALL and entry.terms[found[1]] == (NAME, FUNCTION):
            return join(one((UNTYPED,)), box("callable", *(inference.declared(entry, scope, part) for part in found[2])))
        return super().declared(inference, entry, scope, term)

    def unbound(self, inference: Inference, entry: FileEntry, scope: int, name: str) -> Type:
        """Return the type of a name that no scope of its file binds.

        The name is that of a module or a crate. It may also be `PARAMETER`, by which the parser writes the value that a closure gets.
        """
        if name == PARAMETER:
            return one((EXT, self.builtin_package, PARAMETER, None))
        return super().unbound(inference, entry, scope, name)

    def generic(self, inference: Inference, entry: FileEntry, scope: int, base: TermIndex, key: TermIndex) -> Type:
        """Return the type of an annotation `Base<Key>`.

        A map such as `HashMap<K, V>` contains pairs. A type that points to its argument has the members of the argument, too.
        """
        found = super().generic(inference, entry, scope, base, key)
        found = join(found, pointed_argument(inference, entry, scope, found, key))
        if any(atom[0] == BOX and atom[1] == "map" and len(atom[2]) == 2 for atom in found):
            return join_all(
                box("map", tuple_of(atom[2]), atom[2][1]) if atom[0] == BOX and atom[1] == "map" else one(atom) for atom in ordered(found)
            )
        return found

    def container_method(self, inference: Inference, container: Container, name: str, call: Call) -> Type:
        """Return the type of a method call on an `Option` or collection."""
        return result_of_method(inference, container, name, call)


RULES = RustRules
