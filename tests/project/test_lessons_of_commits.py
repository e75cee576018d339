"""A fix that explains a trap teaches about the code that it changed, and only while this code exists."""

from __future__ import annotations

import os
import subprocess

import pytest

from graphmem.errors import IndexCancelledError
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

WHY = "The cache was shared between threads, because the class attribute is evaluated once. It must be made in __init__."
BEGUN = (
    "class Cache:\n    items = {}\n\n    def get(self, key):\n        return self.items[key]\n\n\ndef total(cart):\n    return sum(cart)\n"
)
FIXED = BEGUN.replace("    items = {}\n", "    def __init__(self):\n        self.items = dict()\n")
ROUNDED = FIXED.replace("    return sum(cart)\n", "    exact = sum(map(decimal_of, cart))\n    return exact.quantize(CENT)\n")
REWRITTEN = ROUNDED.replace(
    "    def __init__(self):\n        self.items = dict()\n", "    def __init__(self, size):\n        self.kept = Lru(size)\n"
)
CALLER = "from shop import total\n\n\ndef receipt(cart):\n    return total(cart)\n"


@pytest.fixture
def commit(tmp_path):
    def made(message, **files):
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(text)
        who = {f"GIT_{one}_{what}": "ann@example.org" for one in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        for command in (["add", "-A", "*.py"], ["commit", "-q", "-m", message]):
            subprocess.run(["git", *command], cwd=tmp_path, check=True, env={**os.environ, **who}, timeout=60)

    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=tmp_path, check=True, timeout=60)
    made("Begin", shop=BEGUN, page=CALLER)
    return made


@pytest.fixture
def indexed(tmp_path):
    opened = []

    def made():
        opened.append(GraphMem.open(tmp_path, settings=Settings(embedder="none", workers=1, seeds=False)))
        opened[-1].index(tmp_path)
        return opened[-1]

    yield made
    for one in opened:
        one.close()


def _known(service, symbol):
    return [one.title for one in service.impact([symbol]).known.memories]


def test_a_fix_teaches_about_the_definitions_that_contain_its_lines(commit, indexed):
    commit(f"Fix race in the cache\n\n{WHY}", shop=FIXED)
    service = indexed()
    [lesson] = service.memories().memories
    assert {one.name for one in lesson.about} == {"shop.py", "shop.py:Cache.__init__"}
    assert _known(service, "Cache.__init__") == ["Fix race in the cache"]
    assert _known(service, "shop.py") == ["Fix race in the cache"]


def test_a_fix_is_not_told_of_other_code_of_its_file_or_of_its_callers(commit, indexed):
    commit(f"Fix race in the cache\n\n{WHY}", shop=FIXED)
    commit("Fix rounding\n\nThe total was wrong, because floats were added before they were rounded.", shop=ROUNDED)
    service = indexed()
    assert _known(service, "total") == ["Fix rounding"]
    assert _known(service, "receipt") == []


def test_a_fix_whose_code_was_rewritten_teaches_nothing(commit, indexed):
    commit(f"Fix race in the cache\n\n{WHY}", shop=FIXED)
    commit("Fix rounding\n\nThe total was wrong, because floats were added before they were rounded.", shop=ROUNDED)
    commit("Keep few items", shop=REWRITTEN)
    assert [one.title for one in indexed().memories().memories] == ["Fix rounding"]


def test_a_fix_that_only_deletes_teaches_about_its_file(commit, indexed):
    commit(f"Fix race in the cache\n\n{WHY}", shop=BEGUN.replace("    items = {}\n\n", ""))
    service = indexed()
    assert [[one.name for one in lesson.about] for lesson in service.memories().memories] == [["shop.py"]]
    assert _known(service, "total") == []
    assert _known(service, "shop.py") == ["Fix race in the cache"]


