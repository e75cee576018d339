"""The operations of a project, and the exchange of a server that nobody asks."""

from __future__ import annotations

import pytest

from commands import git
from graphmem import GraphMem
from graphmem.errors import SharingError
from graphmem.runtime.network.server_address import shown
from graphmem.server.keeper import TASKS
from graphmem.settings import Settings, load_settings
from graphmem.sharing.identity import person_of, project_key

NOWHERE = "postgresql://ann:secret@/none?host=/nowhere"


@pytest.fixture
def opened(tmp_path):
    kept = []

    def open_(name, address):
        kept.append(GraphMem.open(tmp_path / name, settings=Settings(embedder="none", sync_url=address, sync_person=name)))
        return kept[-1]

    yield open_
    for one in kept:
        one.close()


def test_a_server_exchanges_by_itself_and_leaves_the_engine_at_rest(opened, url) -> None:
    [work] = [task.work for task in TASKS if task.name == "memories shared"]
    ann, ben = opened("Ann", url), opened("Ben", url)
    ann.remember("Carts expire after a day.", source="user_taught")
    assert ann.sync_memories(key="shop").pushed == 1
    assert ben.sync_memories(key="shop").added == 1
    ann.remember("Totals are rounded once, at the end.", source="user_taught")
    assert work(ann) == "1 sent, 0 received"
    assert work(ann) == ""  # a minute has not passed
    ben.parts.book.flush()
    assert ben.rest(0.0)
    ann.parts.sharing._due = ben.parts.sharing._due = 0.0
    assert work(ann) == ""
    assert work(ben) == "0 sent, 1 received"
    ben.parts.book.flush()
    ben.rest(0.0)
    ben.parts.sharing._due = 0.0
    assert work(ben) == ""
    assert not ben.rest(0.0), "an exchange of nothing opened the engine"


def test_the_news_say_who_taught_what(opened, url) -> None:
    ann, ben = opened("Ann", url), opened("Ben", url)
    told = ann.remember("Carts expire after a day.", source="user_taught", files=["shop/cart.py"]).memory
    ann.remember("I dislike tabs in this project.", source="user_taught", visibility="personal")
    ann.remember("Fix a leak: carts are closed twice otherwise.", "gotcha", source="commit_auto", files=["shop/leak.py"])
    ann.sync_memories(key="shop")
    ben.sync_memories(key="shop")
    ann.update_memory(told.id, content="Carts expire after an hour.")
    ben.update_memory(told.id, content="Carts expire after a week.")
    ben.remember("Totals are rounded once, at the end.", source="user_taught")
    ann.sync_memories()
    ben.sync_memories()
    found = ben.team_news(days=1)
    assert {(one.title, one.person, one.is_new) for one in found.learnt} == {
        ("Carts expire after an hour", "Ann", True),
        ("Carts expire after a week", "Ben", True),
        ("Totals are rounded once, at the end", "Ben", True),
        ("Fix a leak: carts are closed twice otherwise", "", True),  # Ann's machine read it in a commit; she did not write it
    }
    assert [one.field for one in found.disagreements] == ["text"]
    assert [one.title for one in found.important] == ["Totals are rounded once, at the end"]  # the others are disputed
    assert {one.person: (one.memories, one.files) for one in found.knows}["Ann"] == (1, ["shop/cart.py"])
    assert ben.team_news(days=1, limit=1).total == 4


def test_offline_nothing_is_lost_and_the_status_says_why(opened, url) -> None:
    ann = opened("Ann", url)
    ann.remember("Carts expire after a day.", source="user_taught")
    ann.sync_memories(key="shop")
    ann.close()
    ann = opened("Ann", NOWHERE)
    ann.remember("Totals are rounded once, at the end.", source="user_taught")
    assert ann.sync_when_due() == ""
    status = ann.sharing_status()
    assert status.waiting == 1
    assert "cannot be reached" in status.error
    assert "secret" not in status.error + status.address
    assert ann.doctor()["sharing"]["waiting"] == 1
    assert ann.sync_memories(url).waiting == 0
    assert ann.sharing_status().error == ""


