"""Choose between two versions of a C++ method that differ by `const`.

`begin()` and `begin() const` accept the same arguments. The second version is called on constant objects, which must not change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import ATTR, CALL, INDEX, LITERAL, NAME, SELF, TermIndex
from graphmem.parsing.languages.cfamily import POINTED
from graphmem.resolution.values.symbol import CLASS_KINDS, FUNCTION_KINDS, Symbol
from graphmem.resolution.values.types import FUNC, ordered

if TYPE_CHECKING:
    from graphmem.parsing.facts import Reference
    from graphmem.resolution.files.call_index import CallSite
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference


_CONST: Final = re.compile(r"\)\s*(?:(?:noexcept|override|final)\b\s*)*const\b[^()]*$")


def is_const(inference: Inference, method: Symbol) -> bool:
    """Return whether a method promises not to change its object: `f() const`."""
    return _CONST.search(inference.project.definition(method).signature) is not None


def fitting(inference: Inference, entry: FileEntry, site: Reference | CallSite, methods: Sequence[Symbol]) -> Sequence[Symbol]:
    """Return the `const` versions of a method, or the others, for a call.

    `methods` are all versions of the method, and `site` is the call. On a constant object, only versions with `const` can be called. On any
    other object, only the versions without `const` are returned. All versions are returned if it is unknown whether the object is constant,
    or if the versions do not differ by `const`.
    """
    found = entry.terms[site.term]
    callee = entry.terms[found[1]] if found[0] == CALL else None
    if callee is None:
        return methods
    wanted = _in_const_method(inference, entry, site.scope) if callee[0] == NAME else None
    if callee[0] == ATTR:
        wanted = receiver_is_const(inference, entry, site, callee[1])
    return of_constness(inference, methods, wanted)


def of_constness(inference: Inference, methods: Sequence[Symbol], wanted: bool | None) -> Sequence[Symbol]:
    """Return the versions of a method with `const`, or those without.

    If `wanted` is True, the versions with `const` are returned, which fit constant objects. If it is False, the other versions are
    returned. All versions are returned if `wanted` is None, or if the versions do not differ by `const`.
    """
    constant = [method for method in methods if is_const(inference, method)] if wanted is not None and len(methods) > 1 else []
    if not constant or len(constant) == len(methods):
        return methods
    return constant if wanted else [method for method in methods if method not in constant]


def _in_const_method(inference: Inference, entry: FileEntry, scope: int) -> bool | None:
    around = entry.enclosing(scope, FUNCTION_KINDS)
    return is_const(inference, entry.symbols[around]) if around > 0 else None


def receiver_is_const(inference: Inference, entry: FileEntry, site: Reference | CallSite, term: TermIndex) -> bool | None:
    """Return whether the receiver of a call is a constant object.

    `term` is the receiver's expression. The result is None if the constness is unknown.
    """
    found = entry.terms[term]
    if found[0] == INDEX and entry.terms[found[1]][0] == SELF:
        return _in_const_method(inference, entry, site.scope)
    if found[0] == SELF:
        return _in_const_method(inference, entry, site.scope)
    is_pointed = found[0] == INDEX and entry.terms[found[2]] == (LITERAL, POINTED)
    found = entry.terms[found[1]] if is_pointed and found[0] == INDEX else found
    if found[0] == NAME:
        for place in inference.lookup(entry, site.scope, found[1], site.line) or ():
            if place.slot.kind == "parameter":
                signature = place.entry.definitions[place.scope].signature
                return re.search(rf"\bconst\b[^,()]*\b{re.escape(found[1])}\b", signature) is not None
            if is_pointed:
                return None  # a constant pointer may point at any object
            owner = place.entry.definitions[place.scope]
            return _in_const_method(inference, entry, site.scope) if owner.kind in CLASS_KINDS else None
    if found[0] == CALL:
        called = inference.expanded(inference.term(entry, site.scope, found[1], site.line))
        functions = [atom[1] for atom in ordered(called) if atom[0] == FUNC]
        return all(inference.project.definition(one).signature.startswith("const ") for one in functions) if functions else None
    return None
