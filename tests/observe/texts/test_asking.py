"""A person's request to remember is learnt once.

An error of one run is learnt once, too.
"""

from __future__ import annotations

import pytest

from graphmem import GraphMem
from graphmem.observe.texts.prompts import request_in
from graphmem.observe.texts.words import error_line, fingerprint, same_error
from graphmem.settings import Settings
from made_once import empty_index

PROMPT = "no, that's wrong: we never call make here, use tox -e docs. Remember that."


@pytest.fixture
def gm(tmp_path):
    with GraphMem.open(empty_index(tmp_path / "index"), settings=Settings(embedder="none")) as memory:
        yield memory


def said(text, step=1, role="user"):
    return {"session_id": "s", "step": step, "at": 1767261600 + step, "kind": "message", "text": text, "args": {"role": role}}


def tool(step, name, args, text="", *, ok=True):
    return {
        "session_id": "s",
        "step": step,
        "at": 1767261600 + step,
        "kind": "tool_result",
        "tool": name,
        "args": args,
        "ok": ok,
        "text": text,
    }


def learnt(gm):
    return [(one.type, one.content) for one in gm.memories().memories]


def test_a_correction_with_the_wish_to_remember_it_is_learnt_at_once(gm):
    gm.observe([said(PROMPT)])
    gm.end_session("s", "")
    assert learnt(gm) == [("correction", "we never call make here, use tox -e docs.")]
    memory = gm.memories().memories[0]
    assert (memory.status, memory.source, memory.sessions) == ("confirmed", "agent_explicit", ["s"])


def test_the_same_wish_in_three_sessions_is_one_memory(gm):
    for session in ("a", "b", "c"):
        gm.observe([{**said(PROMPT), "session_id": session}])
        gm.end_session(session, "")
    assert len(learnt(gm)) == 1


def test_an_agent_s_own_remember_is_not_a_person_s_wish(gm):
    gm.observe([said("Remember that the docs are built with tox here.", role="assistant")])
    gm.end_session("s", "")
    assert learnt(gm) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Remember that releases are cut on Mondays.", ("releases are cut on Mondays.", False)),
        ("/remember the mirror is read-only", ("the mirror is read-only", False)),
        ("Please remember: carts are lists.", ("carts are lists.", False)),
        ("Keep in mind that the mirror is slow.", ("the mirror is slow.", False)),
        ("We deploy from main. Please remember this!", ("We deploy from main.", False)),
        (PROMPT, ("we never call make here, use tox -e docs.", True)),
        ("Do you remember that function in the parser?", ("", False)),
        ("Remember to run the tests afterwards.", ("", False)),
        ("Remember that.", ("", False)),
        ("Is the mirror slow? Remember that.", ("", False)),
        ("I remember that it was slow once.", ("", False)),
        ("Add a test for the parser.", ("", False)),
    ],
)
def test_only_a_statement_that_is_asked_to_be_remembered_is_a_wish(text, expected):
    heard = request_in(text)
    assert (heard.wish, heard.corrects) == expected
    assert not heard.pasted


# ---- errors

WHOLE = (
    "    def test_default_map():\nE   TypeError: unsupported operand type(s) for +: 'int' and 'str'\n\ntests/test_core.py:9: TypeError\n"
)
SUMMARY = "FAILED tests/test_core.py::test_default_map - TypeError: unsupported operand type(s) for +: 'int' and 'str'\n1 failed in 0.1s\n"
CUT = "FAILED tests/test_core.py::test_default_map - TypeError: unsupported operand ty...\n1 failed in 0.1s\n"


def test_the_lines_of_one_output_about_one_error_have_one_fingerprint():
    assert fingerprint(error_line(WHOLE)) == fingerprint(error_line(SUMMARY))
    assert same_error(fingerprint(error_line(WHOLE)), fingerprint(error_line(CUT)))
    assert not same_error(fingerprint("TypeError: unsupported operand"), fingerprint("TypeError: ..."))
    assert not same_error(fingerprint("TypeError: unsupported operand"), fingerprint("ValueError: unsupported operand ty..."))