def test_a_wrong_login_is_told_from_a_database_that_cannot_be_reached(opened, url) -> None:
    wrong = url.replace("postgresql://graphmem@", "postgresql://stranger:secret@")
    assert wrong != url
    with pytest.raises(SharingError, match="rejected the connection; check login, password and name") as refused:
        opened("Ann", wrong).sync_memories(key="shop")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "address",
    [
        "ann:secret@db/team",
        "host=db password=secret",
        "postgresql://ann:secret%@localhost:1/team",
        "postgresql://ann:?secret@localhost:1/team",
        "postgresql://ann:@secret@localhost:1/team",
        "postgresql://ann:secret/@localhost:1/team",
        "postgresql://localhost:1/team?password=secret",
        "postgresql://localhost:1/team?password=@secret",
        "postgresql://localhost:1/team?password=secret@",
        "postgresql://localhost:1/team?wrong=1&password=secret%",
    ],
)
def test_no_answer_and_no_error_has_the_password(opened, address) -> None:
    ann = opened("Ann", address)
    with pytest.raises(SharingError) as caught:
        ann.sync_memories(key="shop")
    assert "secret" not in str(caught.value)
    assert "secret" not in str(ann.sharing_status())


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("", ""),
        ("postgresql://db/team", "postgresql://db/team"),
        ("postgresql://ann:x@db:5432/team?sslmode=verify-full&passfile=/x", "postgresql://ann@db:5432/team?sslmode=verify-full"),
    ],
)
def test_an_address_stays_readable(address, text) -> None:
    assert shown(address) == text


def test_deleted_memories_come_back_only_when_asked(opened, url) -> None:
    ann = opened("Ann", url)
    ann.remember("Carts expire after a day.", source="user_taught")
    ann.sync_memories(key="shop")
    ann.remember("Not sent yet: carts of guests expire at once.", source="user_taught")
    assert "sharing.sqlite" in ann.delete_all(ann.project().name).files
    assert not (ann.parts.data_dir / "sharing.sqlite").exists()
    assert "all memories were deleted on this machine" in ann.sync_when_due()
    assert ann.memories().total == 0
    assert ann.sync_memories().added == 1


def test_a_project_keeps_its_key(opened, url) -> None:
    ann = opened("Ann", url)
    ann.sync_memories(key="shop")
    with pytest.raises(SharingError, match="is shared with the team under the project key shop"):
        ann.sync_memories(key="another")
    assert ann.sharing_status().project == "shop"


def test_clones_have_the_same_key_under_any_name(tmp_path) -> None:
    first = tmp_path / "first"
    (first / "inner").mkdir(parents=True)
    (first / "inner" / "a.py").write_text("A = 1\n", encoding="utf-8")
    git(first, "init", "-q")
    git(first, "add", ".")
    git(first, "commit", "-qm", "first")
    git(first, "commit", "-qm", "second", "--allow-empty")
    git(tmp_path, "clone", "-q", str(first), "second")
    git(tmp_path, "clone", "-q", "--depth", "1", first.as_uri(), "shallow")
    assert project_key(first) == project_key(tmp_path / "second")
    assert project_key(first / "inner") == project_key(first) + ":inner"
    assert project_key(tmp_path / "shallow").startswith("id:")
    git(first, "config", "user.name", "Ann \u202e\x1b[31m")
    git(first, "config", "user.email", "ann@example.org")
    assert person_of(first, "") == "Ann   [31m <ann@example.org>"
    assert person_of(first, " Ben ") == "Ben"


def test_a_repository_cannot_choose_the_database(tmp_path) -> None:
    (tmp_path / "graphmem.toml").write_text('sync_url = "postgresql://evil/x"\nsync_person = "Ann"\n', encoding="utf-8")
    settings = load_settings(tmp_path, {})
    assert (settings.sync_url, settings.sync_person) == ("", "")
    assert len(settings.ignored) == 2
