"""Commands follow from declarations: options stand in one place, help is one line each, earlier names warn."""

from __future__ import annotations

import inspect
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main

from graphmem.cli.command import COMMON, MARK, Variant
from graphmem.cli.main import COMMANDS, FAMILIES, ORDER, PANELS, app
from graphmem.operations.registry import registry

ROOT = Path(__file__).resolve().parents[2]
WIDTH = 62
"""Columns that a terminal of 80 leaves for what a command does."""
DERIVED = {one.hints.command: one for one in registry().values() if one.hints.command}


@cache
def every_command() -> dict[str, Any]:
    outer = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    return {
        f"{name} {inner}".strip(): command
        for name, around in outer.items()
        for inner, command in {"": around, **getattr(around, "commands", {})}.items()
    }


def test_a_command_is_written_by_hand_or_derived_and_never_both() -> None:
    assert not COMMANDS.keys() & DERIVED.keys()
    assert every_command().keys() == COMMANDS.keys() | DERIVED.keys() | FAMILIES.keys()


def test_every_command_stands_in_one_panel() -> None:
    listed = " ".join(PANELS.values()).split()
    assert sorted(listed) == sorted(name for name in every_command() if " " not in name)


@pytest.mark.parametrize("family", [name for name in ORDER if name])
def test_the_order_of_a_family_names_its_commands(family: str) -> None:
    assert sorted(ORDER[family].split()) == sorted(name.split()[1] for name in every_command() if name.startswith(f"{family} "))


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() | DERIVED.keys() | FAMILIES.keys()))
def test_help_lists_a_command_in_one_line(name: str) -> None:
    command = every_command()[name]
    said = command.short_help or command.help
    assert said
    assert len(said) <= WIDTH
    assert "\n" not in said


def test_common_options_are_declared_once() -> None:
    for path in (ROOT / "graphmem" / "cli" / "commands").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        for name in ("options.Json", "options.Quiet", "options.Db", "options.Home", "with command_context("):
            assert name not in text, f"{path.name} declares {name} by itself"


@pytest.mark.parametrize("name", DERIVED)
def test_a_derived_command_has_every_common_option(name: str) -> None:
    flags = {flag for parameter in every_command()[name].params for flag in parameter.opts}
    assert {"--json", "--quiet", "--db", "--home", "--project", "--server", "--branch"} <= flags
    assert len(COMMON) == 8


def test_a_hand_written_command_takes_the_open_door_first() -> None:
    from importlib import import_module

    for target in set(COMMANDS.values()) - {"install:hook"}:
        module, _, attribute = target.partition(":")
        function = getattr(import_module(f"graphmem.cli.commands.{module}"), attribute)
        if isinstance(function, Variant):
            continue
        assert hasattr(function, MARK), f"{target} is not declared"
        assert next(iter(inspect.signature(function).parameters)) == "here"


@pytest.mark.parametrize("flag", ["--k", "-k"])
def test_the_earlier_name_of_limit_works_and_warns(graphmem, indexed: Path, flag: str) -> None:
    now = graphmem("search", "price", "--limit", "1", "--json", cwd=indexed)
    before = graphmem("search", "price", flag, "1", "--json", cwd=indexed)
    assert "use --limit" in before.err
    assert "--limit" not in now.err
    assert [hit["node"] for hit in json.loads(before.out)["hits"]] == [hit["node"] for hit in json.loads(now.out)["hits"]]
    assert len(json.loads(before.out)["hits"]) == 1


def test_fail_ends_with_one_only_when_it_is_asked_for(graphmem, indexed: Path) -> None:
    found = graphmem("dead-code", "--min-confidence", "0", "--json", cwd=indexed)
    total = json.loads(found.out)["total"]
    assert found.code == 0
    assert graphmem("dead-code", "--min-confidence", "0", "--fail", cwd=indexed).code == (1 if total else 0)


def test_a_closed_set_of_words_is_checked_before_anything_is_opened(graphmem, tmp_path: Path) -> None:
    ran = graphmem("hotspots", "--level", "towns", cwd=tmp_path)
    assert ran.code == 2
    assert "towns" in ran.err


@pytest.mark.parametrize("command", [["people"], ["boundary", "shop"], ["reviewers", "shop/cart.py"]])
def test_answers_about_people_and_modules_are_words_and_not_objects(graphmem, indexed: Path, command: list[str]) -> None:
    ran = graphmem(*command, cwd=indexed)
    assert ran.code == 0, ran.said
    assert ran.out.strip()
    assert "(" not in ran.out.replace("(older ones weigh less)", ""), ran.out