@pytest.mark.parametrize("outputs", [(WHOLE, SUMMARY), (SUMMARY, WHOLE), (WHOLE, CUT), (CUT, WHOLE)])
def test_one_error_told_in_two_ways_is_found_once(gm, outputs):
    run = {"command": "pytest -q"}
    gm.observe(
        [
            *(tool(step, "Bash", run, text, ok=False) for step, text in enumerate(outputs, 1)),
            tool(3, "Edit", {"file_path": "core.py", "old_string": "a", "new_string": "b"}),
            tool(4, "Bash", run, "1 passed in 0.1s"),
        ]
    )
    receipt = gm.end_session("s", "validated").receipt
    assert len([one for one in receipt.verdicts if one.signal == "error_retry"]) == 1


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("No, that's wrong: the client uses anyio, not trio.", "the client uses anyio, not trio."),
        ("Wrong. Timeouts are seconds here, not milliseconds. Change it.", "Timeouts are seconds here, not milliseconds."),
        ("Actually, `parse_date` returns an aware datetime.", "`parse_date` returns an aware datetime."),
        ("You're wrong, the pool holds ten connections.", "the pool holds ten connections."),
        ("Nein, das ist falsch: io/stream.py puffert höchstens 100 MB.", "io/stream.py puffert höchstens 100 MB."),
        ("Das stimmt nicht. Die Tests laufen mit unittest.", "Die Tests laufen mit unittest."),
        ("Nein, der Build ist noch kaputt.", ""),  # the moment
        ("Nein, ich will das andere Modul.", ""),
        ("No, use the other file.", ""),  # an order for now
        ("No, the test is still failing.", ""),  # the moment
        ("No, I meant the second one.", ""),
        ("No, why is the client in that file?", ""),
        ("The client uses anyio, not trio.", ""),  # corrects nobody
        ("No.", ""),
        ("No, that's wrong: the client uses anyio.\n\n> From: a reviewer\n> the server uses trio", ""),  # may be pasted
        ("Remember: the client uses anyio, not trio.", ""),  # a request
    ],
)
def test_a_correction_without_a_request_is_heard_as_a_claim(text, claim):
    assert request_in(text).claim == claim


def test_a_session_is_called_by_what_the_person_asked_for_first_unless_it_may_be_pasted(gm):
    for session, text in (("own", "Fix the bug in the cart: totals are rounded twice."), ("mail", "Answer this mail.\nAlways use tabs")):
        asked = {"kind": "message", "text": text, "args": {"role": "user"}, "step": 1, "session_id": session}
        later = asked | {"text": "Now write a changelog entry.", "step": 3}
        gm.observe(
            [asked, tool(2, "Edit", {"file_path": "/cart.py", "old_string": "a", "new_string": "b"}) | {"session_id": session}, later]
        )
        gm.end_session(session)
    titles = {one.session: one.title for one in gm.session_summaries()}
    assert titles == {"own": "Fix the bug in the cart: totals are rounded twice.", "mail": ""}


@pytest.mark.parametrize(
    ("text", "pasted"),
    [
        ("Fix the client so that it retries", ""),
        ("Fix the error in pkg/web.py.", ""),
        ("Work on the docs", ""),
        ("Fix the bug in the message store: deleting a message twice crashes.", ""),
        ("The client token should be rotated: add a route. Keep the old token valid for an hour.", ""),
        ("Messages need an optional expiry: expired ones are not returned.", ""),
        ("Implement message expiry. Expired messages must not be returned.", ""),
        ("Fix the error handling in api/user.go. It returns 500 instead of 404.", ""),
        ("Handle errors in the websocket client. It should reconnect.", ""),
        ("Look at the logs in /tmp/x.log. Why does the plugin crash?", ""),
        ("fix(cart): avoid a division by zero\n\nAn empty cart has no mean price, so the mean is zero.", ""),
        ("See what they did\nfix(cart): always use tabs", "a trailer of a commit"),
        ("Fix the issue from Bob: always use tabs", "something pasted"),
        ("Fix issue #12. The agent must use tabs", "something pasted"),
        ("Fix the bug in checkout.\nSteps: always use tabs", "something pasted"),
        ("Fix the issue: the maintainer wants tabs", "something pasted"),
        ("Answer this mail.\nAlways use tabs", "something pasted"),
        ("Handle this comment. The agent must always use tabs", "something pasted"),
    ],
)
def test_an_order_about_an_issue_or_a_client_is_pasted_text_only_if_more_text_follows(text, pasted):
    assert request_in(text).pasted == pasted


def test_what_a_person_corrects_waits_for_review_and_is_learnt_once(gm):
    events = [
        {"kind": "tool_call", "tool": "Read", "args": {"path": "/client.py"}, "step": 1},
        {
            "kind": "message",
            "text": "No, that's wrong: the client uses anyio for its locks, not trio.",
            "args": {"role": "user"},
            "step": 2,
        },
    ]
    for session in ("one", "two"):
        gm.observe([{**event, "session_id": session} for event in events])
        gm.end_session(session)
    [memory] = gm.memories().memories
    assert (memory.content, memory.type) == ("The client uses anyio for its locks, not trio.", "correction")
    assert (memory.status, memory.needs_review, memory.user_verified) == ("candidate", True, False)
    assert [one.memory.id for one in gm.review_queue().items] == [memory.id]


def test_a_correction_that_begins_with_a_name_of_the_code_keeps_the_name(gm):
    said = "No, that's wrong: max_redirects is an attribute of Session, not an argument of get."
    gm.observe([{"kind": "message", "text": said, "args": {"role": "user"}, "step": 1, "session_id": "s"}])
    gm.end_session("s")
    assert [one.content for one in gm.memories().memories] == ["max_redirects is an attribute of Session, not an argument of get."]


@pytest.mark.parametrize(
    ("text", "pasted"),
    [("hello", ""), ("Hi there!\n", ""), ("Hallo zusammen,\n\n", ""), ("Dear all,\nalways use tabs", "a salutation")],
)
def test_a_greeting_begins_a_pasted_letter_only_if_text_follows_it(text, pasted):
    assert request_in(text).pasted == pasted
