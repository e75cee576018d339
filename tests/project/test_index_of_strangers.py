"""An index that came with a repository is nobody's own: it is refused, and a person is told what to do."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from graphmem.errors import BadInputError
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

SETTINGS = Settings(embedder="none")


@pytest.fixture
def cloned(tmp_path: Path) -> Path:
    root = tmp_path / "cloned"
    root.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


def track(root: Path, *paths: str) -> None:
    subprocess.run(["git", "add", "-f", *paths], cwd=root, check=True)


@pytest.mark.parametrize("name", ["memories/00000001.jsonl", "trust.json", "graph.db", "owner.json", "history.sqlite"])
def test_an_index_that_git_tracks_is_not_opened(cloned, name):
    file = cloned / ".graphmem" / name
    file.parent.mkdir(parents=True)
    file.write_text("{}")
    track(cloned, ".graphmem")
    with pytest.raises(BadInputError, match="may come from another person") as refused:
        GraphMem.open(repo=cloned, settings=SETTINGS)
    assert "git rm -r --cached .graphmem" in refused.value.message
    assert [one.name for one in cloned.rglob("*") if one.is_file() and ".git" not in one.parts] == [file.name]


def test_a_link_in_its_place_is_not_followed(cloned, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (cloned / ".graphmem").symlink_to("../elsewhere")
    track(cloned, ".graphmem")
    with pytest.raises(BadInputError, match="may come from another person"):
        GraphMem.open(repo=cloned, settings=SETTINGS)
    assert not list((tmp_path / "elsewhere").iterdir())


def test_ones_own_index_and_tracked_rules_are_fine(cloned):
    (cloned / ".graphmem" / "rules").mkdir(parents=True)
    (cloned / ".graphmem" / "rules" / "style.md").write_text("Short sentences.")
    track(cloned, ".graphmem/rules")
    for _ in range(2):
        with GraphMem.open(repo=cloned, settings=SETTINGS) as memory:
            assert memory.state().state == "empty"
        track(cloned, ".graphmem/.gitignore")
