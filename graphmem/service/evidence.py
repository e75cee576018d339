"""Outside evidence for the doors: what to leave for the next index run, and what the index holds of it."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from graphmem.evidence import coverage, inbox, indexers, scip, trace

AUTO: Final = "auto"


def leave(
    data_dir: Path, root: Path | None, scip_files: Sequence[str] = (), runtime: Sequence[Path] = (), measured: Sequence[Path] = ()
) -> None:
    """Check outside files and leave them for the next index run, whichever process makes it.

    Args:
        data_dir: of the index.
        root: of the project; where indexers run.
        scip_files: SCIP indexes; `auto` means those that installed indexers make now.
        runtime: traces of `pytest --graphmem`.
        measured: coverage.py's data files with contexts.

    Raises:
        EvidenceError: one is not what it should be, or no indexer is installed; nothing is left of that one.
    """
    for name in scip_files:
        if name != AUTO:
            inbox.put(Path(name), scip.SUFFIX, data_dir)
            continue
        with tempfile.TemporaryDirectory(prefix="graphmem-scip-") as folder:
            for made in indexers.run_installed(root or Path.cwd(), Path(folder)):
                inbox.put(made, scip.SUFFIX, data_dir)
    for path in runtime:
        inbox.put(path, trace.SUFFIX, data_dir)
    for path in measured:
        inbox.put(path, coverage.SUFFIX, data_dir)
