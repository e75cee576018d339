"""The command line's frame: fast help, exit codes, one sentence for each refusal."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from graphmem import errors
from graphmem.cli.failures import exit_code
from graphmem.errors import GraphMemError

HEAVY = [
    "kuzu",
    "ladybug",
    "torch",
    "numpy",
    "pyarrow",
    "starlette",
    "strawberry",
    "uvicorn",
    "tree_sitter",
    "sentence_transformers",
    "networkx",
]


@pytest.mark.parametrize(
    "code", ["import graphmem", "import graphmem.cli.main", "import graphmem.client.connecting", "import graphmem.settings"]
)
def test_importing_loads_nothing_heavy(code: str) -> None:
    asked = f"import sys; {code}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_names_every_command_and_loads_nothing_heavy() -> None:
    asked = (
        "import sys\nsys.argv = ['graphmem', '--help']\nfrom graphmem.cli.main import run\n"
        f"try:\n    run()\nexcept SystemExit as end:\n    print(end.code, [name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] in {"0 []", "None []"}
    for command in ("serve", "index", "impact", "search", "symbol", "path", "export", "doctor", "config", "version"):
        assert f" {command} " in done.stdout


UNUSED = [
    "asyncio",
    "graphmem.explorer.around",
    "graphmem.explorer.atlas",
    "graphmem.parsing.contracts.ends",
    "graphmem.project.code.diffs",
    "graphmem.project.explaining.reasons",
    "graphmem.project.explaining.suited_commands",
    "http.client",
    "pathspec",
    "pyarrow.compute",
    "ssl",
    "tree_sitter",
    "urllib.request",
    "wcmatch",
    "xml",
]
"""What a question about an index does not need: its import would be a fifth of the processor time of the command."""


@pytest.mark.parametrize("command", [["impact", "rounded"], ["search", "total"], ["symbol", "Cart"]], ids=lambda words: words[0])
def test_a_question_imports_only_what_it_needs(command: list[str], indexed: Path, environ: dict[str, str]) -> None:
    asked = (
        f"import sys\nsys.argv = ['graphmem', *{command!r}, '--quiet']\nfrom graphmem.__main__ import run\n"
        f"try:\n    run()\nexcept SystemExit as end:\n    print(end.code, [name for name in {UNUSED!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", asked], cwd=indexed, env=environ, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] in {"0 []", "None []"}, done.stdout


def test_every_error_has_an_exit_code_and_only_bad_usage_is_two() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, GraphMemError)]
    codes = {kind.__name__: exit_code(kind("a sentence")) for kind in kinds}
    assert set(codes.values()) == {1, 2, 3, 130}
    assert codes["BadInputError"] == codes["SettingsError"] == codes["RepositoryError"] == 2
    assert codes["AmbiguousSymbolError"] == codes["SymbolNotFoundError"] == codes["StoreBusyError"] == codes["DiskFullError"] == 1
    assert codes["IndexCancelledError"] == 130


def test_bad_usage_is_two_and_names_what_was_meant(graphmem, tmp_path: Path) -> None:
    for args in (["impct"], ["impact", "--dept", "3"], ["impact", "x", "--max-depth", "0"], ["impact"], ["search"]):
        ran = graphmem(*args, cwd=tmp_path)
        assert ran.code == 2, ran.said
        assert "Traceback" not in ran.said
    assert "impact" in graphmem("impct", cwd=tmp_path).err


def test_an_unknown_setting_in_the_environment_is_refused_with_the_nearest(graphmem, tmp_path: Path) -> None:
    ran = graphmem("config", cwd=tmp_path, GRAPHMEM_PROT="1")
    assert ran.code == 2
    assert "GRAPHMEM_PORT" in ran.err


def test_config_says_where_each_value_came_from(graphmem, tmp_path: Path) -> None:
    (tmp_path / "graphmem.toml").write_text("max_file_kb = 2048\n")
    ran = graphmem("config", "--json", "-C", tmp_path, GRAPHMEM_PORT="9000", GRAPHMEM_TOKEN="hunter2")
    settings = {row["key"]: row for row in json.loads(ran.out)["settings"]}
    assert (settings["max_file_kb"]["value"], settings["max_file_kb"]["origin"]) == (2048, "graphmem.toml")
    assert (settings["port"]["value"], settings["port"]["origin"]) == (9000, "GRAPHMEM_PORT")
    assert settings["token"]["origin"] == "GRAPHMEM_TOKEN"
    assert "hunter2" not in ran.said
    plain = graphmem("config", "-C", tmp_path, GRAPHMEM_TOKEN="hunter2")
    assert "2048" in plain.out
    assert "hunter2" not in plain.said


def test_version_is_the_packages(graphmem, tmp_path: Path) -> None:
    import graphmem as package

    assert graphmem("version", cwd=tmp_path).out.split()[:2] == ["graphmem", package.__version__]
    assert graphmem("--version", cwd=tmp_path).out.strip() == f"graphmem {package.__version__}"
    assert json.loads(graphmem("version", "--json", cwd=tmp_path).out)["graphmem"] == package.__version__


def test_asking_where_nothing_is_indexed_says_how_to_index(graphmem, tmp_path: Path) -> None:
    for args in (["impact", "x"], ["search", "x"], ["symbol", "x"], ["path", "x", "y"], ["export"]):
        ran = graphmem(*args, cwd=tmp_path)
        assert ran.code == 1, ran.said
        assert "graphmem index" in ran.err
        assert "Traceback" not in ran.said
    assert not (tmp_path / ".graphmem").exists()


def test_a_refusal_is_json_when_json_was_asked_for(graphmem, tmp_path: Path) -> None:
    ran = graphmem("impact", "x", "--json", cwd=tmp_path)
    assert ran.code == 1
    assert json.loads(ran.out)["error"]["code"] == "NOT_FOUND"
    assert ran.err == ""


@pytest.mark.parametrize(
    ("args", "argument", "said"),
    [
        (["recall", "x", "--nope", "--json"], "--nope", "No such option"),
        (["remember", "--json"], "text", "Missing argument"),
        (["memory", "list", "--limit", "many", "--json"], "limit", "Invalid value"),
        (["memory", "verify", "--json"], "id", "Missing argument"),
    ],
)
def test_an_argument_that_cannot_be_is_told_as_json_when_json_was_asked_for(graphmem, tmp_path: Path, args, argument, said) -> None:
    ran = graphmem(*args, cwd=tmp_path)
    assert ran.code == 2
    error = json.loads(ran.out)["error"]
    assert (error["code"], error["argument"]) == ("BAD_INPUT", argument)
    assert said in error["message"]
    assert ran.err == ""


def test_an_index_is_not_put_into_a_directory_of_something_else(graphmem, tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("x = 1\n")
    ran = graphmem("index", tmp_path, "--db", tmp_path)
    assert ran.code == 2
    assert "contains other files" in ran.err
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["code.py"]


def test_output_that_is_no_longer_read_ends_the_command_quietly(graphmem, tmp_path: Path, environ) -> None:
    command = f"{sys.executable} -m graphmem config | true"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert "Broken" not in done.stderr


def test_a_fault_of_graphmem_is_one_sentence_and_exit_code_three(tmp_path: Path, environ) -> None:
    code = (
        "import graphmem.cli.commands.manage as m, graphmem.settings as s\n"
        "def broken(*a, **k): raise ZeroDivisionError('oh')\n"
        "s.known_settings = broken\nimport sys; sys.argv = ['graphmem', 'config']\nfrom graphmem.cli.main import run\nrun()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert "ZeroDivisionError" in done.stderr
    shown = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**environ, "GRAPHMEM_LOG_LEVEL": "debug"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" in shown.stderr
