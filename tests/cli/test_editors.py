"""`graphmem lsp` in real editors, with the settings that the documentation shows, over a part of graphmem itself."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent / "editors"
PAGE = ROOT / "docs" / "howto" / "editor.md"
EDITED = "graphmem/client/standing.py"
DEFINED = "graphmem/client/connecting.py"
LINE = "self._found = connect_or_start("
WORD = "connect_or_start"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, graphmem) -> Iterator[Path]:
    """Four real rooms with an index; their server is ended at the end."""
    root = tmp_path_factory.mktemp("editors") / "project"
    for room in ("client", "lsp", "answers", "server"):
        shutil.copytree(ROOT / "graphmem" / room, root / "graphmem" / room, ignore=shutil.ignore_patterns("__pycache__"))
    assert graphmem("index", root, "-q").code == 0
    yield root
    owner = root / ".graphmem" / "owner.json"
    if owner.is_file():
        os.kill(json.loads(owner.read_text())["pid"], signal.SIGTERM)
        end = time.monotonic() + 60
        while owner.is_file() and time.monotonic() < end:
            time.sleep(0.1)
        assert not owner.exists()


def settings(language: str) -> str:
    """The settings of an editor on the page, of which there are at most three lines."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(found.splitlines()) <= 3
    return found


def answers(command: list[str], project: Path, environ: dict[str, str], tmp_path: Path) -> dict[str, Any]:
    """Answers that the editor received."""
    said = tmp_path / "answers.json"
    given = {"ANSWERS": str(said), "EDITED": EDITED, "LINE": LINE, "WORD": WORD, "HOME": str(tmp_path)}
    path = f"{Path(sys.executable).parent}{os.pathsep}{environ['PATH']}"
    ended = subprocess.run(command, cwd=project, env={**environ, "PATH": path, **given}, capture_output=True, text=True, timeout=200)
    assert said.is_file(), ended.stdout + ended.stderr
    found = json.loads(said.read_text())
    assert "failure" not in found, found["failure"]
    assert "exit code" not in ended.stdout + ended.stderr
    return found


def check(found: dict[str, Any], project: Path) -> None:
    text, defined = ((project / one).read_text().splitlines() for one in (EDITED, DEFINED))
    line = next(number for number, one in enumerate(defined) if one.startswith(f"def {WORD}"))
    place = {"start": {"line": line, "character": 4}, "end": {"line": line, "character": 4 + len(WORD)}}
    assert found["definition"] == {"uri": (project / DEFINED).as_uri(), "range": place}
    assert found["moved"] == found["definition"]
    assert found["jumped"] == defined[line]
    hover = found["hover"]["contents"]["value"]
    assert f"def {WORD}(location: Location) -> RemoteGraphMem" in hover
    assert "1 caller: `Standing.service`" in hover
    uses = {number for number, one in enumerate(text) if WORD in one}
    assert {one["range"]["start"]["line"] for one in found["references"] if one["uri"] == (project / EDITED).as_uri()} == uses
    titles = {one["range"]["start"]["line"]: one["command"]["title"] for one in found["lenses"]}
    service = next(number for number, one in enumerate(text) if "def service(" in one)
    inner = next(number for number, one in enumerate(text) if "def _is_same(" in one)
    assert titles[inner] == "1 caller"
    assert titles[service] == "1 caller"


def test_neovim(project: Path, environ, tmp_path: Path) -> None:
    editor = shutil.which("nvim")
    if editor is None:
        pytest.skip("Neovim is not installed")
    init = tmp_path / "init.lua"
    init.write_text(settings("lua"))
    found = answers([editor, "--headless", "-u", str(init), EDITED, "-c", f"luafile {HERE / 'neovim.lua'}"], project, environ, tmp_path)
    check(found, project)
    assert [one["from"]["name"] for one in found["calls"]] == ["Standing.service"]
    assert found["said"] == []
    log = tmp_path / ".cache" / "nvim" / "lsp.log"
    assert not log.is_file() or "ERROR" not in log.read_text()


def test_emacs(project: Path, environ, tmp_path: Path) -> None:
    editor = shutil.which("emacs")
    if editor is None:
        pytest.skip("Emacs is not installed")
    batch = [editor, "--batch", "-f", "package-initialize"]
    if subprocess.run([*batch, "-l", "eglot"], capture_output=True).returncode:
        pytest.skip("eglot is not installed")
    init = tmp_path / "init.el"
    init.write_text(settings("elisp"))
    check(answers([*batch, "-l", str(init), "-l", str(HERE / "emacs.el")], project, environ, tmp_path), project)
