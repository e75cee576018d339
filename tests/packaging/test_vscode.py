"""The extension for VS Code compiles strictly, packs, and asks what the server answers."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from graphql import build_schema, parse, validate

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "web" / "vscode"


def test_its_queries_fit_the_schema() -> None:
    schema = build_schema((ROOT / "queries" / "schema.graphql").read_text(encoding="utf-8"))
    queries = re.findall(r"/\* GraphQL \*/ `(.*?)`", (SOURCE / "src" / "queries.ts").read_text(encoding="utf-8"), re.DOTALL)
    assert len(queries) == 3
    for query in queries:
        assert validate(schema, parse(query)) == []


def test_its_settings_name_features_of_the_server() -> None:
    features = pytest.importorskip("graphmem.lsp.server").FEATURES
    given = json.loads((SOURCE / "package.json").read_text(encoding="utf-8"))["contributes"]["configuration"]["properties"]
    assert set(given["graphmem.features"]["default"]) <= set(features)


@pytest.mark.slow
def test_it_compiles_and_packs(tmp_path: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    shutil.copy(ROOT / "LICENSE", tmp_path)
    (tmp_path / "queries").mkdir()
    shutil.copy(ROOT / "queries" / "schema.graphql", tmp_path / "queries")  # types of the answers are made from it
    project = tmp_path / "web" / "vscode"
    shutil.copytree(SOURCE, project, ignore=shutil.ignore_patterns("dist", "node_modules", "LICENSE"))
    installed = subprocess.run(
        [npm, "ci", "--silent", "--no-audit", "--no-fund", "--prefer-offline"], cwd=project, capture_output=True, text=True, timeout=300
    )
    if installed.returncode:
        pytest.skip(f"npm cannot install: {installed.stderr[-500:]}")
    packed = subprocess.run([npm, "run", "pack"], cwd=project, capture_output=True, text=True, timeout=300)
    assert packed.returncode == 0, packed.stdout + packed.stderr
    with zipfile.ZipFile(project / "dist" / "graphmem.vsix") as archive:
        names = set(archive.namelist())
        assert "extension/dist/extension.js" in names
        assert not [name for name in names if name.endswith(".ts") or "node_modules" in name]
