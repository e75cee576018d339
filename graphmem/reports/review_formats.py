"""Write a review of a change as a comment, as SARIF, or as JUnit tests."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from graphmem.answers.code import calls_told
from graphmem.answers.review import DIFF_TEXT, WORKING_TREE
from graphmem.knowledge import LESSON_OF_COMMIT
from graphmem.reports.diagram import printable, xml_attribute
from graphmem.runtime.texts.safe_text import inert

if TYPE_CHECKING:
    from graphmem.answers import ChangedSymbol, ImpactHit, Risk
    from graphmem.answers.contracts import Contract
    from graphmem.answers.review import KnownHere, Review

MARKER: Final = "<!-- graphmem review -->"
"""First line of a comment, by which the next run finds and replaces it."""
MOST_LINES: Final = 60  # of a comment
MOST_CELL: Final = 160  # characters of a table cell in a comment
MOST_BLOCK: Final = 4_000  # characters of a command in a comment
SARIF: Final = "https://json.schemastore.org/sarif-2.1.0.json"
RULES: Final[Mapping[str, tuple[str, str]]] = {
    "breaks": ("Code that a change could break", "warning"),
    "untested": ("Changed code that no known test reaches", "warning"),
    "known": ("A memory about changed code", "note"),
    "forgotten": ("A file that often changes along", "note"),
}
_SIGNS: Final = {"low": "🟢", "medium": "🟡", "high": "🟠", "critical": "🔴", "unknown": "⚪"}


def why(hit: ImpactHit) -> str:
    """Return the reason why a change affects a symbol, as `calls b (rule)`.

    The text describes the last edge of the path from the change to the symbol of `hit`. In the example, the symbol calls `b`, and "rule" is
    the rule by which the edge was found.
    """
    edge = hit.path[-1]
    near = edge.dst if edge.src.id == hit.symbol.id else edge.src
    return f"{edge.kind.lower().replace('_', ' ')} {near.qualname or near.name or near.path} ({edge.rule})"


# ---- comment


def markdown(review: Review) -> str:
    """Return a review of a change as a Markdown comment with details folded.

    The comment has at most `MOST_LINES` lines.
    """
    risk = review.risk
    count = f"{_many(len(review.changed), 'changed symbol')} in {_many(len(review.files), 'file')}"
    head = [
        MARKER,
        f"### {_SIGNS.get(risk.level, '')} Review: risk {_level(risk)}",
        "",
        f"{count}; {_many(review.break_count, 'dependent')}, {_many(review.test_count, 'test')} to run, "
        f"{_many(len(review.untested), 'changed function')} without a known test.",
    ]
    parts = [(title, rows) for title, rows in _parts(review) if rows]
    share = _share([len(rows) for _, rows in parts], MOST_LINES - len(head) - 4 * len(parts))
    lines = [*head]
    for title, rows in parts:
        shown = rows if len(rows) <= share else [*rows[: share - 1], f"- and {len(rows) - share + 1:,} more"]
        lines += ["", f"<details><summary>{title}</summary>", "", *shown, "</details>"]
    return "\n".join(lines[:MOST_LINES]) + "\n"


def _share(sizes: list[int], room: int) -> int:
    """Return the largest number of lines that each part may have.

    All parts together then have at most `room` lines. `sizes` are the lengths of the parts in lines. Lines that a short part does not need
    are divided among the longer parts.
    """
    for number, size in enumerate(sorted(sizes)):
        share = room // (len(sizes) - number)
        if size > share:
            return max(1, share)
        room -= size
    return max(sizes, default=1)


def _parts(review: Review) -> Iterable[tuple[str, list[str]]]:
    """Yield (title, lines) for each part of a comment with a review."""
    yield f"Tests to run · {_of(len(review.tests), review.test_count)}", _commands(review)
    yield (
        f"Could break · {_of(len(review.breaks), review.break_count)}",
        [f"- {hit.confidence:.0%} {_code(hit.symbol.ref)}: {_text(why(hit))}" for hit in _surest(review)],
    )
    yield f"Broken contracts · {len(review.contracts):,}", [_contract(one) for one in review.contracts]
    yield (
        f"Changed without a test · {len(review.untested):,}",
        [f"- {_code(f'{one.symbol.path}:{one.symbol.start_line}')} {_text(one.symbol.qualname)}" for one in review.untested],
    )
    yield f"Known about this code · {_of(len(review.known), review.known_count)}", [_known(one) for one in review.known]
    yield (
        f"Often changes along · {_of(len(review.forgotten), review.forgotten_count)}",
        [f"- {_code(one.path)} in {one.support:,} changes, {one.confidence:.0%} of them" for one in review.forgotten],
    )
    yield f"Changed · {len(review.changed):,}", [_changed(one) for one in review.changed]
    yield "Risk", _risk(review.risk)
    yield (
        "Limits of this review",
        [
            *(f"- {f'{one.count:,} ' if one.count else ''}{_text(one.message)}" for one in review.causes),
            *(f"- {_text(told)}" for told in [calls_told(review.known_calls)] if told),
        ],
    )


def _commands(review: Review) -> list[str]:
    """Return the commands that run the tests of a review.

    For a command that is too long for a comment, the lines say how to print it, and name the files of the tests.
    """
    asked = {WORKING_TREE: review.base, DIFF_TEXT: "-"}.get(review.head, f"{review.base}..{review.head}")
    commands = [
        f"<pre>{_html(one.command, MOST_BLOCK)}</pre>"
        if len(one.command) <= MOST_BLOCK
        else f"- a command of {len(one.command):,} characters: `graphmem review {_html(asked)} --quiet` prints it"
        for one in review.commands
    ]
    if any(len(one.command) > MOST_BLOCK for one in review.commands):
        commands += [f"- {_code(path)} {_many(count, 'test')}" for path, count in Counter(one.path for one in review.tests).most_common()]
    return commands


def _contract(one: Contract) -> str:
    return f"- {one.change} {_code(one.name)}" + "".join(f", used at {_code(f'{place.path}:{place.line}')}" for place in one.asked[:3])


def _known(one: KnownHere) -> str:
    kind = "earlier fix" if one.memory.source == LESSON_OF_COMMIT else _text(one.memory.type)
    return f"- **{kind}** {_code(f'{one.path}:{one.line}' if one.about else one.path)} {_text(one.memory.content)}"


def _changed(one: ChangedSymbol) -> str:
    return f"- {one.change} {_code(f'{one.symbol.path}:{min(one.lines, default=one.symbol.start_line)}')} {_name(one)}"


def _risk(risk: Risk) -> list[str]:
    """Return a table of the risk's factors, or its reasons if it has none."""
    table = ["| part | points | of | counted |", "|---|---|---|---|"]
    table += [f"| {_text(one.name)} | {one.points:.1f} | {one.most:.0f} | {_text(one.counted)} |" for one in risk.factors]
    return table if risk.factors else [f"- {_text(one)}" for one in risk.reasons]


