"""A lost look-up is noticed: the calls of one program, written in ten languages.

`ledger/calls.txt` lists which function calls which. Each file `ledger/LANGUAGE.txt` contains the program in one language. Its first lines
list the calls that graphmem does not find yet (`gap`) and the wrong edges that it makes (`untrue`). Remove such a line when the call is
found or the wrong edge is gone. The program uses names that need look-ups: functions of one name in several classes, base classes,
interfaces, imports with an alias, and objects from a field, a loop, a result or a parameter.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graphmem.parsing.language import languages
from graphmem.resolution.values.symbol import CLASS_KINDS

FOLDER = Path(__file__).parent / "ledger"
SHOWN = 0.3  # least confidence of an edge that impact shows
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.txt") if path.stem != "calls")
WITHOUT_SUBCLASSES = {"go", "rust"}
CONSTRUCTORS = {"initialize", "__construct", "__init__", "constructor"}
KINDS = ("gap", "untrue")
MOST_GAPS = 12  # of 78 calls: Ruby says no type of a parameter

Name = tuple[str, str]
Call = tuple[Name, Name]


def calls(language: str) -> tuple[set[Call], set[Call]]:
    """The calls of the program, and those that count neither way."""
    found, either = set(), set()
    for line in (FOLDER / "calls.txt").read_text(encoding="utf-8").splitlines():
        caller, arrow, called = line.partition(" > ")
        if arrow:
            for one in called.split():
                if not (one.startswith("~") and language in WITHOUT_SUBCLASSES):
                    (either if one.startswith("?") else found).add((_told(caller), _told(one.lstrip("~?"))))
    return found, either


def _told(text: str) -> Name:
    owner, _, name = text.rpartition(".")
    return owner.lower(), _plain(name)


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _name(symbol) -> Name:
    """The class or module of a symbol and its name, as `calls.txt` has them."""
    *owners, last = (part for part in symbol.qualname.replace("::", ".").split(".") if part != "Companion")
    name = _plain(last)
    if symbol.kind in CLASS_KINDS:
        return name, "new"
    if name in ("main", "testrun", "testparse"):
        return "", name
    owner = owners[-1].lower() if owners and owners[-1].lower() != "ledger" else Path(symbol.path).stem.lower()
    if last in CONSTRUCTORS or name in (owner, f"new{owner}"):
        return owner, "new"
    return (name.removeprefix("new"), "new") if name.startswith("new") and name != "new" else (owner, name)


def test_each_family_of_languages_has_the_program():
    families = {spec.rules for name, spec in languages().items() if name in PROGRAMS}
    assert families == {spec.rules for spec in languages().values()} - {"", "jinja"}  # templates call no functions of their own


@pytest.mark.parametrize("language", PROGRAMS)
def test_the_calls_of_the_program_are_found(language, annotated_files, resolve):
    path = FOLDER / f"{language}.txt"
    resolved = resolve(annotated_files(path))
    found = {
        (_name(resolved.symbols[edge.src]), _name(resolved.symbols[edge.dst]))
        for result in resolved.results.values()
        for edge in result.edges
        if edge.kind == "CALLS" and edge.src in resolved.symbols and edge.dst in resolved.symbols and edge.confidence >= SHOWN
    }
    text = path.read_text(encoding="utf-8")
    gaps, untrue = (
        {(_told(caller), _told(called)) for caller, called in re.findall(rf"^# {kind}: (\S+) > (\S+)$", text, re.M)} for kind in KINDS
    )
    wanted, either = calls(language)
    assert gaps <= wanted, "a gap that is not a call of the program"
    assert wanted - found - gaps == set(), "calls that were found before"
    assert gaps & found == set(), "calls that are found now; remove their `gap` lines, so that their loss is noticed"
    assert len(gaps) <= MOST_GAPS
    others = {call for call in found - wanted - either if "new" not in (call[0][1], call[1][1])}  # constructors call their bases
    assert others == untrue, "wrong edges that are new, or `untrue` lines of edges that are gone"
