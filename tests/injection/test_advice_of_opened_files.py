"""Advice about an edit leaves out code that the agent has before it, and uses that the session has adapted."""

from __future__ import annotations

import json

import pytest

from graphmem import GraphMem
from graphmem.injection import consequences
from graphmem.injection.consequences import Consequences, Dependent
from graphmem.injection.edit_notes import named_tests
from graphmem.injection.edits import EditBook
from graphmem.injection.experiment import FULL, group_of
from graphmem.settings import Settings

FILES = {
    "price.py": "def rounded(value):\n    return round(value, 2)\n\n\ndef total(count):\n    return rounded(count)\n",
    "timer.py": "class Timer:\n    def __init__(self):\n        self.start(self._check)\n\n    def start(self, call):\n        call()\n\n"
    "    def _check(self):\n        return 1\n",
    "job.py": "class Job:\n    def __init__(self, name, parent=None):\n        self.name = name\n",
    "run.py": "from job import Job\n\n\ndef run():\n    print()\n    job = Job(\n        'night',\n        parent=run,\n    )\n"
    "    return job\n",
    "other.py": "from job import Job\n\n\ndef plain():\n    return Job('day')\n",
    "kinds.ts": "export type Kind = {\n  id: string;\n};\n",
    "uses.ts": "import type { Kind } from './kinds';\n\nexport function first(kind: Kind) {\n  return kind.id;\n}\n",
    "tests/test_price.py": "from price import rounded\n\n\ndef test_rounded():\n    assert rounded(1) == 1\n",
    "go.mod": "module shop\n",
    "box.go": "package shop\n\ntype Box struct {\n\tsize int\n}\n\nfunc Make() Box {\n\treturn Box{1}\n}\n",
    "label.go": "package shop\n\nfunc (b Box) Label() int {\n\treturn b.size\n}\n",
}


