"""People's files: nothing a person or the graph wrote is ever lost between them."""

from __future__ import annotations

import pytest

from books import contents
from graphmem.errors import BadInputError


def lines(root):
    return [line for line in (root / "MEMORY.md").read_text().splitlines() if line.startswith("- ")]


def test_the_file_shows_what_is_known_in_its_sections(project):
    root, memory = project
    memory.remember("We use SQLite because there is one writer.", type="decision")
    memory.remember("Carts are lists.", type="fact")
    memory.remember("A guess.", type="observation", source="observer_inferred")
    answer = memory.sync_file()
    assert answer.written == 2
    text = (root / "MEMORY.md").read_text()
    assert text.index("## Architecture") < text.index("We use SQLite") < text.index("## Stack") < text.index("Carts are lists")
    assert "A guess" not in text
    assert memory.sync_file() == answer


def test_what_a_person_edits_adds_and_deletes_reaches_the_graph(project):
    root, memory = project
    kept, edited, deleted = (memory.remember(f"{word} stands here for a reason.", type="fact").memory for word in ("One", "Two", "Three"))
    memory.sync_file()
    text = (root / "MEMORY.md").read_text()
    text = text.replace("Two stands here for a reason.", "Two stands there, for another reason.")
    text = "\n".join(line for line in text.splitlines() if f"[id:{deleted.short_id}]" not in line)
    (root / "MEMORY.md").write_text(text + "\n- A line somebody added.\n")
    answer = memory.sync_file()
    assert (answer.changed, answer.forgotten, len(answer.added)) == ([edited.id], [deleted.id], 1)
    assert contents(memory) == sorted([kept.content, "Two stands there, for another reason.", "A line somebody added."])
    assert memory.memory(deleted.id).status == "deprecated"
    assert all("[id:" in line for line in lines(root))
    added = memory.memory(answer.added[0])
    assert (added.source, added.content) == ("user_taught", "A line somebody added.")


def test_what_the_graph_learnt_reaches_the_file(project):
    root, memory = project
    one = memory.remember("The first version of this fact.", type="fact").memory
    memory.sync_file()
    memory.update_memory(one.id, content="The second version of this fact.")
    memory.remember("Another fact altogether, about orders.", type="fact")
    answer = memory.sync_file()
    assert (answer.changed, answer.added, answer.forgotten, answer.conflicts) == ([], [], [], [])
    assert len(lines(root)) == 2
    assert "second version" in (root / "MEMORY.md").read_text()


def test_edits_on_both_sides_are_shown_and_neither_is_lost(project):
    root, memory = project
    one = memory.remember("Timeouts are ten seconds.", type="fact").memory
    memory.sync_file()
    memory.update_memory(one.id, content="Timeouts are twenty seconds since the new proxy.")
    path = root / "MEMORY.md"
    path.write_text(path.read_text().replace("Timeouts are ten seconds.", "Retries happen three times, timeouts are ten."))
    answer = memory.sync_file()
    [conflict] = answer.conflicts
    assert (conflict.in_file, conflict.in_graph) == (
        "Retries happen three times, timeouts are ten.",
        "Timeouts are twenty seconds since the new proxy.",
    )
    assert contents(memory) == sorted([conflict.in_file, conflict.in_graph])
    assert memory.memory(conflict.kept_as).content == conflict.in_file
    assert {line.split("] ")[1] for line in lines(root)} == {conflict.in_file, conflict.in_graph}


def test_a_line_deleted_while_the_graph_changed_it_comes_back_and_says_so(project):
    root, memory = project
    one = memory.remember("Ports are picked from 8000 on.", type="fact").memory
    memory.sync_file()
    memory.update_memory(one.id, content="Ports are picked from 9000 on, see the proxy.")
    (root / "MEMORY.md").write_text("# nothing left\n")
    answer = memory.sync_file()
    assert [conflict.in_file for conflict in answer.conflicts] == [""]
    assert "9000" in (root / "MEMORY.md").read_text()
    assert any(one.short_id in note for note in answer.notes)


def test_mangled_ids_lose_nothing(project):
    root, memory = project
    one = memory.remember("Orders are final after payment.", type="fact").memory
    memory.sync_file()
    path = root / "MEMORY.md"
    for mangled in ("zzzz", "", "0", "a1b2c3d4e5f6a7b8", "é", "id:id"):
        path.write_text(path.read_text().replace(f"[id:{one.short_id}]", f"[id:{mangled}]"))
        answer = memory.sync_file()
        assert answer.forgotten == []
        assert contents(memory) == [one.content]
        assert memory.memory(one.id).short_id in lines(root)[0]


