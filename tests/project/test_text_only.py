"""Code in a language without a grammar is searched as text, and each answer about it says so."""

from __future__ import annotations

import pytest

from graphmem.errors import SymbolNotFoundError
from graphmem.parsing.language import languages
from graphmem.project.graphmem import GraphMem
from graphmem.runtime.data.text_only import text_only_language, text_only_note
from graphmem.settings import Settings
from made_once import empty_index

CART = "defmodule Shop.Cart do\n  def total(items), do: Enum.count(items)\n\n  def checkout(items) do\n    total(items)\n  end\nend\n"
FILES = {
    "lib/cart.ex": CART,
    "lib/till.exs": "Shop.Cart.total([])\n",
    "bin/run.py": "def main():\n    return 1\n",
    "notes.txt": "total\n",
    "mix.lock": "%{}\n",
    "logo.png": "PNG",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    root = tmp_path_factory.mktemp("project") / "shop"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    with GraphMem.open(empty_index(tmp_path_factory.mktemp("index") / "index"), repo=root, settings=Settings(embedder="none")) as memory:
        yield memory, memory.index(root)


def test_the_index_run_counts_the_files_of_each_such_language(shop):
    notes = [(one.severity, one.message) for one in shop[1].diagnostics if one.code == "text_only"]
    assert notes == [("note", "2 Elixir files are searched as text only; their names are not in the graph")]


def test_the_project_and_its_map_name_such_languages(shop):
    assert shop[0].project().text_only == {"Elixir": 2}
    assert "2 Elixir files are searched as text only; their names are not in the graph" in shop[0].modules().notes


def test_doctor_counts_text_files_by_kind_and_skipped_files_by_reason_with_a_remedy(shop):
    report = shop[0].doctor()
    assert report["text_files"] == {".ex": 1, ".exs": 1, ".txt": 1}
    skipped = {one["reason"]: (one["files"], one["meaning"], one["remedy"]) for one in report["skipped"]}
    assert skipped["binary"] == (1, "not text", "")
    assert skipped["generated"][0] == 1
    assert "include_vendored" in skipped["generated"][2]


def test_a_skipped_file_is_not_only_called_new(shop):
    for ask in (shop[0].impact, shop[0].occurrences):
        with pytest.raises(SymbolNotFoundError) as caught:
            ask("mix.lock")
        assert "`graphmem doctor` tells which kinds of files are skipped, and why" in str(caught.value)


def test_one_sentence_names_the_languages_with_the_most_files():
    assert text_only_note({"Dart": 1}) == "1 Dart file is searched as text only; its names are not in the graph"
    many = text_only_note({"Nix": 1, "Dart": 616, "SQL": 2, "Astro": 203, "Fish": 1, "CMake": 3})
    assert many == "616 Dart, 203 Astro, 3 CMake, 2 SQL and 2 other files are searched as text only; their names are not in the graph"


@pytest.mark.parametrize(("path", "language"), [("main.tf", "Terraform"), ("models/orders.sql", "SQL"), ("app/build.gradle", "Groovy")])
def test_languages_of_infrastructure_and_data_are_named(path, language):
    assert text_only_language(path) == language


def test_a_name_in_such_a_file_is_not_said_to_be_nowhere(shop):
    with pytest.raises(SymbolNotFoundError) as caught:
        shop[0].impact("Shop.Cart.total")
    assert "it occurs in lib/cart.ex, lib/till.exs, but Elixir files are searched as text only" in str(caught.value)
    with pytest.raises(SymbolNotFoundError) as nowhere:
        shop[0].impact("Shop.Cart.nothing")
    assert "Elixir" not in str(nowhere.value)


def test_impact_of_such_a_file_says_why_nothing_is_known(shop):
    risk = shop[0].impact("lib/cart.ex").risk
    assert (risk.level, risk.reasons[0]) == ("unknown", "Elixir files are searched as text only, so their dependents are not known")
    assert "text only" not in shop[0].impact("notes.txt").risk.reasons[0]


def test_a_position_in_such_a_file_says_why_it_has_no_symbol(shop):
    reason = "Elixir files are searched as text only, so their names are not in the graph"
    assert shop[0].symbol_at("lib/cart.ex", 5, 5).reason == reason
    assert shop[0].occurrences("lib/cart.ex").reason == reason
    assert "text only" not in shop[0].occurrences("notes.txt").reason


def test_no_language_with_a_grammar_is_in_the_table():
    suffixes = [suffix for spec in languages().values() for suffix in spec.extensions]
    assert suffixes
    assert [suffix for suffix in suffixes if text_only_language(f"a.{suffix.lstrip('.')}")] == []
