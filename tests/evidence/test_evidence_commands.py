"""Outside evidence from the command line."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from commands import run_here


@pytest.fixture
def command(shop, tmp_path):
    """`graphmem …` in the project, in this process; (exit code, stdout, stderr)."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHMEM_")}
    environ = {**kept, "XDG_DATA_HOME": str(tmp_path), "GRAPHMEM_EMBEDDER": "none"}
    return lambda *arguments: tuple(run_here(environ, *arguments, cwd=shop))


def test_a_recorded_run_is_found_by_index_told_by_doctor_and_used_by_impact(shop, run_pytest, command):
    assert run_pytest(shop, "--graphmem").code == 0
    code, out, err = command("index", "--json")
    assert code == 0, err
    assert json.loads(out)["edges_by_rule"]["runtime"] > 50
    code, out, _ = command("doctor")
    assert "edges by source" in out
    assert "runtime evidence" in out
    assert "observations are valid" in out
    code, out, _ = command("impact", "hold")
    assert "they ran it" in out
    assert "test_empty" in out
    assert "1 test is left out" in out
    assert "test_paid" in out.partition("left out")[2], "its text leads there, but it pays"
    code, out, _ = command("impact", "hold", "--json")
    (test,) = json.loads(out)["tests"]
    assert test["symbol"]["qualname"] == "test_empty"
    assert test["path"][-1]["source"] == "runtime"


def test_an_edit_of_what_a_test_ran_brings_its_text_back_as_evidence(shop, run_pytest, command):
    run_pytest(shop, "--graphmem")
    path = shop / "shop.py"
    path.write_text(path.read_text(encoding="utf-8").replace("return round(value, 2)", "return round(value, 3)"), encoding="utf-8")
    command("index")
    _, out, _ = command("impact", "hold", "--json")
    report = json.loads(out)
    assert "test_empty" in {test["symbol"]["qualname"] for test in report["tests"]}
    assert not any("test_empty" in example for cause in report["causes"] for example in cause["examples"])


@pytest.mark.parametrize(("option", "name"), [("--runtime", "run.trace"), ("--scip", "index.scip"), ("--coverage", ".coverage")])
def test_a_file_that_is_not_what_the_option_says_is_one_sentence(shop, command, option, name):
    (shop / name).write_bytes(b"something else")
    code, _, err = command("index", option, name)
    assert code == 2
    assert name in err
    assert "Traceback" not in err
    code, _, err = command("index", option, "gone")
    assert code == 2
    assert "gone" in err


def test_help_says_what_can_be_taken_in(command):
    _, out, _ = command("index", "--help")
    for word in ("--scip", "--runtime", "--coverage", "Outside evidence"):
        assert word in out


@pytest.mark.skipif(shutil.which("scip-python") is not None, reason="scip-python is installed here")
def test_auto_names_what_is_missing_and_doctor_what_could_be_run(command):
    code, _, err = command("index", "--scip", "auto")
    assert code == 2
    assert "npm install -g @sourcegraph/scip-python" in err
    assert command("index")[0] == 0
    _, out, _ = command("doctor")
    assert "scip-python can check the calls of" in out
