"""The state of one index run, which its stages share."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from graphmem.indexing.listener import Listener
from graphmem.indexing.meter import Meter
from graphmem.indexing.packed import PackedRows
from graphmem.model import Diagnostic

if TYPE_CHECKING:
    from graphmem.indexing.spill import Spill
    from graphmem.indexing.tree import Look
    from graphmem.indexing.unfinished import Unfinished
    from graphmem.parsing.packing import ParsedFile

Mode = Literal["full", "incremental", "unchanged"]


@dataclass(slots=True)
class Run:
    """One index run: its input, and what its stages found so far.

    Attributes:
        listener: functions of the caller.
        meter: measures the time of the stages.
        mode: "full" rebuilds the graph, "incremental" changes it, and "unchanged" has nothing to do.
        made_by: hash of the code that parses files and resolves names.
        known: content hashes of the indexed files, by path.
        look: changed and removed files.
        reports: identifies the reports of other tools, such as SCIP indexers, that the last run used.
        id: identifies the run.
        spill: temporary store of the rows of a full run; None in other runs.
        unfinished: keeps parsed files, so that an interrupted run can continue. Set after the first stage.
        parsed: the files that the run has parsed, by path.
        notes: diagnostics for people.
    """

    listener: Listener
    meter: Meter
    mode: Mode
    made_by: str
    known: dict[str, str]
    look: Look
    reports: str
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    spill: Spill | None = None
    unfinished: Unfinished | None = None
    parsed: dict[str, ParsedFile] = field(default_factory=dict)
    notes: PackedRows[Diagnostic] = field(default_factory=lambda: PackedRows(Diagnostic))

    @property
    def is_full(self) -> bool:
        """Whether the run rebuilds the graph."""
        return self.mode == "full"

    @property
    def removed(self) -> list[str]:
        """Return the paths of deleted files, ascending."""
        return self.look.removed

    @property
    def changed(self) -> list[str]:
        """Return the paths of new and changed files."""
        return [file.path for file in self.look.changed]

    @property
    def outdated(self) -> list[str]:
        """Return the paths of new, changed and deleted files."""
        return [*self.changed, *self.removed]
