"""`graphmem review` on a real repository with a change, in every format."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

GIT = ("git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")


def git(root: Path, *words: str) -> None:
    subprocess.run([*GIT, "-C", str(root), *words], check=True, capture_output=True)


@pytest.fixture
def changed(graphmem, shop: Path) -> Path:
    """The shop with a memory, a history in which two files change together, and an uncommitted change."""
    git(shop, "init")
    (shop / ".gitignore").write_text(".graphmem\n")
    (shop / "pytest.ini").write_text("[pytest]\n")
    (shop / "rates.txt").write_text("0\n")
    git(shop, "add", "-A")
    git(shop, "commit", "-m", "Start")
    price = shop / "shop/price.py"
    for number in range(4):
        price.write_text(price.read_text().replace("def rounded", f"# {number}\ndef rounded"))
        (shop / "rates.txt").write_text(f"{number + 1}\n")
        git(shop, "commit", "-am", f"Rates {number}")
    price.write_text(
        price.read_text().replace("round(value, 2)", "round(value, 3)") + "\n\ndef unused(value: float) -> float:\n    return value\n"
    )
    assert graphmem("index", shop, "-q").code == 0
    assert graphmem("remember", "Totals are cut to 2 digits because invoices print `rounded`.", "--type", "gotcha", "-C", shop).code == 0
    return shop


def test_a_review_has_every_part(graphmem, changed: Path) -> None:
    ran = graphmem("review", "-C", changed, "--json")
    assert ran.code == 0, ran.said
    found = json.loads(ran.out)
    assert {one["symbol"]["name"]: one["change"] for one in found["changed"]} == {"rounded": "body", "unused": "added"}
    assert "Price.total" in {hit["symbol"]["qualname"] for hit in found["breaks"]}
    assert [(one["runner"], one["id"]) for one in found["tests"]] == [("pytest", "tests/test_cart.py::test_checkout")]
    assert [one["symbol"]["name"] for one in found["untested"]] == ["unused"]
    assert [one["memory"]["type"] for one in found["known"]] == ["gotcha"]
    assert found["known"][0]["about"]["name"] == "rounded"
    assert [one["path"] for one in found["forgotten"]] == ["rates.txt"]
    assert sum(one["points"] for one in found["risk"]["factors"]) == pytest.approx(found["risk"]["score"], abs=0.3)


def test_the_command_line_runs_the_selected_test(graphmem, changed: Path) -> None:
    command = graphmem("review", "-C", changed, "-q").out.strip()
    assert command == "pytest tests/test_cart.py::test_checkout"
    words = [sys.executable, "-m", *shlex.split(command), "-q", "-p", "no:cacheprovider"]
    run = subprocess.run(words, cwd=changed, capture_output=True, text=True, check=False, timeout=120)
    assert "1 passed" in run.stdout, run.stdout + run.stderr


def test_the_text_has_a_heading_for_each_part(graphmem, changed: Path) -> None:
    said = graphmem("review", "-C", changed).out
    for title in ("Changed", "Could break", "Tests to run", "Changed without a test", "Known about this code", "Usually changes along"):
        assert title in said, title


def test_a_comment_is_short_and_marked(graphmem, changed: Path) -> None:
    body = changed / "shop/price.py"
    body.write_text(body.read_text() + "".join(f"\n\ndef extra_{number}(@x) -> None: ...\n".replace("@", "") for number in range(80)))
    ran = graphmem("review", "-C", changed, "--format", "markdown")
    lines = ran.out.splitlines()
    assert lines[0] == "<!-- graphmem review -->"
    assert len(lines) <= 60
    assert ran.out.count("<details>") == ran.out.count("</details>") >= 5
    assert "more" in ran.out


def test_a_comment_uses_its_room_and_says_how_to_get_a_command_that_is_too_long(graphmem, changed: Path) -> None:
    body = changed / "shop/price.py"
    body.write_text(body.read_text() + "".join(f"\n\ndef extra_{number}(): ...\n" for number in range(80)))
    tests = "".join(f"\n\ndef test_that_a_price_is_rounded_to_whole_cents_{number}():\n    rounded(1)\n" for number in range(90))
    (changed / "tests/test_many.py").write_text(f"from shop.price import rounded\n{tests}")
    assert graphmem("index", changed, "-q").code == 0
    comment = graphmem("review", "-C", changed, "--format", "markdown").out
    assert 55 <= len(comment.splitlines()) <= 60
    assert "`graphmem review HEAD --quiet` prints it" in comment
    assert "- <code>tests/test\\_many.py</code> 90 tests" in comment
    assert "pytest tests" not in comment
    assert "&lt;module&gt;" not in comment
    assert graphmem("review", "HEAD", "--quiet", "-C", changed).out.count("test_that_a_price") == 90


def test_a_review_of_a_commit_does_not_repeat_its_own_lesson(graphmem, changed: Path) -> None:
    git(changed, "commit", "-am", "Fix rounding", "-m", "Never round twice, because totals drift by a cent otherwise.")
    assert graphmem("index", changed, "-q").code == 0
    lesson = "Never round twice"
    assert "Fix rounding" in graphmem("memory", "list", "-C", changed).out
    assert lesson not in graphmem("review", "HEAD~1", "-C", changed, "--json").out
    price = changed / "shop/price.py"
    price.write_text(price.read_text().replace("round(value, 3)", "round(value, 4)"))
    assert lesson in graphmem("review", "HEAD", "-C", changed, "--json").out
    comment = graphmem("review", "HEAD", "-C", changed, "--format", "markdown").out
    assert "- **earlier fix** <code>shop/price.py</code> Fix rounding" in comment


def test_a_comment_shows_memories_as_text(graphmem, changed: Path) -> None:
    told = "`rounded` is special: <img src=x> @everyone [click](https://example.org) **never**"
    assert graphmem("remember", told, "--type", "decision", "-C", changed).code == 0
    said = graphmem("review", "-C", changed, "--format", "markdown").out
    assert "is special" in said
    for markup in ("<img", "@everyone", "[click](", "https://", "**never"):
        assert markup not in said, markup


def test_sarif_and_junit(graphmem, changed: Path, tmp_path: Path) -> None:
    log = tmp_path / "review.sarif"
    assert graphmem("review", "-C", changed, "--format", "sarif", "--output", log).code == 0
    run = json.loads(log.read_text())["runs"][0]
    assert {one["ruleId"] for one in run["results"]} == {"breaks", "untested", "known", "forgotten"}
    for one in run["results"]:
        place = one["locations"][0]["physicalLocation"]
        assert (changed / place["artifactLocation"]["uri"]).is_file()
        assert run["tool"]["driver"]["rules"][one["ruleIndex"]]["id"] == one["ruleId"]
    suites = ET.fromstring(graphmem("review", "-C", changed, "--format", "junit").out)
    case = suites.find("testsuite[@name='pytest']/testcase")
    assert case is not None
    assert (case.get("file"), case.get("name")) == ("tests/test_cart.py", "test_checkout")


def test_one_run_writes_every_format(graphmem, changed: Path, tmp_path: Path) -> None:
    assert graphmem("review", "-C", changed, "--write-all", tmp_path / "all").code == 0
    written = {path.name: path.read_text() for path in (tmp_path / "all").iterdir()}
    assert set(written) == {"review.json", "comment.md", "review.sarif", "tests.xml", "commands.sh"}
    assert json.loads(written["review.json"])["risk"]["level"] == "low"
    assert written["commands.sh"] == "pytest tests/test_cart.py::test_checkout\n"


def test_the_risk_can_fail_a_build(graphmem, changed: Path) -> None:
    assert graphmem("review", "-C", changed, "--fail-on", "low").code == 1
    git(changed, "commit", "-am", "Change")
    nothing = graphmem("review", "-C", changed, "--fail-on", "low")
    assert nothing.code == 0, nothing.said


def test_a_range_of_revisions(graphmem, changed: Path) -> None:
    git(changed, "commit", "-am", "Change")
    found = json.loads(graphmem("review", "HEAD~1..HEAD", "-C", changed, "--json").out)
    assert found["files"] == ["shop/price.py"]
    assert "three dots" in graphmem("review", "HEAD~1...HEAD", "-C", changed).err


def test_a_damaged_history_is_a_limit_of_the_review(graphmem, changed: Path) -> None:
    assert [one["kind"] for one in json.loads(graphmem("review", "-C", changed, "--json").out)["causes"]].count("history") == 0
    (changed / ".graphmem" / "history.sqlite").write_bytes(b"no database " * 400)
    found = json.loads(graphmem("review", "-C", changed, "--json").out)
    assert found["forgotten"] == []
    assert "history" in {one["kind"] for one in found["causes"]}


def test_lists_that_are_cut_say_how_many_there_are(graphmem, changed: Path) -> None:
    for number in range(32):
        text = f"Reason {number} why `rounded` cuts: {'abcdefghijklmnopqrstuvwxyzäöüßéè'[number] * 9} invoices differ."
        assert graphmem("remember", text, "--type", "decision", "-C", changed).code == 0
    found = json.loads(graphmem("review", "-C", changed, "--json").out)
    assert (len(found["known"]), found["known_count"]) == (30, 33)
    assert "the first 30 of 33" in graphmem("review", "-C", changed, "--format", "markdown").out


BOX = """class Base:
    def size(self):
        return 0


