"""An account without a home directory, as in a container that runs as a user nobody listed: the project works, and no file is lost."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys

import pytest

HIDDEN = "mount --bind /dev/null /etc/passwd && mount --bind /dev/null /etc/nsswitch.conf && exec env -u HOME -u XDG_DATA_HOME "
HAS_NO_HOME = "from pathlib import Path\ntry:\n    Path.home()\nexcept RuntimeError:\n    raise SystemExit(7)\n"


@pytest.fixture
def homeless(repo, environ):
    """Run a command in `repo` as an account that has no home directory; return code and output."""

    def run(*words: str) -> tuple[int, str]:
        shell = ["unshare", "--mount", "sh", "-c", HIDDEN + shlex.join(words)]
        done = subprocess.run(shell, cwd=repo, env=dict(environ), capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    if shutil.which("unshare") is None or run(sys.executable, "-c", HAS_NO_HOME)[0] != 7:
        pytest.skip("needs the right to mount: it hides the list of accounts")
    return lambda *words: run(sys.executable, "-P", "-m", "graphmem", *words)


def test_an_account_without_a_home_indexes_asks_and_remembers(homeless):
    assert homeless("index", "-q", "--workers", "1") == (0, "")
    assert homeless("impact", "f1")[0] == 0
    assert homeless("remember", "The ring begins at f0.", "-q")[0] == 0
    assert "The ring begins at f0" in homeless("memory", "list")[1]
    assert homeless("doctor")[0] == 0
    assert homeless("rules")[0] == 0


@pytest.mark.parametrize("command", [("remember", "Tabs are used.", "--user"), ("install", "claude-code", "--user"), ("index", "--home")])
def test_what_needs_a_home_is_refused_in_a_sentence(homeless, command):
    code, said = homeless(*command)
    assert (code, "internal error" in said) == (2, False), said
    assert "/dev/null/" in said
