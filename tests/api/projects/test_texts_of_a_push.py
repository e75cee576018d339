"""The texts of pushed files follow the graph: directories become files, files become directories, and a full disk changes neither."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from graphmem.client.remote import RemoteGraphMem
from graphmem.errors import GraphMemError
from graphmem.project.hosted import pushed_texts
from hosted import SHOP, hosted, indexed, written

RATES = "RATE = 19\n\n\ndef rate():\n    return RATE\n"
TAX = "def tax(price):\n    return price * 19 // 100\n"
AS_DIRECTORY, AS_FILE = {"shop/tax.py/of/rates.py": RATES, "shop/tax.py/all.py": RATES}, {"shop/tax.py": TAX}


@pytest.fixture
def server(tmp_path):
    with hosted(tmp_path / "srv") as running:
        yield running


def become(own, root: Path, files) -> None:
    """Replace everything at `shop/tax.py` by `files`, and index the directory."""
    place = root / "shop" / "tax.py"
    shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
    written(root, files)
    own.index(root)


def texts(folder: Path) -> dict[str, str]:
    inside = (one for one in folder.rglob("*.py") if one.is_file() and ".graphmem" not in one.parts)
    return {one.relative_to(folder).as_posix(): one.read_text() for one in inside}


@pytest.mark.parametrize("branch", ["", "feature/tax"])
def test_a_directory_becomes_a_file_and_again_a_directory(tmp_path, server, branch):
    root, project = tmp_path / "shop", server.project("shop")
    with indexed(root, SHOP) as own:
        own.push_index(project)
        remote = RemoteGraphMem(project + ("@feature~tax" if branch else ""))
        for files in (AS_DIRECTORY, AS_FILE, AS_DIRECTORY, {}):
            become(own, root, files)
            own.push_index(project, branch=branch)
            assert {one.path for one in remote.files().files} == {*SHOP, *files}, "the branch stays open between the pushes"
            for path, text in files.items():
                assert remote.file_source(path).text == text
        if not branch:
            assert texts(tmp_path / "srv" / "shop") == SHOP
            assert not (tmp_path / "srv" / "shop" / "shop" / "tax.py").exists(), "empty directories are removed"


def test_a_full_disk_is_noticed_before_the_graph_changes(tmp_path, server, monkeypatch):
    root, project = tmp_path / "shop", server.project("shop")
    with indexed(root, SHOP) as own:
        own.push_index(project)
        become(own, root, AS_FILE)

        def full(*_given, **_more):
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(pushed_texts, "replace_file", full)
            with pytest.raises(GraphMemError, match="disk"):
                own.push_index(project)
        remote = RemoteGraphMem(project)
        assert remote.state().generation == 1
        assert {one.path for one in remote.files().files} == set(SHOP)
        assert own.push_index(project).sent == 1, "only the changed file is sent again"


def test_texts_of_a_push_that_ended_after_the_graph_had_changed_are_replaced_by_the_next(tmp_path, server, monkeypatch):
    root, project = tmp_path / "shop", server.project("shop")
    with indexed(root, SHOP | AS_DIRECTORY) as own:
        own.push_index(project)
        become(own, root, AS_FILE)

        def ended(*_given):
            raise OSError(errno.EIO, "Input/output error")

        with monkeypatch.context() as patch:
            patch.setattr(pushed_texts.PushedTexts, "move", ended)
            with pytest.raises(GraphMemError):
                own.push_index(project)
        assert own.push_index(project).sent == len(SHOP | AS_FILE)
        assert texts(tmp_path / "srv" / "shop") == SHOP | AS_FILE


@pytest.mark.parametrize("is_first", [True, False])
def test_no_text_of_a_push_that_failed_is_left(tmp_path, server, monkeypatch, is_first):
    root, project = tmp_path / "shop", server.project("shop")
    with indexed(root, SHOP | AS_FILE) as own:
        if not is_first:
            own.push_index(project)
        written(root, {"shop/draft.py": RATES})
        become(own, root, {})  # the push removes a file and adds another
        move = pushed_texts.PushedTexts.move

        def moved_and_ended(*given):
            move(*given)
            raise OSError(errno.EIO, "Input/output error")

        with monkeypatch.context() as patch:
            patch.setattr(pushed_texts.PushedTexts, "move", moved_and_ended if is_first else _ended)
            with pytest.raises(GraphMemError):
                own.push_index(project)
        [listed] = RemoteGraphMem(server.address).projects().projects
        assert listed.name == "shop"
        (root / "shop" / "draft.py").unlink()
        own.index(root)
        own.push_index(project)
        assert texts(tmp_path / "srv" / "shop") == SHOP


def _ended(*_given):
    raise OSError(errno.EIO, "Input/output error")