def test_a_fix_that_git_cannot_show_names_its_file_and_the_history_says_why(commit, tmp_path, indexed):
    old = subprocess.run(["git", "rev-parse", "HEAD:shop.py"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout.strip()
    commit(f"Fix race in the cache\n\n{WHY}", shop=FIXED)
    (tmp_path / ".git" / "objects" / old[:2] / old[2:]).unlink()  # as in a partial clone, or after damage
    service = indexed()
    [lesson] = service.memories().memories
    assert [one.name for one in lesson.about] == ["shop.py"]
    [note] = [one for one in service.co_access(["shop.py"]).notes if "lesson" in one]
    assert note.startswith(f"1 fix was not compared with the current code ({lesson.commit_sha[:12]}), so its lesson may be about code that")


def test_a_fix_in_a_file_whose_name_begins_with_a_tilde_teaches_too(commit, indexed):
    commit(f"Fix race in the cache\n\n{WHY}", **{"~shop": FIXED})
    [lesson] = indexed().memories().memories
    assert "~shop.py" in {one.name for one in lesson.about}


def test_a_lesson_outlives_an_index_run_that_was_interrupted_after_reading_it(commit, tmp_path, indexed):
    commit(f"Fix race in the cache\n\n{WHY}", shop=FIXED)
    stages = []
    with (
        GraphMem.open(tmp_path, settings=Settings(embedder="none", workers=1, seeds=False)) as service,
        pytest.raises(IndexCancelledError),
    ):
        service.index(tmp_path, on_progress=lambda step: stages.append(step.stage), cancelled=lambda: stages[-1:] not in ([], ["history"]))
    assert [one.title for one in indexed().memories().memories] == ["Fix race in the cache"]


def test_a_lesson_that_was_forgotten_is_not_learnt_again(commit, tmp_path, indexed):
    commit(f"Fix race in the cache\n\n{WHY}", shop=FIXED)
    service = indexed()
    service.forget(service.memories().memories[0].id, hard=True)
    service.index(tmp_path)
    commit("Name it", page=CALLER + "\n")
    service.index(tmp_path)
    assert service.memories().memories == []


def test_a_fix_in_a_file_that_it_renamed_teaches_about_its_own_lines_alone(commit, tmp_path, indexed):
    many = "\n\ndef receipt(cart):\n" + "".join(f"    print(cart.line_number({number}))\n" for number in range(20))
    commit("Print", shop=BEGUN + many)
    (tmp_path / "shop.py").unlink()
    commit(f"Fix race in the cache\n\n{WHY}", store=FIXED + many)
    [lesson] = indexed().memories().memories
    assert {one.name for one in lesson.about} == {"store.py", "store.py:Cache.__init__"}


def test_a_setting_that_joins_hunks_of_git_adds_no_lines_to_a_fix(commit, tmp_path, indexed):
    subprocess.run(["git", "config", "diff.interHunkContext", "50"], cwd=tmp_path, check=True, timeout=60)
    body = "\n\ndef receipt(cart):\n    print(cart.number)\n    print(cart.total)\n\n\ndef ended():\n    return {}\n"
    commit("Print", shop=BEGUN + body.format("cart_of_yesterday"))
    commit(f"Fix race in the cache\n\n{WHY}", shop=FIXED + body.format("cart_of_today"))
    [lesson] = indexed().memories().memories
    assert {one.name for one in lesson.about} == {"shop.py", "shop.py:Cache.__init__", "shop.py:ended"}


def test_a_link_out_of_the_project_is_not_read_for_a_fix(commit, tmp_path, tmp_path_factory, indexed):
    outside = tmp_path_factory.mktemp("outside") / "module.py"
    outside.write_text(f"{outside}\n")  # the line that the link adds to the repository
    (tmp_path / "linked.py").symlink_to(outside)  # /dev/zero would have no end
    commit(f"Fix race in the cache\n\n{WHY}")
    assert indexed().memories().memories == []


def test_a_fix_beside_a_path_is_not_told_of_the_path(commit, indexed):
    commit("Add bills", bill="from page import receipt\n\n\ndef bill(cart):\n    return receipt(cart)\n")
    commit(f"Fix leak of the printer\n\n{WHY}", page=f"{CALLER}\n\ndef printed(text):\n    return printer.write(text)\n")
    service = indexed()
    assert _known(service, "printed") == ["Fix leak of the printer"]
    assert [step.dst.name for step in service.path("bill", "total").steps] == ["receipt", "total"]
    assert service.path("bill", "total").known.memories == []
