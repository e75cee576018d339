"""The last version of an edited file is kept, and its next version is parsed where it changed, with the facts of a whole parse."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from graphmem.parsing import versions
from graphmem.parsing.touched import Text, text_of
from graphmem.parsing.versions import Versions

SOURCE = Path(versions.__file__).read_text(encoding="utf-8")
SCRIPT = "/* größe */\nexport class Größe {\n  constructor(private a: number) {}\n\n  doppelt() {\n    return this.a * 2;\n  }\n}\n" * 9


def facts(text: Text | None) -> tuple[object, ...]:
    assert text is not None
    return text.source, text.definitions(0, len(text.source)), text.tokens(0, len(text.source))


@pytest.mark.parametrize(("path", "language", "source"), [("a.py", "python", SOURCE), ("a.ts", "typescript", SCRIPT)])
def test_a_version_has_the_facts_of_a_whole_parse_after_any_edits(path: str, language: str, source: str) -> None:
    kept, rng, lines = Versions(), random.Random(7), source.splitlines(keepends=True)
    for _ in range(60):
        at = rng.randrange(len(lines))
        lines[at : at + rng.randrange(4)] = rng.choices(source.splitlines(keepends=True), k=rng.randrange(4))  # valid or not
        data = "".join(lines).encode()
        assert facts(kept.text(path, data, language)) == facts(text_of(path, data, language))


def test_the_content_of_the_last_version_is_not_parsed_again_and_few_files_are_kept() -> None:
    kept = Versions()
    first = kept.text("a.py", b"a = 1\n", "python")
    assert kept.text("a.py", b"a = 1\n", "python") is first
    for number in range(versions.KEPT):
        kept.text(f"{number}.py", b"b = 1\n", "python")
    assert kept.text("a.py", b"a = 1\n", "python") is not first
    assert kept.text("a.txt", b"a\n", "text") is None
