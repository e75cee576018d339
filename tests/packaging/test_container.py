"""The container's command serves a repository to those who have the token, and its context holds what a build needs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _instruction(name: str) -> list[str]:
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    found = re.search(rf"^{name} (\[.*\])$", text, re.MULTILINE)
    assert found, name
    words: list[str] = json.loads(found[1])
    return words


def test_its_command_serves_with_a_token(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("def f():\n    return 1\n", encoding="utf-8")
    assert _instruction("ENTRYPOINT") == ["graphmem"]
    words = _instruction("CMD")
    words[words.index("/src")] = str(tmp_path)
    words[words.index("8420")] = "0"
    words[words.index("0.0.0.0")] = "127.0.0.2"  # not the usual loopback address, so that the rules of other addresses hold
    environment = {**os.environ, "GRAPHMEM_TOKEN": "t" * 32, "GRAPHMEM_EMBEDDER": "none"}
    command = [sys.executable, "-m", "graphmem", *words, "--json"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            said = ""
            for line in server.stdout:
                said += line
                if line == "}\n":
                    break
            address = json.loads(said)["address"]
            body = json.dumps({"query": '{ symbol(ref: "f") { name } }'}).encode()
            request = urllib.request.Request(f"{address}/graphql", body, {"Content-Type": "application/json"})
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request, timeout=30)
            with refused.value as answer:
                assert answer.code == 401
            request.add_header("Authorization", "Bearer " + "t" * 32)
            with urllib.request.urlopen(request, timeout=30) as response:
                assert json.load(response)["data"]["symbol"]["name"] == "f"
        finally:
            server.terminate()
            server.communicate(timeout=30)


def test_its_context_holds_what_a_build_needs() -> None:
    left_out = (ROOT / ".containerignore").read_text(encoding="utf-8").split()
    for needed in ("pyproject.toml", "README.md", "LICENSE", "requirements/constraints.txt", "graphmem", "queries", "grammars"):
        assert (ROOT / needed).exists()
        assert not any(fnmatch(needed, pattern) or needed.startswith(pattern + "/") for pattern in left_out), needed
