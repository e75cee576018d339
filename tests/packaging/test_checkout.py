"""The checkout itself: no address of a registry, a pin for every dependency, a first command that says what it needs."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _named(requirement: str) -> str:
    return _normal(re.split(r"[<>=!~;\[ ]", requirement, maxsplit=1)[0])


def test_every_dependency_is_pinned_within_its_bounds() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pins = {}
    for line in (ROOT / "requirements" / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, version = line.partition("==")
            pins[_normal(name)] = version
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    missing = [one for one in wanted if _named(one) not in pins]
    assert not missing
    exact = {_named(one): one.partition("==")[2].partition(";")[0].strip() for one in wanted if "==" in one}
    assert {name: pins[name] for name in exact} == exact


@pytest.mark.parametrize("name", ["Makefile", ".ci/run", "pyproject.toml", "requirements/constraints.txt", ".pre-commit-config.yaml"])
def test_no_file_that_installs_names_an_address(name: str) -> None:
    assert "://" not in (ROOT / name).read_text(encoding="utf-8")


def test_make_serve_without_a_repository_says_what_to_type(tmp_path: Path) -> None:
    """The stamps say that everything is installed, so that nothing is."""
    venv = tmp_path / "venv"
    venv.mkdir()
    for stamp in ("venv", "torch", "runtime"):
        (venv / f".stamp-{stamp}").touch()
    command = ["make", "serve", f"VENV={venv}", "PAGE="]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "make serve REPO=<path>" in done.stderr


def test_make_help_lists_every_public_target() -> None:
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    for target in ("serve", "setup", "test", "check", "fmt", "bench", "build", "clean", "help"):
        assert re.search(rf"^  make {target}\b", done.stdout, re.MULTILINE), target


def test_continuous_integration_runs_the_readmes_test_command() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "make test" in script
    assert "make test" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert subprocess.run(["bash", "-n", ".ci/run"], cwd=ROOT, check=False).returncode == 0
