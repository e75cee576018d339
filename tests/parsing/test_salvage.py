"""Code after a place that a parser cannot read is still found.

Its positions are right.
"""

from __future__ import annotations

import time

import pytest

from graphmem.parsing.extract import extract


def _signature(count: int) -> str:
    """One of the overloads that a parser of TypeScript takes for a comparison, and then for nothing at all.

    It begins at the margin, so that it has no blank which could become a semicolon."""
    numbers = ["", *range(2, count + 1)]
    declared = [f"I{n} extends Input = I" for n in numbers] + [f"R{n} extends Result<any> = any" for n in numbers]
    environments = [f"E{n + 1} extends Env = Both<[E, {', '.join(f'E{m}' for m in range(2, n + 1))}]>" for n in range(2, count + 1)]
    lines = [*declared, "E2 extends Env = E", *environments]
    handlers = [f"H<E{n or 2}, P, I{n}, R{n}>" for n in numbers]
    given = ",\n    ".join(f"handler{n}: {one}" for n, one in enumerate(handlers))
    listed = ",\n    ".join(lines)
    return f"<\n    {listed},\n  >(\n    {given}\n  ): [{', '.join(handlers)}]\n\n"


BROKEN = "export interface Broken<E extends Env, P extends string> {\n" + "".join(_signature(count) for count in range(2, 11))
SOURCE = (
    "import { Input } from './input'\n"
    "export class Before { go() {} }\n"
    "\n"
    f"{BROKEN}}}\n"
    "\n"
    "/** Says ünïcode more. */\n"
    "export class Behind {\n"
    "  run(): number { return 1 }\n"
    "}\n"
    "const text = `\n"
    "export class NotOne {}\n"
    "`\n"
    "export function last(): Behind { return new Behind() }\n"
)


def _facts(source: str = SOURCE, path: str = "a.ts"):
    return extract(path, source.encode(), "typescript", "")


def test_declarations_behind_a_place_that_cannot_be_parsed_are_found_where_they_stand():
    lines = SOURCE.split("\n")
    found = {one.qualname: one for one in _facts().definitions}
    assert {"Before", "Before.go", "Behind", "Behind.run", "last"} <= found.keys()
    for name in ("Behind", "last"):
        assert name in lines[found[name].name_line - 1]
        start, end = found[name].start_byte, found[name].end_byte
        assert SOURCE.encode()[start:end].decode().startswith(("export class Behind", "export function last"))
    assert lines[found["Behind"].end_line - 1] == "}"
    assert found["Behind"].doc == "Says ünïcode more."
    assert {one.name for one in _facts().imports} == {"Input"}


def test_what_looks_like_a_declaration_in_a_text_is_none_behind_a_broken_place_either():
    assert "NotOne" not in {one.name for one in _facts().definitions}


def test_calls_behind_a_broken_place_are_references_of_the_function_around_them():
    facts = _facts()
    last = next(position for position, one in enumerate(facts.definitions) if one.name == "last")
    assert [one.line for one in facts.references if one.kind == "call" and one.scope == last] == [SOURCE.count("\n")]


def test_the_diagnostic_says_how_many_lines_may_be_missing_and_promises_nothing_else():
    facts = _facts()
    ((severity, code, message, line),) = facts.diagnostics
    assert (severity, code) == ("warning", "syntax")
    lost = int(message.partition("up to ")[2].split()[0].replace(",", ""))
    assert BROKEN.count("\n") * 0.5 < lost <= BROKEN.count("\n") + 1
    assert 4 <= line <= 4 + BROKEN.count("\n")


@pytest.mark.parametrize("source", ["class A:\n    def f(self): ...\n\n\n1name\n\n\nclass B:\n    def g(self): ...\n"])
def test_what_the_parser_gets_over_by_itself_stays_as_it_was(source):
    facts = extract("a.py", source.encode(), "python", "")
    assert [one.qualname for one in facts.definitions] == ["<module>", "A", "A.f", "B", "B.g"]
    assert facts.error_count == 1


def test_a_large_broken_file_takes_no_longer_than_a_file_may():
    started = time.process_time()
    _facts(SOURCE * 60)
    assert time.process_time() - started < 15