def _name(one: ChangedSymbol) -> str:
    return "code outside of definitions" if one.symbol.kind == "module" else _text(one.symbol.qualname)


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _level(risk: Risk) -> str:
    level = f"not below {risk.level}" if risk.at_least else risk.level
    return f"{level} ({risk.score:.0f} of 100)" if risk.level != "unknown" else level


def _of(listed: int, total: int) -> str:
    return f"{total:,}" if listed == total else f"the first {listed:,} of {total:,}"


def _surest(review: Review) -> list[ImpactHit]:
    return sorted(review.breaks, key=lambda hit: (-hit.confidence, hit.depth, hit.symbol.path, hit.symbol.start_line))


def _html(text: str, most: int = MOST_CELL) -> str:
    """Escape a string for a Markdown comment, as one line.

    Text beyond `most` characters is cut. Nothing in the result acts as HTML, ends a table cell or mentions a person.
    """
    flat = inert(" ".join(text.split()))
    cut = flat if len(flat) <= most else flat[: most - 1] + "…"
    return cut.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;").replace("|", "&#124;")


def _text(text: str) -> str:
    return re.sub(r"([\\`*_\[\]#!~])", r"\\\1", _html(text)).replace("://", ":&#8203;//")


def _code(text: str) -> str:
    return f"<code>{_text(text)}</code>"


