"""What the README and the pages say about commands is true."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main

from graphmem.cli.main import COMMANDS, FAMILIES, app
from graphmem.operations.registry import registry
from graphmem.settings import ENV_PREFIX, known_settings

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
NAMES = sorted(COMMANDS.keys() | FAMILIES.keys() | {one.hints.command for one in registry().values() if one.hints.command})


@cache
def commands() -> dict[str, Any]:
    """Every command by its name; a command of a family has two words."""
    return {
        f"{name} {inner}".strip(): command
        for name, outer in typer.main.get_command(app).commands.items()  # type: ignore[attr-defined]
        for inner, command in {"": outer, **getattr(outer, "commands", {})}.items()
    }


def options(name: str) -> set[str]:
    return {word for parameter in commands()[name].params for word in (*parameter.opts, *parameter.secondary_opts)} | {"--help", "-h"}


_FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(graphmem [^`]+|make [^`]+)`")
_PLACEHOLDER = re.compile(r"<[^>]*>|\[[^\]]*\]|…|\.\.\.")


def _typed(page: Path) -> Iterator[str]:
    """Every command a page shows, from blocks (with or without a prompt) and from inline code."""
    text = page.read_text(encoding="utf-8")
    for block in _FENCE.findall(text):
        for line in block.splitlines():
            typed = line.strip().removeprefix("$ ")
            for part in re.split(r"\s(?:\||&&|;)\s", typed):
                if re.match(r"(graphmem|make) [a-z-]", part.strip()):
                    yield part.strip()
    for inline in _INLINE.findall(_FENCE.sub("", text)):
        yield from (part.strip() for part in re.split(r"\s\|\s", inline) if part.strip().startswith(("graphmem ", "make ")))


def _words(command: str) -> list[str]:
    return shlex.split(_PLACEHOLDER.sub("X", command.split("  #")[0].split(" # ")[0]).replace("'", "\\'"))


SHOWN = sorted({(page.relative_to(ROOT).as_posix(), typed) for page in PAGES for typed in _typed(page)})


@pytest.mark.parametrize(("page", "typed"), [pair for pair in SHOWN if pair[1].startswith("graphmem ")])
def test_every_command_shown_exists_with_its_options(page: str, typed: str) -> None:
    name, *words = _words(typed)[1:]
    if name.startswith("-"):
        assert name in {"--help", "-h", "--version", "--install-completion", "--show-completion"}
        return
    if words and f"{name} {words[0]}" in commands():
        name, words = f"{name} {words[0]}", words[1:]
    assert name in commands(), f"{page} shows {typed!r}"
    for word in words:
        if word.startswith("-") and word != "-":
            assert word.partition("=")[0] in options(name), f"{page} shows {typed!r}; {name} has no {word}"


@pytest.mark.parametrize(("page", "typed"), [pair for pair in SHOWN if pair[1].startswith("make ")])
def test_every_make_target_shown_exists(page: str, typed: str) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for word in _words(typed)[1:]:
        if re.fullmatch(r"[a-z]+", word):
            assert word in targets, f"{page} shows {typed!r}"


@pytest.mark.parametrize("name", sorted(name for name in NAMES if " " not in name))
def test_every_command_is_in_the_page_of_commands(name: str) -> None:
    assert re.search(rf"graphmem {name}\b", (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8"))


def test_every_command_is_in_the_list_of_names() -> None:
    assert sorted(commands()) == NAMES


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 900


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", _FENCE.sub("", page.read_text(encoding="utf-8"))):
        assert target.startswith(("http://", "https://")) or (page.parent / target).exists(), target


@pytest.mark.parametrize("name", NAMES)
def test_every_command_and_option_says_what_it_does(name: str) -> None:
    command = commands()[name]
    assert command.help
    assert not [parameter.name for parameter in command.params if not parameter.help]


def test_every_variable_the_pages_name_is_a_setting() -> None:
    known = {item.variable for item in known_settings()}
    for page in PAGES:
        named = set(re.findall(rf"\b{ENV_PREFIX}[A-Z_]+[A-Z]\b", page.read_text(encoding="utf-8")))
        assert named <= known, page


def test_the_first_screen_of_the_readme_has_the_two_commands() -> None:
    first = "\n".join((ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:40])
    assert re.search(r"make serve REPO=", first)
    assert "make test" in first
