"""Ranking of files that change together, and of files to read first."""

from __future__ import annotations

import pytest

from graphmem.history import coaccess
from graphmem.history.change_log import AGENT, Change, HistoryLog
from graphmem.history.co_edits import History
from graphmem.history.coaccess_often import often_with

DAY = 86_400.0


@pytest.fixture
def told(tmp_path):
    """A history of changes, one a day, each a list of files."""

    def made(*changes, **more):
        log = HistoryLog(tmp_path / "history.sqlite")
        log.append([Change(AGENT, DAY * (100 + day), tuple(files), f"s{day}") for day, files in enumerate(changes)])
        if more:
            log.append([Change(AGENT, DAY * 1_000, (), "end", **more)])
        history = History().follow(log)
        log.close()
        return history

    return made


def order(history, *files, **given):
    return [history.nodes[one.node].path for one in coaccess.rank(history, files, **given)]


def test_a_file_that_recently_moved_with_both_comes_before_one_that_moved_with_one_long_ago(told):
    old = [["app/a.py", "other/old.py"]] * 6
    new = [["app/a.py", "app/b.py", "other/both.py"]] * 2
    assert order(told(*old, *new), "app/a.py", "app/b.py")[0] == "other/both.py"


def test_of_two_that_moved_alike_the_one_in_the_folder_comes_first(told):
    history = told(["app/a.py", "app/b.py"], *[["app/a.py", "app/b.py", "zz/far.py", "app/near.py"]] * 3)
    assert order(history, "app/a.py", "app/b.py")[:2] == ["app/near.py", "zz/far.py"]


def test_what_moved_with_one_of_them_only_stands_back(told):
    history = told(*[["a.py", "x/one.py"], ["b.py", "y/two.py"]] * 3, ["a.py", "y/two.py"], ["b.py", "z/three.py"])
    found = {history.nodes[one.node].path: one.parts["apart"] for one in coaccess.rank(history, ["a.py", "b.py"])}
    assert found["y/two.py"] > found["x/one.py"]  # moved with both; never with b.py


def test_with_one_file_given_there_is_nothing_to_belong_to_together(told):
    history = told(*[["app/a.py", "app/b.py", "c.py"]] * 3)
    for one in coaccess.rank(history, ["app/a.py"]):
        assert (one.parts["folder"], one.parts["apart"]) == (0.0, 0.0)
        assert one.score == pytest.approx(sum(one.parts.values()))


def test_a_files_own_last_changes_count_whatever_the_calendar_says(told):
    history = told(*[["rare.py", "then.py"]] * 3, *[["busy.py"]] * 90, *[["rare.py", "now.py"]] * 3)
    assert order(history, "rare.py")[0] == "now.py"


def test_work_on_a_place_begins_with_what_most_of_its_changes_touched(told):
    history = told(
        ["shop/cart.py", "shop/tax.py", "docs/shop.md"],
        ["shop/cart.py", "docs/shop.md", "gone.py"],
        ["shop/tax.py", "docs/shop.md", "gone.py"],
        ["shop/cart.py", "shopping.py", "gone.py"],
        deleted=("gone.py",),
    )
    assert often_with(history, ["shop"]) == [("docs/shop.md", 0.75, 3, 4), ("shop/cart.py", 0.75, 3, 4)]
    assert [one.path for one in often_with(history, ["shop/cart.py"])] == ["shop/cart.py", "docs/shop.md"]
    assert often_with(history, ["shopping.py"]) == []  # one change says nothing
    assert often_with(history, ["nowhere"]) == []


@pytest.mark.parametrize("files", [["a.py"], ["a.py", "unknown.py"], ["unknown.py"], ["a.py", "b.py", "c.py"]])
def test_files_that_history_does_not_know_are_not_a_fault(told, files):
    history = told(*[["a.py", "b.py", "c.py", "d.py"]] * 3)
    assert "d.py" in order(history, *files)


def test_large_changes_do_not_make_two_files_move_together(told):
    large = [["a.py", "b.py", *(f"x{number}.py" for number in range(coaccess.SMALL))]] * 4
    history = told(["a.py", "own.py"], *large, ["a.py", "own.py"], ["a.py"])
    found = {path: one.focus for path in ("b.py", "own.py") for one in coaccess.evidence(history, ["a.py"], [history.known(path)])}
    assert found == {"b.py": 0.0, "own.py": pytest.approx(2 / 3)}