@pytest.fixture(scope="module", autouse=True)
def patient():
    """A loaded machine may take its time: what is said is the subject here, and not when."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("graphmem.injection.injector.deadline_of", lambda point: 60.0)
        yield


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "shop"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture
def service(root, tmp_path):
    with GraphMem.open(tmp_path / "index", repo=root, settings=Settings(embedder="none", workers=1)) as opened:
        opened.index(root)
        opened.impact("rounded")  # the graph is open
        yield opened


@pytest.fixture
def session(service):
    return next(one for n in range(1_000) if group_of(one := f"session-{n}", service.project().name) == FULL)


@pytest.fixture
def hook(service, root, session):
    """Sends an event the way Claude Code does; answers the text that the model reads."""

    def send(event, tool="", **more):
        payload = {"session_id": session, "hook_event_name": event, "cwd": str(root), "tool_name": tool, **more}
        said = service.hook("claude-code", json.dumps(payload)).output
        found = json.loads(said) if said else {}
        return found.get("reason") or found.get("hookSpecificOutput", {}).get("additionalContext", "")

    return send


@pytest.fixture
def read(hook, root):
    def send(path):
        file = {"file": {"filePath": str(root / path), "content": FILES[path]}}
        return hook("PostToolUse", "Read", tool_input={"file_path": str(root / path)}, tool_response=file)

    return send


@pytest.fixture
def edit(hook, root):
    """Makes an edit in the file, with the events before and after it; answers the text before it."""

    def send(path, old, new):
        given = {"file_path": str(root / path), "old_string": old, "new_string": new}
        said = hook("PreToolUse", "Edit", tool_input=given)
        text = (root / path).read_text()
        assert old in text
        (root / path).write_text(text.replace(old, new, 1))
        hook("PostToolUse", "Edit", tool_input=given, tool_response={"filePath": str(root / path)})
        return said

    return send


BODY = ("    return round(value, 2)", "    return round(value, 3)")
CALLED = ("def rounded(value):", "def rounded(value, digits):")


def test_users_in_the_file_that_the_agent_has_open_are_left_out_if_nothing_breaks(read, edit):
    read("price.py")
    said = edit("price.py", *BODY)
    assert "dependent" not in said
    assert "pytest tests/test_price.py::test_rounded" in said, "the tests are in another file"


def test_users_in_the_open_file_that_break_are_told(read, edit):
    read("price.py")
    assert "price.py:6 total `return rounded(count)`" in edit("price.py", *CALLED)


def test_of_other_files_the_dependents_are_counted_as_such():
    book, users = EditBook(), (Dependent("a.py", 9, "own"), Dependent("b.py", 3, "other"))
    book.touch("s", ["a.py"], edited=False)
    found = book.unseen("s", Consequences(("a.py:f",), users))
    assert [one.path for one in found.dependents] == ["b.py"]
    assert found.is_used


def test_dependents_that_the_agent_knows_and_has_open_are_not_told_again():
    book, users = EditBook(), (Dependent("b.py", 3, "other"),)
    book.tell("s", Consequences(("a.py:f",), users))
    assert book.unseen("s", Consequences(("a.py:g",), users)).dependents == users, "it was not opened yet"
    book.touch("s", ["b.py"], edited=False)
    assert book.unseen("s", Consequences(("a.py:g",), users)).dependents == ()
    assert book.unseen("s", Consequences(("a.py:g",), users), "subagent").dependents == users


def test_a_use_that_the_session_renamed_is_not_said_to_break(read, edit):
    read("timer.py")
    edit("timer.py", "self.start(self._check)", "self.start(self.check)")
    assert "_check" not in edit("timer.py", "    def _check(self):", "    def check(self):").partition("dependent")[2]


def test_a_call_over_several_lines_that_the_session_adapted_is_not_said_to_break(hook, read, edit):
    read("run.py")
    edit("run.py", "        'night',\n        parent=run,\n", "        name_of(run),\n")
    assert "run.py" not in edit("job.py", "name, parent=None", "name, size").partition("old signature")[2].partition(".py:")[0]
    assert "run.py" not in hook("Stop", last_assistant_message="Done.")


def test_a_file_that_the_message_names_comes_first(hook):
    hook("SessionStart", source="startup")
    said = hook(
        "UserPromptSubmit", prompt="The linter complains about the name tests/test_price.py. Rename it; a rounded total has two digits"
    )
    assert "likeliest first: tests/test_price.py" in said


def test_what_the_readme_says_is_not_repeated_for_a_task_about_code(hook, service, root):
    (root / "README.md").write_text("# Shop\n\nShop keeps the rounded total of a count for every price in the night.\n")
    (root / "Makefile").write_text("total:\n\tpython price.py\ncount:\n\tpython run.py\n")
    service.index(root)
    assert any("Shop keeps" in one.content for one in service.memories().memories), "it was learnt"
    hook("SessionStart", source="startup")
    said = hook("UserPromptSubmit", prompt="The rounded total of a count is wrong, every price is too high")
    assert "price.py" in said
    assert "Shop keeps" not in said


def test_calls_without_an_argument_for_a_lost_optional_parameter_are_not_said_to_break(hook, edit):
    said = edit("job.py", "name, parent=None", "name")
    assert "2 dependents in 2 files (1 of them, named first, uses the old signature): run.py:6 run" in said
    assert "other.py" not in hook("Stop", last_assistant_message="Done.")


def test_an_optional_member_of_a_type_concerns_nobody_and_another_member_its_users(edit):
    assert edit("kinds.ts", "  id: string;\n", "  id: string;\n  size?: number;\n") == ""
    assert "uses.ts:4 first" in edit("kinds.ts", "  id: string;\n", "  id: string;\n  name: string;\n")


def test_a_file_that_advice_has_just_named_is_not_named_again_after_the_edit():
    book = EditBook()
    for path in ("a.py", "b.py"):
        book.tell("s", Consequences((f"{path} (removed)",), (Dependent(f"of_{path}", 1, "use", breaks=True),), breaks=True))
    book.touch("s", ["of_a.py"], edited=True)
    assert book.unopened("s") == [], "both were named a moment ago"


def test_a_call_of_a_constructor_is_shown_with_its_code(edit):
    assert "run.py:6 run `job = Job(`" in edit("job.py", "name, parent=None", "name, parent, size")


def test_methods_in_other_files_are_members_of_the_edited_type(edit):
    said = edit("box.go", "\tsize int\n", "\tsize int // in cm\n\tname string\n")
    assert "Box.Label" not in said


def test_test_files_that_the_session_removed_are_not_to_run():
    book = EditBook(lambda tests: " ".join(one.path for one in tests))
    book.tell(
        "s",
        Consequences(
            ("a.py:f",),
            tests=(consequences.TestCase("tests/test_a.py", "", 0, False), consequences.TestCase("tests/test_b.py", "", 0, False)),
        ),
    )
    book.touch("s", ["tests/test_a.py"], edited=True)
    book.tell("s", Consequences(("tests/test_a.py (removed)",)))
    said = book.at_stop("s")
    assert "tests/test_b.py" in said
    assert "tests/test_a.py" not in said


def test_tests_that_the_command_of_others_runs_too_are_not_counted():
    tests = [consequences.TestCase(f"shop/{one}_test.go", f"Test{one}", 1, False) for one in "abcdefgh"]
    assert named_tests(tests, lambda chosen: f"go test ./{chosen[0].path.rpartition('/')[0]}") == "`go test ./shop`"
