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
Iterator: advance_by all any array array_chunks by_ref chain cloned cmp cmp_by collect collect_into copied count cycle enumerate eq eq_by
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
_STRINGS: Final = {"as_str": "str", "to_string": "String", "trim": "str"}
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
    if last != called and called in _STRINGS:
        return _STRINGS[called]
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


_INHERENT: Final = """
abs align_of align_to alloc allocate and and_modify and_then any_of append apply args array_chunks as_bytes as_bytes_mut as_chunks
as_deref as_deref_mut as_mut_ptr as_mut_slice as_mut_vec as_os_str as_path as_ptr as_ptr_range as_slice as_str as_utf8 ascii_escape
assume_init back back_mut base_ptr binary_search binary_search_by binary_search_by_key bits byte_add byte_offset byte_sub bytes capacity
cast cast_const cast_mut ceil char_indices chars checked_add checked_div checked_mul checked_neg checked_next_power_of_two checked_pow
checked_rem checked_shl checked_shr checked_sub chunk_by chunks chunks_exact chunks_exact_mut chunks_mut clear compare_exchange
compare_exchange_weak concat contains contains_key copied copy_from copy_from_nonoverlapping copy_from_slice copy_to
copy_to_nonoverlapping copy_within count_ones count_zeros dangling debug_list debug_map debug_set debug_struct debug_tuple dedup dedup_by
dedup_by_key difference display downcast downcast_mut downcast_ref drain elapsed encode_utf16 encode_utf8 ends_with entry
eq_ignore_ascii_case err escape_debug escape_default escape_unicode exists expect expect_err extend_from_slice extend_from_within
extension fetch_add fetch_and fetch_max fetch_min fetch_or fetch_sub fetch_update fetch_xor file_name file_stem fill fill_with find first
first_chunk first_mut flatten floor from_be from_be_bytes from_fn from_le from_le_bytes from_mut from_ne_bytes from_raw
from_raw_parts from_ref from_str_radix from_u32 from_utf8 from_utf8_lossy from_utf8_unchecked front front_mut fuse get get_many_mut
get_mut get_or_init get_or_insert get_or_insert_with get_unchecked get_unchecked_mut ilog10 ilog2 insert insert_str intersection
into_boxed_slice into_boxed_str into_bytes into_inner into_iter into_keys into_ok_or_err into_os_string into_path_buf into_raw
into_raw_parts into_string into_values into_vec is_absolute is_alphabetic is_alphanumeric is_ascii is_ascii_alphabetic
is_ascii_alphanumeric is_ascii_control is_ascii_digit is_ascii_graphic is_ascii_hexdigit is_ascii_lowercase is_ascii_punctuation
is_ascii_uppercase is_ascii_whitespace is_char_boundary is_control is_digit is_dir is_disjoint is_empty is_err is_err_and is_file
is_finite is_infinite is_lowercase is_multiple_of is_nan is_negative is_none is_none_or is_null is_numeric is_ok is_ok_and is_positive
is_power_of_two is_relative is_some is_some_and is_sorted is_sorted_by is_subset is_superset is_uppercase is_whitespace iter iter_mut join
keys kind last last_chunk last_mut leading_ones leading_zeros leak len len_utf16 len_utf8 lines load lock lookup make_ascii_lowercase
make_ascii_uppercase make_contiguous map_err map_or map_or_else match_indices matches max_value min_value mul_add ne_bytes next_back
next_if next_if_eq next_multiple_of next_power_of_two offset offset_from ok ok_or ok_or_else open or or_default or_else or_insert
or_insert_with overflowing_add overflowing_mul overflowing_sub pad pad_integral parent parse peek peek_mut pop pop_back pop_first
pop_front pop_last pow precision ptr_eq push push_back push_front push_str range read read_unaligned read_volatile realloc rem_euclid
remove remove_entry remove_item repeat replace replace_range replacen reserve reserve_exact resize resize_with retain retain_mut reverse
rfind rmatches rotate_left rotate_right round rsplit rsplit_once rsplitn saturating_add saturating_mul saturating_pow saturating_sub
select_nth_unstable send set set_len shrink_to shrink_to_fit sign_minus sort sort_by sort_by_cached_key sort_by_key sort_unstable
sort_unstable_by sort_unstable_by_key spare_capacity_mut splice split split_ascii_whitespace split_at split_at_mut split_at_unchecked
split_first split_first_mut split_inclusive split_last split_last_mut split_off split_once split_terminator split_whitespace splitn sqrt
starts_with step store strip_prefix strip_suffix strong_count sub_ptr swap swap_bytes swap_remove swap_with_slice symmetric_difference
take to_ascii_lowercase to_ascii_uppercase to_be to_be_bytes to_digit to_le to_le_bytes to_lowercase to_ne_bytes to_path_buf
to_str to_string_lossy to_uppercase to_vec trailing_ones trailing_zeros transmute transpose trim trim_end trim_end_matches trim_left
trim_matches trim_right trim_start trim_start_matches trunc truncate try_borrow try_borrow_mut try_lock try_recv try_reserve
try_reserve_exact unchecked_add unchecked_mul unchecked_sub union unsigned_abs unwrap unwrap_err unwrap_or unwrap_or_default
unwrap_or_else unwrap_unchecked unzip update values values_mut width windows with with_capacity wrapping_add wrapping_div wrapping_mul
wrapping_neg wrapping_offset wrapping_pow wrapping_shl wrapping_shr wrapping_sub write write_bytes write_unaligned write_volatile xor zip
"""

INHERENT_METHODS: Final = frozenset(_INHERENT.split())
"""Methods that types of the standard library have without a trait."""

STANDARD_METHODS: Final = INHERENT_METHODS.union(*_methods_of_traits().values())
"""Methods of types and traits of the standard library."""

METHODS_OF_TRAITS: Final[Mapping[str, frozenset[str]]] = _methods_of_traits()
"""Standard-library trait -> methods it gives a type, including those of the library's blanket implementations."""
