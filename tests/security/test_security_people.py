"""Changes of people, teams and roles are made together or not at all."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from unittest import mock

import pytest

from graphmem.errors import BadInputError, ForbiddenError
from graphmem.security.people import People


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


def test_nobody_is_created_by_a_code_that_does_not_exist(people: People) -> None:
    with pytest.raises(ForbiddenError):
        people.redeem("gp_x_y", "machine")
    with pytest.raises(BadInputError):
        people.invite("ann", project="shop", level="king")
    assert not people.exist
