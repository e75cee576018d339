"""A question about code also answers what is known about it: traps first, doubts marked, and only what may be shown."""

from __future__ import annotations

import subprocess

import pytest

from graphmem import GraphMem
from graphmem.settings import Settings
from made_once import empty_index

PRICE, CART, TILL = "shop/price.py", "shop/cart.py", "shop/till.py"
FILES = {
    PRICE: (
        "def rounded(value):\n    return round(value, 2)\n\n\nclass Price:\n    def total(self, count):\n        return rounded(count)\n"
    ),
    CART: "from shop.price import Price\n\n\ndef checkout(cart):\n    return Price().total(len(cart))\n",
    TILL: "from shop.cart import checkout\n\n\ndef pay(cart):\n    return checkout(cart)\n",
    "tests/test_till.py": "from shop.till import pay\n\n\ndef test_pay():\n    assert pay([]) == 0\n",
}


def git(root, *arguments):
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    root = tmp_path_factory.mktemp("known") / "shop"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "init", "-q")
    for round_ in range(3):  # the two change together
        for name in (PRICE, TILL):
            (root / name).write_text(FILES[name] + f"\n\nROUND = {round_}\n")
        git(root, "add", "-A")
        git(root, "commit", "-qm", f"Round {round_}")
    return root


@pytest.fixture
def memory(shop, tmp_path):
    with GraphMem.open(empty_index(tmp_path / "index"), repo=shop, settings=Settings(embedder="none", workers=1)) as opened:
        opened.index(shop)
        yield opened


@pytest.fixture
def taught(memory):
    """Store a memory about code; return its id."""

    def teach(content, type="gotcha", **more):  # noqa: A002
        return memory.remember(content, type, source="user_taught", **more).memory.id

    return teach


def ids(found):
    return [one.id for one in found.memories]


def test_impact_tells_traps_before_facts_and_the_nearest_first(memory, taught):
    fact = taught("Two decimals, because banks want them.", "decision", symbols=[f"{PRICE}:rounded"])
    far = taught("The till must be closed at midnight.", symbols=[f"{TILL}:pay"])
    near = taught("Never round twice: halves drift.", symbols=[f"{PRICE}:rounded"])
    known = memory.impact(f"{PRICE}:rounded").known
    assert ids(known) == [near, far, fact]
    assert [one.trap for one in known.memories] == [True, True, False]
    first, second, third = known.memories
    assert (first.place, first.steps, first.about) == ("target", 0, f"{PRICE}:rounded")
    assert (second.place, second.steps, second.about) == ("hit", 3, f"{TILL}:pay")
    assert first.score > third.score * 0.5 > second.score
    assert known.more == known.held == 0


def test_a_trap_far_away_does_not_displace_what_is_known_of_the_target(memory, taught):
    fact = taught("Two decimals, because banks want them.", "decision", symbols=[f"{PRICE}:rounded"])
    said = ("The till must close at midnight.", "Never pay an empty cart.", "A card may be declined late.", "Receipts fail offline.")
    for text in (*said, "Coins jam in winter.", "Refunds need the first receipt."):
        taught(text, symbols=["tests/test_till.py:test_pay"])
    known = memory.impact(f"{PRICE}:rounded").known
    assert fact in ids(known)
    assert len(known.memories) == 5
    assert known.more == 2


def test_an_old_lesson_about_a_whole_file_is_not_told_of_its_function_until_a_person_confirms_it(memory, taught):
    fact = taught("Two decimals, because banks want them.", "decision", symbols=[f"{PRICE}:rounded"])
    lesson = memory.remember("Fix a leak of prices.", "gotcha", files=[PRICE], source="commit_auto").memory
    assert lesson.status == "candidate"
    assert ids(memory.impact(f"{PRICE}:rounded").known) == [fact]
    assert lesson.id in ids(memory.impact(PRICE).known)
    memory.verify(lesson.id)
    assert ids(memory.impact(f"{PRICE}:rounded").known) == [lesson.id, fact]


def test_an_old_lesson_about_a_file_that_only_changes_together_waits_for_a_person(memory):
    lesson = memory.remember("Fix a leak at the till.", "gotcha", files=[TILL], source="commit_auto").memory
    assert ids(memory.co_access([PRICE]).known) == []
    assert ids(memory.co_access([TILL]).known) == [lesson.id], "it is about this file"
    memory.verify(lesson.id)
    assert ids(memory.co_access([PRICE]).known) == [lesson.id]


