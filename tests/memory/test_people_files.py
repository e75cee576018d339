"""People's files: nothing a person or the graph wrote is ever lost between them."""

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
from graphmem.hooks import guides
from graphmem.maintenance.place import prepare_data_dir
from graphmem.memory import importers
from graphmem.memory.clock import ManualClock
from graphmem.memory.rules import _matches, endings, rules
from graphmem.runtime import own_block
from graphmem.settings import Settings


@pytest.fixture
def project(tmp_path, clock):
    root = tmp_path / "project"
    (root / "shop").mkdir(parents=True)
    (root / "shop" / "cart.py").write_text("def add_item(cart, item):\n    cart.append(item)\n")
    with GraphMem.open(db=root / ".graphmem", settings=Settings(embedder="none")) as memory:
        memory.parts.book.clock = clock
        memory.index(root)
        yield root, memory


def lines(root):
    return [line for line in (root / "MEMORY.md").read_text().splitlines() if line.startswith("- ")]


def contents(memory):
    return sorted(one.content for one in memory.memories().memories)


# ---- MEMORY.md


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


def test_an_id_whose_bracket_is_gone_is_no_part_of_the_words(project):
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


def test_an_emptied_or_missing_file_is_written_anew_and_forgets_nothing(project):
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


# ---- exports and imports

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


CLAUDE = """# Project

This service sells books and must never send mail in tests.

## Commands

- `make test` runs everything

```bash
- not a list item
```

## Style

- Always use double quotes
  and trailing commas
* Prefer functions over classes
- ok
"""


@pytest.mark.parametrize("name", ["CLAUDE.md", "AGENTS.md", "GEMINI.md", ".cursorrules"])
def test_rules_of_other_tools_become_typed_memories(project, name):
    _, memory = project
    answer = memory.import_memories(CLAUDE, name)
    found = {one.content: one.type for one in memory.memories().memories}
    assert found == {
        "This service sells books and must never send mail in tests.": "preference",
        "`make test` runs everything": "workflow_recipe",
        "Always use double quotes and trailing commas": "preference",
        "Prefer functions over classes": "preference",
    }
    assert {one.source for one in memory.memories().memories} == {"imported"}
    assert answer.counts == {"added": 4}
    assert answer.notes == ["left out, too short to say anything: line 18"]
    assert memory.import_memories(CLAUDE, name).counts == {"duplicate": 4}


