"""Text that a client gives as a revision is never an option of Git, such as `--output`, which overwrites a file."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphmem.errors import GitError, GraphMemError
from graphmem.operations.registry import registry
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

GIT = ("git", "-c", "user.name=A", "-c", "user.email=a@example.org")
REVISIONS = ("base", "head", "revision", "as_of")
NEEDED = {
    "impact": {"targets": ["serve"]},
    "search": {"query": "serve"},
    "drift": {"base": "HEAD"},
    "review": {"base": "HEAD"},
    "impact_of_diff": {"base": "HEAD"},
}
ASKED = sorted(
    (name, one)
    for name, operation in registry().items()
    for one, parameter in operation.signature.parameters.items()
    if one in REVISIONS and "str" in str(parameter.annotation)
)


@pytest.fixture(scope="module")
def routes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphMem]:
    """A repository with a route, so that every operation has something to compare. No test changes it."""
    root = tmp_path_factory.mktemp("options") / "routes"
    root.mkdir()
    (root / "app.py").write_text(
        "from flask import Flask\n\napp = Flask('a')\n\n\n@app.route('/x')\ndef serve():\n    return 1\n", encoding="utf-8"
    )
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Start"]):
        subprocess.run([*GIT, *words], cwd=root, check=True, capture_output=True)
    with GraphMem.open(repo=root, settings=Settings(embedder="none", workers=1)) as memory:
        memory.index(root)
        yield memory


def test_the_operations_with_revisions_are_all_tried() -> None:
    assert {("contracts", "base"), ("commits", "revision"), ("impact", "as_of"), ("review", "head"), ("drift", "base")} <= set(ASKED)


@pytest.mark.parametrize(("operation", "argument"), ASKED)
def test_no_revision_is_an_option_of_git(routes: GraphMem, tmp_path: Path, operation: str, argument: str) -> None:
    target = tmp_path / "precious"
    target.write_text("precious", encoding="utf-8")
    given = {**NEEDED.get(operation, {}), argument: f"--output={target}"}
    with pytest.raises(GraphMemError) as caught:
        getattr(routes, operation)(**given)
    assert target.read_text(encoding="utf-8") == "precious"
    if argument != "as_of":
        assert isinstance(caught.value, GitError)
        assert "unknown revision '--output=" in str(caught.value)
