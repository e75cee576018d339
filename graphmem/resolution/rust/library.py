"""Tables of traits of Rust's standard library and of their methods."""

# ruff: noqa: SIM905

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

_TRAITS: Final = """
Copy Send Sized Sync Unpin:
Error: cause description provide source to_string
Clone ToOwned: clone clone_from clone_into to_owned
Default: default
Drop: drop
From Into TryFrom TryInto: from into try_from try_into
FromStr: from_str
AsMut AsRef Borrow BorrowMut Deref DerefMut: as_mut as_ref borrow borrow_mut deref deref_mut
Eq PartialEq: eq ne
Ord PartialOrd: clamp cmp ge gt le lt max min partial_cmp
Hash: hash hash_slice
Hasher: finish write write_i8 write_i16 write_i32 write_i64 write_i128 write_isize write_u8 write_u16 write_u32 write_u64 write_u128
Hasher: write_usize
Binary Debug Display LowerExp LowerHex Octal Pointer ToString UpperExp UpperHex: fmt to_string
IntoIterator: into_iter
Iterator: advance_by all any array_chunks by_ref chain cloned cmp cmp_by collect collect_into copied count cycle enumerate eq eq_by
Iterator: filter filter_map find find_map flat_map flatten fold for_each fuse ge gt inspect intersperse intersperse_with into_iter
Iterator: is_partitioned is_sorted is_sorted_by is_sorted_by_key last le lt map map_while map_windows max max_by max_by_key min min_by
Iterator: min_by_key ne next next_chunk nth partial_cmp partial_cmp_by partition partition_in_place peekable position product reduce rev
Iterator: rposition scan size_hint skip skip_while step_by sum take take_while try_collect try_find try_fold try_for_each try_reduce unzip
Iterator: zip
DoubleEndedIterator: advance_back_by next_back nth_back rev rfind rfold try_rfold
ExactSizeIterator FusedIterator: is_empty len
Extend FromIterator Product Sum: extend extend_one from_iter product sum
Read: by_ref bytes chain read read_exact read_to_end read_to_string read_vectored take
BufRead: consume fill_buf has_data_left lines read_line read_until skip_until split
Seek: rewind seek seek_relative stream_len stream_position
Write: by_ref flush write write_all write_char write_fmt write_str write_vectored
Fn FnMut FnOnce: call call_mut call_once
Future IntoFuture: into_future poll
Index IndexMut: index index_mut
Neg Not: neg not
Add BitAnd BitOr BitXor Div Mul Rem Shl Shr Sub: add bitand bitor bitxor div mul rem shl shr sub
AddAssign BitAndAssign BitOrAssign BitXorAssign DivAssign: add_assign bitand_assign bitor_assign bitxor_assign div_assign
MulAssign RemAssign ShlAssign ShrAssign SubAssign: mul_assign rem_assign shl_assign shr_assign sub_assign
"""

BINARY: Final[Mapping[str, Sequence[str]]] = {
    **{
        sign: (f"{trait}.{trait.lower()}",)
        for sign, trait in zip("+ - * / % & | ^ << >>".split(), "Add Sub Mul Div Rem BitAnd BitOr BitXor Shl Shr".split(), strict=True)
    },
    **{
        f"{sign}=": (f"{trait}Assign.{trait.lower()}_assign",)
        for sign, trait in zip("+ - * / % & | ^ << >>".split(), "Add Sub Mul Div Rem BitAnd BitOr BitXor Shl Shr".split(), strict=True)
    },
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

NUMBERS: Final = frozenset("f32 f64 i128 i16 i32 i64 i8 isize u128 u16 u32 u64 u8 usize".split())
"""Types that a number literal may have."""


_SIZES: Final = frozenset("align_of capacity count len size_of".split())
_BITS: Final = frozenset("count_ones count_zeros ilog10 ilog2 leading_ones leading_zeros trailing_ones trailing_zeros".split())


def primitive(dotted: str) -> str:
    """Return the type of a value that the library's name `dotted` stands for.

    Examples are `usize` for `usize.MAX` and `str.len()`, and `u32` for `u32.from_ne_bytes()`. Of other names, the result is the name.
    """
    first, _, rest = dotted.partition(".")
    last = rest.rpartition(".")[2]
    called = last.removesuffix("()")
    if last != called and called in _SIZES:
        return "usize"
    if last != called and called in _BITS:
        return "u32"
    is_checked = called.startswith(("checked_", "overflowing_", "to_", "try_"))
    is_own = first in NUMBERS and rest == last and (last != called or last.isupper()) and not is_checked
    return first if is_own else dotted


def _methods_of_traits() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in _TRAITS.strip().splitlines():
        traits, _, methods = line.partition(":")
        for trait in traits.split():
            found[trait] = found.get(trait, frozenset()) | frozenset(methods.split())
    return found


STANDARD_METHODS: Final = frozenset().union(*_methods_of_traits().values())
"""Methods of all traits of the standard library."""

METHODS_OF_TRAITS: Final[Mapping[str, frozenset[str]]] = _methods_of_traits()
"""Standard-library trait -> methods it gives a type, including those of the library's blanket implementations."""
