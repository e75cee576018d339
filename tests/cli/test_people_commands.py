"""MEMORY.md, rules, imports and exports from the command line, with and without a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.fixture
def known(graphmem, shop: Path) -> Path:
    for args in (("index", shop, "-q"), ("remember", "Carts hold prices, see shop/cart.py.", "--type", "fact", "-C", shop)):
        ran = graphmem(*args)
        assert ran.code == 0, ran.said
    return shop


def test_a_file_of_another_tool_is_read_and_the_memories_come_out_in_every_form(graphmem, known: Path) -> None:
    (known / "CLAUDE.md").write_text("# Shop\n\n## Style\n\n- Always round prices to two decimals\n")
    ran = graphmem("import", known / "CLAUDE.md", "-C", known)
    assert "1 added  as claude" in ran.out, ran.said
    document = graphmem("export", "--memories", "json", "-C", known).out
    assert {one["content"] for one in json.loads(document)["memories"]} == {
        "Always round prices to two decimals",
        "Carts hold prices, see shop/cart.py.",
    }
    assert "- Always round prices" in graphmem("export", "--memories", "claude", "-C", known).out
    (known / "backup.json").write_text(document)
    assert graphmem("delete-all", "--confirm", "shop", "-C", known).code == 0
    assert "2 added" in graphmem("import", known / "backup.json", "-C", known).out
    assert graphmem("export", "--memories", "json", "-C", known).out == document


def test_a_person_edits_the_file_and_a_conflict_is_an_exit_code(graphmem, known: Path) -> None:
    assert graphmem("sync-file", "-C", known).code == 0
    path = known / "MEMORY.md"
    path.write_text(path.read_text().replace("Carts hold prices", "Carts hold many prices"))
    ran = graphmem("sync-file", "-C", known)
    assert ran.code == 0
    assert "1 changed" in ran.out
    [short] = graphmem("memory", "list", "-q", "-C", known).out.split()
    from graphmem import GraphMem

    with GraphMem.open(repo=known) as memory:
        memory.update_memory(short.removeprefix("#"), content="Carts hold nothing but prices.")
    path.write_text(path.read_text().replace("many prices", "a few prices"))
    ran = graphmem("sync-file", "-C", known)
    assert ran.code == 1
    assert "changed on both sides" in ran.out


def test_rules_are_shown_by_the_files_they_apply_to(graphmem, known: Path, tmp_path: Path) -> None:
    folder = known / ".graphmem" / "rules"
    folder.mkdir()
    (folder / "money.md").write_text("<!-- scope: shop/price.py -->\nNever use floats for money.\n")
    ran = graphmem("rules", "shop/price.py", "-C", known, HOME=str(tmp_path))
    assert "Never use floats for money." in ran.out
    assert graphmem("rules", "shop/cart.py", "-q", "-C", known, HOME=str(tmp_path)).out.strip() == ""


def test_the_server_answers_the_same(graphmem, serve, known: Path) -> None:
    (known / "AGENTS.md").write_text("- Never send mail from tests\n")
    before = graphmem("export", "--memories", "json", "-C", known).out
    serve(known).wait_until_it_answers()
    assert graphmem("export", "--memories", "json", "-C", known).out == before
    assert "1 added  as agents" in graphmem("import", known / "AGENTS.md", "-C", known).out
    synced = json.loads(graphmem("sync-file", "--json", "-C", known).out)
    assert synced["written"] == 2
    assert "Never send mail" in (known / "MEMORY.md").read_text()
    assert json.loads(graphmem("rules", "--json", "-C", known).out)["notes"] == []


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("none.md", None, "cannot be read"),
        ("latin.md", b"- caf\xe9 is written here\n", "not UTF-8"),
        ("half.json", b'{"format": "graphmem memories", "vers', "not JSON"),
        ("picture.png", b"\x89PNG but text", "not UTF-8"),
        ("notes.txt", b"some words\n", "--format"),
    ],
)
def test_files_that_cannot_be_read_are_refused_with_one_sentence(graphmem, known: Path, name, data, words) -> None:
    if data is not None:
        (known / name).write_bytes(data)
    ran = graphmem("import", known / name, "-C", known)
    assert ran.code in {1, 2}
    assert words in ran.said
    assert "internal error" not in ran.said
