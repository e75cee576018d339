"""The GitHub Action, run against a local git server, a recorded event and a server that takes comments."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

ACTION = Path(__file__).parents[2] / "web" / "action"
GIT = ("git", "-c", "user.name=A", "-c", "user.email=a@example.org")


def git(root: Path, *words: str) -> str:
    return subprocess.run([*GIT, "-C", str(root), *words], check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def comments():
    """A server with the comments of one pull request, and its address."""
    kept: list[dict[str, Any]] = [{"id": 1, "body": "Looks good."}]

    class Comments(BaseHTTPRequestHandler):
        def _answer(self, body: Any) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def _given(self) -> dict[str, Any]:
            assert self.headers["Authorization"] == "Bearer secret"
            return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

        def do_GET(self) -> None:
            assert self.path.startswith("/repos/o/r/issues/7/comments?")
            self._answer(kept)

        def do_POST(self) -> None:
            kept.append({"id": len(kept) + 1, **self._given()})
            self._answer({})

        def do_PATCH(self) -> None:
            number = int(self.path.rpartition("/")[2])
            kept[number - 1].update(self._given())
            self._answer({})

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Comments)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield kept, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_the_action_writes_one_comment_and_replaces_it(shop: Path, tmp_path: Path, environ, comments) -> None:
    kept, address = comments
    git(shop, "branch", "-M", "main")
    (shop / "README.md").write_text("# Shop, as the target branch has it\n")
    git(shop, "checkout", "-qb", "topic")
    (shop / "shop/price.py").write_text((shop / "shop/price.py").read_text().replace("value, 2", "value, 3"))
    git(shop, "commit", "-qm", "Round to three digits", "shop/price.py")
    git(shop, "stash", "-q")
    git(shop, "checkout", "-q", "main")
    git(shop, "stash", "pop", "-q")
    git(shop, "commit", "-qam", "Move on")
    tip = git(shop, "rev-parse", "main")
    work = tmp_path / "work"
    git(tmp_path, "clone", "-q", "--branch", "topic", "--single-branch", "--depth", "1", shop.as_uri(), str(work))
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7, "base": {"sha": tip}}}))
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "graphmem"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m graphmem "$@"\n')
    command.chmod(0o755)
    (tmp_path / "outputs").touch()
    variables = {
        **environ,
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "REVIEW_INSTALLED": "1",
        "REVIEW_BASE": "",
        "REVIEW_VERSION": "graphmem",
        "REVIEW_FAIL_ON": "",
        "REVIEW_COMMENT": "true",
        "REVIEW_TOKEN": "secret",
        "RUNNER_TEMP": str(tmp_path / "temp"),
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_OUTPUT": str(tmp_path / "outputs"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "GITHUB_API_URL": address,
        "GITHUB_REPOSITORY": "o/r",
        "GRAPHMEM_EMBEDDER": "none",
        "no_proxy": "127.0.0.1",
    }
    for _ in range(2):
        ran = subprocess.run(
            ["bash", str(ACTION / "review.sh")], cwd=work, env=variables, capture_output=True, text=True, check=False, timeout=240
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
    assert [one["id"] for one in kept] == [1, 2]
    assert kept[1]["body"].startswith("<!-- graphmem review -->\n")
    assert "rounded" in kept[1]["body"]
    assert "README" not in kept[1]["body"], "the target branch's own changes are not part of the review"
    outputs = (tmp_path / "outputs").read_text()
    assert "risk=" in outputs
    assert "tests/test_cart.py::test_checkout" in outputs
    failing = subprocess.run(
        ["bash", str(ACTION / "review.sh")],
        cwd=work,
        env={**variables, "REVIEW_FAIL_ON": "low", "REVIEW_COMMENT": "false"},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert failing.returncode == 1, failing.stdout + failing.stderr


def test_the_action_passes_every_variable_that_its_script_reads() -> None:
    action = yaml.safe_load((ACTION / "action.yml").read_text())
    steps = action["runs"]["steps"]
    given = set(steps[-1]["env"])
    script = (ACTION / "review.sh").read_text()
    for name in ("REVIEW_BASE", "REVIEW_VERSION", "REVIEW_FAIL_ON", "REVIEW_COMMENT", "REVIEW_TOKEN"):
        assert name in given
        assert name in script
    for value in action["outputs"].values():
        assert f"{value['value'].rpartition('.')[2].rstrip(' }')}" in script
