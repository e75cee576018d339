"""Phrases that the output of several commands shares, such as `path:line`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from graphmem.answers import IndexState, PathStep, SymbolInfo
from graphmem.answers.code import KnownCalls, calls_told
from graphmem.answers.memory import NearbyMemories, age
from graphmem.cli.output import Output, joined, plural

if TYPE_CHECKING:
    from rich.text import Text

DIM: Final = "dim"
NAME: Final = "bold"
PATH: Final = "cyan"
HEADING: Final = "bold"
GOOD, UNSURE, BAD = "green", "yellow", "bold red"

# An edge as the verb of a sentence: "caller calls callee".
_VERBS: Final = {
    "CALLS": "calls",
    "REFERENCES": "uses",
    "INHERITS": "inherits",
    "OVERRIDES": "overrides",
    "USES_TYPE": "is typed with",
    "IMPORTS": "imports",
    "DEFINES": "defines",
    "TESTS": "tests",
}


def verb(kind: str) -> str:
    """Return the verb for a kind of edge, such as `calls` for CALLS."""
    return _VERBS.get(kind, kind.lower().replace("_", " "))


def confidence(value: float) -> tuple[str, str]:
    """Return (text, colour) for a confidence, such as "0.85".

    A confidence of 0.8 or more, of 0.5 or more, and a lower one have different colours.
    """
    return f"{value:.2f}", GOOD if value >= 0.8 else UNSURE if value >= 0.5 else DIM


def place(path: str, line: int = 0) -> tuple[str, str]:
    """Return (text, style) for a place, with the text `path:line`.

    Editors and terminals turn such text into a link. Without a line, the text is the path; without both, it is "(external)".
    """
    return (f"{path}:{line}" if line else path) or "(external)", PATH


def name(symbol: SymbolInfo) -> tuple[str, str]:
    """Return (text, style) for a symbol: its name, or the path of a file."""
    return symbol.qualname or symbol.name or symbol.path, NAME


def kind(symbol: SymbolInfo) -> str:
    """Return a symbol's kind and, in brackets, its kind of entry point."""
    extra = [word for word in (symbol.entry_point, "test" if symbol.is_test and symbol.entry_point != "test" else "") if word]
    return " ".join([symbol.kind, *(f"({word})" for word in extra)])


def steps(output: Output, path: list[PathStep]) -> None:
    """Print a dependency path, one edge on each line, with place and rule."""
    output.rows(
        [
            (
                confidence(step.confidence),
                name(step.src),
                (verb(step.kind), DIM),
                name(step.dst),
                place(step.src.path, step.line),
                (evidence(step.source, step.rule), DIM),
            )
            for step in path
        ]
    )


def evidence(source: str, rule: str) -> str:
    """Return the rule that found an edge, and the source of the edge.

    The source is left out if it is `ast` (the syntax of the code), "", or equal to the rule.
    """
    return rule if source in {"ast", "", rule} else f"{rule} ({source})".strip()


def state_line(state: IndexState) -> Text:
    """Return a line on the state of the index: how current an answer is."""
    if state.state == "empty":
        return joined([("index: empty", UNSURE)])
    words = [state.state, f"generation {state.generation}"]
    if state.indexed_at:
        words.append(f"indexed {state.indexed_at[:16].replace('T', ' ')} UTC")
    words.append(plural(state.files, "file"))
    if state.state == "indexing" and state.total:
        words.append(f"{state.stage} {100 * state.done // state.total} %")
    if state.stale_files:
        words.append(f"{plural(state.stale_files, 'file')} changed since")
    if state.note:
        words.append(state.note)
    return joined([("index: " + " · ".join(words), DIM if state.state == "fresh" else UNSURE)])


def calls_line(output: Output, rows: list[KnownCalls]) -> None:
    """Print the measured share of calls that graphmem finds.

    `rows` has the share of each language in an answer.
    """
    if told := calls_told(rows):
        output.line(("  " + told, DIM))


def known(output: Output, found: NearbyMemories) -> None:
    """Print memories about the code of an answer, one line each.

    Memories that await review are only counted.
    """
    if not (found.memories or found.held):
        return
    output.line()
    output.line(("Known about this code", HEADING), ("  warnings first" if any(one.trap for one in found.memories) else "", DIM))
    now = datetime.now(UTC)
    output.rows(
        [
            (
                (f"{'warning: ' * one.trap}{one.type.replace('_', ' ')}", BAD if one.trap else GOOD),
                (f"#{one.short_id}", NAME),
                joined([one.title, (f"  {one.doubt}" if one.doubt else "", UNSURE)]),
                (one.about, PATH),
                (age(one.created_at, now), DIM),
            )
            for one in found.memories
        ]
    )
    if found.more:
        output.line((f"  … and {found.more:,} more; `graphmem memory list --file PATH` lists them", DIM))
    if found.held:
        output.line((f"  {plural(found.held, 'memory', 'memories')} about it to review; see `graphmem memory review`", UNSURE))


def cut(shown: int, total: int, how: str) -> str:
    """Return a sentence on how many rows were omitted; "" if none were.

    `shown` of `total` rows were printed. `how` tells the user how to see the omitted rows.
    """
    return f"… and {total - shown:,} more; {how}" if total > shown else ""


def session_name(id: str) -> str:  # noqa: A002 - the word of the domain
    """Return the id of a session; a very long id is shortened in the middle.

    The end is kept, because ids of related sessions may differ only there (`…~2`).
    """
    return id if len(id) <= 64 else f"{id[:30]}…{id[-33:]}"
