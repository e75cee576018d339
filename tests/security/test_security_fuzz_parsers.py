"""Sources, indexes and recordings of strangers, broken by chance and by intent: no reader dies of them, hangs on them or says nonsense."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from graphmem.errors import EvidenceError
from graphmem.evidence import coverage, reports, scip, trace
from graphmem.evidence.inbox import READERS
from graphmem.evidence.observations import End, Observation, Seen
from graphmem.evidence.scip_format import message_class
from graphmem.parsing.discovery import discover
from graphmem.parsing.ignore import DiscoveryOptions
from graphmem.parsing.worker import parse_file
from graphmem.resolution.resolver import Resolver

RUNS = int(os.environ.get("FUZZ_RUNS", "1"))
QUICK = {"deadline": None, "suppress_health_check": list(HealthCheck)}
CPU_S = 5.0  # for what is a matter of milliseconds

A = "class Pen:\n    def draw(self):\n        return 1\n\n\ndef rounded(value):\n    return value\n"
B = "from a import Pen, rounded\n\n\ndef paint(one):\n    return rounded(Pen().draw())\n\n\n"
B += "def test_paint():\n    assert paint(None) == 1\n"
PEN, DRAW, ROUNDED, PAINT = "t py p 0 `a`/Pen#", "t py p 0 `a`/Pen#draw().", "t py p 0 `a`/rounded().", "t py p 0 `b`/paint()."


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Resolver]:
    """Two files and a test, parsed."""
    root = tmp_path_factory.mktemp("fuzzed")
    (root / "a.py").write_text(A)
    (root / "b.py").write_text(B)
    (root / "test_c.py").write_text("from a import rounded\n\n\ndef test_c():\n    rounded(1)\n")
    for file in root.iterdir():
        os.utime(file, (1, 1))
    resolver = Resolver("fuzzed")
    files = discover(root, DiscoveryOptions()).files
    resolver.update({file.path: parse_file(file, "fuzzed").facts for file in files}, ())
    return root, resolver


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A whole file for each reader."""
    folder = tmp_path_factory.mktemp("seeds")
    places = [
        ("a.py", [([0, 6, 9], PEN, 1), ([1, 8, 12], DRAW, 1), ([5, 4, 11], ROUNDED, 1)]),
        ("b.py", [([3, 4, 9], PAINT, 1), ([4, 11, 18], ROUNDED, 0), ([4, 19, 22], PEN, 0), ([4, 25, 29], DRAW, 0)]),
    ]
    index = message_class("Index")(
        metadata={"tool_info": {"name": "checker", "version": "1"}, "project_root": "file:///project"},
        documents=[
            {
                "relative_path": path,
                "occurrences": [{"range": span, "symbol": symbol, "symbol_roles": role} for span, symbol, role in found],
            }
            for path, found in places
        ],
    )
    test, paint = End("b.py", "test_paint", "function", 0, "0"), End("b.py", "paint", "function", 0, "0")
    trace.write(folder / "one.trace", [Observation("runtime", "TESTS", test, (Seen(paint, 1),), 3)], {"by": "pytest"})
    with closing(sqlite3.connect(folder / "one.coverage")) as data:
        data.executescript(
            """
            CREATE TABLE context (id INTEGER PRIMARY KEY, context TEXT); CREATE TABLE file (id INTEGER PRIMARY KEY, path TEXT);
            CREATE TABLE line_bits (file_id INTEGER, context_id INTEGER, numbits BLOB);
            CREATE TABLE arc (file_id INTEGER, context_id INTEGER, fromno INTEGER, tono INTEGER);
            INSERT INTO context VALUES (1, 'b.py::test_paint|run'); INSERT INTO file VALUES (1, 'b.py'), (2, 'a.py');
            INSERT INTO line_bits VALUES (1, 1, x'20'), (2, 1, x'48');
            """
        )
    (folder / "one.info").write_text("TN:test_c.py::test_c\nSF:a.py\nDA:4,1\nDA:7,1\nend_of_record\n", encoding="utf-8")
    return {
        reports.SUFFIX: reports.pack(folder / "one.info"),
        scip.SUFFIX: index.SerializeToString(),
        trace.SUFFIX: (folder / "one.trace").read_bytes(),
        coverage.SUFFIX: (folder / "one.coverage").read_bytes(),
    }


