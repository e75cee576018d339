"""Convert parsed definitions to symbol rows; mark tests and entry points.

An entry point is code that is called from outside, such as a route's handler.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from functools import cache
from typing import Final

from graphmem.model import SymbolRow
from graphmem.parsing.facts import ATTR, CALL, NAME, NEW, STRING, Definition, FileFacts, Term, TermIndex
from graphmem.parsing.language import EntryPointRule, LanguageSpec, Written, any_of, language_spec
from graphmem.resolution.files.file_entry import FileEntry
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.values.symbol import CLASS_KINDS, FUNCTION_KINDS, Symbol

_NOTHING: Final = re.compile(r"(?!)")
PATH_ARGUMENTS: Final = ("rule", "route", "path", "prefix", "pattern")  # names of arguments that contain the path of a route
WAYS_IN: Final = ("route", "command", "event", "task", "export")  # kinds that a test never has, whatever its decorators


def symbol_rows(entry: FileEntry) -> list[SymbolRow]:
    """Return a row per definition of a file, in source order, module first.

    The rows mark tests and entry points by the rules of the language. An entry point is code that is called from outside, such as a route's
    handler. A definition belongs to tests if its file does, or if it is a test or only builds of tests contain it. Definitions inside it
    belong to tests as well.
    """
    facts = entry.facts
    spec = language_spec(facts.language)
    in_tests = entry.in_tests
    scripts = rules_of(entry).scripts(facts)
    marks: list[tuple[tuple[str, ...], str]] = []  # modifiers and entry point of each definition
    for definition in facts.definitions:
        entry_point = scripts.get(definition.qualname if definition.parent >= 0 else "") or _entry_point(spec, facts, definition)
        is_test = in_tests and _is_test(spec, facts, definition)
        if is_test and entry_point in ("", *WAYS_IN) and definition.kind in FUNCTION_KINDS:
            entry_point = "test"
        modifiers = definition.modifiers
        if is_test and definition.kind in FUNCTION_KINDS | CLASS_KINDS:
            modifiers = tuple(sorted({*modifiers, "test"}))
        marks.append((modifiers, entry_point))
    tests = {place for place, (modifiers, entry_point) in enumerate(marks) if "test" in modifiers or entry_point == "test"}
    return [
        _row(entry, symbol, definition, modifiers, entry_point, is_test=in_tests or _is_within(facts, place, tests))
        for place, (symbol, definition, (modifiers, entry_point)) in enumerate(zip(entry.symbols, facts.definitions, marks, strict=True))
    ]


def _is_within(facts: FileFacts, place: int, outer: Container[int]) -> bool:
    """Whether the definition `place` is one of `outer`, or inside one of them.

    Definitions are given by their positions in the file.
    """
    while place >= 0 and place not in outer:
        place = facts.definitions[place].parent
    return place >= 0


def is_test_case(entry: FileEntry, position: int) -> bool:
    """Whether a test runner calls a definition as a test.

    `position` is that of the definition in its file.
    """
    if not entry.in_tests:
        return False
    known: dict[int, bool] = entry.kept.setdefault("test cases", {})  # cached, because every call in a test needs it
    found = known.get(position)
    if found is None:
        found = known[position] = is_case(entry.facts, entry.definitions[position])
    return found


def is_case(facts: FileFacts, definition: Definition) -> bool:
    """Whether a definition is a test, provided that its file contains tests.

    The path of the file is not examined.
    """
    if definition.kind not in FUNCTION_KINDS:
        return False
    spec = language_spec(facts.language)
    entry_point = _entry_point(spec, facts, definition)
    return entry_point == "test" or (entry_point in ("", *WAYS_IN) and _is_test(spec, facts, definition))


def plain_rows(entry: FileEntry) -> list[SymbolRow]:
    """Return a row for each definition of a file.

    The rows do not mark which definitions are tests or entry points.
    """
    pairs = zip(entry.symbols, entry.facts.definitions, strict=True)
    return [_row(entry, symbol, definition, definition.modifiers, "", is_test=entry.in_tests) for symbol, definition in pairs]


def _row(
    entry: FileEntry, symbol: Symbol, definition: Definition, modifiers: tuple[str, ...], entry_point: str, *, is_test: bool
) -> SymbolRow:
    return SymbolRow(
        id=symbol.id,
        path=entry.path,
        kind=definition.kind,
        name=definition.name,
        qualname=definition.qualname,
        parent_id=entry.symbols[definition.parent].id if definition.parent >= 0 else "",
        signature=definition.signature,
        doc=definition.doc,
        start_line=definition.start_line,
        end_line=definition.end_line,
        start_byte=definition.start_byte,
        end_byte=definition.end_byte,
        name_line=definition.name_line,
        name_column=definition.name_column,
        body_hash=definition.body_hash,
        modifiers=" ".join(modifiers),
        entry_point=entry_point,
        complexity=definition.complexity,
        is_test=is_test,
    )


def _is_test(spec: LanguageSpec, facts: FileFacts, definition: Definition) -> bool:
    """Whether a test runner finds this definition as a test or a test class.

    A function inside another function is found only if a call registers it, such as `it("…", …)` inside `describe`.
    """
    around = definition.parent if "test" not in definition.modifiers else -1
    while around >= 0:
        if facts.definitions[around].kind in FUNCTION_KINDS:
            return False
        around = facts.definitions[around].parent
    patterns = spec.tests.functions if definition.kind in FUNCTION_KINDS else spec.tests.classes if definition.kind in CLASS_KINDS else ()
    return _matches(definition.name, patterns) and definition.name not in spec.tests.set_up


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return bool(patterns) and any_of(patterns).match(name) is not None


@cache
def _entry_rules(language: str) -> tuple[tuple[EntryPointRule, ...], re.Pattern[str]]:
    """Return (rules that need no decorator, decorator pattern) of a language.

    The rules find entry points: code that is called from outside. The pattern matches the decorators of all other rules.
    """
    rules = language_spec(language).entry_points
    decorators = tuple(dict.fromkeys(pattern for rule in rules for pattern in rule.decorator))
    return tuple(rule for rule in rules if not rule.decorator), any_of(decorators) if decorators else _NOTHING


def _entry_point(spec: LanguageSpec, facts: FileFacts, definition: Definition) -> str:
    if not definition.decorators and not definition.modifiers and definition.kind == "variable":
        return ""
    decorators = [one for decorator in definition.decorators if (one := written(spec, facts.terms, decorator)) is not None]
    undecorated, decorator = _entry_rules(spec.name)
    rules = spec.entry_points if any(decorator.match(one.name) for one in decorators) else undecorated
    rule = entry_rule(rules, facts, definition, decorators)
    return rule.kind if rule is not None else ""


def entry_rule(
    rules: Iterable[EntryPointRule], facts: FileFacts, definition: Definition, decorators: Sequence[Written]
) -> EntryPointRule | None:
    """Return the first rule that makes a definition an entry point.

    An entry point is code that is called from outside, such as a route's handler. The rule must match the definition or one of
    `decorators`. The result is None if no rule matches.
    """
    within = facts.definitions[definition.parent].name if definition.parent >= 0 else ""
    for rule in rules:
        if rule.matches(decorators=decorators, name=definition.name, path=facts.path, modifiers=definition.modifiers, within=within):
            return rule
    return None


def written(spec: LanguageSpec, terms: list[Term], decorator: TermIndex) -> Written | None:
    """Return the (name, text) of a decorator, to find entry points.

    An entry point is code that is called from outside, such as a route's handler. For `@app.route("/x")`, the result is ("app.route",
    "/x"). The text is the string that the decorator gets as its first argument or as its path, or None. For a decorator of a mock library
    or a test runner, the result is None.
    """
    name = dotted(terms, decorator)
    return None if _matches(name, spec.tests.decorators) else Written(name, _first_text(terms, terms[decorator]))


def _first_text(terms: list[Term], call: Term) -> str | None:
    """Return the string that a call gets as its first argument or as its path.

    The path is an argument with a name such as `path`. The result is None if neither argument is a string literal.
    """
    if call[0] not in (CALL, NEW):
        return None
    _, _, positional, keywords = call
    given = [*positional[:1], *(value for name, value in keywords if name in PATH_ARGUMENTS)]
    return next((term[1] for one in given if (term := terms[one])[0] == STRING), None)


def dotted(terms: list[Term], index: TermIndex) -> str:
    """Return the dotted name (`a.b`) of an expression.

    For a call such as `a.b(c)`, the result is the name of the callee. It is "" for expressions without a name.
    """
    term = terms[index]
    if term[0] in (CALL, NEW):
        _, callee, _, _ = term
        term = terms[callee]
    parts: list[str] = []
    while term[0] == ATTR:
        _, base, name = term
        parts.append(name)
        term = terms[base]
    return ".".join([term[1], *reversed(parts)]) if term[0] == NAME else ""
