"""Result of `pip install`: package, queries, grammars and the command."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = ("queries", "grammars")

pytestmark = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="compares with the files of git; this is not a checkout")


def _in_checkout(*where: str) -> set[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *where],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return {name for name in listed.split("\0") if name and (ROOT / name).exists()}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as `make build` makes it, from the source distribution, with the build backend that is installed."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = out.glob("graphmem-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel alone; the libraries it needs are those of this environment."""
    home = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    python = home / "bin" / "python"
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps", "--no-index", str(wheel)],
        check=True,
        capture_output=True,
    )
    # A directory named in a .pth file is searched, but its own .pth files, such as that of an editable install, are not read.
    site = next(home.glob("lib/python*/site-packages"))
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return home / "bin"


def test_the_wheel_carries_every_query_and_grammar_and_nothing_else_beside_the_package(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    carried = {name.removeprefix("graphmem/_data/") for name in names if name.startswith("graphmem/_data/")}
    assert carried == _in_checkout(*DATA)
    sources = {name for name in names if name.startswith("graphmem/") and not name.startswith(("graphmem/_data/", "graphmem/api/static/"))}
    assert {name for name in _in_checkout("graphmem") if not name.startswith("graphmem/api/static/")} <= sources
    assert all(name.startswith(("graphmem/", "graphmem-")) for name in names)
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


def test_the_wheel_carries_the_query_page_when_it_was_built(wheel: Path) -> None:
    static = ROOT / "graphmem" / "api" / "static"
    built = {path.relative_to(ROOT).as_posix() for path in static.rglob("*") if path.is_file()} if static.is_dir() else set()
    carried = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("graphmem/api/static/")}
    assert carried == built


def test_the_wheel_carries_its_licence_and_types(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "graphmem/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_installed_command_works_from_an_empty_directory(installed: Path, tmp_path: Path) -> None:
    project, here = tmp_path / "project", tmp_path / "here"
    here.mkdir()
    project.mkdir()
    (project / "a.py").write_text("def low():\n    return 1\n\n\ndef high():\n    return low()\n", encoding="utf-8")
    run = _runner(installed, here)

    assert f"{ROOT}/" not in run("python", "-c", "import graphmem; print(graphmem.__file__)")
    assert run("graphmem", "version").startswith("graphmem ")
    run("graphmem", "index", str(project), "--quiet")
    assert "a.py:high" in run("graphmem", "impact", "low", "-C", str(project), "--quiet")
    assert run("graphmem", "search", "low", "-C", str(project), "--quiet")


def _runner(installed: Path, here: Path) -> Callable[..., str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GRAPHMEM_", "PYTHON"))}
    environ = {**kept, "GRAPHMEM_EMBEDDER": "none", "GRAPHMEM_WORKERS": "1"}

    def run(program: str, *args: str) -> str:
        done = subprocess.run([str(installed / program), *args], cwd=here, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run
