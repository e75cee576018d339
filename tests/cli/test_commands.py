"""Output of each command on a small real repository, in all formats."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from graphmem.cli.main import ELSEWHERE, _Commands

PRICE = "shop/price.py"


def _json(ran):
    assert ran.code in {0, 1}, ran.said
    assert ran.err == ""
    return json.loads(ran.out)


@pytest.mark.parametrize("inside", [True, False])
def test_the_first_index_advises_commands_that_find_it(graphmem, shop: Path, tmp_path: Path, inside) -> None:
    where, arguments = (shop, []) if inside else (tmp_path, [shop, "--db", tmp_path / "an index"])
    ran = graphmem("index", *arguments, cwd=where)
    advised = [line.strip().split("  ")[0] for line in ran.out.partition("Next\n")[2].splitlines()]
    assert len(advised) == (4 if inside else 3), "agents are installed in the project's own directory"
    for command in advised[:2]:
        assert graphmem(*shlex.split(command)[1:], cwd=where).code in {0, 1}, command
    assert ("--db" in ran.out) != inside


def test_index_says_what_it_read_and_a_second_run_that_nothing_changed(graphmem, shop: Path) -> None:
    ran = graphmem("index", shop)
    assert ran.code == 0, ran.said
    for words in ("Indexed shop", "full, generation 1", "files", "symbols", "edges", "call sites", "Next", "graphmem serve"):
        assert words in ran.out, words
    assert "Edges by rule" not in ran.out
    assert len(ran.out.splitlines()) <= 20
    advised = next(line for line in ran.out.splitlines() if "graphmem impact" in line).split("  ")[1].removeprefix("graphmem ")
    assert graphmem(*shlex.split(advised)).code == 0, "the advised command works where it was advised"
    whole = graphmem("index", shop, "--full", "--verbose").out
    for words in ("Edges by rule", "Seconds", "parse"):
        assert words in whole, words
    assert "Next" not in whole, "not after each run"
    assert "parsing" in ran.err
    again = _json(graphmem("index", shop, "--json"))
    assert (again["mode"], again["changed"]) == ("unchanged", 0)
    assert graphmem("index", shop, "--quiet").said == ""


def test_index_reads_only_what_changed(graphmem, shop: Path) -> None:
    assert graphmem("index", shop, "--quiet").code == 0
    (shop / "shop" / "cart.py").write_text(
        (shop / "shop" / "cart.py").read_text() + "\n\ndef empty(cart: Cart) -> bool:\n    return not cart.lines\n"
    )
    (shop / "README.md").unlink()
    run = _json(graphmem("index", shop, "--json"))
    assert (run["mode"], run["changed"], run["removed"]) == ("incremental", 1, 1)
    assert "shop/cart.py:empty" in graphmem("symbol", "empty", "-q", "-C", shop).out
    whole = _json(graphmem("index", shop, "--full", "--json"))
    assert whole["mode"] == "full"


def test_impact_lists_dependents_by_depth_with_evidence_and_tests_apart(graphmem, indexed: Path) -> None:
    ran = graphmem("impact", "rounded", cwd=indexed)
    assert ran.code == 0, ran.said
    for words in (
        "Impact of rounded",
        "shop/price.py",
        "risk",
        "Will break",
        "Price.total",
        "calls rounded",
        "Tests to run",
        "test_checkout",
        "index: fresh",
    ):
        assert words in ran.out, words
    order = [ran.out.index(one) for one in ("risk", "Will break", "Tests to run", "Likely", "At least this")]
    assert order == sorted(order), "what breaks at once and the tests to run come before what is farther away"
    report = _json(graphmem("impact", "rounded", "--json", cwd=indexed))
    assert [target["qualname"] for target in report["targets"]] == ["rounded"]
    assert "Price.total" in {hit["symbol"]["qualname"] for hit in report["hits"] if hit["depth"] == 1}
    assert {hit["symbol"]["path"] for hit in report["tests"]} == {"tests/test_cart.py"}
    bare = graphmem("impact", "rounded", "--quiet", cwd=indexed)
    assert "shop/price.py:Price.total" in bare.out.splitlines()
    assert bare.err == ""


def test_impact_says_that_others_may_call_what_is_there_for_others(graphmem, indexed: Path) -> None:
    others = "code outside the project may call "
    assert others + "Cart.__init__" in graphmem("impact", "Cart.__init__", cwd=indexed).out
    assert others not in graphmem("impact", "rounded", cwd=indexed).out
    assert others not in graphmem("impact", "Cart.__init__", "--direction", "dependencies", cwd=indexed).out


def test_impact_from_a_subdirectory_asks_the_same_index(graphmem, indexed: Path) -> None:
    assert graphmem("impact", "rounded", "-q", cwd=indexed / "shop").out == graphmem("impact", "rounded", "-q", cwd=indexed).out


def test_impact_the_other_way_lists_dependencies(graphmem, indexed: Path) -> None:
    ran = graphmem("impact", "checkout", "--direction", "dependencies", cwd=indexed)
    assert ran.code == 0, ran.said
    assert "What it depends on" in ran.out
    assert "Cart.total" in ran.out


def test_an_ambiguous_name_lists_what_to_type_and_that_works(graphmem, indexed: Path) -> None:
    ran = graphmem("impact", "total", cwd=indexed)
    assert ran.code == 1
    refs = [line.split()[0] for line in ran.err.splitlines() if line.startswith("  ")]
    assert {"shop/cart.py:Cart.total", "shop/price.py:Price.total"} <= set(refs)
    for ref in refs:
        assert graphmem("impact", ref, "-q", cwd=indexed).code == 0
    error = _json(graphmem("impact", "total", "--json", cwd=indexed))["error"]
    assert error["code"] == "AMBIGUOUS"
    assert set(refs) == {candidate["ref"] for candidate in error["candidates"]}


def test_an_unknown_name_suggests_a_near_one(graphmem, indexed: Path) -> None:
    ran = graphmem("impact", "chekout", cwd=indexed)
    assert ran.code == 1
    assert "shop/cart.py:checkout" in ran.err


def test_a_gate_fails_at_its_level_and_passes_below(graphmem, indexed: Path) -> None:
    level = _json(graphmem("impact", "rounded", "--json", cwd=indexed))["risk"]["level"]
    order = ["low", "medium", "high", "critical"]
    assert graphmem("impact", "rounded", "--fail-on", level, cwd=indexed).code == 1
    for above in order[order.index(level) + 1 :]:
        assert graphmem("impact", "rounded", "--fail-on", above, cwd=indexed).code == 0


def test_the_impact_of_the_working_tree_of_a_revision_and_of_a_diff_agree(graphmem, shop: Path) -> None:
    assert graphmem("index", shop, "-q").code == 0
    price = shop / PRICE
    clean = graphmem("impact", "--diff", "--fail-on", "low", cwd=shop)
    assert clean.code == 0, clean.said
    price.write_text(price.read_text().replace("round(value, 2)", "round(value, 3)"))
    tree = graphmem("impact", "--diff", cwd=shop)
    assert tree.code == 0, tree.said
    for words in ("working tree since HEAD", "1 changed symbol", "body", "rounded", "Price.total", "test_checkout"):
        assert words in tree.out, words
    import subprocess

    text = subprocess.run(["git", "diff"], cwd=shop, capture_output=True, text=True, check=True).stdout
    bare = [
        graphmem("impact", "--diff", "-q", cwd=shop).out,
        graphmem("impact", "--diff", "HEAD", "-q", cwd=shop).out,
        graphmem("impact", "--diff", "-", "-q", cwd=shop, stdin=text).out,
    ]
    assert bare[0]
    assert len(set(bare)) == 1


def test_a_diff_that_is_none_and_a_revision_nobody_knows_are_refused(graphmem, indexed: Path) -> None:
    for args, stdin in ((["--diff", "-"], "not a diff\n"), (["--diff", "no-such-branch"], None), (["--diff", "a", "b"], None)):
        ran = graphmem("impact", *args, cwd=indexed, stdin=stdin)
        assert ran.code in {1, 2}
        assert ran.err.startswith("graphmem: ")
        assert "Traceback" not in ran.said


def test_search_says_where_what_and_why(graphmem, indexed: Path) -> None:
    ran = graphmem("search", "checkout", cwd=indexed)
    assert ran.code == 0, ran.said
    assert "shop/cart.py" in ran.out
    assert "function, lines " in ran.out
    assert "answered by" in graphmem("search", "checkout", "--explain", cwd=indexed).out
    answer = _json(graphmem("search", "add", "prices", "up", "--json", "-n", "3", "--explain", cwd=indexed))
    assert answer["query"] == "add prices up"
    assert answer["hits"]
    assert all(hit["parts"] for hit in answer["hits"])
    assert "dense" in answer["missing"]
    only = _json(graphmem("search", "price", "--within", "shop/price.py", "--json", cwd=indexed))
    assert {hit["path"] for hit in only["hits"]} == {PRICE}


def test_symbol_shows_what_stands_around_it_and_its_text(graphmem, indexed: Path) -> None:
    ran = graphmem("symbol", "Price.total", "--source", cwd=indexed)
    assert ran.code == 0, ran.said
    for words in ("Price.total", "shop/price.py:", "Called by", "Cart.total", "Calls", "rounded", "return rounded(self.value * count)"):
        assert words in ran.out, words
    detail = _json(graphmem("symbol", "Price", "--json", cwd=indexed))
    assert {member["name"] for member in detail["members"]} == {"__init__", "total"}


def test_symbol_find_lists_names_by_their_parts(graphmem, indexed: Path) -> None:
    found = _json(graphmem("symbol", "--find", "total", "--json", cwd=indexed))
    assert found["total"] == len(found["symbols"]) == 2
    assert "shop/cart.py:Cart.total" in graphmem("symbol", "--find", "total", cwd=indexed).out


def test_path_shows_each_step_and_says_when_there_is_none(graphmem, indexed: Path) -> None:
    ran = graphmem("path", "checkout", "rounded", cwd=indexed)
    assert ran.code == 0, ran.said
    for words in ("checkout", "calls", "Cart.total", "Price.total", "rounded"):
        assert words in ran.out
    none = graphmem("path", "rounded", "checkout", cwd=indexed)
    assert none.code == 1
    assert "No dependency path" in none.out


def test_export_is_one_object_a_line_in_the_promised_form(graphmem, indexed: Path, tmp_path: Path) -> None:
    db = indexed / ".graphmem"
    ran = graphmem("export", "--db", db, "--format", "jsonl", cwd=tmp_path)
    assert ran.code == 0, ran.said
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert {"File", "Symbol", "CALLS"} <= {row["kind"] for row in rows}
    (call,) = [row for row in rows if row["kind"] == "CALLS" and row["src"]["qualname"] == "checkout"]
    assert call["src"]["path"] == call["dst"]["path"] == "shop/cart.py"
    assert call["dst"]["qualname"] == "Cart.total"
    assert isinstance(call["src"]["line"], int)
    assert call["line"] == 16
    assert 0 < call["confidence"] <= 1
    assert call["source"] == "ast"
    assert call["rule"]
    to = tmp_path / "graph.jsonl"
    assert graphmem("export", "--db", db, "-o", to, cwd=tmp_path).code == 0
    assert to.read_text() == ran.out
    assert graphmem("export", "--db", db, cwd=tmp_path).out == ran.out


def test_an_index_elsewhere_is_made_and_asked_by_its_directory(graphmem, shop: Path, tmp_path: Path) -> None:
    db = tmp_path / "elsewhere" / "db"
    assert graphmem("index", shop, "--db", db, "-q").code == 0
    assert not (shop / ".graphmem").exists()
    assert "shop/price.py:Price.total" in graphmem("impact", "rounded", "--db", db, "-q", cwd=tmp_path).out
    assert _json(graphmem("index", "--db", db, "--json", cwd=tmp_path))["mode"] == "unchanged"


@pytest.mark.parametrize("command", ["index", "rebuild"])
def test_an_index_elsewhere_with_memories_alone_is_made_of_the_project_in_which_it_runs(graphmem, shop: Path, tmp_path, command):
    db = tmp_path / "elsewhere"
    assert graphmem("remember", "Prices are rounded once, at the end.", "--db", db, "-q", cwd=shop).code == 0
    ran = graphmem(command, "--db", db, "-q", cwd=shop)
    assert ran.code == 0, ran.said
    assert "shop/price.py:Price.total" in graphmem("impact", "rounded", "--db", db, "-q", cwd=tmp_path).out


def test_an_index_at_home_is_found_again_without_saying_so(graphmem, shop: Path) -> None:
    assert graphmem("index", shop, "--home", "-q").code == 0
    assert not (shop / ".graphmem").exists()
    assert graphmem("impact", "rounded", "-q", cwd=shop).code == 0


def test_the_index_in_a_project_is_private_and_invisible_to_git(graphmem, shop: Path) -> None:
    import subprocess

    assert graphmem("index", shop, "-q").code == 0
    assert subprocess.run(["git", "status", "--porcelain"], cwd=shop, capture_output=True, text=True, check=True).stdout == ""


def test_doctor_does_not_call_all_well_what_was_read_in_part(graphmem, tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"m{number}.py").write_text("def f(): ...\n")
    (tmp_path / "broken.py").write_text("def g(): ...\n)) = = ((\n")
    assert graphmem("index", ".", cwd=tmp_path).code == 0
    ran = graphmem("doctor", cwd=tmp_path)
    assert "1 of 21 could not be read in full: broken.py" in ran.out
    assert "all is well" not in ran.out
    assert "5% of the files were only partly parsed" in ran.out
    assert ran.code == 0


def test_doctor_names_what_is_not_in_the_graph_and_what_to_do(graphmem, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("def f(): ...\n")
    (tmp_path / "app.ex").write_text("defmodule App do\nend\n")
    (tmp_path / "notes.md").write_text("# Notes\n")
    (tmp_path / "big.json").write_text("[" + "1,\n" * 400_000 + "1]")
    assert graphmem("index", ".", cwd=tmp_path).code == 0
    ran = graphmem("doctor", cwd=tmp_path)
    assert "no grammar for Elixir 1, whose names are not in the graph" in ran.out
    assert "too_large 1 (over the size limit; the setting `max_file_kb` raises the limit)" in ran.out
    assert "no problems, but 50% of the code files are in languages without a grammar: only search knows them" in ran.out
    assert "all is well" not in ran.out


def test_doctor_finds_all_well_and_names_the_engine(graphmem, indexed: Path) -> None:
    ran = graphmem("doctor", cwd=indexed)
    assert ran.code == 0, ran.said
    assert "kuzu" in ran.out
    findings = _json(graphmem("doctor", "--json", cwd=indexed))
    assert findings["ok"] is True
    by_name = {one["name"]: one for one in findings["findings"]}
    assert "index" in by_name
    calls = by_name["calls by rule"]["data"]
    assert calls["call_sites"] > 0
    assert {"rule", "edges", "sites"} == set(calls["rules"][0])
    assert by_name["calls not resolved"]["data"]["sites"] == sum(row["sites"] for row in by_name["calls not resolved"]["data"]["reasons"])


@pytest.mark.parametrize("width", ["20", "400"])
def test_lines_are_never_cut_or_folded_for_a_pipe(graphmem, indexed: Path, width: str) -> None:
    wide = graphmem("impact", "rounded", cwd=indexed)
    assert graphmem("impact", "rounded", cwd=indexed, COLUMNS=width).out == wide.out
    assert "…" not in wide.out
    assert "\x1b" not in wide.out


@pytest.mark.parametrize(("word", "meant"), [("callers", "symbol"), ("init", "index"), ("ui", "serve"), ("blame", "reviewers")])
def test_a_word_of_another_tool_names_the_command_that_does_it(graphmem, word, meant) -> None:
    ran = graphmem(word, "x")
    assert ran.code == 2
    assert f"No command is named '{word}'; `graphmem {meant}` does the same." in " ".join(ran.err.split())


def test_words_of_other_tools_are_not_commands_but_name_commands() -> None:
    commands = set(_Commands())
    for name, words in ELSEWHERE.items():
        assert name in commands
        assert not commands & set(words.split())
