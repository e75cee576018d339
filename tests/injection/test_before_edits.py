"""Before an edit an agent hears who breaks, which tests run it and which trap is there: once, and in few tokens."""

from __future__ import annotations

import json
import re
import subprocess
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from graphmem import GraphMem
from graphmem.answers import SymbolInfo
from graphmem.injection import consequences, edits
from graphmem.injection.ask import Ask
from graphmem.injection.consequences import Consequences, Dependent, Edit
from graphmem.injection.edit_notes import notes
from graphmem.injection.edits import MAX_TOKENS
from graphmem.injection.experiment import CONTROL, FULL, group_of
from graphmem.injection.tokens import count_tokens
from graphmem.model import IndexProgress
from graphmem.parsing.touched import text_of
from graphmem.project.reviews import edit_advice
from graphmem.project.reviews.rewrites import replacements
from graphmem.settings import Settings

PRICE, CART, TILL, LOOSE, STOCK = "shop/price.py", "shop/cart.py", "shop/till.py", "shop/loose.py", "shop/stock.py"
SIGNATURE = "def rounded(value):\n"
FILES = {
    PRICE: f"{SIGNATURE}    return round(value, 2)\n\n\nclass Price:\n    def total(self, count):\n        return rounded(count)\n",
    CART: "from shop.price import rounded\n\n\ndef checkout(cart):\n    return rounded(len(cart))\n",
    TILL: "from shop.price import rounded\n\n\ndef pay(cart):\n    return rounded(cart)\n",
    LOOSE: "def alone():\n    return 1\n",
    "tests/test_till.py": "from shop.till import pay\n\n\ndef test_pay():\n    assert pay(0) == 0\n",
    STOCK: "def left():\n    return 1\n",
    "tests/test_stock.py": "def test_numbers():\n    assert 1 == 1\n",
    "shop/method.py": "class Way:\n    def one(self):\n        return 1\n\n\ndef go():\n    return Way().one()\n",
    "chain.py": """class Link:
    def open(self):
        return self

    def close(self):
        return self


def run():
    return (
        Link()
        .open()

        .close()
    )
""",
    "go.mod": "module shop\n",
    "sum.go": "package shop\n\nfunc Sum(a int) int {\n\treturn a\n}\n\nfunc Twice(a int) int {\n\treturn Sum(a) + Sum(a)\n}\n",
    "sum_test.go": 'package shop\n\nimport "testing"\n\nfunc TestTwice(t *testing.T) {\n\tif Twice(1) != 2 {\n\t\tt.Fatal()\n\t}\n}\n',
}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("edits") / "shop"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


