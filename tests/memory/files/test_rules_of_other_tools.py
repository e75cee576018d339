"""Rules that people wrote for other tools become memories of the right types."""

from __future__ import annotations

import pytest

from books import contents
from graphmem.hooks import guides
from graphmem.memory.files import importers
from graphmem.runtime.files import own_block

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
def test_the_block_that_install_wrote_is_not_a_memory_and_shifts_no_line(project, newline):
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


def test_a_line_that_only_names_another_file_is_not_a_memory(project):
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
def test_what_stands_before_the_rules_is_not_a_rule(project, name, front):
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
