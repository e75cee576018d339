"""A question that begins with why is answered with written reasons, or with the statement that none was found."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest

from graphmem.project.explaining.reasons import asks_why, reasons
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

QUEUE = '''"""Orders that wait."""

\f
def retry(order):
    # Payments are retried after a minute, because the bank locks an account for that long.
    return order


def parcel(order):
    """Return the parcel of an order."""
    return order


def label(order):
    """Return the lines of a label."""
    return [order]


class Carrier:
    def __init__(self, vans):
        self.vans = vans
'''
GUIDE = (
    "# Guide\u2028\n\n"
    "Addresses are stored as text. We chose text instead of columns, since every country orders its lines in another way.\n\n"
    "- **Stamps**: a stamp is bought late, because prices change.\n"
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    root = tmp_path_factory.mktemp("project") / "shop"
    (root / "docs").mkdir(parents=True)

    def git(*arguments):
        subprocess.run(
            ["git", "-c", "user.name=Ann", "-c", "user.email=a@mail.example", *arguments], cwd=root, check=True, capture_output=True
        )

    git("init", "-q")
    (root / "queue.py").write_text(QUEUE, encoding="utf-8")
    git("add", ".")
    git(
        "commit",
        "-q",
        "-m",
        "Queue orders",
        "-m",
        "Orders wait in a queue.\n\nA parcel has one order only, so that a refund never waits for another.",
    )
    (root / "docs" / "guide.md").write_text(GUIDE, encoding="utf-8")
    git("add", ".")
    git("commit", "-q", "-m", "Write a guide")
    with GraphMem.open(tmp_path_factory.mktemp("index") / "db", repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        memory.remember("Carts are deleted at night to keep the backup small.", "decision", files=["queue.py"])
        yield memory


@pytest.mark.parametrize(
    ("question", "kind", "said"),
    [
        ("why are payments retried", "comment", "because the bank locks an account"),
        ("Why is an address stored as text?", "text", "every country orders its lines"),
        ("why is a stamp bought late", "text", "Stamps: a stamp is bought late, because prices change."),
        ("what is the reason for deleting carts at night", "memory", "to keep the backup small"),
        ("why has a parcel one order", "commit", "so that a refund never waits"),
    ],
)
def test_a_reason_is_found_where_it_is_written(shop, question, kind, said):
    (first, *_) = shop.ask(question).reasons
    assert (first.kind, first.states) == (kind, True)
    assert said in first.text
    if kind in ("comment", "text"):
        assert first.line == (5 if kind == "comment" or "stamp" in question else 3)


@pytest.mark.parametrize(
    ("question", "memory", "states"),
    [
        ("why do jobs have conditions", "Paths are computed early, because JobCondition.OS_SUPPORTED may be unset.", False),
        ("why does JobCondition exist", "JobCondition exists because some systems lack features.", True),
        ("why are query runners released", "QueryRunner.release is called in a finally block; a leaked runner exhausts the pool.", True),
        ("why are query runners released", "QueryRunnerFactory.release is called in the end; a leak is seen by the monitor.", False),
        ("why throttle", "Upgrades use a map. We need the queue instead of GROUP_THROTTLE_WAIT.", False),
        ("why throttle", "Throttle the reload, because the registry limits requests.", True),
        ("why throttle", "Throttle is a setting. The map is kept, because it is slow to build.", False),
    ],
)
def test_a_passage_gives_a_reason_only_for_the_words_of_its_sentences(shop, question, memory, states):
    one = shop.remember(memory, "fact").memory
    try:
        assert any(reason.states and reason.ref == one.short_id for reason in shop.ask(question).reasons) is states
    finally:
        shop.forget(one.id)


def test_without_a_written_reason_the_nearest_passages_and_the_commit_that_brought_the_code_are_given(shop):
    found = shop.ask("why has label several lines").reasons
    assert not any(one.states for one in found)
    assert [one.title for one in found if one.kind == "commit"] == ["Queue orders (brought label)"]
    assert [one.text for one in found if one.kind == "comment"] == ["Return the lines of a label."]


def test_a_constructor_is_told_by_its_class(shop):
    found = shop.ask("why does Carrier.__init__ take vans").reasons
    assert [one.title for one in found if one.kind == "commit"] == ["Queue orders (brought Carrier)"]


@pytest.mark.parametrize(
    ("question", "is_why"),
    [("warum gibt es eine Queue", True), ("But why?", True), ("who calls why", False), ("how are payments retried", False)],
)
def test_only_questions_for_a_reason_are_taken_for_one(question, is_why):
    assert asks_why(question) is is_why


def test_a_search_that_took_too_long_is_named(shop, tmp_path):
    def search(*asked, kinds, **options):
        answer = shop.search(*asked, kinds=kinds, **options)
        return replace(answer, missing={"words": "deadline"}) if kinds == ["memory"] else answer

    _, notes = reasons("why are payments retried", [], search, tmp_path)
    assert "the search of memories took too long, so reasons in them may be missing; ask again" in notes


def test_other_questions_get_no_reasons(shop):
    assert shop.ask("how are payments retried").reasons == []


def test_a_project_without_git_is_answered_from_the_other_sources(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    (root / "queue.py").write_text(QUEUE, encoding="utf-8")
    with GraphMem.open(tmp_path / "db", repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        found = memory.ask("why are payments retried")
        assert [one.kind for one in found.reasons] == ["comment"]
        assert "no commits were searched, because the project is not under Git" in found.notes
        assert not any("git fsck" in note for note in found.notes)


def test_a_file_replaced_by_a_link_to_a_file_outside_is_not_read(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    (root / "queue.py").write_text(QUEUE, encoding="utf-8")
    (tmp_path / "secret.py").write_text(QUEUE.replace("the bank locks", "the vault locks"), encoding="utf-8")
    with GraphMem.open(tmp_path / "db", repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        (root / "queue.py").unlink()
        (root / "queue.py").symlink_to(tmp_path / "secret.py")
        assert memory.ask("why are payments retried").reasons == []


def test_the_command_says_whether_somebody_wrote_a_reason(shop, capsys):
    from graphmem.cli.output import Output
    from graphmem.cli.render.reasons import reply

    reply(Output(), shop.ask("why are payments retried"))
    assert "Passages that give reasons, but perhaps for another matter" in capsys.readouterr().out
    reply(Output(), shop.ask("why has label several lines"))
    assert "No memory, document, comment or commit message that was found gives a reason" in capsys.readouterr().out
