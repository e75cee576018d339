"""MEMORY.md is the person's: whatever else stands in it stays, and a dry run says what the real run does."""

from __future__ import annotations

import json
import os
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import GraphMem
from graphmem.errors import BadInputError
from graphmem.memory.files import sync
from graphmem.settings import Settings
from made_once import empty_index

OWN = """\
---
tags:
- not a memory
---
# The shop, for newcomers

We sell books.  This paragraph has two spaces and a\ttab.

| service | port |
|---------|------|
| api     | 8000 |

1. install the tools
2. docs are built by sphinx

## Architecture

The reasons are in docs/adr.

- Orders are final after payment.
  - nested: refunds are orders of their own
    - deeper: they have a number
- [ ] move the queue
* Prices are in cents.

```bash
- not a memory either
## nor a heading
```

> quoted: - and no memory
* * *
<!-- a note
- to myself
-->

## My own heading

Last words, without an end"""


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    (root / "cart.py").write_text("def add_item(cart, item):\n    cart.append(item)\n")
    with GraphMem.open(db=root / ".graphmem", settings=Settings(embedder="none", sync_files="NOTES.md")) as memory:
        memory.index(root)
        yield root, memory


def without_ids(text):
    """The lines of a document as the person typed them."""
    ends = re.split(r"\r\n|\r|\n", text)
    return [re.sub(r"^([ \t]{0,3}[-*+][ \t]+)(?:\[id:[^\]\n]*\][ \t]*|\[id:[^\]\s]*(?:[ \t]+|$))", r"\1", line) for line in ends]


def stands_in(lines, text):
    """Whether every line is in the text, in that order."""
    left = iter(without_ids(text))
    return all(line in left for line in lines)


def told(answer):
    """An answer without what only a real run can know: ids of what it has made."""
    conflicts = [(one.id, one.in_file, one.in_graph, bool(one.kept_as)) for one in answer.conflicts]
    return len(answer.added), answer.changed, answer.forgotten, answer.written, conflicts, answer.notes


def synced(memory, path=None):
    """A sync that did what its dry run had said."""
    file = sync.Path(memory.parts.graph.root_or_none()) / (path or "MEMORY.md")
    before = file.read_bytes() if file.exists() else None
    foreseen = memory.sync_file(path, dry_run=True)
    assert (file.read_bytes() if file.exists() else None) == before
    answer = memory.sync_file(path)
    assert told(foreseen) == told(answer)
    assert foreseen.dry_run
    return answer


def contents(memory):
    return sorted(one.content for one in memory.memories().memories)


def test_what_a_person_wrote_stays_where_it_stands(project):
    root, memory = project
    memory.remember("We use SQLite because there is one writer.", type="decision")
    memory.remember("Carts are lists.", type="fact")
    path = root / "MEMORY.md"
    path.write_text(OWN)
    answer = synced(memory)
    text = path.read_text()
    assert (len(answer.added), answer.written) == (3, 5)  # what is nested deeper is part of what it is nested in
    assert stands_in(without_ids(OWN), text)
    assert text.startswith(OWN[: OWN.index("- Orders")])
    assert text.index("Prices are in cents") < text.index("We use SQLite") < text.index("## My own heading") < text.index("## Stack")
    assert text.index("Last words") < text.index("## Stack") < text.index("Carts are lists")
    assert "- [ ] move the queue\n" in text
    assert text.count("[id:") == 5
    assert synced(memory) == memory.sync_file()
    assert path.read_text() == text


def test_what_a_person_adds_later_stays_as_well(project):
    root, memory = project
    memory.remember("We use SQLite because there is one writer.", type="decision")
    synced(memory)
    path = root / "MEMORY.md"
    more = path.read_text().replace("## Stack\n", "## My own heading\n\nA paragraph.\n\n1. docs are built by sphinx\n\n## Stack\n")
    path.write_text(more)
    memory.remember("Migrations run before the deployment, in a job of their own.", type="decision")
    answer = synced(memory)
    assert (answer.added, answer.changed, answer.forgotten, answer.written) == ([], [], [], 2)
    assert stands_in(without_ids(more), path.read_text())
    assert path.read_text().index("Migrations run") < path.read_text().index("## My own heading")


