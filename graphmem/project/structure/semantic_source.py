"""Derive modules, flows and similar results once the graph stops changing.

Modules are groups of files, and flows are paths of calls from entry points.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from graphmem.project.structure.derived import Semantics

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from graphmem.answers import IndexSummary
    from graphmem.history.co_edits import History
    from graphmem.project.graph.graph_source import GraphSource
    from graphmem.store.base import GraphStore

SETTLED_S: Final = 30.0  # without a change before results of a later graph are derived
LARGE_FILES: Final = 100  # in smaller projects results are derived within a tenth of a second
LARGE_SHARE: Final = 0.2  # of the files; after a run that changed fewer, results are derived when they are asked for


@dataclass(eq=False, repr=False)
class SemanticSource:
    """Modules, flows and other results for the newest graph, cached.

    Modules are groups of files, and flows are paths of calls from entry points.
    """

    graph: GraphSource
    store: GraphStore
    history: Callable[[], History]
    commits: Callable[[], int] = lambda: 0
    file: Path | None = None  # of kept results
    gaps: Callable[[], list[str]] = list  # sentences on what the history lacks
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _newest: Semantics | None = field(default=None, init=False)
    _derived: Semantics | None = field(default=None, init=False)  # for the first screen
    _settling: tuple[Semantics | None, float] = field(default=(None, 0.0), init=False)  # the newest seen, and since when

    def newest(self) -> Semantics:
        """The results for the newest graph, such as modules and dead code.

        The results are cached until the graph or the known commits change.

        Raises:
            NotIndexedError: nothing was indexed yet.
        """
        view, commits = self.graph.view(), self.commits()
        with self._lock:
            here = self._newest
            if here is None or here.view is not view or here.commits != commits:
                here = self._newest = Semantics(view, self.store, self.history, commits, self.file, self.gaps)
            return here

    def derive_after(self, run: IndexSummary) -> bool:
        """Derive and save modules and call flows after a large index run.

        Dead code is derived, too. The first search and the first visitor of the explorer then find the results ready. Deriving makes the
        run about a tenth longer.

        Returns:
            True if the run was large, so that results were derived.
        """
        if run.files < LARGE_FILES or run.changed < LARGE_SHARE * run.files:
            return False
        here = self.newest()
        here.derive_first_screen()
        self._derived = here
        return True

    def derive_when_due(self) -> str:
        """Derive results such as modules before a question needs them.

        For the first graph of a process, results are derived at once. For a later graph, they are derived once it has stayed unchanged for
        `SETTLED_S` seconds.

        Returns:
            A short report if anything was derived, else "".
        """
        if self.graph.view_or_none() is None:
            return ""
        here, now = self.newest(), time.monotonic()
        if here is self._derived:
            return ""
        if here is not self._settling[0]:
            self._settling = (here, now)
        if self._derived is not None and now - self._settling[1] < SETTLED_S:
            return ""
        here.derive_first_screen()
        self._derived = here
        return f"generation {here.view.generation}"
