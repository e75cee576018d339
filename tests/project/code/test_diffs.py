"""A diff of real git names the right files and lines, for odd names and contents, whatever the settings of git are."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Final

import pytest

from graphmem.errors import BadInputError
from graphmem.project.code import diffs
from graphmem.runtime.texts.lines import decoded_by_line

GIT: Final = ("git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main", "-c", "core.autocrlf=false")
OPTIONS: Final = ("core.quotepath=on", "core.quotepath=off", "diff.noprefix=true", "diff.mnemonicPrefix=true")
BODY: Final = "{top}\ndef one():\n    return 1\n\n\ndef two():\n    return one()\n"


def python(top: str = "# top", encoding: str = "utf-8", ending: str = "\n") -> bytes:
    return BODY.format(top=top).replace("\n", ending).encode(encoding)


FILES: Final = {
    "plain.py": python(),
    "with blank/a b.py": python(),
    "ümläut.py": python(),
    "t\tab.py": python(),
    'quo"te.py': python(),
    "back\\slash.py": python(),
    "a/plain.py": python(),
    "b/plain.py": python(),
    "i/w/plain.py": python(),
    "form_feed.py": python("# top\n\f"),
    "separator.py": python('TOP = "\u2028\x0b\x85"'),
    "mark.py": python("\ufeff# top"),
    "crlf.py": python(ending="\r\n"),
    "latin.py": python('TOP = "Müller"', "latin-1"),
    "cyrillic.py": python('# coding: koi8-r\nTOP = "Пётр"', "koi8-r"),
    "carriage.py": python('TOP = """x\ry"""'),
}


def git(root: Path, *words: str) -> bytes:
    return subprocess.run([*GIT, "-C", str(root), *words], check=True, capture_output=True).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for name, data in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    git(tmp_path, "init")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-m", "Start")
    return tmp_path


def changes_of(root: Path, option: str, *words: str) -> tuple[list[str], list[tuple[str, str, str, list[int]]]]:
    """The files and the changes of `git diff`, as `graphmem impact --diff -` reads it."""
    text = git(root, "-c", option, "diff", *words).decode("utf-8", "surrogateescape")
    found = diffs.of_text(root, text)
    return found.files, [(one.path, one.definition.qualname, one.change, one.lines) for one in found.changes]


@pytest.mark.parametrize("option", OPTIONS)
def test_a_changed_function_is_found_in_its_file(repository: Path, option: str) -> None:
    expected = {}
    for name, data in FILES.items():
        changed = data.replace(b"return one()", b"return one() + 1").replace(b"M\xfcller", b"M\xf6ller")
        expected[name] = changed[: changed.index(b"return one()")].count(b"\n") + 1
        (repository / name).write_bytes(changed)
    for words in ((), ("-U0",), ("HEAD",), ("-R",)):
        files, changes = changes_of(repository, option, *words)
        assert files == sorted(FILES)
        assert {path: lines for path, name, change, lines in changes if (name, change) == ("two", "body")} == {
            name: [line] for name, line in expected.items()
        }
    git(repository, "add", "-A")
    assert changes_of(repository, option, "--cached") == changes_of(repository, option, "HEAD")


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("name", FILES)
def test_new_deleted_and_renamed_files_keep_their_names(repository: Path, name: str, option: str) -> None:
    path = repository / name
    path.unlink()
    files, changes = changes_of(repository, option)
    assert files == [name]
    assert {one[:3] for one in changes} >= {(name, "one", "removed"), (name, "two", "removed")}
    git(repository, "commit", "-am", "Delete")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(FILES[name])
    git(repository, "add", "-A")
    files, changes = changes_of(repository, option, "--cached")
    assert files == [name]
    assert {one[:3] for one in changes} >= {(name, "one", "added"), (name, "two", "added")}
    git(repository, "commit", "-m", "Add")
    moved = f"b/moved/{path.name}"
    (repository / "b/moved").mkdir()
    git(repository, "mv", name, moved)
    assert changes_of(repository, option, "HEAD", "-M") == ([moved], [])


@pytest.mark.parametrize("option", OPTIONS)
def test_a_range_does_not_depend_on_the_settings_of_git(repository: Path, option: str) -> None:
    for name in FILES:
        path = repository / name
        path.write_bytes(path.read_bytes().replace(b"return one()", b"return one() + 1"))
    git(repository, "config", *option.split("="))
    found = diffs.of_range(repository, "HEAD", None)
    assert found.files == sorted(FILES)
    assert {one.path for one in found.changes} == set(FILES)


def test_a_letter_is_a_folder_if_only_the_folder_exists(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a/x.py").write_bytes(python())
    (tmp_path / "b/x.py").write_bytes(python().replace(b"return 1", b"return 2"))
    done = subprocess.run(["diff", "-u", "a/x.py", "b/x.py"], cwd=tmp_path, capture_output=True, check=False)
    assert diffs.of_text(tmp_path, done.stdout.decode()).files == ["b/x.py"]
    (tmp_path / "x.py").write_bytes(python())
    assert diffs.of_text(tmp_path, done.stdout.decode()).files == ["x.py"]


def test_a_diff_with_lines_in_several_encodings_is_sent_without_stray_bytes(repository: Path) -> None:
    data = subprocess.run(["git", "-C", str(repository), "diff"], capture_output=True, check=True).stdout
    text = decoded_by_line(data)
    text.encode("utf-8")  # a request can hold it
    assert diffs.of_text(repository, text).files == diffs.of_text(repository, data.decode("utf-8", "surrogateescape")).files


def test_a_client_may_send_the_letters_of_a_latin_1_file(repository: Path) -> None:
    path = repository / "latin.py"
    path.write_bytes(path.read_bytes().replace(b"return one()", b"return one() + 1"))
    found = diffs.of_text(repository, git(repository, "diff").decode("latin-1"))
    assert [(one.definition.qualname, one.lines) for one in found.changes] == [("two", [7])]


def test_a_mark_that_a_client_removed_does_not_matter(repository: Path) -> None:
    path = repository / "mark.py"
    path.write_bytes(path.read_bytes().replace(b"return 1", b"return 3"))
    found = diffs.of_text(repository, git(repository, "diff").decode().replace("\ufeff", ""))
    assert [(one.definition.qualname, one.lines) for one in found.changes] == [("one", [3])]


@pytest.mark.parametrize(
    "text",
    [
        "hello\n",
        "@@ -1 +1 @@\n-x\n+y\n",
        "--- a/x.py\n@@ -1 +1 @@\n-x\n+y\n",
        "+++ b/x.py\n@@ -1 +1 @@\n-x\n+y\n",
        "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-x\n",
        "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-x\n*y\n",
        "diff --cc x.py\n--- a/x.py\n+++ b/x.py\n@@@ -1,1 -1,1 +1,1 @@@\n--x\n++y\n",
        f"--- a/x.py\n+++ b/x.py\n@@ -1 +{'7' * 5000} @@\n-x\n+y\n",
    ],
)
def test_a_text_that_is_not_a_diff_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInputError, match="is not a unified diff"):
        diffs.of_text(tmp_path, text)


def test_a_name_may_have_bytes_that_are_not_utf_8(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/bad\xff.py"
    Path(os.fsdecode(name)).write_bytes(python())
    git(tmp_path, "init")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-m", "Start")
    Path(os.fsdecode(name)).write_bytes(python().replace(b"return 1", b"return 2"))
    assert changes_of(tmp_path, "core.quotepath=on")[0] == ["bad\udcff.py"]
