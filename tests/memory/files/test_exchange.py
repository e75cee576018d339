"""Exports and imports of memories lose nothing, and a broken document is refused as a whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphmem import GraphMem
from graphmem.errors import BadInputError
from graphmem.memory.reading.clock import ManualClock
from graphmem.settings import Settings

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=60).filter(lambda text: text.strip())
MEMORIES = st.lists(
    st.fixed_dictionaries(
        {"content": WORDS},
        optional={
            "type": st.sampled_from(["gotcha", "decision", "fact", "dead_end"]),
            "tags": st.lists(st.sampled_from(["a", "b", "größe", "日本"]), unique=True),
            "files": st.lists(st.sampled_from(["shop/cart.py", "not/there.py"]), unique=True),
            "confidence": st.floats(0, 1),
            "importance": st.floats(0, 1),
            "visibility": st.sampled_from(["personal", "project", "team"]),
            "scope": st.sampled_from(["global", "module", "session"]),
            "details": st.sampled_from([None, {"note": "x"}]).map(lambda _: None),
            "session": st.sampled_from(["s1", "s2"]),
        },
    ),
    max_size=12,
)


@pytest.mark.usefixtures("project")  # its index run raises the recursion limit, and Hypothesis refuses a change during the test
@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(items=MEMORIES, data=st.data())
def test_export_and_import_lose_nothing(tmp_path_factory, items, data):
    root = tmp_path_factory.mktemp("lossless")
    (root / "tree" / "shop").mkdir(parents=True)
    (root / "tree" / "shop" / "cart.py").write_text("def add_item(cart, item):\n    cart.append(item)\n")
    with GraphMem.open(db=root / "one", settings=Settings(embedder="none")) as first:
        first.parts.book.clock = clock = ManualClock(datetime(2026, 1, 1, 12, tzinfo=UTC))
        first.index(root / "tree")
        ids = []
        for item in items:
            ids.append(first.remember(**item).memory.id)
            clock.advance(timedelta(days=1))
        for one in dict.fromkeys(ids):
            verb = data.draw(st.sampled_from(["none", "pin", "dispute", "forget", "verify", "use"]))
            if verb == "use":
                first.note_use([one])
            elif verb != "none" and first.memory(one).status in ("candidate", "confirmed", "pinned"):
                getattr(first, verb)(one)
        first.set_alias("cart", ["basket", "trolley"])
        exported = first.export_memories()
    assert exported == _again(root / "one", exported)
    with GraphMem.open(db=root / "two", settings=Settings(embedder="none")) as second:
        second.index(root / "tree")
        second.import_memories(exported, "backup.json")
        assert second.export_memories() == exported
        again = second.import_memories(exported, "backup.json")
        assert set(again.counts) <= {"unchanged"}
        assert second.export_memories() == exported
    with GraphMem.open(db=root / "two", settings=Settings(embedder="none")) as second:
        second.rebuild_memories()
        assert second.export_memories() == exported


def _again(db, exported):
    with GraphMem.open(db=db, settings=Settings(embedder="none")) as memory:
        memory.import_memories(exported, "backup.json")
        return memory.export_memories()


def test_an_import_into_another_project_finds_the_code_by_name(project, tmp_path):
    root, memory = project
    memory.remember("add_item never checks for duplicates.", type="gotcha", symbols=["shop/cart.py:add_item"])
    text = memory.export_memories()
    other = tmp_path / "elsewhere"
    (other / "shop").mkdir(parents=True)
    (other / "shop" / "cart.py").write_text((root / "shop" / "cart.py").read_text())
    with GraphMem.open(db=tmp_path / "other", settings=Settings(embedder="none")) as there:
        there.index(other)
        there.import_memories(text, "backup.json")
        [one] = there.memories().memories
        assert ("shop/cart.py:add_item", "valid") in {(about.name, about.anchor) for about in one.about}


BROKEN = {
    "cut in half": lambda text: text[: len(text) // 2],
    "no json": lambda _: "{not json",
    "another kind": lambda _: json.dumps({"format": "other"}),
    "newer": lambda text: text.replace('"version": 1', '"version": 99'),
    "confidence": lambda text: text.replace('"confidence": 0.85', '"confidence": 1.5'),
    "nan": lambda text: text.replace('"confidence": 0.85', '"confidence": NaN'),
    "status": lambda text: text.replace('"status": "confirmed"', '"status": "eternal"'),
    "type": lambda text: text.replace('"type": "fact"', '"type": "rumour"'),
    "time": lambda text: text.replace('"created_at": "20', '"created_at": "x20'),
    "list": lambda text: text.replace('"memories": [', '"memories": [7, '),
    "deep": lambda _: "[" * 100_000,
    "deeper inside": lambda text: text.replace('"memories": [', '"memories": [' + "[" * 100_000 + "]" * 100_000 + ","),
    "a number of 100,000 digits": lambda text: text.replace('"version": 1', '"version": ' + "9" * 100_000),
    "200,000 memories": lambda text: text.replace('"memories": [', '"memories": [' + "{}," * 200_000),
    "role": lambda text: text.replace('"role": "about"', '"role": "beside"'),
    "flag": lambda text: text.replace('"disputed": false', '"disputed": "no"'),
    "alias": lambda text: json.dumps({**json.loads(text), "aliases": {"cart": "basket"}}),
    "session": lambda text: json.dumps({**json.loads(text), "sessions": [{"id": "s"}]}),
    "twice": lambda text: json.dumps({**json.loads(text), "memories": json.loads(text)["memories"] * 2}),
}


def test_a_document_that_is_broken_is_refused_whole(project, tmp_path):
    _, memory = project
    memory.remember("Carts are lists, see shop/cart.py.", type="fact")
    text = memory.export_memories()
    with GraphMem.open(db=tmp_path / "other", settings=Settings(embedder="none")) as there:
        for name, breaking in BROKEN.items():
            broken = breaking(text)
            assert broken != text, name
            with pytest.raises(BadInputError) as refused:
                there.import_memories(broken, "x.json", format="json")
            assert len(str(refused.value)) < 600, name
            assert there.memories().total == 0, name


def test_an_import_bomb_is_refused_by_its_size(project):
    _, memory = project
    with pytest.raises(BadInputError, match="bytes"):
        memory.import_memories('{"format": "' + "x" * (65 << 20), "x.json")


def test_a_gigabyte_is_refused_without_being_read(tmp_path):
    bomb = tmp_path / "bomb.json"
    with bomb.open("wb") as file:
        file.write(b'{"format": "')
        file.truncate(1 << 30)
    GraphMem.open(db=tmp_path / "index", settings=Settings(embedder="none")).close()
    probe = "import resource, graphmem.__main__ as g; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)); g.run()"
    ran = subprocess.run(
        [sys.executable, "-c", probe, "import", str(bomb), "--db", str(tmp_path / "index")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "GRAPHMEM_EMBEDDER": "none"},
    )
    assert ran.returncode == 2, ran.stderr
    assert "more than 67,108,864 bytes" in ran.stderr


PRIVATE = {
    ".env": "",
    ".env.local": "",
    "notes/keys.md": ".secretsignore",
    "build/AGENTS.md": ".gitignore",
    "deep/er/CLAUDE.md": ".gitignore",
}


@pytest.mark.parametrize(("path", "rule"), PRIVATE.items(), ids=str)
def test_words_of_files_that_are_private_or_ignored_stay_out(project, path, rule):
    root, memory = project
    (root / ".secretsignore").write_text("keys.md\n", encoding="utf-8")
    (root / ".gitignore").write_text("/build/\n", encoding="utf-8")
    (root / "deep").mkdir(exist_ok=True)
    (root / "deep" / ".gitignore").write_text("*\n!.gitignore\n", encoding="utf-8")
    before = memory.memories().total
    for named in (path, str(root / path)):
        with pytest.raises(BadInputError, match="cannot be imported") as refused:
            memory.import_memories("- The password of the database is a long word.\n", named, format="claude")
        assert rule in refused.value.facts["reason"]
        assert "password" not in str(refused.value)
    assert memory.memories().total == before
    assert memory.import_memories("- Carts are emptied at midnight, every night.\n", "AGENTS.md").counts == {"added": 1}


def test_a_secret_in_an_export_of_somebody_else_is_not_taken_in(project, tmp_path):
    _, memory = project
    key = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    memory.remember("The deploy key is kept in the vault under team/deploy.", type="fact")
    text = memory.export_memories().replace("team/deploy", key)
    with GraphMem.open(db=tmp_path / "other", settings=Settings(embedder="none")) as there:
        there.import_memories(text, "x.json")
        assert key not in there.export_memories()


def test_markdown_is_readable_and_importable(project, tmp_path):
    _, memory = project
    memory.remember("Never call add_item twice.\nIt does not check.", type="gotcha", tags=["cart"], files=["shop/cart.py"])
    memory.remember("We chose lists: carts are small.", type="decision")
    text = memory.export_memories("markdown")
    with GraphMem.open(db=tmp_path / "other", settings=Settings(embedder="none")) as there:
        there.import_memories(text, "notes.md")
        found = {one.content: one for one in there.memories().memories}
    assert set(found) == {"Never call add_item twice.\nIt does not check.", "We chose lists: carts are small."}
    gotcha = found["Never call add_item twice.\nIt does not check."]
    assert (gotcha.type, gotcha.tags, gotcha.files) == ("gotcha", ["cart"], ["shop/cart.py"])
