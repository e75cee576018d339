"""A changed range of a file gives the same innermost definition as reading the whole file, and its tokens without documentation."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphmem.parsing.extract import extract
from graphmem.parsing.language import language_of_path
from graphmem.parsing.touched import text_of

ROOT = Path(__file__).parents[2]


def _innermost(definitions, line):
    around = [one for one in definitions[1:] if one.start_line <= line <= one.end_line and one.kind != "variable"]
    return max(((one.start_line, -one.end_line, one.kind, one.qualname, one.signature) for one in around), default=())


@pytest.mark.parametrize(
    "path", ["graphmem/injection/edits.py", "graphmem/mcp_server/tools.py", "tests/conftest.py", "graphmem/explorer/static/stage.js"]
)
def test_each_line_belongs_to_the_definition_that_the_whole_file_gives_it(path):
    source = (ROOT / path).read_bytes()
    language, at = language_of_path(path), 0
    text = text_of(path, source, language)
    assert text is not None
    whole = extract(path, source, language, "").definitions
    for number, line in enumerate(source.split(b"\n"), 1):
        if number % 5 == 0 and line.strip():
            near = text.definitions(at + len(line) - len(line.lstrip()), at + len(line))
            assert _innermost(near, number) == _innermost(whole, number), number
        at += len(line) + 1


def test_a_decorator_belongs_to_the_definition_below_it():
    source = b"class A:\n    @property\n    def one(self):\n        return 1\n"
    text = text_of("a.py", source, "python")
    assert text is not None
    at = source.index(b"@property")
    assert [one.qualname for one in text.definitions(at, at + 9)] == ["<module>", "A", "A.one"]


@pytest.mark.parametrize(
    ("language", "source", "tokens"),
    [
        (
            "python",
            'def f():\n    """Say.\n\n    More.\n    """\n    x = "kept"  # gone\n',
            ["def", "f", "(", ")", ":", "x", "=", '"', "kept", '"'],
        ),
        ("go", "package a\n\n// F does it.\nfunc F() {}\n", ["package", "a", "func", "F", "(", ")", "{", "}"]),
        ("rust", "/// Says.\nfn f() {} // gone\n", ["fn", "f", "(", ")", "{", "}"]),
        ("java", "/** Says. */\nclass A { /* gone */ }\n", ["class", "A", "{", "}"]),
    ],
)
def test_comments_and_docstrings_are_not_tokens(language, source, tokens):
    text = text_of("a", source.encode(), language)
    assert text is not None
    assert [one.decode() for _, one, _ in text.tokens(0, len(source)) if one.strip()] == tokens


def test_tokens_of_deeply_nested_code_are_found():
    text = text_of("a.py", b"deep = " + b"[" * 3_000 + b"]" * 3_000, "python")
    assert text is not None
    assert sum(one == b"[" for _, one, _ in text.tokens(0, len(text.source))) == 3_000


def test_a_language_without_a_grammar_has_no_syntax():
    assert text_of("a.txt", b"text", "text") is None


@pytest.mark.parametrize("path", ["graphmem/injection/edits.py", "graphmem/explorer/static/stage.js"])
def test_a_changed_version_has_the_tokens_of_a_version_that_was_parsed_whole(path):
    source, language = (ROOT / path).read_bytes(), language_of_path(path)
    text = text_of(path, source, language)
    assert text is not None
    lines = source.splitlines(keepends=True)
    for number in range(10, len(lines) - 40, 41):
        start = sum(map(len, lines[:number]))
        later = start + sum(map(len, lines[number : number + 30]))
        changes = [
            (start, start + len(lines[number]), b""),
            (later, later, b"\n// \xc3\xa4\n" if language != "python" else b"# \xc3\xa4\n"),
        ]
        changed = text.changed(changes)
        assert changed is not None
        assert changed.source == source[:start] + source[start + len(lines[number]) : later] + changes[1][2] + source[later:]
        whole = text_of(path, changed.source, language)
        assert whole is not None
        assert changed.tokens(0, len(changed.source)) == whole.tokens(0, len(whole.source))