def test_an_id_whose_bracket_is_gone_is_not_a_part_of_the_words(project):
    root, memory = project
    one = memory.remember("Orders are final after payment.", type="fact").memory
    memory.sync_file()
    path = root / "MEMORY.md"
    for torn in (f"[id:{one.short_id} ", "[id: ", "[id:zzzz "):
        path.write_text(path.read_text().replace(f"[id:{one.short_id}] ", torn))
        assert memory.sync_file().forgotten == []
        assert contents(memory) == [one.content]
        assert lines(root) == [f"- [id:{one.short_id}] {one.content}"]


def test_an_id_put_before_other_words_as_well_stays_with_its_own(project):
    root, memory = project
    first = memory.remember("Orders are final after payment.", type="fact").memory
    second = memory.remember("Refunds take ten days.", type="fact").memory
    memory.sync_file()
    path = root / "MEMORY.md"
    ahead, behind = (one for line in lines(root) for one in (first, second) if one.short_id in line)
    path.write_text(path.read_text().replace(f"[id:{ahead.short_id}]", f"[id:{behind.short_id}]"))
    answer = memory.sync_file()
    assert (answer.added, answer.changed, answer.forgotten) == ([], [], [])
    assert any("there twice" in note for note in answer.notes)
    assert {one.id: one.content for one in memory.memories().memories} == {first.id: first.content, second.id: second.content}


def test_a_line_changed_to_what_another_says_leaves_one_of_them(project):
    root, memory = project
    one = memory.remember("Orders are final after payment.", type="fact").memory
    other = memory.remember("Refunds take ten days.", type="fact").memory
    memory.sync_file()
    path = root / "MEMORY.md"
    path.write_text(path.read_text().replace(other.content, one.content))
    memory.sync_file()
    assert set(contents(memory)) == {one.content}
    assert memory.sync_file().conflicts == []


def test_an_id_that_stands_twice_makes_two_memories(project):
    root, memory = project
    one = memory.remember("Orders are final after payment.", type="fact").memory
    memory.sync_file()
    path = root / "MEMORY.md"
    path.write_text(path.read_text() + f"- [id:{one.short_id}] Refunds need a second pair of eyes.\n")
    answer = memory.sync_file()
    assert contents(memory) == sorted([one.content, "Refunds need a second pair of eyes."])
    assert any("twice" in note for note in answer.notes)


def test_an_emptied_or_missing_file_is_written_again_and_forgets_nothing(project):
    root, memory = project
    memory.remember("Orders are final after payment.", type="fact")
    memory.sync_file()
    for empty in (lambda path: path.unlink(), lambda path: path.write_text("")):
        empty(root / "MEMORY.md")
        assert memory.sync_file().forgotten == []
        assert len(lines(root)) == 1


def test_a_line_that_cannot_be_kept_stops_the_sync_before_anything_changes(project):
    root, memory = project
    one = memory.remember("Orders are final after payment.", type="fact").memory
    memory.sync_file()
    path = root / "MEMORY.md"
    text = path.read_text().replace("Orders are final", "Orders were final") + "- " + "x" * 9000 + "\n"
    path.write_text(text)
    with pytest.raises(BadInputError, match=r"line \d+: content is 9,000 characters"):
        memory.sync_file()
    assert path.read_text() == text
    assert memory.memory(one.id).content == "Orders are final after payment."


def test_a_dry_run_only_says(project):
    root, memory = project
    memory.remember("Orders are final after payment.", type="fact")
    memory.sync_file()
    path = root / "MEMORY.md"
    path.write_text(path.read_text() + "- Something new.\n")
    before = path.read_text()
    memory.sync_file(dry_run=True)
    assert path.read_text() == before
    assert len(contents(memory)) == 1


def test_a_legacy_facts_file_is_taken_in_once_and_kept(project):
    root, memory = project
    (root / "facts.md").write_text("# Facts\n\n- The queue is Redis in production.\n- Short.\n")
    memory.sync_file()
    assert "The queue is Redis in production." in contents(memory)
    memory.forget(next(one.id for one in memory.memories().memories if "Redis" in one.content))
    memory.sync_file()
    assert not any("Redis" in one for one in contents(memory))
    assert (root / "facts.md").exists()


def test_the_file_may_not_lie_outside_of_the_project(project):
    _, memory = project
    with pytest.raises(BadInputError, match="is not a path inside the project"):
        memory.sync_file("../MEMORY.md")


@pytest.mark.parametrize("path", ["conftest.py", "Makefile", ".git/hooks/pre-commit", ".git/notes.md", "shop/cart.py"])
def test_memories_are_written_into_markdown_only(project, path):
    root, memory = project
    memory.remember("Carts are emptied after an order.", "gotcha")
    before = sorted((one, one.stat().st_mtime_ns) for one in root.rglob("*.py"))
    with pytest.raises(BadInputError, match="not a Markdown file"):
        memory.sync_file(path)
    assert not (root / path).exists() or path.endswith("cart.py")
    assert sorted((one, one.stat().st_mtime_ns) for one in root.rglob("*.py")) == before
