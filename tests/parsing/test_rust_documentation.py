"""The documentation of a Rust file and of its first item are two comments."""

from __future__ import annotations

from graphmem.parsing.extract import extract

SOURCE = b"""\
//! Reads carts
//! from a file.

/// Adds an item.
/// The cart keeps it.
pub fn add() {}

/// About nothing.

pub fn remove() {}

/// Counts
/// the items.
#[inline]
#[must_use]
pub fn count() {}
"""


def test_the_first_item_does_not_take_the_documentation_of_its_file():
    docs = {one.qualname: one.doc for one in extract("src/lib.rs", SOURCE, "rust", "").definitions}
    assert docs == {
        "<module>": "Reads carts from a file.",
        "add": "Adds an item. The cart keeps it.",
        "remove": "",
        "count": "Counts the items.",
    }