def test_the_graphs_changes_touch_the_lines_of_the_memories_alone(project):
    root, memory = project
    path = root / "MEMORY.md"
    path.write_bytes(("\ufeff" + OWN.replace("\n", "\r\n")).encode())
    synced(memory)
    cents = next(one for one in memory.memories().memories if "cents" in one.content)
    orders = next(one for one in memory.memories().memories if "nested" not in one.content and "Orders" in one.content)
    memory.update_memory(cents.id, content="Prices are in tenths of a cent since the merger.")
    memory.forget(orders.id)
    before = path.read_bytes().decode()
    answer = synced(memory)
    assert [orders.short_id in note for note in answer.notes] == [True]
    expected = before.replace(f"- [id:{orders.short_id}] Orders are final after payment.\r\n", "")
    expected = expected.replace("Prices are in cents.", "Prices are in tenths of a cent since the merger.")
    assert path.read_bytes().decode() == expected


def test_a_line_the_person_wrote_twice_is_one_memory_and_two_lines(project):
    root, memory = project
    text = "- Carts are emptied at midnight.\n- Carts are emptied at midnight.\n"
    (root / "MEMORY.md").write_text(text)
    assert synced(memory).written == 1
    strength = memory.memories().memories[0].strength
    assert synced(memory).added == []
    assert stands_in(without_ids(text), (root / "MEMORY.md").read_text())
    assert memory.memories().memories[0].strength == strength


def test_a_secret_stays_out_of_the_graph_and_is_not_taken_from_the_person(project):
    root, memory = project
    line = "- The deploy account of the mirror uses ghp_" + "a1B2c3D4" * 4 + "e5F6 since we moved to the new host."
    (root / "MEMORY.md").write_text(line + "\n")
    answer = synced(memory)
    assert any("a secret" in note and "line 1" in note for note in answer.notes)
    assert "ghp_" not in contents(memory)[0]
    assert stands_in([line], (root / "MEMORY.md").read_text())
    text = (root / "MEMORY.md").read_text()
    assert synced(memory).changed == []
    assert (root / "MEMORY.md").read_text() == text


def test_each_file_has_its_own_account_of_what_was_synced(project):
    root, memory = project
    (root / "MEMORY.md").write_text("- Orders are final after payment.\n")
    synced(memory)
    (root / "NOTES.md").write_text("# Notes of mine\n")
    assert synced(memory, "NOTES.md").forgotten == []
    assert contents(memory) == ["Orders are final after payment."]
    assert "Orders are final" in (root / "NOTES.md").read_text()


def test_an_account_of_an_earlier_version_is_understood(project):
    root, memory = project
    one = memory.remember("Orders are final after payment.", type="fact").memory
    (root / ".graphmem" / "memory-md.json").write_text(json.dumps({one.short_id: one.content}))
    (root / "MEMORY.md").write_text("# What project knows\n")
    assert synced(memory).forgotten == [one.id]


def test_lines_that_nobody_wrote_stand_by_use(project):
    root, memory = project
    first, second = (memory.remember(text, type="fact").memory for text in ("Carts are lists.", "Ports begin at 8000."))
    synced(memory)
    memory.note_use([second.id], "used")
    synced(memory)
    text = (root / "MEMORY.md").read_text()
    assert text.index(second.content) < text.index(first.content)
    (root / "MEMORY.md").write_text(text.replace(f"{second.content}\n", f"{second.content}\nSee the proxy.\n"))
    memory.note_use([first.id, first.id], "used")
    memory.note_use([first.id], "used")
    synced(memory)
    assert f"{second.content}\nSee the proxy.\n" in (root / "MEMORY.md").read_text()


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_link_or_a_file_that_may_not_be_written_is_told_before_anything_changes(project, dry_run):
    root, memory = project
    path = root / "MEMORY.md"
    (root / "real.md").write_text("- Orders are final after payment.\n")
    path.symlink_to("real.md")
    with pytest.raises(BadInputError, match=r"sync its target real\.md"):
        memory.sync_file(dry_run=dry_run)
    path.unlink()
    path.write_text("- Orders are final after payment.\n")
    path.chmod(0o444)
    with pytest.raises(BadInputError, match="read-only"):
        memory.sync_file(dry_run=dry_run)
    assert contents(memory) == []
    assert path.read_text() == (root / "real.md").read_text()


