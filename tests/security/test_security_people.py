"""Changes of people, teams and roles are made together or not at all."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from unittest import mock

import pytest

from graphmem.errors import BadInputError, ForbiddenError
from graphmem.security.people import People
from graphmem.security.person import Person, access_of
from graphmem.security.personal_data import erase


@pytest.fixture
def people(tmp_path: Path):
    found = People(tmp_path)
    yield found
    found.close()


def test_an_invitation_that_fails_in_the_middle_leaves_nothing(people: People) -> None:
    people.invite("bob")
    with mock.patch.object(People, "_credential", side_effect=OSError("the disk is full")), pytest.raises(OSError, match="full"):
        people.invite("ann", team="shop", project="shop", level="admin")
    assert [one.login for one in people.all()] == ["bob"]
    assert not people.audit("ann")


def test_a_change_of_role_is_never_seen_without_a_role(people: People, tmp_path: Path) -> None:
    people.invite("ann", project="shop", level="write")
    seen = []
    note = People.note

    def looked(self: People, *given: str) -> None:
        with sqlite3.connect(next(tmp_path.rglob("people.sqlite"))) as other:
            seen.append(other.execute("SELECT level FROM role").fetchall())
        note(self, *given)

    with mock.patch.object(People, "note", looked):
        people.role("shop", "admin", login="ann")
    assert seen == [[("write",)]]
    assert people.level("ann", frozenset(), "shop") == "admin"


@pytest.mark.parametrize("machine", ["\u00c9tienne-laptop", "-", "...", "\u65e5\u672c"])
def test_an_invitation_works_on_a_machine_of_any_name(people: People, machine: str) -> None:
    login, secret = people.redeem(people.invite("ann"), machine)
    assert login == "ann"
    holder = people.holder(secret)
    assert holder is not None
    assert holder.login == "ann"


def test_the_audit_names_who_acted_and_for_whom(tmp_path: Path) -> None:
    people = People(tmp_path, "root")
    code = people.invite("ann", team="core", project="shop")
    _, secret = people.redeem(code, "laptop")
    people.session("ann")
    access = access_of(people, people.holder(secret), "shop")
    with access.person.doing("push") as details:
        details.append("generation 3")
    people.role("shop", "read", team="core")
    assert [(one.by, one.login, one.action) for one in people.audit()] == [
        ("operator root", "team core", "role read"),
        ("ann", "ann", "push"),
        ("ann", "ann", "logged in"),
        ("ann", "ann", "token created"),
        ("operator root", "ann", "invited"),
        ("operator root", "team core", "role write"),
        ("operator root", "ann", "joined team"),
    ]
    erase(people, "ann", "nothing")
    assert {one.by for one in people.audit()} == {"operator root"}
    people.close()


def test_the_audit_tells_how_an_operation_ended(people: People) -> None:
    people.invite("ann", project="shop")
    person = Person(people, "ann", frozenset(), "", "shop")
    details = lambda: people.audit("ann", limit=1)[0].details  # noqa: E731
    with person.doing("push") as said:
        assert details() == "not finished", "so it stays if the process is killed"
        said.append("generation 3")
    assert details() == "generation 3"
    with pytest.raises(ForbiddenError), person.doing("forget"):
        raise ForbiddenError("not yours", needs="curate", verb="forget")
    assert details() == "failed: FORBIDDEN"
    with pytest.raises(ZeroDivisionError), person.doing("forget"):
        1 / 0  # noqa: B018
    assert details() == "failed: INTERNAL"


def test_a_file_of_people_without_actors_gets_them_and_stays_readable(people: People, tmp_path: Path) -> None:
    people.invite("ann")
    people.close()
    with sqlite3.connect(tmp_path / "people.sqlite") as old:
        old.execute("ALTER TABLE act DROP COLUMN by")
    people.invite("bob")
    people.close()
    with sqlite3.connect(tmp_path / "people.sqlite") as old:  # an earlier graphmem names its columns
        old.execute("INSERT INTO act (at, login, action, project, details) VALUES ('2026-01-01T00:00:00+00:00', 'ann', 'push', 'shop', '')")
    assert [(one.login, one.action, one.by) for one in people.audit()] == [
        ("ann", "push", ""),
        ("bob", "invited", "operator"),
        ("ann", "invited", ""),
    ]


def test_nobody_is_created_by_a_code_that_does_not_exist(people: People) -> None:
    with pytest.raises(ForbiddenError):
        people.redeem("gp_x_y", "machine")
    with pytest.raises(BadInputError):
        people.invite("ann", project="shop", level="king")
    assert not people.exist
