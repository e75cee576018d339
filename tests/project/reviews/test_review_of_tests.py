"""Which tests a review names where the tests are beside the code, or reach it in a way that the graph does not have."""

from __future__ import annotations

import subprocess

import pytest

from graphmem.analysis.named_tests import FEW
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


def test_tests_beside_rust_code_are_run_and_are_not_dependents(reviewed):
    review = reviewed(RUST, "src/lib.rs", "{ price }", "{ price + 1 }")
    assert [(one.id, one.why) for one in review.tests] == [("--lib tests::cuts", "reaches")]
    assert [one.command for one in review.commands] == ["cargo test --lib -- --exact tests::cuts"]
    assert (review.breaks, review.untested) == ([], [])


def test_code_that_no_known_test_reaches_gets_the_tests_named_after_its_file(reviewed):
    review = reviewed(REGISTRY, "shop/_xlsx.py", "list(data)", "tuple(data)")
    assert [(one.name, one.why) for one in review.tests] == [("XLSXTests.test_wide", "named")]
    assert [one.symbol.name for one in review.untested] == ["written"]  # the name is not a proof


def test_a_test_that_calls_a_changed_function_on_an_unknown_object_is_named_after_the_file(reviewed):
    files = REGISTRY | {
        "shop/_xlsx.py": "def parse(data):\n    return list(data)\n",
        "tests/test_all.py": "def test_xlsx_wide(plugin):\n    plugin.parse([1])\n",
    }
    review = reviewed(files, "shop/_xlsx.py", "list(data)", "tuple(data)")
    assert [(one.name, one.why) for one in review.tests] == [("test_xlsx_wide", "named")]


def test_a_test_that_calls_the_name_of_a_changed_method_is_not_a_test_named_after_the_file(reviewed):
    files = REGISTRY | {
        "shop/_xlsx.py": "class Sheet:\n    def get(self, data):\n        return list(data)\n",
        "tests/test_all.py": "def test_xlsx_wide(): ...\n\n\ndef test_csv(plugin):\n    plugin.get([1])\n",
    }
    review = reviewed(files, "shop/_xlsx.py", "list(data)", "tuple(data)")
    assert [(one.name, one.why) for one in review.tests] == [("test_csv", "maybe")]


def test_code_that_no_known_test_reaches_gets_the_tests_named_after_the_function(reviewed):
    files = REGISTRY | {
        "shop/views.py": "def update_check(request):\n    return list(request)\n",
        "tests/test_update_check.py": "class Case:\n    pass\n\n\ndef test_it_works(client):\n    assert client.post('/checks/1')\n",
        "tests/test_update.py": "def test_it_works(client):\n    assert client.post('/updates/1')\n",
    }
    review = reviewed(files, "shop/views.py", "list(request)", "tuple(request)")
    assert [(one.path, one.why) for one in review.tests] == [("tests/test_update_check.py", "named")]
    assert [one.symbol.name for one in review.untested] == ["update_check"]


def test_a_review_says_that_a_file_has_a_name_of_too_many_tests(reviewed):
    many = "".join(f"def test_xlsx_{number}(): ...\n\n\n" for number in range(FEW + 1))
    review = reviewed(REGISTRY | {"tests/test_all.py": many}, "shop/_xlsx.py", "list(data)", "tuple(data)")
    assert review.tests == []
    (cause,) = [one for one in review.causes if one.kind == "common_names"]
    assert (cause.count, cause.examples) == (1, ["shop/_xlsx.py"])


def test_a_method_whose_name_most_tests_call_does_not_select_the_suite(reviewed):
    files = REGISTRY | {
        "shop/_xlsx.py": "class Sheet:\n    def get(self, data):\n        return list(data)\n",
        "tests/test_all.py": "".join(f"def test_row_{number}(client):\n    client.get([1])\n\n\n" for number in range(FEW + 1)),
        "tests/test_xlsx.py": "def test_wide(): ...\n",
    }
    review = reviewed(files, "shop/_xlsx.py", "list(data)", "tuple(data)")
    assert [(one.path, one.why) for one in review.tests] == [("tests/test_xlsx.py", "named")]
    (cause,) = [one for one in review.causes if one.kind == "common_names"]
    assert (cause.count, cause.examples) == (1, ["get"])