def test_a_file_that_is_written_by_somebody_else_meanwhile_is_theirs(project, monkeypatch):
    root, memory = project
    path = root / "MEMORY.md"
    path.write_text("- Orders are final after payment.\n")
    real = sync.merged

    def slow(*given):
        path.write_text("- Refunds take ten days, says the bank.\n")
        return real(*given)

    monkeypatch.setattr(sync, "merged", slow)
    with pytest.raises(BadInputError, match="changed during the sync"):
        memory.sync_file()
    assert path.read_text() == "- Refunds take ten days, says the bank.\n"
    monkeypatch.setattr(sync, "merged", real)
    memory.sync_file()
    assert contents(memory) == ["Orders are final after payment.", "Refunds take ten days, says the bank."]


def test_a_write_that_fails_leaves_the_file_as_it_was(project, monkeypatch):
    root, memory = project
    path = root / "MEMORY.md"
    path.write_text("- Orders are final after payment.\n")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Exception, match=r"[Nn]o space|disk is full"):
        memory.sync_file()
    monkeypatch.undo()
    assert path.read_text() == "- Orders are final after payment.\n"
    assert sorted(one.name for one in root.iterdir() if one.name.startswith(".MEMORY")) == []


# ---- any Markdown

WORDS = st.text("abcdefgh ijk.é`*_|>#-", min_size=1, max_size=24)
MARKDOWN = st.one_of(
    WORDS,
    st.builds("{}{} {}".format, st.sampled_from(["", " ", "  ", "    ", "\t"]), st.sampled_from(["-", "*", "+", "1.", "2)"]), WORDS),
    st.builds("- [id:{}] {}".format, st.text("0123abcdz", max_size=6), WORDS),
    st.builds("{} {}".format, st.sampled_from(["#", "##", "###"]), st.sampled_from(["Architecture", "Stack", "General", "stack", "Mine"])),
    st.sampled_from(
        ["", "", "```", "~~~~", "   ```py", "<!--", "-->", "<!-- x -->", "---", "* * *", "===", "| a | b |", "> - q", "- [id:12", "- [ ] t"]
    ),
)
DOCUMENTS = st.builds(
    lambda lines, end, last: end.join(lines) + last,
    st.lists(MARKDOWN, max_size=20),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\n"]),
)


@settings(max_examples=40)
@given(documents=st.lists(DOCUMENTS, min_size=1, max_size=6))
def test_of_any_markdown_every_line_is_still_there_in_order(tmp_path_factory, documents):
    root = tmp_path_factory.mktemp("any")
    with GraphMem.open(
        db=empty_index(root / ".graphmem"), settings=Settings(embedder="none", sync_files="m0.md,m1.md,m2.md,m3.md,m4.md,m5.md")
    ) as memory:
        memory.remember("Carts are lists.", type="fact")
        memory.remember("We use SQLite because there is one writer.", type="decision")
        for number, document in enumerate(documents):
            path = root / f"m{number}.md"
            path.write_bytes(document.encode())
            try:
                foreseen = memory.sync_file(path, dry_run=True)
            except BadInputError:  # a line that cannot be kept, for example one without a letter
                with pytest.raises(BadInputError):
                    memory.sync_file(path)
                assert path.read_bytes() == document.encode()
                continue
            answer = memory.sync_file(path)
            assert told(foreseen) == told(answer)
            once = path.read_bytes().decode()
            known = contents(memory)
            again = memory.sync_file(path)
            assert stands_in(without_ids(document) if document.strip() else [], once)  # a blank file is a new one
            assert (again.added, again.changed, again.forgotten, again.conflicts) == ([], [], [], [])
            assert path.read_bytes().decode() == once
            assert contents(memory) == known
