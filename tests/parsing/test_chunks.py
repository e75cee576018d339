"""Chunks cover the code, keep to its boundaries and fit an embedding model."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import ChunkRow, symbol_id
from graphmem.parsing.chunks import ChunkOptions, chunk, hash_of_text
from graphmem.parsing.discovery import FoundFile, content_hash
from graphmem.parsing.extract import extract_parsed
from graphmem.parsing.grammar import load_grammar
from graphmem.parsing.prose import prose_passages
from graphmem.parsing.sources import Source
from graphmem.parsing.worker import parse_file
from trees import NETWORKX


def chunks_of(source: str, path: str = "pkg/mod.py", **options: int) -> list[ChunkRow]:
    data = source.encode()
    grammar = load_grammar("python")
    tree = grammar.parse(data)
    return chunk(extract_parsed(path, data, grammar, tree, "0"), Source(data, "utf-8", ()), "p", ChunkOptions(**options), tree)


def text_chunks(tmp_path: Path, name: str, text: str) -> list[ChunkRow]:
    (tmp_path / name).write_text(text)
    return parse_file(FoundFile(name, str(tmp_path / name), len(text), content_hash(text.encode()), "text"), "p").chunks


def function(name: str, lines: int, indent: str = "") -> str:
    return f"{indent}def {name}(value):\n" + "".join(f"{indent}    value = value + {number} * len(str(value))\n" for number in range(lines))


def test_a_definition_is_a_chunk_with_its_symbol_and_where_it_stands():
    first, second = chunks_of("import os\n\n\n# why\n" + function("one", 12) + "\n\n" + function("two", 12))[1:]
    assert (first.title, second.title) == ("one", "two")
    assert first.symbol_id == symbol_id("p", "pkg/mod.py", "one", "function", 0)
    assert first.text.startswith("# why\ndef one(value):\n")
    assert (first.start_line, first.end_line) == (4, 17)
    assert first.prefix == "File: pkg/mod.py | function: one | Lines: 4-17"
    assert first.kind == "code"


def test_what_stands_outside_definitions_is_a_chunk_of_the_module():
    rows = chunks_of("import os\n\nLIMIT = 3\n\n" + function("one", 12) + "\nprint(one(LIMIT))\n")
    assert [row.title for row in rows] == ["mod.py", "one", "mod.py"]
    assert [row.symbol_id for row in rows][::2] == ["", ""]
    assert rows[0].text == "import os\n\nLIMIT = 3"


def test_small_siblings_share_a_chunk_named_after_them():
    rows = chunks_of("".join(function(name, 1) + "\n" for name in ("a", "b", "c")))
    assert [row.title for row in rows] == ["a, b, c"]


def test_small_methods_share_a_chunk_of_their_class():
    body = "class Box:\n    size = 1\n\n" + "".join(function(name, 4, "    ") + "\n" for name in "abcdefgh")
    rows = chunks_of(body)
    assert len(rows) > 1
    assert {row.title for row in rows} == {"Box"}
    assert all(row.text.startswith("class Box") for row in rows), "the signature is repeated"


def test_a_large_function_is_divided_between_statements_with_its_signature_repeated():
    source = "def long(value):\n    '''Count up.'''\n" + "".join(
        f"    if value > {number}:\n        value = max(\n            value,\n            {number},\n        )\n" for number in range(60)
    )
    rows = chunks_of(source)
    assert len(rows) > 3
    for row in rows[1:]:
        assert row.text.startswith("def long(value)\n…\n    if value > ")
        assert row.prefix.endswith("| Count up.")
    assert {row.symbol_id for row in rows} == {symbol_id("p", "pkg/mod.py", "long", "function", 0)}
    sizes = [len(row.text) for row in rows]
    assert max(sizes) < 2 * min(sizes), "parts are of about one size"


def test_a_nested_function_keeps_its_own_chunk():
    rows = chunks_of("def outer():\n" + function("inner", 14, "    ") + function("other", 14, "    ") + "    return inner\n")
    assert [row.title for row in rows] == ["outer", "outer.inner", "outer.other", "outer"]


def test_a_line_too_long_is_cut_between_characters():
    rows = chunks_of("def f():\n    return '" + "é" * 5000 + "'\n")
    assert sum(row.text.count("é") for row in rows) == 5000
    assert "\ufffd" not in "".join(row.text for row in rows)


def test_ids_and_hashes_survive_a_move_and_notice_a_change():
    before = chunks_of(function("one", 12))[0]
    moved = chunks_of("import os\n" * 40 + "\n\n" + function("one", 12))[-1]
    changed = chunks_of(function("one", 13))[0]
    assert (moved.id, moved.text_hash) == (before.id, before.text_hash)
    assert moved.start_line != before.start_line
    assert changed.id == before.id
    assert changed.text_hash != before.text_hash
    assert before.text_hash == hash_of_text(before.prefix, before.text)


def test_twins_get_ids_of_their_own():
    rows = chunks_of("if x:\n" + function("one", 12, "    ") + "else:\n" + function("one", 14, "    "))
    assert len({row.id for row in rows}) == len(rows)
    assert len({row.symbol_id for row in rows if row.title == "one"}) == 2


def test_empty_files_have_no_chunks(tmp_path):
    assert chunks_of("") == []
    assert chunks_of("\n\n  \n") == []
    assert text_chunks(tmp_path, "a.md", "") == []


def uncovered(source: bytes, rows: list[ChunkRow]) -> list[int]:
    covered = {line for row in rows for line in range(row.start_line, row.end_line + 1)}
    return [number for number, line in enumerate(source.split(b"\n"), 1) if line.strip() and number not in covered]


def test_real_code_is_covered_line_by_line_and_fits_the_model():
    root = NETWORKX
    paths = sorted(root.glob("algorithms/*.py")) + sorted(root.glob("classes/tests/*.py"))
    assert len(paths) > 60
    too_long = total = 0
    for path in paths:
        data = path.read_bytes()
        parsed = parse_file(FoundFile(path.name, str(path), len(data), content_hash(data), "python"), "p")
        assert uncovered(data, parsed.chunks) == [], path
        assert len({row.id for row in parsed.chunks}) == len(parsed.chunks)
        text = data.decode()
        for row in parsed.chunks:
            assert row.text.rpartition("\n…\n")[2] in text
            total += 1
            too_long += len(row.prefix) + len(row.text) > 256 * 4
    assert too_long < total / 10


@given(
    st.lists(
        st.sampled_from(
            ["def f(a):\n", "    x = 1\n", "class A:\n", "    def m(self):\n", "        return 1\n", "\n", "é = (\n", ")\n", "@d\n"]
        )
    )
)
def test_whatever_the_code_no_line_is_lost(lines):
    source = "".join(lines)
    assert uncovered(source.encode(), chunks_of(source, small_tokens=8, max_tokens=64)) == []


def test_markdown_is_cut_by_heading(tmp_path):
    filler = "Some words about it.\n" * 25
    text = f"---\ntitle: x\n---\n# Guide\n\n{filler}\n## Install\n\n```\n# not a heading\n```\n{filler}\nUse\n---\n\n{filler}"
    rows = text_chunks(tmp_path, "a.md", text)
    assert [row.title for row in rows] == ["Guide", "Guide > Install", "Guide > Use"]
    assert {row.kind for row in rows} == {"prose"}
    assert {row.symbol_id for row in rows} == {""}
    assert rows[1].prefix.startswith("File: a.md | section: Guide > Install | Lines: ")


def test_restructured_text_is_cut_by_underlined_titles(tmp_path):
    filler = "Some words about it.\n" * 25
    rows = text_chunks(tmp_path, "a.txt", f"Top\n===\n\n{filler}\nPart\n----\n\n{filler}\nOther\n-----\n\n{filler}")
    assert [row.title for row in rows] == ["Top", "Top > Part", "Top > Other"]


@given(st.lists(st.sampled_from(["# A", "## B", "Words.", "", "===", "---", "```", "é" * 30])))
def test_prose_passages_follow_each_other_without_a_hole(lines):
    source = "\n".join(lines).encode()
    passages = prose_passages(source, 200, 10, 20)
    assert b"".join(source[a:b] for a, b, _ in passages).strip() == source.strip()


def test_data_is_bounded_and_the_cut_is_told(tmp_path):
    text = "[\n" + ",\n".join(f'  {{"number": {number}}}' for number in range(5000)) + "\n]\n"
    (tmp_path / "a.json").write_text(text)
    parsed = parse_file(FoundFile("a.json", str(tmp_path / "a.json"), len(text), content_hash(text.encode()), "text"), "p")
    assert {row.kind for row in parsed.chunks} == {"data"}
    assert sum(len(row.text) for row in parsed.chunks) <= 2048 * 4
    last = parsed.chunks[-1].end_line
    assert parsed.facts.diagnostics == (("note", "cut", f"only its first {last} lines are searchable", last),)


def test_blank_lines_at_the_end_are_not_a_cut(tmp_path):
    text = '{\n  "name": "a"\n}\n\n  \n'
    (tmp_path / "a.json").write_text(text)
    parsed = parse_file(FoundFile("a.json", str(tmp_path / "a.json"), len(text), content_hash(text.encode()), "text"), "p")
    assert (parsed.chunks[-1].end_line, parsed.facts.lines) == (3, 5)
    assert parsed.facts.diagnostics == ()


def test_a_drawing_is_found_by_its_opening_and_gives_no_note(tmp_path):
    text = '<svg xmlns="x"><title>Layers</title>\n' + '<path d="M 1 2 L 3 4" fill="red"/>\n' * 400 + "</svg>\n"
    (tmp_path / "a.svg").write_text(text)
    parsed = parse_file(FoundFile("a.svg", str(tmp_path / "a.svg"), len(text), content_hash(text.encode()), "text"), "p")
    assert "Layers" in parsed.chunks[0].text
    assert sum(len(row.text) for row in parsed.chunks) <= 400
    assert parsed.facts.diagnostics == ()


def test_small_data_is_whole_and_without_a_note(tmp_path):
    (tmp_path / "a.toml").write_text("a = 1\n")
    parsed = parse_file(FoundFile("a.toml", str(tmp_path / "a.toml"), 6, "0", "text"), "p")
    assert [row.text for row in parsed.chunks] == ["a = 1"]
    assert parsed.facts.diagnostics == ()


@pytest.mark.parametrize(
    ("name", "kind"), [("a.sql", "code"), ("LICENSE", "prose"), ("Dockerfile", "code"), (".env", "data"), ("a.html", "code")]
)
def test_other_text_is_cut_at_blank_lines(tmp_path, name, kind):
    text = "".join(f"line {number}\n" + "\n" * (number % 10 == 9) for number in range(300))
    rows = text_chunks(tmp_path, name, text)
    assert {row.kind for row in rows} == {kind}
    assert all(row.text.startswith("line") and row.text.endswith("9") for row in rows)
    assert all(row.end_line - row.start_line < 100 for row in rows)