# ---- SARIF


def sarif(review: Review) -> str:
    """Return a review of a change as a SARIF log of one run."""
    results = [
        *(
            _result(
                "breaks", f"{hit.symbol.qualname or hit.symbol.path} could break: {why(hit)}, confidence {hit.confidence:.2f}", *_site(hit)
            )
            for hit in _surest(review)
        ),
        *(
            _result(
                "untested", f"no known test reaches {one.symbol.qualname}", one.symbol.path, min(one.lines, default=one.symbol.start_line)
            )
            for one in review.untested
        ),
        *(_result("known", f"{one.memory.type}: {one.memory.content}", one.path, one.line) for one in review.known),
        *(
            _result("forgotten", f"{one.path} changed along in {one.support} changes, {one.confidence:.0%} of them", one.path, 1)
            for one in review.forgotten
        ),
    ]
    rules = [
        {"id": name, "shortDescription": {"text": text}, "defaultConfiguration": {"level": level}} for name, (text, level) in RULES.items()
    ]
    driver = {"name": "graphmem", "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"ROOT": {"description": {"text": "the root of the repository"}}},
        "properties": {"risk": review.risk.level, "atLeast": review.risk.at_least, "score": review.risk.score},
        "results": results,
    }
    return json.dumps({"$schema": SARIF, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False) + "\n"


def _site(hit: ImpactHit) -> tuple[str, int]:
    edge = hit.path[-1]
    if edge.src.id == hit.symbol.id:
        return edge.src.path, edge.line or edge.src.start_line
    return hit.symbol.path, hit.symbol.start_line


def _result(rule: str, text: str, path: str, line: int) -> dict[str, object]:
    place = {"artifactLocation": {"uri": _uri(path), "uriBaseId": "ROOT"}, "region": {"startLine": max(1, line)}}
    return {
        "ruleId": rule,
        "ruleIndex": list(RULES).index(rule),
        "level": RULES[rule][1],
        "message": {"text": inert(text)},
        "locations": [{"physicalLocation": place}],
    }


def _uri(path: str) -> str:
    from urllib.parse import quote

    return quote(path)


# ---- selection


def junit(review: Review) -> str:
    """Return a JUnit report with the tests that a review selects.

    The report has one suite for each test runner, and no results, because nothing was run.
    """
    suites: dict[str, list[str]] = {}
    for one in review.tests:
        inside, _, name = one.name.rpartition(".")
        case = {"classname": inside or one.path, "name": name or one.path, "file": one.path, "line": str(one.line)}
        attributes = " ".join(f"{key}={xml_attribute(printable(value))}" for key, value in case.items())
        properties = {"id": one.id, "confidence": f"{one.confidence:.4f}", "why": one.why}
        inner = "".join(
            f"<property name={xml_attribute(key)} value={xml_attribute(printable(value))}/>" for key, value in properties.items()
        )
        suites.setdefault(one.runner or "unknown", []).append(f"    <testcase {attributes}><properties>{inner}</properties></testcase>\n")
    body = "".join(
        f'  <testsuite name={xml_attribute(runner)} tests="{len(cases)}">\n{"".join(cases)}  </testsuite>\n'
        for runner, cases in suites.items()
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="graphmem" tests="{len(review.tests)}">\n{body}</testsuites>\n'


WRITERS: Final[Mapping[str, Callable[[Review], str]]] = {"markdown": markdown, "sarif": sarif, "junit": junit}