def broken(rng: random.Random, data: bytes) -> bytes:
    """Bytes after one to six accidents."""
    for _ in range(rng.randrange(1, 7)):
        at = rng.randrange(len(data) + 1)
        end = min(len(data), at + rng.randrange(1, 200))
        what = rng.randrange(6)
        if what == 0 and len(data) > 1:
            data = data[:at]
        elif what == 1:
            data = data[:at] + data[end:]
        elif what == 2:
            data = data[:at] + bytes([rng.randrange(256)]) * rng.choice((1, 2, 9, 400)) + data[at:]
        elif what == 3:
            data = data[:at] + data[at:end] * 3 + data[end:]
        elif what == 4 and data:
            data = data[:at] + bytes(value ^ 1 << rng.randrange(8) for value in data[at : at + 1]) + data[at + 1 :]
        else:
            data = data[:at] + bytes(rng.randrange(256) for _ in range(20)) + data[end:]
    return data


def taken(suffix: str, data: bytes, tree: tuple[Path, Resolver], folder: Path) -> int | str:
    """Return how much a reader reads from a file, or why it refuses it.

    Anything else is a defect.
    """
    path = folder / f"given{suffix}"
    path.write_bytes(data)
    begin = time.process_time()
    try:
        READERS[suffix].check(path)
        reading = READERS[suffix].read(path, tree[1], tree[0])
    except EvidenceError as error:
        refused: EvidenceError | None = error
    else:
        refused = None
    assert time.process_time() - begin < CPU_S
    if refused is not None:
        assert refused.facts["path"] == str(path)
        assert len(refused.message) < 2_000
        return str(refused.facts["reason"])
    known = {row.id for name in ("a.py", "b.py") for row in tree[1].symbols(name)}
    assert known
    for one in reading.observations:
        assert all(isinstance(end, End) for end in (one.subject, *(step.end for step in one.seen)))
    return len(reading.observations)


@pytest.mark.parametrize("suffix", sorted(READERS))
def test_a_whole_file_is_taken(suffix, seeds, tree, tmp_path):
    assert taken(suffix, seeds[suffix], tree, tmp_path) in (1, 2)


@pytest.mark.parametrize("suffix", sorted(READERS))
def test_a_broken_file_is_taken_as_far_as_it_is_whole_or_refused_with_a_reason(suffix, seeds, tree, tmp_path):
    rng = random.Random(suffix)
    for _ in range(300 * RUNS):
        taken(suffix, broken(rng, seeds[suffix]), tree, tmp_path)


SPANS = st.lists(st.one_of(st.integers(-2, 40), st.sampled_from([2**31 - 1, -(2**31)])), max_size=5)
SYMBOLS = st.one_of(
    st.sampled_from([PEN, DRAW, ROUNDED, PAINT, "local 0", "", "`", "t py p 0 `a`/`x", "`" * 99 + "#", "<get>a().", "``` `#"]),
    st.text(max_size=30),
)
OCCURRENCES = st.lists(
    st.fixed_dictionaries({"range": SPANS, "symbol": SYMBOLS, "symbol_roles": st.integers(-3, 9)}),
    max_size=8,
)
PATHS = st.one_of(st.sampled_from(["a.py", "b.py", "../a.py", "/etc/passwd", "a.py\x00", "", ".", "a.py/b"]), st.text(max_size=8))
ROOTS = st.one_of(
    st.sampled_from(["file://[", "file:///%00", "x" * 5000, "file:///" + "a/" * 3000, "://", "file://h:99999999/"]), st.text()
)


