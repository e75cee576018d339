"""The tests of a file are found by their names, and a common name finds none."""

from __future__ import annotations

import pytest

from graphmem.analysis import named_tests
from graphmem.analysis.named_tests import FEW, NamedCases, find_named_tests

PATHS = (
    "admin.go",
    "admin_test.go",
    "modules/proxy/admin_test.go",
    "scrapy/commands/check.py",
    "tests/test_command_check.py",
    "tests/test_util_typing.py",
    "sphinx/ext/autodoc/__init__.py",
    "tests/test_ext_autodoc/test_ext_autodoc.py",
    "celery/app/base.py",
    "t/unit/backends/test_base.py",
    "celery/worker/consumer.py",
    "t/unit/worker/test_consumer.py",
    "src/main/java/shop/PriceList.java",
    "src/test/java/shop/PriceListTest.java",
    "web/Cart.vue",
    "web/__tests__/Cart.spec.ts",
    "app/models/user.rb",
    "spec/models/user_spec.rb",
    "a/utils.py",
    "tests/a/test_utils.py",
    "tests/a/x/test_utils.py",
    "tests/b/test_utils.py",
)


def is_test(path):
    return any(one in path.lower() for one in ("test", "spec", "t/unit"))


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("admin.go", ["admin_test.go"]),
        ("scrapy/commands/check.py", ["tests/test_command_check.py"]),
        ("sphinx/ext/autodoc/__init__.py", ["tests/test_ext_autodoc/test_ext_autodoc.py"]),
        ("celery/app/base.py", []),  # of another folder
        ("celery/worker/consumer.py", ["t/unit/worker/test_consumer.py"]),
        ("src/main/java/shop/PriceList.java", ["src/test/java/shop/PriceListTest.java"]),
        ("web/Cart.vue", ["web/__tests__/Cart.spec.ts"]),
        ("app/models/user.rb", ["spec/models/user_spec.rb"]),
        ("a/utils.py", ["tests/a/test_utils.py"]),
        ("tests/a/test_utils.py", []),  # is a test
        ("new/thing.py", []),
    ],
)
def test_tests_are_named_after_what_they_test(path, tests):
    assert find_named_tests(path, PATHS, is_test) == tests


def test_a_name_that_many_tests_have_says_nothing():
    paths = [f"tests/{one}/tests/test_utils.py" for one in "abc"]
    assert find_named_tests("pkg/utils.py", ["pkg/utils.py", *paths], is_test) == []


@pytest.mark.parametrize(
    ("test", "found"),
    [
        ("packages/oauth/src/utils/utils.test.ts", False),
        ("packages/form/test/utils.test.ts", True),
        ("test/utils.test.ts", True),
    ],
)
def test_the_tests_of_another_package_are_not_named_after_a_file(test, found):
    paths = ["package.json", "packages/form/package.json", "packages/oauth/package.json", "packages/form/src/utils.ts", test]
    assert find_named_tests("packages/form/src/utils.ts", paths, is_test) == ([test] if found else [])


def test_a_test_is_named_after_a_file_by_its_class_its_function_or_its_own_file():
    cases = [
        ("tests/test_all.py", "XLSXTests.test_wide"),
        ("tests/test_all.py", "AllTests.test_xlsx_import"),
        ("tests/xlsx.test.ts", "imports"),
        ("tests/test_all.py", "XLSTests.test_wide"),
    ]
    assert NamedCases(cases).of_file("src/formats/_xlsx.py") == [0, 1, 2]
    assert NamedCases([("a/XMLTokenerTest.java", "T.reads"), ("a/XMLTest.java", "T.reads")]).of_file("src/formats/XMLTokener.java") == [0]
    assert NamedCases([("tests/test_a.py", "test_price_of_two")]).of_file("src/price/__init__.py") == [0]
    assert NamedCases([("tests/test_a.py", "test_list_of_price"), ("tests/test_a.py", "test_price_list")]).of_file("src/price_list.py") == [
        1
    ]


def test_tests_in_the_folder_of_a_file_stand_for_those_of_its_namesakes():
    cases = [
        ("cmd/agent/core/agent_test.go", "TestReadsId"),
        ("server/api/agent_test.go", "TestGetAgents"),
        ("server/model/agent_test.go", "TestLabels"),
    ]
    assert NamedCases(cases).of_file("cmd/agent/core/agent.go") == [0]
    assert NamedCases(cases).of_file("server/store/agent.go") == [1, 2], "no folder is nearer"


def test_a_test_is_named_after_a_function_of_several_words():
    cases = NamedCases(
        [("tests/test_update_check.py", "T.test_a"), ("tests/test_a.py", "UpdateCheckTest.test_a"), ("tests/check.py", "test_update")]
    )
    assert cases.of_function("update_check") == cases.of_function("updateCheck") == [0, 1]
    assert cases.of_function("update") == []


def test_a_name_in_too_many_names_of_tests_is_told_from_one_in_none():
    cases = NamedCases([("tests/test_core.py", f"test_{number}") for number in range(FEW + 1)])
    assert cases.of_file("src/core.py") is None
    assert cases.of_file("src/cart.py") == []


def test_the_names_of_tests_are_split_once_for_all_files(monkeypatch):
    cases = NamedCases([(f"tests/test_{number}.py", f"test_{number}") for number in range(100)])
    split = []
    monkeypatch.setattr(named_tests, "_words", lambda name, real=named_tests._words: split.append(name) or real(name))
    assert [cases.of_file(f"src/{number}.py") for number in range(100)] == [[number] for number in range(100)]
    assert len(split) == 100  # the names of the files alone