class Box(Base):
    def __init__(self):
        self.held = []

    def put(self, one):
        self.held.append(one)
"""
BOX_TESTS = """class BoxMixin:
    def test_put(self):
        box = self.made()
        box.put(1)
        assert box.held == [1]

    def test_size(self):
        assert self.made().size() in (0, 1)
"""
BOX_RUNS = """import unittest

from box import Box
from shared import BoxMixin


class SmallTest(BoxMixin, unittest.TestCase):
    def made(self):
        return Box()


class LargeTest(SmallTest):
    def test_put(self):
        assert Box().held == []
"""


@pytest.fixture
def boxes(tmp_path: Path) -> Path:
    """Tests of a mixin, which two classes in another file run."""
    for name, text in {"box.py": BOX, "tests/shared.py": BOX_TESTS, "tests/test_box.py": BOX_RUNS}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = . tests\n")
    (tmp_path / ".gitignore").write_text(".graphmem\n__pycache__\n")
    git(tmp_path, "init")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-m", "Start")
    return tmp_path


def test_a_test_of_a_mixin_is_named_by_the_classes_that_run_it(graphmem, boxes: Path) -> None:
    box = boxes / "box.py"
    box.write_text(box.read_text().replace("self.held.append(one)", "self.held.insert(0, one)"))
    assert graphmem("index", boxes, "-q").code == 0
    found = json.loads(graphmem("review", "-C", boxes, "--json").out)
    ids = {one["id"] for one in found["tests"]}
    assert "tests/test_box.py::SmallTest::test_put" in ids  # `self.made()` has no known type, but the name is called
    assert "tests/test_box.py::LargeTest::test_put" not in ids  # is another test
    assert not any("Mixin" in one for one in ids)
    words = [sys.executable, "-m", *shlex.split(found["commands"][0]["command"]), "-q", "-p", "no:cacheprovider"]
    run = subprocess.run(words, cwd=boxes, capture_output=True, text=True, check=False, timeout=120)
    assert f"{len(ids)} passed" in run.stdout, run.stdout + run.stderr


def test_a_new_method_that_hides_an_inherited_one_has_tests(graphmem, boxes: Path) -> None:
    assert graphmem("index", boxes, "-q").code == 0
    words = [sys.executable, "-m", "pytest", "--graphmem", "-q", "-p", "no:cacheprovider"]
    subprocess.run(words, cwd=boxes, capture_output=True, check=True, timeout=120)
    box = boxes / "box.py"
    box.write_text(f"{box.read_text()}\n    def size(self):\n        return len(self.held)\n")
    assert graphmem("index", boxes, "-q").code == 0
    found = json.loads(graphmem("review", "-C", boxes, "--json").out)
    assert [(one["symbol"]["qualname"], one["change"]) for one in found["changed"]] == [("Box.size", "added")]
    assert {one["id"] for one in found["tests"]} == {
        "tests/test_box.py::SmallTest::test_size",
        "tests/test_box.py::LargeTest::test_size",
    }


def test_a_review_of_nothing_says_what_to_compare_with(graphmem, shop: Path) -> None:
    assert graphmem("index", shop, "-q").code == 0
    ran = graphmem("review", "-C", shop)
    assert "nothing changed; name what to compare with" in ran.out
    assert "risk" not in ran.out
