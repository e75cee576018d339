"""People and programs among the authors of commits, and people with several names."""

from __future__ import annotations

import pytest

from graphmem.history.authors import is_bot, is_routine, one_name_each


@pytest.mark.parametrize(
    "name",
    ["renovate[bot]", "shop release bot", "Shop Release Automation", "ci-bot", "dependabot-preview", "Copilot", "GitHub Actions", "Bot"],
)
def test_a_program_is_not_a_person(name):
    assert is_bot(name)


@pytest.mark.parametrize("name", ["Ann Lee", "angelbot", "Phil Talbot", "Renovatus", "copilotka", "Bot Meyer"])
def test_a_person_whose_name_only_looks_so_is_not_a_program(name):
    assert not is_bot(name)


def test_a_program_that_changes_code_is_not_routine_and_one_that_updates_versions_is():
    assert [
        is_routine(name) for name in ("renovate[bot]", "dependabot[bot]", "ci-bot", "copilot-swe-agent[bot]", "Copilot", "Ann Lee")
    ] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ]


def test_names_with_one_address_or_that_differ_in_case_are_one_person():
    ann, lower, work = ("Ann Lee", "a@home.org"), ("ann  lee", "a@work.org"), ("alee", "A@work.org")
    names = one_name_each([ann, ann, lower, work, ("Bo", "b@home.org")])
    assert [names[one] for one in (ann, lower, work, ("Bo", "b@home.org"))] == ["Ann Lee", "Ann Lee", "Ann Lee", "Bo"]


def test_an_address_that_several_people_have_joins_nobody():
    shared = ("noreply@github.com", "root@localhost", "")
    commits = [(f"{name} {i}", address) for i, address in enumerate(shared) for name in ("Ann", "Bo")]
    assert one_name_each(commits) == {author: author[0] for author in commits}