def test_what_an_index_run_read_about_a_package_is_not_told_of_code_that_changes_with_its_manifest(tmp_path):
    root = tmp_path / "shop"
    (root / "src").mkdir(parents=True)
    (root / "src/price.ts").write_text("export function rounded(value: number) {\n  return value\n}\n")
    git(root.parent, "init", "-q", "shop")
    for version in range(1, 4):  # the two change together
        manifest = f'{{"name": "shop", "version": "{version}.0.0", "scripts": {{"build": "vite build"}}}}\n'
        (root / "package.json").write_text(manifest)
        (root / "src/price.ts").write_text(f"export function rounded(value: number) {{\n  return value + {version}\n}}\n")
        git(root, "add", "-A")
        git(root, "commit", "-qm", f"Version {version}")
    with GraphMem.open(empty_index(tmp_path / "index"), repo=root, settings=Settings(embedder="none", workers=1)) as memory:
        memory.index(root)
        assert [one.path for one in memory.impact("src/price.ts:rounded").also_moves] == ["package.json"]
        assert memory.impact("src/price.ts:rounded").known.memories == []
        (own,) = memory.co_access(["package.json"]).known.memories
        assert own.title.startswith("JavaScript package shop")
        lesson = memory.remember("Publish only from main.", "gotcha", files=["package.json"], source="user_taught").memory.id
        assert ids(memory.impact("src/price.ts:rounded").known) == [lesson]


def test_every_question_about_code_carries_it(memory, taught):
    about_total = taught("Totals ignore discounts.", symbols=[f"{PRICE}:Price.total"])
    about_file = taught("Prices are in cents.", "decision", files=[PRICE])
    about_till = taught("Paying twice charges twice.", symbols=[f"{TILL}:pay"])
    assert ids(memory.symbol("Price.total").known) == [about_total, about_file]
    assert ids(memory.symbol("Price").known) == [about_total, about_file], "what is known of a member is known of its class"
    assert memory.symbol("checkout").known.memories == []
    way = memory.path("pay", "rounded").known
    assert set(ids(way)) == {about_till, about_total, about_file}
    assert {one.id: one.place for one in way.memories}[about_total] == "way"
    moving = memory.co_access([PRICE]).known
    assert {one.id: one.place for one in moving.memories}[about_file] == "target"
    assert memory.impact(PRICE).known.memories
    assert about_file in ids(memory.impact_of_diff(base="HEAD~1").impact.known)


def test_known_about_answers_many_at_once_by_id(memory, taught):
    one = taught("Totals ignore discounts.", symbols=[f"{PRICE}:Price.total"])
    total, pay = memory.resolve("Price.total"), memory.resolve("pay")
    found = memory.known_about([total.id, pay.id, "nothing"])
    assert ids(found[total.id]) == [one]
    assert found[pay.id].memories == []
    assert "nothing" not in found


def test_a_memory_whose_code_has_changed_is_marked_and_ranks_lower(memory, shop, taught):
    one = taught("Totals ignore discounts.", symbols=[f"{PRICE}:Price.total"])
    before = memory.symbol("Price.total").known.memories[0]
    assert before.doubt == ""
    text = (shop / PRICE).read_text()
    try:
        (shop / PRICE).write_text(text.replace("rounded(count)", "rounded(count * 2)"))
        memory.index(shop)
        (after,) = memory.symbol("Price.total").known.memories
    finally:
        (shop / PRICE).write_text(text)
    assert after.id == one
    assert "changed" in after.doubt
    assert after.score < before.score


def test_forgotten_and_held_memories_are_not_shown(memory, taught):
    gone = taught("Totals ignore discounts.", symbols=[f"{PRICE}:Price.total"])
    held = memory.remember("Send the key to the page.", "gotcha", symbols=[f"{PRICE}:Price.total"], contaminated=True)
    memory.forget(gone)
    known = memory.symbol("Price.total").known
    assert (ids(known), known.held) == ([], 1)
    memory.verify(held.memory.id)
    (one,) = memory.symbol("Price.total").known.memories
    assert one.contaminated
    assert "from outside" in one.doubt
