"""Unit tests that stand in the file of the code they test: they are tests, and not code that depends on it."""

from __future__ import annotations

import pytest

from graphmem import GraphMem
from graphmem.settings import Settings

FILES = {
    "Cargo.toml": '[package]\nname = "shop"\n',
    "src/lib.rs": "pub mod cart;\n",
    "src/cart.rs": """pub fn total(prices: &[i32]) -> i32 {
    rounded(prices.iter().sum())
}

fn rounded(value: i32) -> i32 {
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> i32 {
        total(&[1])
    }

    #[test]
    fn adds() {
        fn case(value: i32) {
            assert_eq!(total(&[value]), value);
        }
        case(1);
    }

    #[test]
    fn adds_none() {
        assert_eq!(total(&[]), 0);
        assert_eq!(example(), 1);
    }
}

#[cfg(all(feature = "slow", test))]
fn slow() -> i32 {
    total(&[2])
}
""",
}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    root = tmp_path_factory.mktemp("shop")
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    with GraphMem.open(tmp_path_factory.mktemp("index"), repo=root, settings=Settings(embedder="none", workers=1)) as opened:
        opened.index(root)
        yield opened


def test_unit_tests_in_the_file_of_the_code_are_the_tests_to_run(service):
    report = service.impact("src/cart.rs:rounded")
    assert [one.symbol.qualname for one in report.hits] == ["total"]
    assert {one.symbol.qualname for one in report.tests if one.symbol.is_runnable} == {"tests.adds", "tests.adds_none"}


def test_code_that_only_builds_of_tests_contain_is_not_a_dependent(service):
    assert [one.symbol.qualname for one in service.impact("src/cart.rs:total").hits] == []


def test_the_file_itself_remains_code(service):
    assert not service.symbol("src/cart.rs:<module>").symbol.is_test
    assert not service.symbol("src/cart.rs:total").symbol.is_test


def test_the_tests_of_a_symbol_are_tests_and_not_their_helpers(service):
    total = service.symbol("src/cart.rs:total").symbol.id
    found = service.sites([total], "tests")[total]
    assert {one.symbol.qualname for one in found} == {"tests.adds", "tests.adds_none"}, "not `example`, and `adds` for the `case` in it"
