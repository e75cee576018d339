"""The commands as a person types them."""

from __future__ import annotations

import json
import os
import subprocess
import sys


def run(*args, cwd, home):
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_DATA_HOME": str(home / "data")}
    return subprocess.run([sys.executable, "-P", "-m", "graphmem", *args], cwd=cwd, env=environ, capture_output=True, text=True, timeout=60)


def test_a_dry_run_shows_a_diff_and_writes_nothing_and_the_rest_writes_and_removes(tmp_path):
    root, home = tmp_path / "shop", tmp_path / "home"
    (root / ".git").mkdir(parents=True)
    home.mkdir()
    shown = run("install", "claude-code", "--dry-run", "--command", "graphmem", cwd=root, home=home)
    assert shown.returncode == 0
    assert "+++ " + str(root / ".claude" / "settings.json") in shown.stdout
    assert not (root / ".claude").exists()
    done = run("install", "claude-code", "codex", "--json", "--command", "graphmem", cwd=root, home=home)
    assert all(one["changed"] for one in json.loads(done.stdout))
    assert {one["agent"] for one in json.loads(done.stdout)} == {"claude-code", "codex"}
    assert "graphmem hook codex" in (root / ".codex" / "config.toml").read_text()
    removed = run("uninstall", "--all", cwd=root, home=home)
    assert removed.returncode == 0, removed.stderr
    assert "removed" in removed.stdout
    assert sorted(path.name for path in root.iterdir()) == [".git"]


def test_what_an_agent_still_asks_of_a_person_is_said_once_something_was_written(tmp_path):
    first = run("install", "codex", "gemini", "--command", "graphmem", cwd=tmp_path, home=tmp_path)
    assert first.stderr.count("Codex calls nothing of this before you trust the project") == 1
    assert "Gemini CLI calls nothing of this before you trust the folder" in first.stderr
    again = run("install", "codex", "--command", "graphmem", cwd=tmp_path, home=tmp_path)
    assert (again.returncode, again.stderr) == (0, "")


def test_taking_out_what_was_never_written_says_so(tmp_path):
    for every in ((), ("--all",)):
        removed = run("uninstall", *every, cwd=tmp_path, home=tmp_path)
        assert (removed.returncode, removed.stdout) == (0, "")
        assert "not in the settings of any of these agents" in removed.stderr


def test_a_wrong_agent_is_refused_with_those_there_are(tmp_path):
    for args in (("install", "emacs"), ("install",)):
        refused = run(*args, cwd=tmp_path, home=tmp_path)
        assert refused.returncode == 2
        assert "claude-code" in refused.stderr
