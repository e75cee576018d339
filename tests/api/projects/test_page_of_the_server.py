"""The commands of docs/server.md, run as they are printed."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from commands import environ, graphmem
from hosted import SHOP, written

PAGE = Path(__file__).parents[3] / "docs" / "server.md"
ADDRESS = "http://127.0.0.1:8420"
__all__ = ["environ", "graphmem"]


@pytest.fixture
def blocks():
    text = PAGE.read_text(encoding="utf-8")
    return {kind: re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL) for kind in ("sh", "bash")}


def test_the_pages_commands_serve_push_and_ask(tmp_path, environ, graphmem, blocks):
    root = written(tmp_path / "shop", SHOP)
    program, *words = shlex.split(blocks["sh"][0].replace("/srv/graphmem", str(tmp_path / "srv")).replace("8420", "0"))
    assert program == "graphmem"
    with subprocess.Popen(
        [sys.executable, "-m", "graphmem", *words, "--quiet"], env=environ, cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            said = []
            for line in "".join(blocks["bash"]).replace(ADDRESS, address).splitlines():
                program, *words = shlex.split(line)
                ran = graphmem(*words, cwd=root)
                assert ran.code == 0, ran.said
                said.append(ran.out)
            assert "2 files sent" in said[1]
            assert said[2].split()[0] == said[3].split()[0] == "shop"
            assert "show_cart" in said[4]
            assert "show_cart" in said[5]
        finally:
            server.send_signal(signal.SIGTERM)
            assert server.wait(30) == 0


def test_the_pages_commands_introduce_people(tmp_path, graphmem, blocks):
    (tmp_path / "srv").mkdir()
    said = []
    for line in blocks["sh"][1].replace("/srv/graphmem", str(tmp_path / "srv")).splitlines():
        ran = graphmem(*shlex.split(line)[1:], cwd=tmp_path)
        assert ran.code == 0, ran.said
        said.append(ran.out)
    assert said[0].startswith("gp_")
    assert "ann  Ann  write in shop" in said[5]
    assert "shop-ci  CI of shop  write in shop" in said[5]
    assert "token created" in graphmem("server", "audit", "--projects", str(tmp_path / "srv"), cwd=tmp_path).out
