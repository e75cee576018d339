"""Files that change together: equal answers through every interface.

The answers exist from the first index run on.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import anyio
import pytest
from mcp.client import Client

from graphmem import GraphMem
from graphmem.answers import to_json
from graphmem.client.remote import RemoteGraphMem
from graphmem.errors import BadInputError, HistoryError
from graphmem.injection.experiment import FULL, group_of
from graphmem.mcp_server import text
from graphmem.mcp_server.server import build_server
from graphmem.settings import Settings

PLAIN = Settings(embedder="none", workers=1)
LESSON = (
    "Fix rounding of totals\n\nThe sum was rounded line by line, because Price.total rounds its own result. "
    "Otherwise totals must not be rounded twice, or cents are lost.\n"
)


def committed(shop: Path, message: str, *names: str) -> None:
    for name in names:
        path = shop / name
        path.write_text(path.read_text() + "\n" if path.exists() else "\n")
    who = {f"GIT_{role}_{part}": "a@example.org" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    for arguments in (("add", "-A"), ("commit", "-q", "-m", message)):
        subprocess.run(["git", *arguments], cwd=shop, env={**os.environ, **who}, check=True, capture_output=True)


def asked_by_an_agent(service, **arguments) -> str:
    """Through the protocol, the way an agent asks."""

    async def run() -> str:
        async with Client(build_server(lambda: service)) as client:
            answer = await client.call_tool("co_access", arguments)
            assert not answer.is_error, answer.content
            return "\n".join(part.text for part in answer.content)

    return anyio.run(run)


@pytest.fixture
def moving(shop: Path) -> Path:
    """The shop with a history: the cart moves with its test, and with a file no edge leads to."""
    for turn in range(3):
        committed(shop, f"turn {turn}", "shop/cart.py", "tests/test_cart.py", "README.md")
    committed(shop, LESSON, "shop/price.py")
    return shop


def test_before_an_edit_files_that_move_along_are_named_with_and_without_an_edge(moving: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphmem.injection.injector.deadline_of", lambda point: 60.0)
    line = next(one for one in (moving / "shop/cart.py").read_text().splitlines() if "def add(" in one)
    with GraphMem.open(moving / ".graphmem", settings=PLAIN) as memory:
        memory.index(moving)
        memory.co_access(["shop/cart.py"])  # the history is in memory
        session = next(one for one in map(str, range(1_000)) if group_of(one, memory.project().name) == FULL)
        given = {"file_path": str(moving / "shop/cart.py"), "old_string": line, "new_string": line.replace("def add(", "def add_one(")}
        event = {"session_id": session, "hook_event_name": "PreToolUse", "cwd": str(moving), "tool_name": "Edit", "tool_input": given}
        said = memory.hook("claude-code", json.dumps(event)).output
    together = said.partition("Often changed together")[2]
    assert "README.md (" in together
    assert "tests/test_cart.py (" in together


def test_every_door_gives_the_same_files(graphmem, serve, moving: Path) -> None:
    with GraphMem.open(moving / ".graphmem", settings=PLAIN) as memory:
        memory.index(moving)
        memory.record_co_access(["shop/cart.py", "shop/price.py"], "2026-01-01T00:00:00Z", session="s", offsets=[0, 90])
        here = memory.co_access(["shop/cart.py"], 5, depth=2)
        history = memory.file_history(["shop/cart.py"])
        impact = memory.impact("shop/cart.py:Cart.add")
        diff = memory.impact_of_diff(base="HEAD~1")
    by_path = {hit.path: hit for hit in here}
    assert "CALLS" in by_path["tests/test_cart.py"].explained
    assert by_path["README.md"].explained == []
    assert (by_path["shop/price.py"].direction, by_path["shop/price.py"].delay_s) == ("follows", 90.0)
    # What an edge leads to is in the impact already; what only history knows stands beside it.
    assert [hit.path for hit in impact.also_moves] == ["README.md"]
    server = serve(moving, "--no-index").wait_until_it_answers()
    with RemoteGraphMem(server.address) as remote:
        assert remote.co_access(["shop/cart.py"], 5, depth=2) == here
        assert remote.file_history(["shop/cart.py"]) == history
        assert remote.impact("shop/cart.py:Cart.add").also_moves == impact.also_moves
        assert remote.impact_of_diff(base="HEAD~1").impact.also_moves == diff.impact.also_moves
        shown = graphmem("coaccess", "shop/cart.py", "--depth", "2", "-n", "5", "--json", "-C", moving)
        assert json.loads(shown.out) == to_json(here)
        # What an agent reads is these rows, whether its tools run here or ask the server.
        said = asked_by_an_agent(remote, files=["shop/cart.py"], k=5, depth=2)
        assert said == text.co_access(here, 400)
        assert [line.split()[1] for line in said.partition("\nknown about")[0].splitlines() if line.startswith("- ")] == [
            hit.path for hit in here
        ]
        remote.record_co_access(["shop/cart.py", "new.py"])
        remote.record_rename("new.py", "newer.py")
        assert "newer.py" in [hit.path for hit in remote.co_access(["shop/cart.py"], min_sessions=1)]
        with pytest.raises(BadInputError):
            remote.record_co_access(["../out.py"])


@pytest.mark.parametrize(("unknown", "alike"), [("shop/nowhere.xyz", []), ("shop/cart_view.xyz", ["shop/cart.py", "tests/test_cart.py"])])
def test_no_door_pads_the_answer_about_an_unknown_file(graphmem, serve, moving: Path, unknown: str, alike: list[str]) -> None:
    with GraphMem.open(moving / ".graphmem", settings=PLAIN) as memory:
        memory.index(moving)
        here = memory.co_access([unknown], depth=2)
    assert sorted(hit.path for hit in here) == alike
    assert here.unknown == [unknown]
    server = serve(moving, "--no-index").wait_until_it_answers()
    with RemoteGraphMem(server.address) as remote:
        assert remote.co_access([unknown], depth=2) == here
        said = asked_by_an_agent(remote, files=[unknown], depth=2)
        assert [line.split()[1].rstrip(":") for line in said.splitlines() if line.startswith("- ")] == [hit.path for hit in here]
        given = json.loads(graphmem("coaccess", unknown, "--depth", "2", "--json", "-C", moving).out)
        assert given == to_json(here)
        shown = graphmem("coaccess", unknown, "--depth", "2", "-C", moving).out
        assert "edited recently" not in shown
        assert ("no file is known to change with it" in shown) == (not alike)


def test_the_first_index_reads_the_history_and_what_a_fix_explains(moving: Path) -> None:
    with GraphMem.open(moving / ".graphmem", settings=PLAIN) as memory:
        steps: list[str] = []
        memory.index(moving, on_progress=lambda step: steps.append(step.stage))
        assert "history" in steps
        assert steps[-1] == "done"
        (lesson,) = memory.memories().memories
        assert (lesson.status, lesson.source, lesson.type) == ("candidate", "commit_auto", "gotcha")
        assert "shop/price.py" in {one.name for one in lesson.about}
        assert lesson.content.startswith("Fix rounding of totals. The sum was rounded line by line")
        committed(moving, "turn", "shop/cart.py", "shop/price.py")
        memory.index()
        assert memory.co_access(["shop/price.py"], min_sessions=1)[0].path == "shop/cart.py"
        assert len(memory.memories().memories) == 1
        assert memory.doctor()["history"]["changes"] == {"git": 6}


def test_history_and_lessons_can_be_switched_off(moving: Path) -> None:
    with GraphMem.open(moving / ".off", settings=Settings(embedder="none", workers=1, git_history=False)) as memory:
        memory.index(moving)
        answer = memory.co_access(["shop/cart.py"])
        assert answer.commits == 0
        assert any("git_history is off" in note for note in answer.notes)
    with GraphMem.open(moving / ".quiet", settings=Settings(embedder="none", workers=1, git_lessons=False)) as memory:
        memory.index(moving)
        assert memory.co_access(["shop/cart.py"]).commits > 0
        assert memory.memories().total == 0


def test_a_damaged_history_does_not_keep_a_project_from_being_indexed(moving: Path) -> None:
    with GraphMem.open(moving / ".graphmem", settings=PLAIN) as memory:
        (moving / ".graphmem" / "history.sqlite").write_bytes(b"no database" * 500)
        memory.index(moving)
        assert memory.symbol("checkout").symbol.name == "checkout"
        with pytest.raises(HistoryError, match="delete it"):
            memory.co_access(["shop/cart.py"])


def test_the_command_speaks_to_people(graphmem, moving: Path) -> None:
    graphmem("index", moving)
    ran = graphmem("coaccess", "shop/cart.py", "-C", moving)
    assert ran.code == 0, ran.said
    assert "tests/test_cart.py" in ran.out
    assert "4×  100% of their changes" in ran.out
    assert "no edge in the code" in ran.out
    assert graphmem("coaccess", "shop/cart.py", "--min-sessions", "3", "-q", "-C", moving).out.split() == [
        "tests/test_cart.py",
        "README.md",
    ]
    unknown = graphmem("coaccess", "nowhere.py", "-C", moving)
    assert "the history does not know nowhere.py, and the index does not either" in unknown.out.splitlines()[0]
    assert unknown.code == 1
    (moving / "new.py").write_text("def new():\n    return 1\n", encoding="utf-8")
    graphmem("index", moving)
    new = graphmem("coaccess", "new.py", "-C", moving)
    assert new.code == 0
    assert new.out.splitlines()[0] == "the history does not know new.py"


@pytest.mark.parametrize("args", [("../x",), ("a", "--depth", "3"), ("a", "-k", "0"), ("a", "--min-sessions", "-1"), ()])
def test_what_cannot_be_meant_is_refused_in_a_sentence(graphmem, moving: Path, args) -> None:
    ran = graphmem("coaccess", *args, "-C", moving)
    assert ran.code in {1, 2}
    assert "internal error" not in ran.said


@pytest.mark.parametrize(
    ("files", "more"),
    [
        ([], {}),
        ("a.py", {}),
        (["/etc/passwd"], {}),
        (["../a.py"], {}),
        (["a.py"] * 2 + [f"{i}.py" for i in range(1_000)], {}),
        (["a.py", "b.py"], {"offsets": [1.0]}),
        (["a.py"], {"at": "yesterday"}),
        (["a.py"], {"session": "x" * 1000}),
    ],
)
def test_bad_input_records_nothing(tmp_path: Path, files, more) -> None:
    with GraphMem.open(tmp_path / "index", settings=PLAIN) as memory:
        with pytest.raises(BadInputError):
            memory.record_co_access(files, **more)
        assert not (tmp_path / "index" / "history.sqlite").exists()


def test_what_is_sure_is_an_edge_of_the_graph(moving: Path) -> None:
    with GraphMem.open(moving / ".graphmem", settings=PLAIN) as memory:
        memory.index(moving)
        rows = memory.parts.store.read("co_accessed", path="shop/cart.py")
        seen = {hit.path: hit for hit in memory.co_access(["shop/cart.py"])}
        assert [(row["path"], row["sessions"]) for row in rows] == [("README.md", 4), ("tests/test_cart.py", 4)]
        for row in rows:
            assert row["confidence"] == seen[row["path"]].confidence
            assert row["last_seen_at"].isoformat(timespec="seconds") == seen[row["path"]].last_seen
        committed(moving, "turn", "shop/cart.py")
        memory.index()
        assert len(memory.parts.store.read("co_accessed", path="shop/cart.py")) == 2  # they outlive a change of their ends


def test_deleting_everything_takes_what_agents_did_out_of_the_history(moving: Path) -> None:
    with GraphMem.open(moving / ".graphmem", settings=PLAIN) as memory:
        memory.index(moving)
        memory.record_co_access(["shop/cart.py", "plan.py"], session="s")
        memory.delete_all(memory.project().name)
        assert [hit.path for hit in memory.co_access(["plan.py"], min_sessions=1)] == []
        assert memory.doctor()["history"]["changes"] == {"git": 5}
