"""The checkout itself: no address of a registry, a pin for every dependency, a first command that says what it needs."""

from __future__ import annotations

import re
import subprocess
import sys
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


def test_an_exact_version_has_its_reason_beside_it() -> None:
    lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    pinned = [line for line in lines if re.search(r'"[\w-]+==', line)]
    assert pinned
    assert [line for line in pinned if "# " not in line] == []


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


@pytest.mark.parametrize(
    ("has", "may_install", "needs", "says"),
    [(True, False, "1", ""), (False, True, "1", "installing PostgreSQL"), (False, False, "unset", "its tests are skipped")],
)
def test_continuous_integration_does_not_skip_postgresql_silently(
    tmp_path: Path, has: bool, may_install: bool, needs: str, says: str
) -> None:
    programs, place = tmp_path / "bin", tmp_path / "postgresql"
    initdb = place / "15" / "bin" / "initdb"
    scripts = {
        "make": f'{sys.executable} -c "import sys; print(repr(sys.stdin.read()))"; echo "$@ NEED=${{NEED_POSTGRESQL-unset}}"',
        "id": "echo 0",
        "apt-get": f"if [ $1 = install ]; then mkdir -p {initdb.parent}; touch {initdb}; fi" if may_install else "exit 100",
        "timeout": '/usr/bin/timeout "$@"',
        "mkdir": '/bin/mkdir "$@"',
        "touch": '/bin/touch "$@"',
        "dirname": '/usr/bin/dirname "$@"',
    }
    programs.mkdir()
    for name, text in scripts.items():
        (programs / name).write_text(f"#!/bin/bash\n{text}\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    if has:
        initdb.parent.mkdir(parents=True)
        initdb.touch()
    around = {"PATH": str(programs), "POSTGRESQL_PLACE": str(place)}
    done = subprocess.run(["/bin/bash", ".ci/run"], cwd=ROOT, env=around, capture_output=True, text=True, check=True)
    assert done.stdout.endswith(f"''\ntest NEED={needs}\n"), done
    assert says in done.stdout + done.stderr


def test_continuous_integration_runs_the_readmes_test_command() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "make test" in script
    assert "make test" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert subprocess.run(["bash", "-n", ".ci/run"], cwd=ROOT, check=False).returncode == 0