@settings(max_examples=150 * RUNS, **QUICK)
@given(root=ROOTS, documents=st.lists(st.tuples(PATHS, OCCURRENCES, st.integers(-1, 9)), min_size=1, max_size=3))
@example(root="file://[", documents=[("a.py", [{"range": [0, 6, 9], "symbol": PEN, "symbol_roles": 1}], 2)])
def test_a_scip_index_may_say_what_it_likes(root, documents, tree, tmp_path_factory):
    try:
        data = message_class("Index")(
            metadata={"project_root": root},
            documents=[{"relative_path": path, "occurrences": found, "position_encoding": code} for path, found, code in documents],
        ).SerializeToString()
    except UnicodeEncodeError:  # half a surrogate pair: no such file can be written
        return
    taken(scip.SUFFIX, data, tree, tmp_path_factory.getbasetemp())


@pytest.mark.parametrize("symbol", ["a" * 2_000_000, "`" * 2_000_001, "a`" * 1_000_000, "a(" * 1_000_000 + "x).", "`" + "a" * 2_000_000])
def test_a_symbol_made_to_take_long_takes_no_time(symbol, tree, tmp_path):
    data = message_class("Index")(
        metadata={"project_root": ""},
        documents=[{"relative_path": "a.py", "occurrences": [{"range": [0, 6, 9], "symbol": symbol, "symbol_roles": 1}] * 3}],
    ).SerializeToString()
    taken(scip.SUFFIX, data, tree, tmp_path)


@pytest.mark.parametrize("suffix", sorted(READERS))
def test_what_is_not_a_file_is_not_read(suffix, tree, tmp_path):
    os.mkfifo(tmp_path / f"pipe{suffix}")
    for path in (tmp_path / f"pipe{suffix}", tmp_path, Path("/dev/zero")):
        with pytest.raises(EvidenceError):
            READERS[suffix].check(path)


TRACES: dict[str, Any] = {
    "deep": "[" * 200_000,
    "infinite": json.dumps(
        {"origin": {}, "definitions": [["b.py", "paint", "function", 0, ""]], "observations": [[0, 0, float("inf"), []]]}
    ),
    "unending": json.dumps({"origin": {}, "definitions": [["b.py", "paint", "function", 0, ""]], "observations": [[0, 0, 1, [0]]]}),
    "of nobody": json.dumps({"origin": {}, "definitions": [], "observations": [[0, 5, 1, []]]}),
    "no mapping": "[]",
    "a number": "1" * 10_000,
}


@pytest.mark.parametrize("said", sorted(TRACES))
def test_a_trace_that_says_what_cannot_be_is_refused(said, tree, tmp_path):
    data = b"%s%d\n" % (trace.MAGIC, trace.VERSION) + zlib.compress(TRACES[said].encode())
    assert taken(trace.SUFFIX, data, tree, tmp_path) == "damaged"


ODD: dict[str, Callable[[sqlite3.Connection], object]] = {
    "no end": lambda data: data.executescript(
        "DROP TABLE context; CREATE VIEW context AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) "
        "SELECT id, 'x' AS context FROM n"
    ),
    "a path with a null": lambda data: data.execute("UPDATE file SET path = 'b' || char(0) || '.py'"),
    "numbers for paths": lambda data: data.execute("UPDATE file SET path = 5"),
    "text for bits": lambda data: data.execute("UPDATE line_bits SET numbits = 'abc'"),
    "nothing for bits": lambda data: data.execute("UPDATE line_bits SET numbits = NULL"),
    "bytes for contexts": lambda data: data.execute("UPDATE context SET context = x'ff00'"),
    "lines out of reach": lambda data: data.execute("INSERT INTO arc VALUES (1, 1, 9223372036854775807, -9223372036854775808)"),
    "no lines": lambda data: data.execute("DROP TABLE line_bits"),
}


@pytest.mark.parametrize("change", sorted(ODD))
def test_coverage_data_that_is_not_as_coverage_writes_it_is_bounded(change, seeds, tree, tmp_path, monkeypatch):
    monkeypatch.setattr(coverage, "MAX_S", 0.5)
    (tmp_path / "odd").write_bytes(seeds[coverage.SUFFIX])
    with closing(sqlite3.connect(tmp_path / "odd")) as data, data:
        ODD[change](data)
    said = taken(coverage.SUFFIX, (tmp_path / "odd").read_bytes(), tree, tmp_path)
    assert said in (1, "damaged", "format", "other project"), said


