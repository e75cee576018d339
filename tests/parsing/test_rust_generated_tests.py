"""Macros of Rust that make tests: each use is a test with the name that the macro gets."""

from __future__ import annotations

from graphmem.parsing.extract import extract

LIBRARY = """\
fn parse(text: &str) {}

settings! { name: shop }

#[cfg(test)]
mod tests {
  use super::*;

  macro_rules! check {
    { name: $name:ident, text: $text:expr, } => {
      #[test]
      fn $name() { helper($text); }
    }
  }

  fn helper(text: &str) { parse(text); }

  check! {
    name: adds,
    text: text("a"),
  }

  fn text(one: &str) {}
}
"""
INTEGRATION = "rgtest!(finds, |dir: Dir| { dir.create(1); });\nformat!(shop, 1);\n"


def generated(path, text):
    """Return (qualified name, line) of each generated test of a file."""
    facts = extract(path, text.encode(), "rust", "")
    return [(one.qualname, one.start_line) for one in facts.definitions if "generated_test" in one.modifiers], facts


def test_a_use_of_a_macro_in_a_module_of_tests_is_a_test_with_its_calls():
    found, facts = generated("src/lib.rs", LIBRARY)
    assert found == [("tests.adds", 18)]
    calls = [facts.definitions[one.scope].name for one in facts.references if one.kind == "call" and one.name_line in (18, 20)]
    assert calls == ["adds", "adds"]


def test_a_macro_named_after_tests_makes_a_test():
    assert generated("tests/search.rs", INTEGRATION)[0] == [("finds", 1)]
