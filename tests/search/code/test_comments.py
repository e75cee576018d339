"""A comment and the function below it are one hit."""

from __future__ import annotations

from graphmem import GraphMem
from graphmem.settings import Settings

COMMENT = "/* Evicts the oldest walrus from the aquarium\n * as soon as the aquarium is too full. */\n"
FILLING = "".join(f"int shelf_{number}(int box) {{\n    return box + {number};\n}}\n\n" for number in range(30))
LONG = "int make_room(int tank) {\n" + "".join(f"    tank = tank * {number} + compute(tank, {number});\n" for number in range(200)) + "}\n"


def test_a_comment_is_not_a_second_hit_if_its_function_begins_in_another_chunk(tmp_path):
    root = tmp_path / "tree"
    root.mkdir()
    (root / "aquarium.c").write_text(f"{FILLING}{COMMENT}{LONG}", encoding="utf-8")
    with GraphMem.open(tmp_path / "index", settings=Settings(embedder="none")) as memory:
        memory.index(root)
        memory.wait_until_ready()
        hits = memory.search("when is the oldest walrus evicted from the aquarium").hits
    assert hits[0].qualname == "make_room"
    assert not [hit for hit in hits if not hit.qualname]