# ---- sources, in a process that may die of them

SOURCES = Path(__file__).parent.parent / "resolution"
LANGUAGES = sorted(one.name for one in (Path(__file__).parents[2] / "grammars").iterdir() if (one / "language.toml").is_file())
DEEP = [
    *(b"(", b"[", b"{", b"a(", b"a.", b"if a:\n ", b"<a>", b"x=>", b"-", b"!", b"/*", b"'", b'"', b"`${", b"f(lambda:", b"class A{", b"a<"),
    *(b"\\", b"#if 1\n", b"a?b:", b"@a ", b"f x ", b"=begin\n"),
]
MEMORY_BYTES = 4 << 30  # of address space, for the process that has them parsed
CHILD = """
import json, random, resource, sys, tempfile
from pathlib import Path
sys.path.insert(0, {folder!r})
from test_security_fuzz_parsers import DEEP, MEMORY_BYTES, broken
from graphmem.parsing.discovery import FoundFile
from graphmem.parsing.language import language_spec
from graphmem.parsing import pool
pool.SMALL_SET = 0  # a few files would be parsed in this process
resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
count = int(sys.argv[1])
said = []
with tempfile.TemporaryDirectory() as folder:
    files = []
    for language, texts in sorted(json.load(sys.stdin).items()):
        rng = random.Random(language)
        for number in range(count):
            deep = rng.choice(DEEP) * rng.choice((1_000, 20_000))
            data = deep if number % 4 == 0 else broken(rng, rng.choice(texts).encode()) + (deep if number % 4 == 1 else b"")
            path = Path(folder) / f"{{language}}{{number}}{{language_spec(language).extensions[0]}}"
            path.write_bytes(data)
            files.append(FoundFile(path.name, str(path), len(data), "", language))
    left = {{one.path: one.language for one in files}}
    for parsed in pool.parse_files(files, project="p", workers=1, time_limit_s=2.0):
        print(parsed.facts.path, flush=True)
        data = (Path(folder) / parsed.facts.path).read_bytes()
        lines = data.count(b"\\n") + data.count(b"\\r") + 1
        assert parsed.facts.language == left.pop(parsed.facts.path)
        assert all(0 <= one.start_line <= one.end_line <= lines for one in parsed.facts.definitions), parsed.facts.path
        said += [(parsed.facts.path, code, why) for level, code, why, _ in parsed.facts.diagnostics if level == "error"]
    assert not left, left
print(json.dumps(said))
"""


def sources(language: str) -> list[str]:
    own = [path.read_text(encoding="utf-8") for path in sorted((SOURCES / language).glob("*.txt"))]
    return own or [path.read_text(encoding="utf-8") for path in sorted((SOURCES / "ecmascript").glob("*.txt"))]


def parsed_apart(texts: dict[str, list[str]], count: int) -> list[tuple[str, str, str]]:
    """Errors of broken and of endlessly deep sources, parsed as an index run of a whole tree does it."""
    command = [sys.executable, "-P", "-c", CHILD.format(folder=str(Path(__file__).parent)), str(count)]
    done = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, timeout=110 * RUNS, check=False)
    assert done.returncode == 0, f"ended with {done.returncode} after {done.stdout.split()[-1:]}: {done.stderr[-2_000:]}"
    return [(path, code, why) for path, code, why in json.loads(done.stdout.splitlines()[-1])]


def test_no_source_that_is_broken_or_endlessly_deep_ends_the_process_that_indexes():
    said = parsed_apart({language: sources(language) for language in LANGUAGES}, 4 * RUNS)
    assert not [one for one in said if "extraction failed" in one[2]], said


def test_a_source_that_makes_its_parser_want_gigabytes_costs_that_source_alone():
    # Of 60 kB; the grammar of Java would take 20 GB for it.
    said = parsed_apart({"java": ["x=>" * 20_000]}, 4)
    assert said
    assert {code for _, code, _ in said} <= {"timeout", "crashed"}
