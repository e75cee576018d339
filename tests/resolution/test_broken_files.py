"""Real sources broken at random: whatever comes of it, no exception, bounded time, and edges only between what is there."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from graphmem.parsing.encoding import to_utf8
from graphmem.parsing.extract import extract
from graphmem.parsing.language import language_of_path
from graphmem.resolution.resolver import Resolver
from trees import NETWORKX

PYTHON = sorted((NETWORKX / "algorithms").rglob("*.py"))
FIXTURES = Path(__file__).parent
JUNK = [
    *(
        b"(",
        b")",
        b"{",
        b"}",
        b"[",
        b'"',
        b"'",
        b'"""',
        b"`",
        b"\\",
        b"\n",
        b"\t",
        b"    ",
        b"\x00",
        b"\xff\xfe",
        b"\xc3",
        b"=>",
        b"class ",
        b"@",
        b":",
        b"<",
        b"*",
    ),
]
SECONDS = 20.0  # of processor time for one file; what parses longer than its own limit is given up with a diagnostic


def broken(rng, data):
    """A file after one to six accidents."""
    for _ in range(rng.randrange(1, 7)):
        at = rng.randrange(len(data) + 1)
        end = min(len(data), at + rng.randrange(1, 400))
        what = rng.randrange(6)
        if what == 0:
            data = data[:at]
        elif what == 1:
            data = data[:at] + data[end:]
        elif what == 2:
            data = data[:at] + rng.choice(JUNK) * rng.choice((1, 1, 3, 300)) + data[at:]
        elif what == 3:
            data = data[:at] + data[at:end] * 3 + data[end:]
        elif what == 4:
            other = rng.randrange(len(data) + 1)
            data = data[:at] + data[other : other + 300] + data[at:]
        else:
            data = data[:at] + bytes(rng.randrange(256) for _ in range(20)) + data[end:]
    return data


def read(path, data):
    begin = time.process_time()
    facts = extract(path, to_utf8(data, language_of_path(path)).source, language_of_path(path), "")
    assert time.process_time() - begin < SECONDS, path
    return facts


def check(texts):
    """Resolve broken files together; every edge of the project joins two definitions that exist."""
    facts = {path: read(path, data) for path, data in texts.items()}
    resolver = Resolver("broken")
    begin = time.process_time()
    results = {path: resolver.resolve(path) for path in sorted(resolver.update(facts, ()))}
    assert time.process_time() - begin < SECONDS
    assert set(results) == set(texts)
    known = {row.id for path in results for row in resolver.symbols(path)}
    known |= {row.id for result in results.values() for row in result.externals}
    for path, result in results.items():
        lines = texts[path].count(b"\n") + texts[path].count(b"\r") + 1
        for edge in result.edges:
            if edge.kind in ("CALLS", "REFERENCES", "INHERITS", "OVERRIDES", "USES_TYPE"):
                assert {edge.src, edge.dst} <= known
            assert 0 <= edge.line <= lines


@pytest.mark.parametrize("seed", range(4))
def test_broken_python_is_read_as_far_as_it_goes(seed):
    rng = random.Random(seed)
    chosen = rng.sample(PYTHON, 12)
    check({f"pkg/{number}_{path.name}": broken(rng, path.read_bytes()) for number, path in enumerate(chosen)})


@pytest.mark.parametrize("folder", sorted(path.name for path in FIXTURES.iterdir() if path.is_dir() and not path.name.startswith("_")))
def test_broken_files_of_every_language_are_read_as_far_as_they_go(folder):
    rng = random.Random(folder)
    for fixture in sorted((FIXTURES / folder).glob("*.txt")):
        parts = _files(fixture.read_text(encoding="utf-8"))
        for _ in range(2):
            check({path: broken(rng, text.encode()) for path, text in parts.items() if language_of_path(path)})


def _files(text):
    """The files of a fixture, however it is divided."""
    found, path = {}, ""
    for line in text.splitlines(keepends=True):
        words = line.split()
        if (
            len(words) >= 2
            and words[0] in ("#---", "//---", "===", "---", "--", "//", "#")
            and language_of_path(words[1])
            and len(words) == 2
        ):
            path = words[1]
            found[path] = ""
        elif path:
            found[path] += line
    return found
