"""Ids and command lines of tests, for each runner, from the files of a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphmem.answers.review import TestToRun
from graphmem.reports import vitest_config
from graphmem.reports.test_commands import NOT_RUN, RECORDING, commands
from graphmem.reports.test_runners import Place, Project, named

CASES = {
    "pytest": (
        {"pyproject.toml": "[tool.pytest.ini_options]"},
        [("tests/test_a.py", "TestA.test_b", True)],
        ["tests/test_a.py::TestA::test_b"],
        "pytest tests/test_a.py::TestA::test_b",
    ),
    "unittest": (
        {"tests/pkg/__init__.py": ""},
        [("tests/pkg/test_a.py", "CaseA.test_b", True)],
        ["pkg.test_a.CaseA.test_b"],
        "(cd tests && python -m unittest pkg.test_a.CaseA.test_b)",
    ),
    "django": (
        {"manage.py": ""},
        [("shop/tests.py", "CaseA.test_b", True)],
        ["shop.tests.CaseA.test_b"],
        "python manage.py test shop.tests.CaseA.test_b",
    ),
    "vitest": (
        {"package.json": '{"devDependencies": {"vitest": "1"}}'},
        [("src/a.test.ts", "sum.adds 1·5 (twice)", False)],
        ["src/a.test.ts -t 'sum adds 1.5 (twice)'"],
        "npx vitest run src/a.test.ts -t '(sum adds 1\\.5 \\(twice\\))'",
    ),
    "jest": (
        {"web/package.json": '{"devDependencies": {"jest": "1"}}'},
        [("web/a.test.js", "adds", False), ("web/b.test.js", "", False)],
        ["web/a.test.js -t 'adds'", "web/b.test.js"],
        "(cd web && npx jest a.test.js b.test.js)",
    ),
    "deno": (
        {
            "package.json": '{"devDependencies": {"vitest": "1"}}',
            "runtime/deno/deno.json": "{}",
            "runtime/deno/a.test.ts": "import { assertEquals } from '@std/assert'\nDeno.test('adds', () => {})\n",
        },
        [("runtime/deno/a.test.ts", "adds", False)],
        ["runtime/deno/a.test.ts --filter 'adds'"],
        "(cd runtime/deno && deno test --allow-all a.test.ts --filter '/^(adds)$/')",
    ),
    "bun": (
        {"package.json": '{"devDependencies": {"vitest": "1"}}', "a.test.ts": "import { test } from 'bun:test'\n"},
        [("a.test.ts", "adds", False)],
        ["a.test.ts -t 'adds'"],
        "bun test ./a.test.ts -t '(adds)'",
    ),
    "go": (
        {"go.mod": "module m"},
        [("a/x_test.go", "TestX", False), ("y_test.go", "TestY", False)],
        ["./a -run ^TestX$", ". -run ^TestY$"],
        "go test ./a . -run '^(TestX|TestY)$'",
    ),
    "go with tags": (
        {
            "go.mod": "module m",
            "a/x_test.go": "// Of the shop.\n\n//go:build integration && linux && !race\n\npackage a\n\n//go:build never\n",
            "a/y_test.go": "//go:build unix || e2e\n\npackage a\n",
        },
        [("a/x_test.go", "TestX", False), ("a/y_test.go", "TestY", False)],
        ["./a -tags integration -run ^TestX$", "./a -run ^TestY$"],
        "go test -tags integration ./a -run '^(TestX)$' && go test ./a -run '^(TestY)$'",
    ),
    "go suites": (
        {
            "go.mod": "module m",
            "a/cart_test.go": "package a\n\nfunc TestCarts(t *testing.T) {\n\tsuite.Run(t, new(CartSuite))\n}\n\ntype CartSuite struct{}\n",
            "a/till_test.go": "package a\n\ntype TestTill struct{}\n",
            "a/all_test.go": "package a\n\nfunc TestTills(t *testing.T) {\n\tsuite.Run(t, &TestTill{})\n}\n\nfunc TestX(t *testing.T) {}\n",
        },
        [
            ("a/cart_test.go", "CartSuite.TestAdd", True),
            ("a/cart_test.go", "CartSuite.Test_Sum", True),
            ("a/till_test.go", "TestTill.TestPay", True),
            ("a/all_test.go", "TestX", False),
        ],
        ["./a -run ^TestCarts$/^TestAdd$", "./a -run ^TestCarts$/^Test_Sum$", "./a -run ^TestTills$/^TestPay$", "./a -run ^TestX$"],
        "go test ./a -run '^TestCarts$/^(TestAdd|Test_Sum)$' && go test ./a -run '^TestTills$/^(TestPay)$' && go test ./a -run '^(TestX)$'",
    ),
    "cargo": (
        {"Cargo.toml": '[package]\nname = "b"\n'},
        [("tests/chain.rs", "it_works", False), ("src/buf/mod.rs", "tests.inner", False)],
        ["--test chain it_works", "--lib buf::tests::inner"],
        "cargo test --test chain -- --exact it_works && cargo test --lib -- --exact buf::tests::inner",
    ),
    "cargo modules": (
        {"Cargo.toml": '[package]\nname = "b"\n'},
        [("src/buf/mod.rs", "", False), ("src/cart.rs", "tests.adds", False), ("src/lib.rs", "", False), ("tests/chain.rs", "", False)],
        ["--lib buf::", "--lib cart::tests::adds", "--lib", "--test chain"],
        "cargo test --lib && cargo test --test chain",
    ),
    "cargo with programs": (
        {
            "Cargo.toml": '[package]\nname = "b"\n',
            "src/lib.rs": "pub mod buf;\n",
            "src/main.rs": "mod till;\nfn main() {}\n",
        },
        [
            ("src/bin/shop.rs", "pays", False),
            ("src/bin/bill/main.rs", "tests.sums", False),
            ("src/till.rs", "tests.opens", False),
            ("src/buf.rs", "tests.inner", False),
        ],
        ["--bin shop pays", "--bin bill tests::sums", "--bins till::tests::opens", "--lib buf::tests::inner"],
        "cargo test --bin shop -- --exact pays && cargo test --bin bill -- --exact tests::sums && "
        "cargo test --bins -- --exact till::tests::opens && cargo test --lib -- --exact buf::tests::inner",
    ),
    "cargo with one integration test": (
        {
            "Cargo.toml": '[package]\nname = "b"\nautotests = false\n\n[[test]]\nname = "integration"\npath = "tests/lib.rs"\n',
            "tests/lib.rs": "mod alias;\nmod test;\n",
        },
        [("tests/alias.rs", "opens", False), ("tests/lib.rs", "sums", False)],
        ["--test integration alias::opens", "--test integration sums"],
        "cargo test --test integration -- --exact alias::opens sums",
    ),
    "cargo with an invalid manifest": (
        {"Cargo.toml": 'test = 1\n[package]\nname = "b"\n', "tests/cart.rs": ""},
        [("tests/cart.rs", "adds", False)],
        ["--test cart adds"],
        "cargo test --test cart -- --exact adds",
    ),
    "cargo with a number of 5,000 digits": (
        {"Cargo.toml": f'size = {"7" * 5000}\n[package]\nname = "b"\n', "tests/cart.rs": ""},
        [("tests/cart.rs", "adds", False)],
        ["--test cart adds"],
        "cargo test --test cart -- --exact adds",
    ),
    "cargo with shared modules": (
        {
            "Cargo.toml": '[package]\nname = "b"\n',
            "tests/cart.rs": "fn other() {}\n",
            "tests/till.rs": "mod common;\n",
        },
        [("tests/common/mod.rs", "opens", False), ("tests/cart.rs", "adds", False)],
        ["--test till common::opens", "--test cart adds"],
        "cargo test --test till -- --exact common::opens && cargo test --test cart -- --exact adds",
    ),
    "gradle": (
        {"build.gradle": "", "core/build.gradle.kts": ""},
        [("core/src/test/kotlin/org/x/ATest.kt", "ATest.works", True)],
        ["org.x.ATest.works"],
        "./gradlew :core:test --tests org.x.ATest.works",
    ),
    "maven": (
        {"pom.xml": "<project/>"},
        [("src/test/java/org/x/ATest.java", "ATest.works", True), ("src/test/java/org/x/ATest.java", "ATest.Inner.deep", True)],
        ["org.x.ATest#works", "org.x.ATest$Inner#deep"],
        "mvn test '-Dtest=org.x.ATest#works,org.x.ATest$Inner#deep'",
    ),
    "rspec": ({".rspec": ""}, [("spec/a_spec.rb", "a", False)], ["spec/a_spec.rb:7"], "bundle exec rspec spec/a_spec.rb:7"),
    "minitest": (
        {},
        [("test/test_a.rb", "CaseA.test_b", True)],
        ["test/test_a.rb -n test_b"],
        "ruby -Ilib -Itest test/test_a.rb -n '/^(test_b)$/'",
    ),
    "phpunit": (
        {"phpunit.xml.dist": ""},
        [("tests/ATest.php", "ATest.testB", True)],
        ["ATest::testB"],
        "vendor/bin/phpunit --filter '/\\b(ATest::testB)\\b/'",
    ),
}


def selected(root: Path, files: dict[str, str], tests: list[tuple[str, str, bool]]):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    project = Project(root)
    names = {}
    rows = []
    for path, qualname, is_method in tests:
        name = named(project, Place(path, qualname, 7, is_method))
        names[name.id] = name
        rows.append(TestToRun(name.runner, name.id, path, qualname, 7, 1.0, "reaches"))
    return rows, commands(rows, names)


@pytest.mark.parametrize("runner", CASES)
def test_each_runner_has_its_own_ids_and_one_command(tmp_path: Path, runner: str) -> None:
    files, tests, ids, command = CASES[runner]
    rows, lines = selected(tmp_path, files, tests)
    assert [(one.runner, one.id) for one in rows] == [(runner.partition(" ")[0], one) for one in ids]
    assert [one.command for one in lines] == [command]


@pytest.mark.parametrize("name", ["CartSuite.SetupTest", "Other.TestNever"])
def test_methods_that_no_suite_of_go_runs_as_tests_have_no_command(tmp_path: Path, name: str) -> None:
    (tmp_path / "go.mod").write_text("module m\n")
    (tmp_path / "cart_test.go").write_text("package m\n\nfunc TestCarts(t *testing.T) {\n\tsuite.Run(t, new(CartSuite))\n}\n")
    assert not named(Project(tmp_path), Place("cart_test.go", name, 1, True)).runner


HONO_LIKE = """export default defineConfig({
  test: {
    coverage: { exclude: [...defaults, 'src'], include: ['x'] },
    projects: ['./runtime/*/vitest.config.ts', {
      test: {
        exclude: [...configDefaults.exclude, '**/sandbox/**', '**/*.case.test.*'],
        include: ['src/**/(*.)+(spec|test).+(ts|tsx|js)'], // the others have other runners
      },
    }],
  },
})
"""


@pytest.mark.parametrize(
    ("path", "runner"),
    [
        ("src/a.test.ts", "vitest"),
        ("src/deep/er/a.spec.tsx", "vitest"),
        ("src/a.case.test.ts", ""),
        ("src/sandbox/a.test.ts", ""),
        ("runtime/bun/a.test.tsx", "bun"),
        ("runtime/node/a.test.ts", "vitest"),
        ("runtime/edge/a.test.ts", ""),
    ],
)
def test_a_test_is_given_to_the_runner_that_the_configuration_gives_it_to(tmp_path: Path, path: str, runner: str) -> None:
    files = {
        "package.json": '{"scripts": {"test:bun": "bun test --jsx x runtime/bun/*"}, "devDependencies": {"vitest": "1"}}',
        "vitest.config.ts": HONO_LIKE,
        "runtime/node/vitest.config.ts": "export default defineProject({ test: { globals: true } })",
        path: "import { it } from 'vitest'\n",
    }
    rows, _ = selected(tmp_path, files, [(path, "adds", False)])
    assert [one.runner for one in rows] == [runner]


def test_the_runner_of_a_file_is_read_once_for_all_its_tests(tmp_path: Path, monkeypatch) -> None:
    asked = []
    monkeypatch.setattr(vitest_config, "runs", lambda config, path, real=vitest_config.runs: asked.append(path) or real(config, path))
    files = {"package.json": '{"devDependencies": {"vitest": "1"}}', "vitest.config.ts": HONO_LIKE, "src/a.test.ts": ""}
    rows, (line,) = selected(tmp_path, files, [("src/a.test.ts", f"adds {n}", False) for n in range(200)])
    assert {one.runner for one in rows} == {"vitest"}
    assert (line.tests, asked) == (200, ["src/a.test.ts"])


def test_a_test_of_deno_with_a_configuration_of_another_name_is_run_with_it(tmp_path: Path) -> None:
    files = {"jsx/deno.react.json": "{}", "jsx/a.test.tsx": "Deno.test('JSX', () => {})\n"}
    _, (line,) = selected(tmp_path, files, [("jsx/a.test.tsx", "JSX", False)])
    assert line.command == "(cd jsx && deno test --allow-all --config deno.react.json a.test.tsx --filter '/^(JSX)$/')"


@pytest.mark.parametrize("manifest", ['"vitest": "1", "@testing-library/jest-dom": "6"', '"jest": "30"'])
@pytest.mark.parametrize("path", ["test/__helpers.tsx", "test/__fixtures__/hooks/basic.trpc.tsx", "test/setup.ts"])
def test_a_file_of_helpers_is_not_a_test_and_has_no_command(tmp_path: Path, manifest: str, path: str) -> None:
    (tmp_path / "package.json").write_text(f'{{"devDependencies": {{{manifest}}}}}')
    assert named(Project(tmp_path), Place(path, "", 1, False)) == NOT_RUN


def test_jest_runs_what_its_own_patterns_may_name(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"devDependencies": {"jest": "30"}, "jest": {"testMatch": ["**/checks/*.js"]}}')
    assert named(Project(tmp_path), Place("checks/sums.js", "", 1, False)).runner == "jest"


def test_a_benchmark_of_go_is_not_a_test(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module m\n")
    assert named(Project(tmp_path), Place("a_test.go", "BenchmarkSum", 1, False)) == NOT_RUN


def test_an_unknown_runner_has_the_path(tmp_path: Path) -> None:
    rows, lines = selected(tmp_path, {}, [("test/a.zig", "adds", False), ("a.test.js", "adds", False)])
    assert [(one.runner, one.id) for one in rows] == [("", "test/a.zig"), ("", "a.test.js")]
    assert lines == []


def test_a_command_that_would_be_too_long_runs_whole_files(tmp_path: Path) -> None:
    rows, (line,) = selected(tmp_path, {"pytest.ini": ""}, [("test_a.py", f"test_{number:0100}", False) for number in range(500)])
    assert line.whole_files
    assert line.command == "pytest test_a.py"
    assert line.tests == len(rows) == 500


def test_a_command_says_that_it_runs_whole_files_when_a_test_has_no_name(tmp_path: Path) -> None:
    files = {"package.json": '{"devDependencies": {"vitest": "1"}}'}
    _, (line,) = selected(tmp_path, files, [("a.test.js", "adds", False), ("b.test.js", "", False)])
    assert line.whole_files
    assert line.command == "npx vitest run a.test.js b.test.js"


def test_a_file_beside_single_tests_of_pytest_does_not_widen_the_command(tmp_path: Path) -> None:
    _, (line,) = selected(tmp_path, {"pytest.ini": ""}, [("test_a.py", "test_x", False), ("test_b.py", "", False)])
    assert line.command == "pytest test_a.py::test_x test_b.py"
    assert not line.whole_files


def test_a_command_comes_with_the_one_that_records_a_run_where_one_was_tried(tmp_path: Path) -> None:
    (tmp_path / "py").mkdir()
    _, (pytest_command,) = selected(tmp_path / "py", {}, [("tests/test_a.py", "test_b", False)])
    assert (pytest_command.runner, pytest_command.recording) == ("pytest", "pytest --graphmem && graphmem index")
    _, (jest,) = selected(tmp_path / "js", {"package.json": '{"devDependencies": {"jest": "1"}}'}, [("a.test.js", "adds", False)])
    assert (jest.runner, jest.recording) == ("jest", "")
    page = (Path(__file__).parents[2] / "docs" / "evidence.md").read_text(encoding="utf-8").replace("\\|", "|")
    for runner, flags in (
        ("go", "-coverpkg=./... -coverprofile=cov/$t.out $p; done; done"),
        ("vitest", "--coverage.reportsDirectory=cov/$t; done"),
    ):
        assert flags in RECORDING[runner]
        assert flags in page


def test_names_of_tests_cannot_add_commands(tmp_path: Path) -> None:
    _, (line,) = selected(tmp_path, {"package.json": '{"devDependencies": {"vitest": "1"}}'}, [("a.test.js", "x'; rm -rf /; '", False)])
    import shlex

    assert shlex.split(line.command)[:4] == ["npx", "vitest", "run", "a.test.js"]
    assert len(shlex.split(line.command)) == 6


@pytest.mark.parametrize(
    ("package", "root", "runner", "folder"),
    [
        ('{"devDependencies": {"jest-diff": "29", "@types/jest": "29"}}', '{"devDependencies": {"vitest": "3"}}', "vitest", ""),
        ('{"scripts": {"test": "CI=1 jest --ci"}}', '{"devDependencies": {"vitest": "3"}}', "jest", "web"),
        ('{"devDependencies": {"ts-jest": "29", "jest-expo": "52"}}', "{}", "jest", "web"),  # no better sign
    ],
)
def test_a_package_that_merely_helps_a_runner_does_not_choose_it(tmp_path: Path, package: str, root: str, runner: str, folder: str) -> None:
    files = {"package.json": root, "web/package.json": package, "web/a.test.ts": "test('adds', () => {})\n"}
    rows, (line,) = selected(tmp_path, files, [("web/a.test.ts", "adds", False)])
    assert [one.runner for one in rows] == [runner]
    assert line.command.startswith(f"cd {folder} " if folder else "npx") or line.command.startswith(f"(cd {folder} ")


@pytest.mark.parametrize(
    ("files", "path", "command"),
    [
        ({"poetry.lock": "", "pytest.ini": ""}, "tests/test_a.py", "poetry run pytest tests/test_a.py::adds"),
        (
            {"server/uv.lock": "", "server/pyproject.toml": "[tool.pytest]"},
            "server/tests/test_a.py",
            "(cd server && uv run pytest tests/test_a.py::adds)",
        ),
        ({"pyproject.toml": "[tool.pdm.scripts]\n[tool.pytest]"}, "tests/test_a.py", "pdm run pytest tests/test_a.py::adds"),
        ({"pyproject.toml": "[[tool.uv.index]]\n[tool.pytest]"}, "tests/test_a.py", "uv run pytest tests/test_a.py::adds"),
        ({"pyproject.toml": "[tool.uv-dynamic-versioning]\n[tool.pytest]"}, "tests/test_a.py", "pytest tests/test_a.py::adds"),
        ({"uv.lock": "", "manage.py": ""}, "shop/tests.py", "uv run python manage.py test shop.tests"),
        ({"package.json": '{"jest": 1}', "pnpm-lock.yaml": ""}, "a.test.ts", "pnpm exec jest a.test.ts -t '(adds)'"),
        ({"package.json": '{"packageManager": "yarn@4", "vitest": 1}'}, "a.test.ts", "yarn vitest run a.test.ts -t '(adds)'"),
        (
            {"package.json": '{"vitest": 1}', "yarn.lock": "", "web/package.json": '{"scripts": {"test": "vitest"}}'},
            "web/a.test.ts",
            "(cd web && yarn vitest run a.test.ts -t '(adds)')",
        ),
        (
            {
                "package.json": '{"packageManager": "pnpm@11"}',
                "api/package.json": '{"scripts": {"test": "NODE_ENV=test deno test -A --no-check"}}',
            },
            "api/src/a.test.ts",
            "(cd api && NODE_ENV=test deno test -A --no-check src/a.test.ts --filter '/^(adds)$/')",
        ),
        (
            {"package.json": '{"vitest": 1}', "packages/b/package.json": '{"scripts": {"test": "bun test"}}'},
            "packages/b/a.test.ts",
            "bun test ./packages/b/a.test.ts -t '(adds)'",
        ),
        (
            {"package.json": '{"directories": {"test": "test"}, "scripts": {"test": "bun test"}}'},
            "test/a.test.ts",
            "bun test ./test/a.test.ts -t '(adds)'",
        ),
    ],
)
def test_a_command_begins_with_the_launcher_of_the_project(tmp_path: Path, files: dict[str, str], path: str, command: str) -> None:
    _, (line,) = selected(tmp_path, files, [(path, "" if path == "shop/tests.py" else "adds", False)])
    assert line.command == command


@pytest.mark.parametrize("manifest", ["", "{", "[" * 100_000, "[]", '{"scripts": "test"}', '{"scripts": {"test": 1}}'])
def test_a_package_without_a_readable_script_has_no_command(tmp_path: Path, manifest: str) -> None:
    assert selected(tmp_path, {"package.json": manifest}, [("a.test.ts", "adds", False)])[1] == []


@pytest.mark.parametrize(
    ("path", "settings", "runs"),
    [
        ("tests/conftest.py", {"pytest.ini": ""}, False),
        ("tests/conftest.py", {"pytest.ini": "[pytest]\npython_files = *.py"}, False),
        ("tests/factories.py", {"pytest.ini": ""}, False),
        ("tests/test_sums.py", {"pytest.ini": ""}, True),
        ("tests/check_sums.py", {"pytest.ini": "[pytest]\npython_files =\n  test_*.py\n  check_*.py"}, True),
        ("tests/factories.py", {"pytest.ini": "[pytest]\npython_files = check_*.py"}, False),
        ("backend/app/tests.py", {"backend/pytest.ini": "[pytest]\npython_files = tests.py", "backend/conftest.py": ""}, True),
        ("backend/app/tests.py", {"pytest.ini": "[pytest]\npython_files = tests.py", "backend/tox.ini": "[pytest]"}, False),
        ("backend/app/tests.py", {"pytest.ini": "[pytest]\npython_files = tests.py", "backend/tox.ini": "[tox]"}, True),
        ("app/tests.py", {"pyproject.toml": "[tool.pytest.ini_options]\npython_files = ['tests.py']"}, True),
        ("app/tests.py", {"pyproject.toml": "[tool.pytest.ini_options]\npython_files = 'app/*.py'"}, True),
        ("app/tests.py", {"pyproject.toml": "not toml", "setup.cfg": "[tool:pytest]\npython_files = tests.py"}, True),
    ],
)
def test_a_python_file_has_a_command_where_the_nearest_settings_collect_it(
    tmp_path: Path, path: str, settings: dict[str, str], runs: bool
) -> None:
    _, lines = selected(tmp_path, settings, [(path, "", False)])
    assert [one.command for one in lines] == [f"pytest {path}"] * runs


def test_a_method_is_run_by_pytest_where_its_nearest_settings_are_those_of_pytest(tmp_path: Path) -> None:
    _, (line,) = selected(tmp_path, {"backend/pytest.ini": "[pytest]"}, [("backend/app/tests.py", "CaseA.test_b", True)])
    assert line.command == "pytest backend/app/tests.py::CaseA::test_b"


def test_all_tests_of_a_module_of_rust_are_selected_by_its_name(tmp_path: Path) -> None:
    files = {"Cargo.toml": '[package]\nname = "b"\n', "tests/it/main.rs": "mod cart;\n"}
    _, (line,) = selected(tmp_path, files, [("src/buf/mod.rs", "", False), ("src/cart.rs", "tests.adds", False)])
    assert line.command == "cargo test --lib -- buf:: cart::tests::adds"
    _, (line,) = selected(tmp_path, files, [("tests/it/cart.rs", "", False), ("tests/it/main.rs", "opens", False)])
    assert line.command == "cargo test --test it -- cart:: opens"


@pytest.mark.parametrize("path", ["benches/speed.rs", "examples/shop.rs"])
def test_cargo_runs_no_benchmarks_and_examples_as_tests(tmp_path: Path, path: str) -> None:
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "b"\n')
    assert named(Project(tmp_path), Place(path, "", 1, False)) == NOT_RUN


def test_a_module_that_no_integration_test_declares_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "b"\n')
    assert named(Project(tmp_path), Place("tests/common/mod.rs", "helps", 1, False)) == NOT_RUN


def test_a_script_cannot_add_commands(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"scripts": {"test": "deno test $(touch x)"}}')
    assert not named(Project(tmp_path), Place("a.test.ts", "adds", 1, False)).runner
    (tmp_path / "package.json").write_text('{"scripts": {"test": "deno test -A"}}')
    assert named(Project(tmp_path), Place("sheet-test.tsx", "", 1, False)) == NOT_RUN
