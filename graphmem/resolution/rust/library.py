"""Tables of traits of Rust's standard library and of their methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from graphmem.resolution.rust.tables import LIBRARY

_ARITHMETIC: Final = {
    "+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "%": "Rem", "&": "BitAnd", "|": "BitOr", "^": "BitXor", "<<": "Shl", ">>": "Shr"
}  # fmt: skip

BINARY: Final[Mapping[str, Sequence[str]]] = {
    **{sign: (f"{trait}.{trait.lower()}",) for sign, trait in _ARITHMETIC.items()},
    **{f"{sign}=": (f"{trait}Assign.{trait.lower()}_assign",) for sign, trait in _ARITHMETIC.items()},
    "==": ("PartialEq.eq",),
    "!=": ("PartialEq.ne", "PartialEq.eq"),
    "<": ("PartialOrd.lt", "PartialOrd.partial_cmp"),
    "<=": ("PartialOrd.le", "PartialOrd.partial_cmp"),
    ">": ("PartialOrd.gt", "PartialOrd.partial_cmp"),
    ">=": ("PartialOrd.ge", "PartialOrd.partial_cmp"),
}
"""Binary operator -> `Trait.method` candidates on the left operand; the first that is defined runs."""

UNARY: Final[Mapping[str, Sequence[str]]] = {"*": ("Deref.deref",), "!": ("Not.not",), "-": ("Neg.neg",)}
"""Unary operator -> `Trait.method` candidates on its operand."""

NUMBERS: Final = LIBRARY.numbers
"""Types that a number literal may have."""


_SIZES: Final = LIBRARY.sizes
_STRINGS: Final = LIBRARY.strings
_BITS: Final = LIBRARY.bits


def primitive(dotted: str) -> str:
    """Return the type of a value that the library's name `dotted` stands for.

    Examples are `usize` for `usize.MAX` and `str.len()`, and `u32` for `u32.from_ne_bytes()`. Any other name is returned unchanged.
    """
    first, _, rest = dotted.partition(".")
    last = rest.rpartition(".")[2]
    called = last.removesuffix("()")
    if last != called and called in _SIZES:
        return "usize"
    if last != called and called in _BITS:
        return "u32"
    if last != called and called in _STRINGS:
        return _STRINGS[called]
    is_checked = called.startswith(LIBRARY.checked)
    is_own = first in NUMBERS and rest == last and (last != called or last.isupper()) and not is_checked
    return first if is_own else dotted


INHERENT_METHODS: Final = LIBRARY.inherent_methods
"""Methods that types of the standard library have without a trait."""

STANDARD_METHODS: Final = INHERENT_METHODS.union(*LIBRARY.traits.values())
"""Methods of types and traits of the standard library."""

METHODS_OF_TRAITS: Final[Mapping[str, frozenset[str]]] = {
    trait: methods for traits, methods in LIBRARY.traits.items() for trait in traits.split()
}
"""Standard-library trait -> methods it gives a type, including those of the library's blanket implementations."""