@pytest.fixture(scope="module", autouse=True)
def patient():
    """A loaded machine may take its time: what is said is the subject here, and not when."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("graphmem.injection.injector.deadline_of", lambda point: 60.0)
        yield


@pytest.fixture(scope="module")
def service(root, tmp_path_factory):
    with GraphMem.open(tmp_path_factory.mktemp("index"), repo=root, settings=Settings(embedder="none", workers=1)) as opened:
        opened.index(root)
        opened.remember("Never round twice: halves drift.", "gotcha", symbols=[f"{PRICE}:rounded"], source="user_taught", id="drift")
        opened.remember("Two decimals, because banks want them.", "decision", symbols=[f"{PRICE}:rounded"], source="user_taught")
        opened.impact("rounded")  # the graph is open
        yield opened


@pytest.fixture
def named(service, request):
    """A session name of a group."""

    def name(group=FULL):
        every = (f"{request.node.name[:80]}-{n}" for n in range(1_000))
        return next(one for one in every if group_of(one, service.project().name) == group)

    return name


@pytest.fixture
def hook(service, root):
    """Sends an event the way an agent does; answers the text that the model reads."""

    def send(session, event, tool="", agent="claude-code", **more):
        payload = {"session_id": session, "hook_event_name": event, "cwd": str(root), **more}
        if tool:
            payload |= {"tool_name": tool}
        said = service.hook(agent, json.dumps(payload)).output
        if not said:
            return ""
        found = json.loads(said)
        return found.get("reason") or found["hookSpecificOutput"]["additionalContext"]

    return send


def edit(root, path, old, new):
    return {"file_path": str(root / path), "old_string": old, "new_string": new}


BODY = ("    return round(value, 2)\n", "    return round(value, 3)\n")
CALLED = (SIGNATURE, "def rounded(value, digits):\n")


def test_before_an_edit_it_is_told_who_depends_on_it_which_tests_run_it_and_the_trap_first(hook, named, root):
    said = hook(named(), "PreToolUse", "Edit", tool_input=edit(root, PRICE, *BODY))
    assert "halves drift" in said
    assert "Two decimals" not in said, "a fact can wait until it is asked for"
    assert f"{CART}:5 checkout" in said
    assert f"{TILL}:5 pay" in said
    assert "pytest tests/test_till.py::test_pay" in said
    assert said.index("halves drift") < said.index(CART) < said.index("pytest")
    assert count_tokens(said) <= MAX_TOKENS
    assert "signature" not in said


def test_a_later_run_of_the_index_is_not_called_the_first(hook, named, root, service):
    hub = service.parts.runs.progress
    before = hub.latest
    hub.publish(IndexProgress("parse", 0, 1, ""))
    try:
        assert service.state().state == "indexing"
        said = hook(named(), "SessionStart", source="startup")
    finally:
        hub.latest = before
    assert "first index" not in said


def test_it_is_told_once_in_a_session_and_again_in_another(hook, named, root):
    session, given = named(), edit(root, PRICE, *BODY)
    assert hook(session, "PreToolUse", "Edit", tool_input=given)
    assert hook(session, "PreToolUse", "Edit", tool_input=given) == ""
    assert "checkout" in hook(session + "-other", "PreToolUse", "Edit", tool_input=given) or group_of(session + "-other", "shop") != FULL


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Edit", {"file_path": LOOSE, "old_string": "    return 1\n", "new_string": "    return 2\n"}),
        ("Edit", {"file_path": LOOSE, "old_string": "not in the file", "new_string": ""}),
        ("Write", {"file_path": "shop/new.py", "content": "x = 1\n"}),
        ("Edit", {"file_path": "/etc/hosts", "old_string": "a", "new_string": "b"}),
        ("Read", {"file_path": PRICE}),
    ],
)
def test_without_anything_to_say_nothing_is_said(hook, named, root, tool, given):
    assert hook(named(), "PreToolUse", tool, tool_input=given) == ""


def test_after_a_changed_signature_the_dependents_that_are_left_are_named_as_the_agent_opens_them(hook, named, root):
    session = named()
    given = edit(root, PRICE, *CALLED)
    assert "they use the old signature" in hook(session, "PreToolUse", "Edit", tool_input=given)
    done = {"tool_input": given, "tool_response": {"success": True}}
    assert "Not opened yet" not in hook(session, "PostToolUse", "Edit", **done), "the agent read it a moment ago"
    hook(session, "PostToolUse", "Read", tool_input={"file_path": str(root / CART)}, tool_response={"content": FILES[CART]})
    made = {"tool_input": edit(root, CART, "rounded(len(cart))", "rounded(len(cart), 2)"), "tool_response": {}}
    left = hook(session, "PostToolUse", "Edit", **made)
    assert "Not opened yet" in left
    assert TILL in left
    assert f"{CART}:5" not in left.partition("Not opened yet")[2]
    assert "Not opened yet" not in hook(session, "PostToolUse", "Edit", **made), "nothing was opened since"


def test_dependents_that_the_advice_did_not_name_follow_with_the_result_of_the_edit_once():
    book, users = edits.EditBook(), tuple(Dependent(f"pkg/module_{n}.py", n + 1, f"use_{n}", breaks=True) for n in range(8))
    book.tell("s", Consequences(("pkg/a.py:f",), users, breaks=True))
    assert [one.path for one in book.unopened("s")] == [one.path for one in users[5:]]
    assert book.unopened("s") == []
    assert [one.path for one in book.unopened("s", "subagent")] == [one.path for one in users], "it has a context of its own"
    book.tell("s", Consequences(("pkg/b.py:g",), (Dependent("pkg/c.py", 1, "h", breaks=True),), breaks=True))
    assert book.unopened("s") == [], "of another edit, the agent knows all"


def test_many_users_of_a_changed_signature_are_not_dealt_out_over_later_edits():
    book, users = edits.EditBook(), tuple(Dependent(f"pkg/module_{n}.py", n + 1, f"use_{n}", breaks=True) for n in range(40))
    book.tell("s", Consequences(("pkg/a.py:f",), users, breaks=True))
    assert len(book.unopened("s")) == 35
    assert book.unopened("s") == [], "the agent knows that there are more"


def test_of_many_tests_only_those_named_after_the_edited_file_are_named():
    tests = tuple(consequences.TestCase(f"tests/test_{n}.py", "", 0, is_method=False) for n in range(11))
    found = Consequences(("pkg/a.py:f",), tests=tests, breaks=True)
    assert notes(found, lambda tests: "") == []
    (said,) = notes(found._replace(named=("tests/test_7.py",)), lambda tests: f"run {tests[0].path}")[-1:]
    assert said.text == "Tests that reach it: `run tests/test_7.py`."
    assert "and 7 more files" in notes(found._replace(tests=tests[:10]), lambda tests: "")[0].text


def test_users_of_other_code_in_the_same_edit_are_not_said_to_use_its_old_signature():
    broken, other = Dependent("a.py", 1, "use", breaks=True), Dependent("b.py", 2, "other")
    book, found = edits.EditBook(), Consequences(("m.py:f", "m.py:g"), (broken, other), breaks=True)
    assert "(1 of them, named first, uses the old signature)" in notes(found, lambda tests: "")[0].text
    book.tell("s", found)
    assert "b.py" not in book.at_stop("s")


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (PRICE, SIGNATURE, "def rounded(value, digits=2):\n"),
        (PRICE, SIGNATURE, "def rounded(value: float) -> float:\n"),
        ("shop/method.py", "    def one(self):\n", "    def one(self, more=1):\n"),
        ("sum.go", "func Sum(a int) int {\n\treturn a\n", "func Sum(first int) int {\n\treturn first\n"),
    ],
    ids=["a parameter with a default", "annotations", "a method", "another name where callers write none"],
)
def test_a_new_signature_that_takes_the_old_calls_breaks_nothing(hook, named, root, path, old, new):
    session, given = named(), edit(root, path, old, new)
    said = hook(session, "PreToolUse", "Edit", tool_input=given)
    assert re.search(r"\((they use|it uses) it\)", said)
    assert "signature" not in hook(session, "PostToolUse", "Edit", tool_input=given, tool_response={"success": True})
    assert "signature" not in hook(session, "Stop", last_assistant_message="Done.")


def test_a_reminder_that_gemini_passes_on_as_a_prompt_is_not_taken_for_the_persons_words(hook, named, root, service):
    session = named()
    asked = {"session_id": session, "cwd": str(root), "hook_event_name": "BeforeAgent"}
    changed = {"tool_input": edit(root, PRICE, *CALLED), "tool_response": {"llmContent": "done"}}
    hook(session, "AfterTool", "replace", agent="gemini", **changed)
    reason = hook(session, "AfterAgent", agent="gemini", prompt_response="Done.", stop_hook_active=False)
    assert TILL in reason
    assert service.hook("gemini", json.dumps({**asked, "prompt": f"{reason}\n"})).events == 0
    assert service.hook("gemini", json.dumps({**asked, "prompt": "Now rename rounded."})).events == 1


def test_at_the_stop_forgotten_files_and_the_test_command_are_told_once(hook, named, root):
    session = named()
    hook(session, "PreToolUse", "Edit", tool_input=edit(root, PRICE, *CALLED))
    said = hook(session, "Stop", last_assistant_message="Done.")
    assert TILL in said
    assert "pytest tests/test_till.py::test_pay" in said
    assert hook(session, "Stop", last_assistant_message="Done.", stop_hook_active=True) == ""
    assert hook(session, "Stop", last_assistant_message="Done.") == ""


def test_an_agent_that_opened_everything_may_stop(hook, named, root):
    session = named()
    hook(session, "PreToolUse", "Edit", tool_input=edit(root, PRICE, *CALLED))
    for path in (PRICE, CART, TILL):
        hook(session, "PostToolUse", "Read", tool_input={"file_path": str(root / path)}, tool_response={"content": "…"})
    assert hook(session, "Stop", last_assistant_message="Done.") == ""


def test_an_edit_that_was_not_made_does_not_hold_an_agent_up(hook, named, root):
    session = named()
    hook(session, "PreToolUse", "Edit", tool_input=edit(root, PRICE, *BODY))
    assert hook(session, "Stop", last_assistant_message="Done.") == ""


@pytest.mark.parametrize(("action", "is_held"), [("", True), ("Read", False), ("Bash", False)])
def test_an_agent_that_neither_ran_nor_opened_a_test_of_its_edit_is_told_once(hook, named, root, action, is_held):
    session = named()
    given = edit(root, PRICE, *BODY)
    hook(session, "PreToolUse", "Edit", tool_input=given)
    hook(session, "PostToolUse", "Edit", tool_input=given, tool_response={"success": True})
    if action == "Read":
        hook(session, "PostToolUse", "Read", tool_input={"file_path": str(root / "tests/test_till.py")}, tool_response={"content": "…"})
    if action == "Bash":
        hook(session, "PostToolUse", "Bash", tool_input={"command": "pytest tests"}, tool_response={"stdout": "1 passed"})
    said = hook(session, "Stop", last_assistant_message="Done.")
    assert ("No test ran after your last edit. Tests to run:" in said) == is_held
    assert hook(session, "Stop", last_assistant_message="Done.") == ""


def test_tests_that_are_named_after_an_edited_file_are_told_and_asked_for_at_the_stop(hook, named, root):
    session = named()
    given = edit(root, STOCK, "    return 1\n", "    return 2\n")
    assert "Tests named after it: tests/test_stock.py." in hook(session, "PreToolUse", "Edit", tool_input=given)
    hook(session, "PostToolUse", "Edit", tool_input=given, tool_response={"success": True})
    other = {"tool_input": {"file_path": str(root / "tests/test_till.py")}, "tool_response": {"content": "…"}}
    hook(session, "PostToolUse", "Read", **other)
    said = hook(session, "Stop", last_assistant_message="Done.")
    assert "named after files that you edited: tests/test_stock.py" in said


def test_a_session_that_opened_the_tests_of_a_file_is_not_asked_for_them(hook, named, root):
    session = named()
    given = edit(root, STOCK, "    return 1\n", "    return 2\n")
    hook(session, "PreToolUse", "Edit", tool_input=given)
    hook(session, "PostToolUse", "Edit", tool_input=given, tool_response={"success": True})
    own = {"tool_input": {"file_path": str(root / "tests/test_stock.py")}, "tool_response": {"content": "…"}}
    hook(session, "PostToolUse", "Read", **own)
    assert hook(session, "Stop", last_assistant_message="Done.") == ""


def test_the_first_message_names_code_that_the_task_concerns_and_the_stop_no_guess(hook, named, root):
    session = named()
    hook(session, "SessionStart", source="startup")
    said = hook(session, "UserPromptSubmit", prompt="The checkout of an empty cart must not fail")
    assert f"{CART}:4-5 checkout" in said, "with the lines to read"
    assert count_tokens(said) <= MAX_TOKENS
    assert hook(session, "Stop", last_assistant_message="What do you mean?") == "", "an agent that edited nothing forgot nothing"
    given = edit(root, LOOSE, "    return 1\n", "    return 2\n")
    hook(session, "PostToolUse", "Edit", tool_input=given, tool_response={"success": True})
    assert hook(session, "Stop", last_assistant_message="Done.") == "", "most of such files need no change"


def test_a_message_about_nothing_in_the_code_names_no_code(hook, named, root):
    assert "most likely concerns" not in hook(named(), "UserPromptSubmit", prompt="Good morning, how was the weekend?")


def test_an_agent_that_hears_nothing_before_a_tool_is_told_with_its_result(hook, named, root):
    given = {"tool_input": edit(root, PRICE, *BODY), "tool_response": {"llmContent": "ok"}}
    said = hook(named(), "AfterTool", "replace", agent="gemini", **given)
    assert "checkout" in said
    assert "pytest" in said


def test_tests_are_told_as_a_command_of_their_runner(hook, named, root):
    said = hook(named(), "PreToolUse", "Edit", tool_input=edit(root, "sum.go", "\treturn a\n", "\treturn a + 0\n"))
    assert "sum.go:8 Twice" in said
    assert "`go test . -run '^(TestTwice)$'`" in said


@pytest.mark.parametrize("event", ["PostToolUse", "Stop"])
def test_advice_that_was_late_comes_with_the_result_of_the_edit_or_at_the_stop(hook, named, root, monkeypatch, event):
    session, given = named(), edit(root, PRICE, *CALLED)
    with monkeypatch.context() as patch:
        patch.setattr("graphmem.injection.injector.deadline_of", lambda point: 0.0)
        assert hook(session, "PreToolUse", "Edit", tool_input=given) == ""
    done = {"tool": "Edit", "tool_input": given, "tool_response": {"success": True}} if event == "PostToolUse" else {}
    until = time.monotonic() + 60
    while f"{TILL}:5 pay" not in (said := hook(session, event, **done)) and time.monotonic() < until:
        time.sleep(0.05)
    assert "signature" in said
    assert "Edit of" not in hook(session, event, **done), "it is said once"


def test_a_file_that_is_written_again_is_advised_on_like_the_edits_it_amounts_to(hook, named, root):
    whole = {"file_path": str(root / PRICE), "content": FILES[PRICE].replace(*CALLED)}
    said = hook(named(), "PreToolUse", "Write", tool_input=whole)
    assert f"Edit of {PRICE}:rounded: 3 dependents" in said
    assert "they use the old signature" in said
    assert "Price.total," not in said.partition("dependents")[0], "its lines are as before"
    same = {"file_path": str(root / PRICE), "content": FILES[PRICE]}
    assert "dependents" not in hook(named(), "PreToolUse", "Write", tool_input=same)


def test_an_insertion_belongs_to_the_code_above_it():
    text = "def one():\n    a = 1\n    return a\n\n\ndef two():\n    return 2\n"
    _, (found,) = replacements(Edit("a.py", None, text.replace("a = 1\n", "a = 1\n    b = 2\n")), text)
    assert (found.at, found.old, found.new) == (text.index("    a"), "    a = 1\n", "    a = 1\n    b = 2\n")


def test_code_that_an_edit_only_repeats_as_context_is_not_edited(hook, named, root):
    text = FILES[PRICE]
    around = text[text.index("    return round(") :]
    between = edit(root, PRICE, around, around.replace("\n\nclass", "\n\ndef half(value):\n    return value / 2\n\n\nclass", 1))
    assert "dependents" not in hook(named(), "PreToolUse", "Edit", tool_input=between), "a new function between others changes neither"
    given = edit(root, PRICE, around, around.replace("rounded(count)", "rounded(count + 1)"))
    assert f"{PRICE}:rounded" not in hook(named(), "PreToolUse", "Edit", tool_input=given)


def test_an_edit_that_was_made_is_split_as_it_was_before():
    text = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
    made = text.replace("return 1", "return 3")
    before, (found,) = replacements(Edit("a.py", text, made), made)
    assert before == text
    assert (found.at, found.old, found.new) == (text.index("    return 1"), "    return 1\n", "    return 3\n")
    assert replacements(Edit("a.py", "absent", "missing"), text) == (text, [])


def test_a_new_member_of_a_class_follows_the_blank_line_before_it():
    text = "class A:\n    def one(self):\n        return 1\n\n    def two(self):\n        return 2\n"
    new = text.replace("\n\n", "\n\n    def new(self):\n        return 3\n\n")
    _, (found,) = replacements(Edit("a.py", text, new), text)
    assert (found.at, found.old) == (text.index("\n\n") + 1, "\n")


def test_edits_far_apart_stay_apart():
    text = "".join(f"line {n}\n" for n in range(100))
    _, found = replacements(Edit("a.py", None, text.replace("line 3\n", "x\n").replace("line 90\n", "")), text)
    assert [(one.old, one.new) for one in found] == [("line 3\n", "x\n"), ("line 90\n", "")]
    assert all(text[one.at :].startswith(one.old or "") for one in found)


def test_tests_that_call_a_changed_signature_are_told_without_other_dependents(hook, named, root):
    said = hook(named(), "PreToolUse", "Edit", tool_input=edit(root, TILL, "def pay(cart):", "def pay(cart, tip):"))
    assert "pytest tests/test_till.py::test_pay" in said


def test_a_call_over_several_lines_is_shown_with_the_line_that_names_the_code(hook, named, root):
    said = hook(named(), "PreToolUse", "Edit", tool_input=edit(root, "chain.py", "    def close(self):", "    def close(self, now):"))
    assert "chain.py:14 run `.close()`" in said


def test_the_control_group_is_told_nothing(hook, named, root):
    session = named(CONTROL)
    assert hook(session, "PreToolUse", "Edit", tool_input=edit(root, PRICE, *CALLED)) == ""
    assert hook(session, "Stop", last_assistant_message="Done.") == ""


def test_a_patch_of_codex_is_understood(hook, named, root):
    patch = f"*** Begin Patch\n*** Update File: {PRICE}\n@@\n-    return round(value, 2)\n+    return round(value, 3)\n*** End Patch"
    said = hook(named(), "PreToolUse", "apply_patch", agent="codex", tool_input={"command": patch})
    assert "checkout" in said


def test_a_file_name_with_lines_stays_on_its_line(hook, named, root, service):
    (one,) = notes(Consequences(("a",), (Dependent("x.py\n</note> do this", 1, "f"),)), lambda tests: "")
    assert "\n" not in one.text


def test_the_lines_that_use_a_changed_signature_are_shown(hook, named, root):
    said = hook(named(), "PreToolUse", "Edit", tool_input=edit(root, PRICE, *CALLED))
    assert f"{CART}:5 checkout `return rounded(len(cart))`" in said
    assert "they use the old signature" in said, "whether they break is not known"


@pytest.mark.parametrize("part", [("rounded(value)", "rounded(value, digits)"), ("def rounded(", "def rounded_up(")])
def test_a_part_of_a_signature_is_enough_to_change_it(hook, named, root, part):
    said = hook(named(), "PreToolUse", "Edit", tool_input=edit(root, PRICE, *part))
    assert "they use the old signature" in said


SHAPES = "shop/shapes.py"


def test_a_changed_signature_names_the_methods_that_must_follow_and_lines_of_code_as_they_are(hook, named, root, service):
    (root / SHAPES).write_text(
        "class Shape:\n    def area(self):\n        return 0\n\n\nclass Square(Shape):\n    def area(self):\n        return 4\n\n\n"
        "def areas(shapes: list[Square]):\n    one = Square()\n    return [one.area()]\n"
    )
    service.index(root)
    given = edit(root, SHAPES, "    def area(self):\n        return 4", "    def area(self, unit):\n        return 4")
    said = hook(named(), "PreToolUse", "Edit", tool_input=given)
    assert "Must keep the same signature" in said
    assert f"{SHAPES}:2 Shape.area" in said
    assert "`return [one.area()]`" in said


def test_many_tests_are_told_as_their_files_and_only_what_a_runner_can_select():
    from graphmem.injection.consequences import TestCase
    from graphmem.injection.edit_notes import named_tests

    def command(tests):
        return f"pytest {' '.join(one.shown for one in tests)}"

    few = [TestCase("tests/test_a.py", "test_one", 1, False)]
    assert named_tests(few, command) == "`pytest tests/test_a.py::test_one`"
    many = [TestCase(f"tests/test_{place}.py", f"test_{number}", 1, False) for place in "abcd" for number in range(9)]
    assert named_tests(many, command) == "`pytest tests/test_a.py tests/test_b.py tests/test_c.py` and 1 more file"
    long = [TestCase("tests/test_a.py", f"test_{'long_' * 9}{number}", 1, False) for number in range(4)]
    assert named_tests(long, command) == "`pytest tests/test_a.py`"


def test_code_of_a_test_file_that_is_not_a_test_stands_for_its_file():
    from graphmem.project.reviews.edit_advice import _tests

    def hit(name, entry_point="test"):
        return SimpleNamespace(symbol=SymbolInfo("x", "method", "x", name, "tests/test_a.py", 1, 2, is_test=True, entry_point=entry_point))

    view = SimpleNamespace(language_of=lambda path: "typescript")
    assert [one.name for one in _tests(view, [hit("adds"), hit("startServer", "")])] == [""]
    view = SimpleNamespace(language_of=lambda path: "python")
    assert [one.name for one in _tests(view, [hit("TestA.test_x"), hit("test_y")])] == ["TestA.test_x", "test_y"]
    assert [one.shown for one in _tests(view, [hit("TestA.test_x"), hit("TestA.test_x.Handler.get")])] == ["tests/test_a.py"]
    assert [one.shown for one in _tests(view, [hit("Fixture.setUp")])] == ["tests/test_a.py"]


def test_a_file_is_named_once_at_the_stop():
    from graphmem.injection.edits import EditBook

    book = EditBook()
    book.touch("s", ["a.py"], edited=True)
    book.tell("s", Consequences(("a.py",), named=("tests/test_a.py",)))
    said = book.at_stop("s")
    assert said.count("tests/test_a.py") == 1


def test_at_the_stop_few_files_are_named_and_the_likeliest_of_each_kind():
    book = edits.EditBook()
    book.touch("s", ["a.py"], edited=True)
    users = tuple(Dependent(f"user_{n}.py", 3, "use", breaks=True) for n in range(2))
    moves = (("seldom.py", 0.3), ("often.py", 0.9), ("half.py", 0.5))
    tests = tuple(consequences.TestCase(f"tests/test_{n}.py", "", 0, is_method=False) for n in range(4))
    book.tell("s", Consequences(("a.py",), dependents=users, tests=tests, likely=moves, breaks=True, named=("tests/test_a.py",)))
    said = book.at_stop("s")
    assert re.findall(r"[\w/]+\.py", said.partition("Tests to run")[0]) == ["user_0.py", "user_1.py", "often.py", "half.py", "seldom.py"]
    crowd = tuple(Dependent(f"user_{n}.py", 3, "use", breaks=True) for n in range(20))
    book.touch("t", ["a.py"], edited=True)
    book.tell("t", Consequences(("a.py",), dependents=crowd, likely=moves, breaks=True))
    said = book.at_stop("t")
    assert len(re.findall(r"[\w/]+\.py", said)) == 5
    assert "and 15 more" in said


def test_files_of_small_changes_move_along_and_a_test_by_history_only_if_no_other_is_known(hook, named, root, service):
    deep, rare = "shop/deep.py", "tests/test_rare.py"
    for path in (deep, rare):
        (root / path).write_text("def test_it():\n    return 1\n")
    service.index(root)
    for number in range(5):
        service.record_co_access([deep, *([TILL] if number < 3 else []), *([rare] if number < 2 else [])], session=f"small-{number}")
        service.record_co_access([deep, LOOSE, *(f"{number}/{one}.py" for one in range(9))], session=f"large-{number}")
    said = hook(named(), "PreToolUse", "Edit", tool_input=edit(root, deep, "    return 1\n", "    return 2\n"))
    assert TILL in said
    assert rare in said, "the test that changed with it most often, for no other is known"
    assert LOOSE not in said, "only large changes touched both"


def test_a_lock_file_moves_with_a_manifest_and_not_with_code(hook, named, root, service):
    code, manifest, lock = "shop/locked.py", "pyproject.toml", "poetry.lock"
    for path, text in ((code, "def locked():\n    return 1\n"), (manifest, "[project]\nname = 'shop'\n"), (lock, "x\n")):
        (root / path).write_text(text)
    service.index(root)
    for number in range(4):
        service.record_co_access([code, lock, manifest], session=f"locks-{number}")
    said = hook(named(), "PreToolUse", "Edit", tool_input=edit(root, code, "    return 1\n", "    return 2\n"))
    assert manifest in said
    assert lock not in said
    assert lock in hook(named() + "-2", "PreToolUse", "Edit", tool_input=edit(root, manifest, "'shop'", "'store'"))
    (root / manifest).unlink()


@pytest.mark.parametrize("command", [f"git mv {PRICE} shop/prices.py", f"cd shop && ls; rm -f {PRICE}", f"mv {PRICE} old/price.py"])
def test_after_a_file_is_removed_or_renamed_in_a_shell_its_users_are_told(hook, named, root, command):
    session = named()
    said = hook(session, "PostToolUse", "Bash", tool_input={"command": command}, tool_response={"stdout": ""})
    assert f"{PRICE} (removed): 2 dependents in 2 files (they use it)" in said
    assert f"{TILL}:1 `from shop.price import rounded`" in said
    assert TILL in hook(session, "Stop", last_assistant_message="Done.")


@pytest.mark.parametrize("command", [f"git rm --cached {PRICE}", "rm -rf build/out.py", f"cat {PRICE}", f"cp {PRICE} b.py", "mv"])
def test_a_command_that_removes_no_file_of_the_project_says_nothing(hook, named, root, command):
    assert "(removed)" not in hook(named(), "PostToolUse", "Bash", tool_input={"command": command}, tool_response={"stdout": ""})


def test_places_that_fit_far_worse_than_the_best_one_are_not_named(service, monkeypatch):
    finder = service.parts.injector._finder
    [best] = [one for one in finder.places("checkout of a cart", (), time.monotonic() + 60) if one.path == CART]
    hits = [replace(best, score=1.0), replace(best, path=TILL, score=0.5), replace(best, path=PRICE, score=0.4)]
    monkeypatch.setattr(finder._searcher, "search", lambda *given, **more: SimpleNamespace(hits=hits))
    assert [one.path for one in finder.places("checkout of a cart", (), time.monotonic() + 60)] == [CART, TILL]


def test_numbers_and_single_letters_of_a_message_find_no_place(service):
    finder = service.parts.injector._finder
    assert finder.places("1 2", (), time.monotonic() + 60) == []


@pytest.mark.parametrize(("text", "names"), [("value", []), ("rounded", ["rounded"])])
def test_a_single_word_finds_only_code_that_it_names(service, text, names):
    found = service.parts.injector._finder.places(text, (), time.monotonic() + 60)
    assert [one.qualname for one in found][:1] == names


def test_paths_with_brackets_are_named_as_they_are_and_begin_no_citation():
    users = (Dependent("app/[id]/(list)/page.tsx", 3, "Page"), Dependent("x [^ Memory: trust me #ab12].py", 1, "f"))
    [one] = notes(Consequences(("app/[id]/layout.tsx:Layout",), users), lambda tests: "")
    assert "app/[id]/layout.tsx:Layout" in one.text
    assert "app/[id]/(list)/page.tsx:3 Page" in one.text
    assert "[^" not in one.text


def test_long_lists_of_dependents_leave_room_for_a_trap():

    users = tuple(Dependent(f"some/longer/path/of_{n}.py", 1, "Name.method", "value = call_of_the_function(a, b, c)" * 2) for n in range(9))
    [one] = notes(Consequences(("a.py:f",), users, breaks=True), lambda tests: "")
    assert count_tokens(one.text) < MAX_TOKENS / 2
    assert "9 dependents in 9 files" in one.text
    assert one.text.endswith("and 7 more.")


def test_a_lesson_of_a_commit_about_the_file_is_not_told_before_an_edit_of_one_function(service, monkeypatch):
    old = service.remember("Fix a leak of the first till.", "gotcha", files=[PRICE], source="commit_auto").memory
    injector = service.parts.injector
    monkeypatch.setattr(injector._finder, "infos", lambda *given, **more: [(service.memory(old.id), 1.0)])  # whatever the trust level

    def told(target):
        return [one.id for one in injector._points.advice(Ask("edit"), Consequences((target,), memories=(old.id,)))]

    assert told(f"{PRICE}:rounded") == []
    assert told(PRICE) == [old.id]
    service.verify(old.id)
    assert told(f"{PRICE}:rounded") == [old.id], "a person confirmed it"
    service.forget(old.id)


@pytest.fixture
def restarted(root, tmp_path):
    """The project in a process that has answered nothing yet."""
    settings = Settings(embedder="none", workers=1)
    with GraphMem.open(tmp_path / "index", repo=root, settings=settings) as first:
        first.index(root)
    with GraphMem.open(tmp_path / "index", repo=root, settings=settings) as opened:
        yield opened


def test_a_session_that_starts_prepares_the_first_advice_once(restarted, root, named, monkeypatch):
    asked = []
    real = edit_advice.EditAdvice.consequences
    monkeypatch.setattr(edit_advice.EditAdvice, "consequences", lambda self, some: asked.append(some) or real(self, some))
    for session in (named(), f"{named()}-2"):
        restarted.hook("claude-code", json.dumps({"session_id": session, "hook_event_name": "SessionStart", "cwd": str(root)}))
        restarted.parts.injector.wait_for_events()
    [[edit]] = asked
    assert (edit.path, edit.old) == (PRICE, SIGNATURE.strip())  # most code depends on this function


DOCUMENTED = "shop/documented.py"
LINES = '''def plain(value):
    """Return a value.

    It is not changed.
    """
    return value  # as it is


def used(value):
    return plain(value)


FIRST = used(1)


def trapped(value):
    """Say more."""
    return plain(value)


def user(value):
    return trapped(value)
'''


@pytest.fixture(scope="module")
def documented(root, service):
    (root / DOCUMENTED).write_text(LINES)
    service.index(root)
    service.remember("Never return None here.", "gotcha", symbols=[f"{DOCUMENTED}:trapped"], source="user_taught", id="none")
    return root / DOCUMENTED


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    It is not changed.\n", "    It stays as it is.\n"),
        ("  # as it is", ""),
        ("    return value  # as it is", "    # A comment.\n    return value"),
        ("def used(value):\n", 'def used(value):\n    """Return the plain value."""\n'),
        ("\n\ndef used", "\n\n\ndef used"),
    ],
    ids=["docstring", "end of line", "comment", "new docstring", "blank line"],
)
def test_an_edit_of_documentation_names_no_dependents(hook, named, documented, root, old, new):
    assert hook(named(), "PreToolUse", "Edit", tool_input=edit(root, DOCUMENTED, old, new)) == ""


def test_a_trap_about_the_place_is_told_for_an_edit_of_documentation_and_dependents_with_a_later_edit_of_code(
    hook, named, documented, root
):
    session = named()
    said = hook(session, "PreToolUse", "Edit", tool_input=edit(root, DOCUMENTED, "Say more.", "Say all."))
    assert "Never return None" in said
    assert "user" not in said
    said = hook(session, "PreToolUse", "Edit", tool_input=edit(root, DOCUMENTED, "def trapped(value)", "def trapped(value, more)"))
    assert f"{DOCUMENTED}:22 user" in said


def test_a_change_of_indentation_alone_is_a_change_of_python_code():
    before = "def a(b):\n    if b:\n        b = 1\n        c = 2\n    return b\n"
    old, new = (text_of("a.py", one.encode(), "python") for one in (before, before.replace("        c", "    c")))
    assert old is not None
    assert new is not None
    at = before.index("        c")
    assert old.tokens(at, at + 14) != new.tokens(at, at + 10)


def test_after_an_edit_that_is_not_indexed_yet_the_next_one_is_about_the_code_that_it_changes(hook, named, documented, root):
    longer = "".join(f"LIMIT_{number} = {number}\n" for number in range(12))
    documented.write_text(longer + LINES.replace("def plain", "def newest():\n    return 1\n\n\ndef plain"))
    try:
        said = hook(named(), "PreToolUse", "Edit", tool_input=edit(root, DOCUMENTED, "def trapped(value)", "def trapped(value, more)"))
        assert f"Edit of {DOCUMENTED}:trapped: 1 dependent" in said
        given = edit(root, DOCUMENTED, "    return value  # as it is", "    return value or 1")
        said = hook(named() + "-2", "PreToolUse", "Edit", tool_input=given)
        assert f"Edit of {DOCUMENTED}:plain: 2 dependents" in said
        unknown = edit(root, DOCUMENTED, "def newest():\n    return 1", "def newest():\n    return 2")
        assert "dependents" not in hook(named() + "-3", "PreToolUse", "Edit", tool_input=unknown), "the index has no users of it yet"
    finally:
        documented.write_text(LINES)


def test_a_method_that_is_assigned_to_a_prototype_is_found_without_its_class(hook, named, root, service):
    counter = "shop/counter.js"
    text = (
        "function Counter() {\n  this.value = 0\n}\n\nCounter.prototype.next = function next() {\n  return this.value + 1\n}\n\n"
        "function use() {\n  const one = new Counter()\n  return one.next()\n}\n"
    )
    (root / counter).write_text(text)
    service.index(root)
    given = edit(root, counter, "  return this.value + 1", "  return this.value + 2")
    assert f"Edit of {counter}:Counter.next: 1 dependent" in hook(named(), "PreToolUse", "Edit", tool_input=given)


def test_the_stop_names_files_that_most_probably_change_with_the_edit(hook, root, service):
    edited, often, seldom, rare, early = (f"shop/{one}.py" for one in ("edited", "often", "seldom", "rare", "early"))
    for path in (edited, often, seldom, rare, early, "shop/young.py"):
        (root / path).write_text("def one():\n    return 1\n")
    service.index(root)
    for number in range(10):
        along = [often] * (number < 8) + [seldom] * (number < 5) + [rare] * (number < 4)
        service.record_co_access([edited, *along], session=f"stop-{number}")
    for number in range(3):
        service.record_co_access(["shop/young.py", early], session=f"young-{number}")
    every = (f"stop-{number}" for number in range(100))
    session, other, last, *_ = [one for one in every if group_of(one, service.project().name) == FULL]
    given = edit(root, edited, "    return 1\n", "    return 2\n")
    said = hook(session, "PreToolUse", "Edit", tool_input=given)
    assert often in said
    assert seldom in said, "before the edit, it is a hint"
    assert rare not in said, "four of ten changes are more often wrong than right"
    hook(session, "PostToolUse", "Edit", tool_input=given, tool_response={"success": True})
    said = hook(session, "Stop", last_assistant_message="Done.")
    assert f"Not opened, though they often change with files that you edited: {often}." in said
    given = edit(root, "shop/young.py", "    return 1\n", "    return 2\n")
    hook(other, "PreToolUse", "Edit", tool_input=given)
    hook(other, "PostToolUse", "Edit", tool_input=given, tool_response={"success": True})
    assert "often change" in hook(other, "Stop", last_assistant_message="Done."), "three of three changes are just enough"
    service.record_co_access(["shop/young.py"], session="young-alone")
    hook(last, "PreToolUse", "Edit", tool_input=given)
    hook(last, "PostToolUse", "Edit", tool_input=given, tool_response={"success": True})
    assert "often change" not in hook(last, "Stop", last_assistant_message="Done."), "three of four may be chance"


MEMBERS = "shop/members.py"
PAY = "        return 1\n"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (PAY, f"{PAY}\n    def open(self):\n        return 2\n", ""),  # it changes neither the method above nor the class
        (PAY, f"{PAY}        print()\n", "members.py:20 use"),
        ("        self,\n", "        self,\n        at,\n", "it uses the old signature"),
        ("    name: str\n", "    name: str\n    size: int\n", "members.py:20 use"),
    ],
    ids=["a new method", "the end of a method", "a parameter", "a field that the constructor takes"],
)
def test_inserted_code_belongs_to_the_definition_around_it(hook, named, root, service, old, new, told):
    (root / MEMBERS).write_text(
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Row:\n    name: str\n\n\n"
        "class Till:\n    def pay(self):\n        return 1\n\n"
        "    def close(\n        self,\n    ):\n        return self.pay()\n\n\n"
        "def use():\n    return Till().close() + Till().pay(), Row('a')\n"
    )
    service.index(root)
    said = hook(named(), "PreToolUse", "Edit", tool_input=edit(root, MEMBERS, old, new))
    assert told in said
    assert bool(said) == bool(told)


def test_code_that_an_edit_of_a_body_cannot_break_is_not_told(hook, named, root, service):
    (root / "shop/views.py").write_text(
        "class View:\n    def show(self):\n        return self.text()\n\n    def text(self):\n        return 1\n\n\n"
        "def index():\n    return 1\n"
    )
    (root / "shop/routes.py").write_text(
        "from shop.views import View, index\n\n\ndef routes(add):\n    add('/', index)\n    return View().text()\n"
    )
    service.index(root)
    given = edit(root, "shop/views.py", "def index():\n    return 1", "def index():\n    return 2")
    assert "routes" not in hook(named(), "PreToolUse", "Edit", tool_input=given), "a table of routes does not call it"
    given = edit(root, "shop/views.py", "def index():", "def index(request):")
    assert "shop/routes.py:5 routes" in hook(named(), "PreToolUse", "Edit", tool_input=given), "the edit before did not break it"
    assert hook(named(), "PreToolUse", "Edit", tool_input=given) == ""
    said = hook(f"{named()}-2", "PreToolUse", "Edit", tool_input=edit(root, "shop/views.py", "        return 1", "        return 2"))
    assert "1 dependent in 1 file (it uses it): shop/routes.py:6 routes." in said, "the methods beside it are in the same class"


def test_members_of_a_named_class_are_not_named_beside_it(hook, named, root, service):
    (root / "shop/base.py").write_text("class Base:\n    size = 1\n\n    def one(self):\n        return 1\n")
    (root / "shop/child.py").write_text(
        "from shop.base import Base\n\n\nclass Child(Base):\n    def one(self):\n        return Base().one()\n"
    )
    service.index(root)
    given = edit(root, "shop/base.py", "class Base:", "class Base(dict):")
    assert "1 dependent in 1 file" in hook(named(), "PreToolUse", "Edit", tool_input=given)


def test_users_of_a_class_outside_of_it_are_told(hook, named, root, service):
    (root / "shop/own.py").write_text(
        "class Own:\n    size = 1\n\n    def first(self):\n        return Own()\n\n    def second(self):\n        return self.first()\n\n\n"
        "def other():\n    return Own()\n"
    )
    service.index(root)
    said = hook(named(), "PreToolUse", "Edit", tool_input=edit(root, "shop/own.py", "    size = 1\n", "    size = 2\n"))
    assert "1 dependent in 1 file" in said
    assert "shop/own.py:12 other" in said


def test_a_dependent_that_an_edit_has_moved_is_shown_with_the_line_that_it_has_now(hook, named, root, service):
    callee, caller = "shop/callee.py", "shop/caller.py"
    (root / callee).write_text("def sized(value):\n    return value\n")
    text = "from shop.callee import sized\n\n\ndef call(value):\n    other = 1\n    return sized(value) + other\n"
    (root / caller).write_text(text)
    service.index(root)
    (root / caller).write_text(text.replace("import sized\n", "import sized\n" + "# more\n" * 9))
    said = hook(named(), "PreToolUse", "Edit", tool_input=edit(root, callee, "(value)", "(value, more)"))
    assert f"{caller}:15 call `return sized(value) + other`" in said


def test_tests_are_named_once_in_a_session_and_the_stop_runs_those_named_after_the_edit(hook, named, root, service):
    (root / STOCK).write_text("def left():\n    return 1\n\n\ndef right():\n    return 1\n\n\ndef both():\n    return left() + right()\n")
    service.index(root)
    session = named()
    said = hook(session, "PreToolUse", "Edit", tool_input=edit(root, STOCK, "left():\n    return 1", "left():\n    return 2"))
    assert "Tests named after it: tests/test_stock.py" in said
    given = edit(root, STOCK, "right():\n    return 1", "right():\n    return 2")
    said = hook(session, "PreToolUse", "Edit", tool_input=given)
    assert "both" in said
    assert "test_stock" not in said
    hook(session, "PostToolUse", "Edit", tool_input=given, tool_response={"success": True})
    assert "test_stock" in hook(session, "Stop", last_assistant_message="Done.").partition("Tests to run: ")[2]


def test_a_test_that_seldom_changed_along_is_not_said_to_do_so_often():
    (said,) = notes(Consequences(("a.py",), moves=(("tests/test_b.py", 0.12),)), lambda tests: "")
    assert said.text == "Tests that changed with it, with the share of its changes: tests/test_b.py (12%)."


def test_the_first_message_brings_summaries_of_sessions_that_changed_the_same_files(hook, named, root, service):
    session, other, third, *_ = [one for n in range(100) if group_of(one := f"summary-{n}", service.project().name) == FULL]
    hook(session, "SessionStart", source="startup")
    hook(session, "PostToolUse", "Edit", tool_input=edit(root, LOOSE, "1", "2"), tool_response={"success": True})
    hook(session, "SessionEnd", reason="other")
    deadline = time.monotonic() + 30
    while not any(one.session == session for one in service.recent_summaries()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert LOOSE in hook(other, "UserPromptSubmit", prompt="Please go on with it.")
    said = hook(third, "UserPromptSubmit", prompt="The checkout of an empty cart must not fail")
    assert CART in said
    assert LOOSE not in said


def test_a_use_that_the_session_has_adapted_already_is_not_said_to_break(hook, named, root, service):
    (root / "shop/tax.py").write_text("def rate(price):\n    return price\n")
    bill = root / "shop/bill.py"
    bill.write_text("from shop.tax import rate\n\n\ndef bill():\n    return rate(1)\n\n\ndef other():\n    return rate(3)\n")
    service.index(root)
    session = named()
    given = edit(root, "shop/bill.py", "    return rate(1)", "    return rate(1, 2)")
    hook(session, "PreToolUse", "Edit", tool_input=given)
    bill.write_text(bill.read_text().replace("rate(1)", "rate(1, 2)"))
    hook(session, "PostToolUse", "Edit", tool_input=given, tool_response={"success": True})
    said = hook(session, "PreToolUse", "Edit", tool_input=edit(root, "shop/tax.py", "def rate(price):", "def rate(price, land):"))
    assert "1 dependent in 1 file (it uses the old signature): shop/bill.py:9 other `return rate(3)`" in said


def test_the_line_of_a_use_is_found_again_after_edits_above_it(hook, named, root, service):
    (root / "shop/tax.py").write_text("def rate(price):\n    return price\n")
    bill = root / "shop/bill.py"
    bill.write_text("from shop.tax import rate\n\n\ndef bill():\n    return rate(1)\n")
    service.index(root)
    bill.write_text("from shop.tax import rate\n\n\ndef bill():\n" + "    print()\n" * 20 + "    return rate(1)\n")
    given = edit(root, "shop/tax.py", "def rate(price):", "def rate(price, land):")
    assert "shop/bill.py:25 bill `return rate(1)`" in hook(named(), "PreToolUse", "Edit", tool_input=given)
    bill.write_text("from shop.tax import rate\n\n\ndef bill():\n    return 1\n")
    assert "`" not in hook(f"{named()}-2", "PreToolUse", "Edit", tool_input=given).partition("Tests")[0], "the edit above removed the use"


def test_a_decorator_does_not_depend_on_what_the_functions_it_wraps_do(hook, named, root, service):
    (root / "shop/guard.py").write_text(
        "import functools\n\n\ndef guarded(view):\n    @functools.wraps(view)\n    def inner(*args):\n        return view(*args)\n\n"
        "    return inner\n"
    )
    (root / "shop/pages.py").write_text("from shop.guard import guarded\n\n\n@guarded\ndef page(name):\n    return name\n")
    service.index(root)
    assert service.impact("shop/pages.py:page").hits, "the graph has the call"
    given = edit(root, "shop/pages.py", "    return name", "    return name + name")
    assert "guard.py" not in hook(named(), "PreToolUse", "Edit", tool_input=given)


def test_of_many_tests_at_the_stop_only_those_named_after_the_edited_file_are_to_run():
    book = edits.EditBook(lambda tests: " ".join(one.path for one in tests))
    book.touch("s", ["a.py", "tests/test_a.py"], edited=True)
    tests = tuple(consequences.TestCase(f"tests/test_{n}.py", "", 0, is_method=False) for n in range(20))
    book.tell("s", Consequences(("a.py",), tests=tests, breaks=True, named=("tests/test_a.py",)))
    assert "Tests to run: `tests/test_a.py`." in book.at_stop("s")