FOREIGN = """Rules of the web client
=======================

1. Components are functions, never classes
2. Hooks begin with the word `use`
   and are pure
   - A hook that fetches needs a test

   of one client only

> A quotation of the manual stays out.

| a table | stays |
| --- | --- |
| out | too |

    indented code stays out

Workflow
--------

Run `npm test` before each
commit of the client. <!-- a remark -->

<!-- a comment
- with an item -->
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_form_of_lists_and_headings_is_read_and_only_text_is_kept(newline):
    found = importers.passages(FOREIGN.replace("\n", newline))
    assert [(one.text, one.heading, one.line, one.last) for one in found] == [
        ("Components are functions, never classes", "Rules of the web client", 4, 4),
        ("Hooks begin with the word `use` and are pure of one client only", "Rules of the web client", 5, 9),
        ("A hook that fetches needs a test", "Rules of the web client", 7, 7),
        ("Run `npm test` before each commit of the client.", "Workflow", 22, 23),
    ]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_block_that_install_wrote_is_no_memory_and_shifts_no_line(project, newline):
    _, memory = project
    text = newline.join(["# Rules", "", own_block.BEGIN, guides.BLOCK, own_block.END, "- Carts hold at most nine items", "- ok", ""])
    answer = memory.import_memories(text, "CLAUDE.md")
    assert contents(memory) == ["Carts hold at most nine items"]
    line = text.split(newline).index("- ok") + 1 + guides.BLOCK.count("\n") * (newline != "\n")
    assert answer.notes == [f"left out, too short to say anything: line {line}"]


def test_cursor_rules_keep_their_globs(project):
    _, memory = project
    memory.import_memories("---\ndescription: x\nglobs: src/**/*.ts, *.tsx\n---\n- Components are functions\n", ".cursor/rules/web.mdc")
    assert memory.memories().memories[0].tags == ["glob:src/**/*.ts", "glob:*.tsx"]


def test_the_same_file_read_again_confirms_nothing_and_another_one_does(project):
    root, memory = project
    for name in ("CLAUDE.md", str(root / "CLAUDE.md"), "./CLAUDE.md", "CLAUDE.md", "CLAUDE.md"):
        memory.import_memories(CLAUDE, name)
    assert {(one.strength, one.importance, one.confirmed_count) for one in memory.memories().memories} == {(1, 0.5, 0)}
    assert memory.memories().memories[0].sessions == ["file:CLAUDE.md"]
    memory.import_memories(CLAUDE, "AGENTS.md")
    assert {(one.strength, one.importance, one.confirmed_count) for one in memory.memories().memories} == {(2, 0.6, 1)}


def test_a_text_without_a_name_confirms_nothing_when_it_is_read_again(project):
    _, memory = project
    for _ in range(3):
        memory.import_memories(CLAUDE, format="claude")
    assert {one.strength for one in memory.memories().memories} == {1}


def test_what_came_from_a_file_can_be_taken_back_together(project):
    _, memory = project
    memory.remember("Carts are lists.", type="fact")
    memory.import_memories(CLAUDE, "CLAUDE.md")
    memory.retract("file:CLAUDE.md")
    assert contents(memory) == ["Carts are lists."]


def test_a_line_that_only_names_another_file_is_no_memory(project):
    _, memory = project
    text = "@docs/api-reference.md\n\n- @~/.claude/my-rules.md\n- [the guide](docs/guide.md)\n- Read @docs/api.md before you touch routes\n"
    answer = memory.import_memories(text, "CLAUDE.md")
    assert contents(memory) == ["Read @docs/api.md before you touch routes"]
    assert answer.notes == ["left out, only naming another file: lines 1, 3, 4"]


@pytest.mark.parametrize("name", [".cursorrules", ".cursor/rules/web.mdc"])
@pytest.mark.parametrize(
    "front",
    [
        "---\ndescription: Rules of the web client\nalwaysApply: true\nglobs: src/**/*.ts\n---\n",
        "\n---\ndescription: Rules of the web client\nglobs: src/**/*.ts\n---\n",
        "\ufeff---\r\ndescription: Rules of the web client\r\nglobs: src/**/*.ts\r\n---\r\n",
    ],
)
def test_what_stands_before_the_rules_is_no_rule(project, name, front):
    _, memory = project
    memory.import_memories(f"{front}- Components are functions\n", name)
    assert [(one.content, one.tags) for one in memory.memories().memories] == [("Components are functions", ["glob:src/**/*.ts"])]
    memory.import_memories("---\ndescription: nothing but this is said\n---", name)
    assert contents(memory) == ["Components are functions"]


def test_at_the_start_of_a_session_what_a_person_taught_comes_before_fragments_of_a_file(project):
    _, memory = project
    taught = memory.remember("Deploys need two approvals.", type="fact", source="user_taught", confidence=0.8).memory
    memory.import_memories("".join(f"- The service number {i} listens on port {8000 + i}\n" for i in range(60)), "facts.md")
    assert memory.parts.injector._finder.kept().standing[0] == taught.id


# ---- rules


def test_rules_apply_by_scope_the_most_specific_last(tmp_path):
    home, root = tmp_path / "home", tmp_path / "project"
    (home / ".graphmem").mkdir(parents=True)
    (home / ".graphmem" / "rules.md").write_text("Answer in English.\n")
    folder = root / ".graphmem" / "rules"
    folder.mkdir(parents=True)
    (folder / "b-all.md").write_text("Be brief.\n")
    (folder / "a-api.md").write_text("<!-- scope: api/**/*.py -->\nNo SQL in `views`.\n")
    found, notes = rules(root, home, ["api/v1/views.py"])
    assert [(rule.name, rule.origin) for rule in found] == [("rules", "user"), ("b-all", "project"), ("a-api", "project")]
    assert found[-1].text == "No SQL in `views`."
    assert notes == []
    assert [rule.name for rule in rules(root, home, ["web/app.ts"])[0]] == ["rules", "b-all"]
    assert len(rules(root, home)[0]) == 3


def test_a_rule_of_the_project_replaces_the_users_of_the_same_name(tmp_path):
    home, root = tmp_path / "home", tmp_path / "project"
    for place, text in ((home, "Answer in English."), (root, "Answer in French.")):
        (place / ".graphmem" / "rules").mkdir(parents=True)
        (place / ".graphmem" / "rules" / "language.md").write_text(text)
    (home / ".graphmem" / "rules" / "mine.md").write_text("Be brief.")
    assert [(one.name, one.origin, one.text) for one in rules(root, home)[0]] == [
        ("mine", "user", "Be brief."),
        ("language", "project", "Answer in French."),
    ]
    assert [one.text for one in rules(None, home)[0]] == ["Answer in English.", "Be brief."]
    # a rule whose scope does not fit still replaces the other, or two projects' worth of rules would apply by turns
    (root / ".graphmem" / "rules" / "language.md").write_text("<!-- scope: *.fr -->Answer in French.")
    assert [one.name for one in rules(root, home, ["a.py"])[0]] == ["mine"]


@pytest.mark.parametrize(
    ("scope", "found"),
    [("**/*.ts", {"ts"}), ("*.TS, **/*.tsx", {"ts", "tsx"}), ("api/*.ts", set()), ("*.ts, api/*.py", set()), ("", set())],
)
def test_a_scope_may_name_whole_languages(scope, found):
    assert endings(scope) == found


def test_git_sees_the_rules_of_a_project_and_nothing_else_of_its_index(project):
    root, memory = project
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    (root / ".graphmem" / "rules").mkdir()
    (root / ".graphmem" / "rules" / "style.md").write_text("Be brief.")
    seen = subprocess.run(["git", "ls-files", "-o", "--exclude-standard"], cwd=root, check=True, capture_output=True, text=True).stdout
    assert seen.split() == [".graphmem/rules/style.md", "shop/cart.py"]
    memory.index(root)
    assert not [one for one in memory.files(limit=100)[0] if one.path.startswith(".graphmem")]
    (root / ".graphmem" / ".gitignore").write_text("*\n")  # as an earlier version wrote it
    prepare_data_dir(root / ".graphmem")
    again = subprocess.run(["git", "ls-files", "-o", "--exclude-standard"], cwd=root, check=True, capture_output=True, text=True).stdout
    assert again == seen


def test_a_rule_that_leads_out_or_is_too_large_is_named_and_left_out(tmp_path):
    root = tmp_path / "project"
    folder = root / ".graphmem" / "rules"
    folder.mkdir(parents=True)
    (tmp_path / "secret.md").write_text("secret")
    (folder / "out.md").symlink_to(tmp_path / "secret.md")
    (folder / "large.md").write_text("x" * (65 << 10))
    (folder / "binary.md").write_bytes(b"\xff\xfe\x00")
    found, notes = rules(root, tmp_path / "nobody")
    assert found == []
    assert len(notes) == 3
    assert "secret" not in str(found)


@pytest.mark.parametrize(
    ("glob", "path", "fits"),
    [
        ("*.py", "a/b/c.py", True),
        ("api/*.py", "api/v1/x.py", False),
        ("api/**/*.py", "api/x.py", True),
        ("api/**/*.py", "api/v1/v2/x.py", True),
        ("**/test_*.py", "test_x.py", True),
        ("a, b/*.ts", "b/x.ts", True),
        ("**/" * 40 + "x", "/".join("y" * 60), False),
    ],
)
def test_globs(glob, path, fits):
    assert _matches(glob, path) is fits


@pytest.mark.parametrize("path", ["conftest.py", "Makefile", ".git/hooks/pre-commit", ".git/notes.md", "shop/cart.py"])
def test_memories_are_written_into_markdown_only(project, path):
    root, memory = project
    memory.remember("Carts are emptied after an order.", "gotcha")
    before = sorted((one, one.stat().st_mtime_ns) for one in root.rglob("*.py"))
    with pytest.raises(BadInputError, match="not a Markdown file"):
        memory.sync_file(path)
    assert not (root / path).exists() or path.endswith("cart.py")
    assert sorted((one, one.stat().st_mtime_ns) for one in root.rglob("*.py")) == before
