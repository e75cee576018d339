"""`graphmem self-check`: try the installation on a small project."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.cli.command import command
from graphmem.cli.context import CommandContext
from graphmem.cli.failures import REFUSED
from graphmem.errors import GraphMemError

if TYPE_CHECKING:
    from graphmem.project.graphmem import GraphMem

SAMPLES: Final = {
    "a.py": "def inner():\n    return 1\n\n\ndef outer():\n    return inner()\n",
    "a.ts": "export function inner() { return 1 }\nexport function outer() { return inner() }\n",
    "a.go": "package a\n\nfunc inner() int { return 1 }\n\nfunc outer() int { return inner() }\n",
    "a.rs": "fn inner() -> i32 { 1 }\n\nfn outer() -> i32 { inner() }\n",
    "A.java": "class A {\n  int inner() { return 1; }\n  int outer() { return inner(); }\n}\n",
}
"""A caller and a callee in each language with rules of its own."""
EXTRAS: Final = {"lsp": "pygls", "organisation": "psycopg", "models": "sentence_transformers"}


class Tried(NamedTuple):
    """Result of testing one feature of the installation, for example `memory`."""

    part: str
    ok: bool
    said: str
    seconds: float


@command(without=("db", "home", "project"))
def self_check(here: CommandContext) -> None:
    """Test the installation on a small temporary project.

    The test indexes a project, asks questions, stores a memory and searches, with the configured embedding model. The exit code is 1 if a
    step fails.
    """
    tried = list(_tried(here))
    well = all(one.ok for one in tried)
    if here.output.as_json:
        here.output.json({"ok": well, "parts": [one._asdict() for one in tried]})
    elif not here.output.quiet or not well:
        here.output.rows(
            [
                (("ok", "green") if one.ok else ("failed", "red"), (one.part, "bold"), one.said, (f"{one.seconds:.1f} s", "dim"))
                for one in tried
                if not (here.output.quiet and one.ok)
            ]
        )
    if not well:
        raise SystemExit(REFUSED)


def _tried(here: CommandContext) -> Iterator[Tried]:
    """Test each feature of the installation and yield its result.

    If indexing fails, the other tests are left out.
    """
    with tempfile.TemporaryDirectory(prefix="graphmem-self-check-") as folder:
        root = Path(folder) / "project"
        root.mkdir()
        for name, text in SAMPLES.items():
            (root / name).write_text(text, encoding="utf-8")
        from graphmem.project.graphmem import GraphMem

        opened: list[GraphMem] = []

        def index() -> str:
            opened.append(GraphMem.open(db=Path(folder) / "index", repo=root, settings=here.settings))
            found = opened[0].index(str(root))
            return f"{found.files} files of {len(found.languages)} languages"

        parts: tuple[tuple[str, Callable[[], str]], ...] = (
            ("index", index),
            ("impact", lambda: _impact(opened[0])),
            ("memory", lambda: _memory(opened[0])),
            ("model", lambda: _model(opened[0], here.settings.embedder)),
            ("extras", _extras),
        )
        try:
            for part, work in parts:
                found = _try(part, work)
                yield found
                if part == "index" and not found.ok:
                    break
        finally:
            for one in opened:
                one.close()


def _try(part: str, work: Callable[[], str]) -> Tried:
    begun = time.monotonic()
    try:
        ok, said = True, work()
    except GraphMemError as error:
        ok, said = False, error.message
    except Exception as error:  # noqa: BLE001 - a broken installation may raise anything, and its report is the purpose
        ok, said = False, f"{type(error).__name__}: {error}"
    return Tried(part, ok, said, round(time.monotonic() - begun, 2))


def _impact(memory: GraphMem) -> str:
    missing = []
    for path in SAMPLES:
        name = "A.inner" if path == "A.java" else "inner"
        if not any(hit.symbol.name == "outer" for hit in memory.impact(f"{path}:{name}").hits):
            missing.append(path)
    if missing:
        raise RuntimeError(f"the self-check did not find a call in its sample files {', '.join(missing)}; reinstall graphmem")
    return f"the caller is found in {len(SAMPLES)} languages"


def _memory(memory: GraphMem) -> str:
    kept = memory.remember("`inner` returns one, because callers count from one.", type="fact").memory
    if kept.id not in {one.id for one in memory.memories().memories}:
        raise RuntimeError("the self-check stored a memory, but the list of memories does not contain it; reinstall graphmem")
    return "stored and found again"


def _model(memory: GraphMem, embedder: str) -> str:
    if embedder == "none":
        return "switched off by the setting embedder"
    memory.fill_vectors(background=False)
    state = memory.state()
    if not state.vectors or state.vectors < state.chunks:
        raise RuntimeError(f"only {state.vectors} of {state.chunks} sample texts have embedding vectors; {state.note}")
    if not memory.search("what counts from one", limit=1).hits:
        raise RuntimeError("the self-check searched its sample project and found nothing; reinstall graphmem")
    return f"{state.vectors} texts have vectors"


def _extras() -> str:
    there = [extra for extra, module in EXTRAS.items() if find_spec(module) is not None]
    return ", ".join(there) if there else "none installed"
