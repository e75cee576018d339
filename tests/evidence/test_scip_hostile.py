"""SCIP files that an indexer did not write: each is refused in a sentence, or costs one document alone."""

from __future__ import annotations

import contextlib
import random
import time

import pytest

from graphmem.errors import EvidenceError
from graphmem.evidence import scip
from graphmem.evidence.scip_format import message_class

SOURCE = "class Pen:\n    def draw(self):\n        return 1\n\n\ndef paint(pen):\n    return pen.draw()\n"
PEN, DRAW = "t py p 0 `a`/Pen#", "t py p 0 `a`/Pen#draw()."
CPU_S = 20.0  # for what takes a tenth of a second; what grows with the square takes minutes
RUNS = 25
SPANS = [[], [0], [-1, 0, 3], [0, -9, 3], [0, 3, 2], [2**31 - 1, 0, 1], [0, 0, 2**31 - 1], [-(2**31), 0, -(2**31), 5], [0] * 1_000]
PATHS = ["../../etc/passwd", "/etc/passwd", "a\0b.py", "a/" * 5_000, "\u202eyp.a", "", "."]
ROOTS = ["file://[::1", "file:///%00", "\u202e", "http://" + "a" * 100_000, "file://" + "/a" * 3_000, "file:///" + "%ff" * 50]


def document(path="a.py", more=(), encoding=0):
    named = [([0, 6, 9], PEN, 1), ([1, 8, 12], DRAW, 1), ([6, 15, 19], DRAW, 0)]
    places = [{"range": span, "symbol": symbol, "symbol_roles": roles} for span, symbol, roles in (*named, *more)]
    return {"relative_path": path, "occurrences": places, "position_encoding": encoding}


def written(tmp_path, *documents, root=""):
    metadata = {"tool_info": {"name": "checker"}, "project_root": root}
    return saved(tmp_path, message_class("Index")(metadata=metadata, documents=list(documents)).SerializeToString())


def saved(tmp_path, data):
    path = tmp_path / "hostile.scip"
    path.write_bytes(data)
    return path


def nested(depth):
    """Messages in messages, as protocol buffers write them."""
    data = b""
    for _ in range(depth):
        size, at = bytearray(), len(data)
        while at > 127:
            size.append(at & 127 | 128)
            at >>= 7
        data = b"\x12" + bytes([*size, at]) + data
    return data


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    root.mkdir()
    for name in ("a.py", "b.py"):
        (root / name).write_text(SOURCE, encoding="utf-8")
    return root


@pytest.mark.parametrize(
    "data",
    [b"", b"\x00", b"\xff" * 1_000, nested(2_000), b"\x0b" * 100_000, b"\x12\xff\xff\xff\xff\x0f", b"[" * 100_000, "{}".encode("utf-16")],
    ids=["empty", "zero", "ones", "nested", "groups", "length", "json", "utf-16"],
)
def test_what_is_not_an_index_is_refused_in_a_sentence(tmp_path, data):
    with pytest.raises(EvidenceError):
        scip.parse(saved(tmp_path, data))


def test_paths_roots_and_places_that_cannot_be_leave_the_others_as_they_are(tree, tmp_path, open_memory, take, edges):
    memory = open_memory()
    take(memory, tree, scip_files=[str(written(tmp_path, document()))])
    expected = edges(memory, "scip", "CALLS")
    assert expected
    strange = [document(path) for path in PATHS]
    for root in ROOTS:
        take(memory, tree, scip_files=[str(written(tmp_path, document(), *strange, root=root))])
        assert edges(memory, "scip", "CALLS") == expected
    for encoding in (0, 1, 2, 3, 99, -1):
        more = [(span, DRAW, 0) for span in SPANS]
        take(memory, tree, scip_files=[str(written(tmp_path, document(more=more, encoding=encoding)))])
        assert edges(memory, "scip", "CALLS") == expected


def test_many_places_of_one_name_take_no_square_of_their_number(tree, tmp_path, open_memory, take):
    calls = 6_000
    source = SOURCE + "".join(f"    pen.draw()  # {at}\n" for at in range(calls))
    (tree / "a.py").write_text(source, encoding="utf-8")
    more = [([7 + at, 8, 12], DRAW, 0) for at in range(calls)] * 5
    path = written(tmp_path, document(more=more))
    memory = open_memory()
    begun = time.process_time()
    take(memory, tree, scip_files=[str(path)])
    assert time.process_time() - begun < CPU_S
    assert any(row.get("source") == "scip" for row in memory.export())


def test_damaged_indexes_are_refused_or_read_and_never_end_the_run(tree, tmp_path, open_memory, take):
    memory = open_memory()
    take(memory, tree)
    whole = written(tmp_path, document(), document("b.py")).read_bytes()
    rng = random.Random(11)
    for _ in range(RUNS):
        data = bytearray(whole)
        for _ in range(rng.randrange(1, 8)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path = saved(tmp_path, bytes(data[: rng.choice((len(data), rng.randrange(len(data))))]))
        with contextlib.suppress(EvidenceError):  # a refusal in a sentence
            take(memory, tree, scip_files=[str(path)])
    take(memory, tree, scip_files=[str(saved(tmp_path, whole))])
    assert any(row.get("source") == "scip" for row in memory.export())
