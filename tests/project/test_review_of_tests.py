"""Which tests a review names where the tests are beside the code, or reach it in a way that the graph does not have."""

from __future__ import annotations

import subprocess

import pytest

from hosted import indexed, written

RUST = {
    "Cargo.toml": '[package]\nname = "shop"\n',
    "src/lib.rs": (
        "pub fn cut(price: u32) -> u32 { price }\n"
        "\n"
        "#[cfg(test)]\n"
        "mod tests {\n"
        "    use super::*;\n"
        "    fn checked(price: u32) { assert_eq!(cut(price), price); }\n"
        "    #[test]\n"
        "    fn cuts() { checked(1); }\n"
        "}\n"
    ),
}
REGISTRY = {
    "pyproject.toml": "[tool.pytest]\n",
    "shop/__init__.py": "",
    "shop/registry.py": 'import importlib\n\n\ndef export(name, data):\n    return importlib.import_module("shop." + name).written(data)\n',
    "shop/_xlsx.py": "def written(data):\n    return list(data)\n",
    "tests/test_all.py": (
        "from shop.registry import export\n\n\n"
        'class XLSXTests:\n    def test_wide(self):\n        assert export("_xlsx", [1])\n\n\n'
        'class CSVTests:\n    def test_wide(self):\n        assert export("_csv", [1])\n'
    ),
}


@pytest.fixture
def reviewed(tmp_path):
    """A function that commits and indexes files, replaces text in one of them, and reviews the change."""

    def make(files, path, old, new):
        written(tmp_path, files)
        for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "first"]):
            subprocess.run(["git", *command], cwd=tmp_path, check=True)
        (tmp_path / path).write_text(files[path].replace(old, new))
        with indexed(tmp_path, {}) as shop:
            return shop.review()

    return make


def test_tests_beside_rust_code_are_run_and_are_no_dependents(reviewed):
    review = reviewed(RUST, "src/lib.rs", "{ price }", "{ price + 1 }")
    assert [(one.id, one.why) for one in review.tests] == [("--lib tests::cuts", "reaches")]
    assert [one.command for one in review.commands] == ["cargo test --lib -- --exact tests::cuts"]
    assert (review.breaks, review.untested) == ([], [])


def test_code_that_no_known_test_reaches_gets_the_tests_named_after_its_file(reviewed):
    review = reviewed(REGISTRY, "shop/_xlsx.py", "list(data)", "tuple(data)")
    assert [(one.name, one.why) for one in review.tests] == [("XLSXTests.test_wide", "named")]
    assert [one.symbol.name for one in review.untested] == ["written"]  # the name is no proof
