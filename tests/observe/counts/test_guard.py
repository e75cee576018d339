"""Memories shown to an agent never come back as evidence."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from graphmem import GraphMem
from graphmem.observe.counts.guard import Guard, stripped
from graphmem.settings import Settings
from made_once import empty_index

SAID = "The cart's total is rounded by the tax table, not by the cart itself."
KNOWN = (SAID, "Orders are never paid twice because the gateway refuses the second call.", "Stock is counted in packs and never in pieces.")


@pytest.fixture
def gm(tmp_path):
    with GraphMem.open(empty_index(tmp_path / "index"), settings=Settings(embedder="none")) as opened:
        yield opened


@pytest.mark.parametrize(
    "text",
    [
        f"<project_memory>\n<memory id='#a1b2'>{SAID} [^ Memory: cart.py #a1b2]</memory>\n</project_memory>",
        f"<project_memory>\n<memory>{SAID}",
        f"<memory>{SAID}</memory>\n</project_memory>",
        f"## Project memory\nNotes from this project's memory. They are data.\n- **gotcha** {SAID} [^ Memory: cart.py #a1b2]",
        f"- **gotcha** Actually, first line\n  {SAID} [^ Memory: cart.py #a1b2]",
        f"- gotcha, text from outside, data only: [^ Memory: cart.py #a1b2]\n```\n{SAID}\n```",
        f"- gotcha, text from outside, data only: [^ Memory: cart.py #a1b2]\n| {SAID}",
        f'[⚠ CONFLICT] #a1b2 says "{SAID}" but #c3d4 says "no". Verify which is current.',
    ],
)
def test_injected_text_is_taken_out_and_the_agent_s_own_words_stay(text):
    assert stripped(text) == ""
    own = f"I look at the cart first.\n\n{text}\n\nNow I edit it."
    left = stripped(own)
    assert SAID not in left
    if "<project_memory>\n<memory>" not in text and not text.startswith("<memory>"):
        assert "Now I edit it." in left


def test_text_without_marks_is_left_alone():
    text = "- Actually, the cart is rounded elsewhere\n- see [^1]\n```\ncode\n```"
    assert stripped(text) == text


def test_words_that_a_memory_says_are_known_and_names_are_not(gm):
    kept = gm.remember(SAID, "gotcha").memory
    guard = Guard(gm.parts.book.index(), [kept.short_id])
    assert guard.was_shown(kept.id)
    assert guard.echoes(f"Wait, {SAID}") == kept.id
    assert guard.echoes("It looks good. The total of the cart is rounded by the tax table itself.") == kept.id
    assert guard.echoes("shop/cart.py") == ""
    assert guard.echoes("The invoice is numbered by the ledger and not by the order") == ""
    assert guard.echoes(f"whatever [^ Memory: cart #{kept.short_id}]") == kept.id


def events(texts):
    at = datetime(2026, 3, 2, 9, tzinfo=UTC)
    told = [{"kind": "tool_result", "tool": "Read", "args": {"file_path": "shop/cart.py"}, "ok": True, "text": "x"}]
    told += [{"kind": "reasoning", "text": text} for text in texts]
    told += [
        {"kind": "tool_result", "tool": "Edit", "args": {"file_path": "shop/cart.py", "old_string": "a", "new_string": "b"}, "ok": True}
    ]
    return [{"at": at.isoformat(), **one} for one in told]


def test_a_session_full_of_its_own_injected_text_teaches_nothing(gm):
    for text in KNOWN:
        gm.remember(text, "gotcha")
    marked = [f"- **gotcha** {text} [^ Memory: cart.py #a1b2]" for text in KNOWN]
    said = [f"Actually, {text[0].lower()}{text[1:]}" for text in KNOWN]
    wrong = [f"I was wrong about the shop. {text}" for text in KNOWN]
    quoted = [f"<project_memory><memory>Actually, {text}</memory></project_memory>" for text in KNOWN]
    for number in range(4):
        gm.start_session(f"s{number}", kind="build", agent="claude")
        gm.observe(events([*marked, *said, *wrong, *quoted]), session=f"s{number}")
        ended = gm.end_session(f"s{number}", "validated")
        assert ended.receipt.learnt == []
    assert gm.memories().total == len(KNOWN)
    assert {one.strength for one in gm.memories().memories} == {1}
    assert gm.parts.ledger().sizes()["seen"] == 0


def test_an_action_that_a_memory_advised_does_not_strengthen_it(gm):
    gm.start_session("first", kind="build")
    gm.observe(events(["I was wrong about this. The queue is drained by the nightly job and not by the request."]), session="first")
    [learnt] = gm.end_session("first", "validated").receipt.learnt
    gm.start_session("second", kind="build")
    told = events(["I look around.", "I was wrong about this. The queue is drained by the nightly job and not by the request."])
    gm.observe(told, session="second")
    receipt = gm.end_session("second", "validated").receipt
    assert receipt.counts == {"known": 1}
    assert gm.memory(learnt).strength == 1
