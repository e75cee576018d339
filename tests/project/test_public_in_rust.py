"""Rust: only `pub` makes a definition part of the public API."""

from pathlib import Path

import pytest

from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

CODE = """\
pub fn shown() -> i32 { 1 }
pub(crate) fn inner() -> i32 { 1 }
pub struct Shelf;
impl Shelf {
    pub fn open(&self) -> i32 { shown() }
    pub(super) fn close(&self) -> i32 { inner() }
}
"""


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory):
    root: Path = tmp_path_factory.mktemp("crate")
    (root / "src").mkdir()
    (root / "src" / "lib.rs").write_text(CODE, encoding="utf-8")
    (root / "Cargo.toml").write_text('[package]\nname = "shelf"\nversion = "0.1.0"\n', encoding="utf-8")
    with GraphMem.open(root / "index", settings=Settings(embedder="none")) as opened:
        opened.index(root)
        yield opened


@pytest.mark.parametrize(("name", "is_public"), [("shown", True), ("inner", False), ("Shelf.open", True), ("Shelf.close", False)])
def test_code_outside_may_call_what_is_pub(memory: GraphMem, name: str, is_public: bool) -> None:
    assert any("public API" in reason for reason in memory.impact(name).risk.reasons) is is_public
