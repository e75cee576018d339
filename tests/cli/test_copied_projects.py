"""A client is answered by its own index, whatever was copied, moved or taken over."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from graphmem.client.remote import RemoteGraphMem
from graphmem.server import owner


def test_a_copy_of_a_served_project_is_its_own_project(graphmem, serve, shop: Path) -> None:
    assert graphmem("index", shop, "-q").code == 0
    server = serve(shop, "--no-index").wait_until_it_answers()
    copy = shop.with_name("copy")
    shutil.copytree(shop, copy)
    assert (copy / ".graphmem" / "owner.json").exists(), "the copy says who serves the original"
    kept = graphmem("remember", "Only the copy knows that the till closes at nine.", cwd=copy)
    assert kept.code == 0, kept.said
    (copy / "shop" / "price.py").write_text("def doubled(value):\n    return 2 * value\n")
    assert graphmem("index", "-q", cwd=copy).code == 0
    assert graphmem("symbol", "doubled", cwd=copy).code == 0
    assert "till closes" in graphmem("memory", "list", "--json", cwd=copy).out
    assert json.loads(graphmem("memory", "list", "--json", cwd=shop).out)["memories"] == []
    assert graphmem("symbol", "doubled", cwd=shop).code != 0
    assert owner.find(shop / ".graphmem" / "owner.json").address == server.address


def test_a_hook_of_a_copy_does_not_speak_to_the_original(serve, graphmem, shop: Path, environ) -> None:
    assert graphmem("index", shop, "-q").code == 0
    serve(shop, "--no-index").wait_until_it_answers()
    copy = shop.with_name("copy")
    shutil.copytree(shop, copy)

    def hook(root: Path, session: str) -> str:
        told = {"hook_event_name": "SessionStart", "session_id": session, "source": "startup", "cwd": str(root)}
        command = [sys.executable, "-P", "-m", "graphmem", "hook", "claude-code"]
        return subprocess.run(command, input=json.dumps(told), env=dict(environ), capture_output=True, text=True, check=True).stdout

    hook(copy, "of-the-copy")
    hook(shop, "of-the-original")
    address = owner.find(shop / ".graphmem" / "owner.json")
    with RemoteGraphMem(address.address, address.token) as client:
        assert [one.id for one in client.sessions().sessions] == ["of-the-original"]


def test_a_project_that_was_moved_while_it_was_served_goes_on_where_it_is(graphmem, serve, shop: Path) -> None:
    assert graphmem("index", shop, "-q").code == 0
    server = serve(shop, "--no-index").wait_until_it_answers()
    assert graphmem("remember", "Before the move the till closed at nine.", cwd=shop).code == 0
    assert graphmem("index", "-q", cwd=shop).code == 0  # waits until the memory is in the graph
    moved = shop.with_name("moved")
    shop.rename(moved)
    (shop / ".graphmem").mkdir(parents=True)  # where the server would write to
    for said in ("After the move it closes at ten.", "And on Sundays never."):
        kept = graphmem("remember", said, cwd=moved)
        assert kept.code == 0, kept.said
    listed = json.loads(graphmem("memory", "list", "--json", cwd=moved).out)["memories"]
    assert len(listed) == 3
    assert server.process.wait(30) == 1
    assert "was moved or deleted" in server.process.stderr.read()
    assert graphmem("verify", cwd=moved).code == 0
    assert list((shop / ".graphmem").iterdir()) == [], "nothing was written to the old place"
