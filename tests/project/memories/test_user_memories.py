"""A person's own memories are in every project, in the ranking, and leave with no project."""

from __future__ import annotations

import pytest

from graphmem import GraphMem
from graphmem.errors import BadInputError
from graphmem.location import find_project
from graphmem.memory.files.user_book import FILE, Own, UserBook
from graphmem.settings import Settings

TEXT = "Answers in the chat are one paragraph long and without headings."


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def open_(tmp_path, home):
    kept = []

    def opened(name):
        memory = GraphMem.open(tmp_path / name, settings=Settings(embedder="none"))
        kept.append(memory)
        return memory

    yield opened
    for memory in kept:
        memory.close()


def contents(memory):
    return [one.content for one in memory.memories().memories]


def begin(memory):
    return [one.id for one in memory.context("start", deadline_s=60).items if one.kind == "memory"]


def test_a_memory_of_a_person_is_in_the_next_project_and_leaves_it_when_it_is_forgotten(open_, home):
    one, two = open_("one"), open_("two")
    known = one.remember(TEXT, "preference", scope="user", source="user_taught").memory
    assert known.visibility == "personal"
    assert (home / ".graphmem" / FILE).stat().st_mode & 0o777 == 0o600
    assert contents(two) == [TEXT]
    assert known.id in begin(two)
    assert [hit.id for hit in two.search("how long are answers in the chat", kinds=["memory"]).hits] == [known.id]
    changed = two.update_memory(known.id, content="Answers in the chat are two paragraphs long.")
    assert begin(one) == [changed.id] == begin(two)
    one.forget(changed.id)
    assert begin(two) == []
    assert contents(two) == []


def test_a_search_finds_it_in_a_project_in_which_no_session_has_begun(open_):
    one, two = open_("one"), open_("two")
    known = one.remember(TEXT, "preference", scope="user", source="user_taught").memory
    assert [hit.id for hit in two.search("how long are answers in the chat", kinds=["memory"]).hits] == [known.id]


def test_its_id_names_it_in_a_project_in_which_no_session_has_begun(open_):
    one, two = open_("one"), open_("two")
    known = one.remember(TEXT, "preference", scope="user", source="user_taught").memory
    assert two.memory(known.short_id).content == TEXT


def test_it_is_exported_with_no_project(open_):
    memory = open_("one")
    memory.remember(TEXT, "preference", scope="user", source="user_taught")
    memory.remember("The shop closes at noon.", "fact", source="user_taught")
    for form in ("json", "markdown", "claude"):
        said = memory.export_memories(form)
        assert "closes at noon" in said
        assert "one paragraph" not in said


def test_a_preference_heard_in_one_project_is_used_in_the_next_and_a_rule_of_one_project_is_not(open_):
    one, two = open_("one"), open_("two")
    for number, text in enumerate(
        ("Remember: I prefer short answers without headings.", "Remember: this service never sends mail in tests.")
    ):
        one.observe([{"session_id": "s", "step": number, "kind": "message", "text": text, "args": {"role": "user"}}])
    assert len(contents(one)) == 2
    begin(two)
    assert contents(two) == ["I prefer short answers without headings."]


def test_words_of_strangers_stay_in_their_project(open_, home):
    memory = open_("one")
    memory.remember(TEXT, "preference", scope="user", source="agent_explicit", origin="web")
    assert not (home / ".graphmem" / FILE).exists()


def test_a_torn_line_costs_that_line_alone(home):
    book = UserBook(home / ".graphmem")
    book.put(Own("a", "One.", "fact"))
    with (home / ".graphmem" / FILE).open("ab") as file:
        file.write(b'{"id": 3}\n[]\n{"id": "torn", "content": "x')
    book.put(Own("b", "Two.", "preference", ("style",)))
    assert book.all() == {"a": Own("a", "One.", "fact"), "b": Own("b", "Two.", "preference", ("style",))}
    book.remove("a")
    book.remove("unknown")
    assert list(book.all()) == ["b"]


def test_changes_do_not_grow_the_file_and_a_missing_file_removes_nothing(open_, home):
    memory = open_("one")
    known = memory.remember(TEXT, "preference", scope="user", source="user_taught").memory
    file = home / ".graphmem" / FILE
    book = UserBook(file.parent)
    for number in range(20):
        book.put(Own(known.id, f"{TEXT} {number}", "preference"))
    assert len(file.read_text().splitlines()) == 1
    assert begin(memory) == [known.id]
    file.rename(file.with_name("elsewhere"))
    assert begin(memory) == [known.id]
    file.mkdir()  # it cannot be read
    assert begin(memory) == [known.id]
    with pytest.raises(BadInputError, match="cannot be read"):
        memory.remember("Names of tests are whole sentences.", "preference", scope="user", source="user_taught")


def test_a_persons_folder_makes_the_home_folder_no_project(home):
    work = home / "code" / "shop"
    (work / ".git").mkdir(parents=True)
    (work / "src").mkdir()
    (home / ".graphmem").mkdir()
    assert find_project(work / "src") == work.resolve()
    (home / ".graphmem" / "graph.db").touch()
    assert find_project(work / "src") == home.resolve()
