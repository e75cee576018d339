"""HTML report on the structure of a system and its problems.

The document has no scripts and no network addresses. The report is made only from answers of operations, so it is the same through every
interface.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Final, Protocol

from graphmem.reports.diagram import of_modules
from graphmem.reports.svg import STYLE, colour, svg
from graphmem.runtime.texts.safe_text import inert

if TYPE_CHECKING:
    from jinja2 import Environment

    from graphmem.answers import Project
    from graphmem.answers.findings import CentralPage, DeadCodePage, DuplicatePage, EntryPointPage, FlowPage, HotspotPage
    from graphmem.answers.modules import CyclesAnswer, ModuleMap

ROWS: Final = 15  # of a table; a command lists the rest
FEW: Final = 8
SECTIONS: Final = {
    "map": "Map of modules",
    "modules": "Modules",
    "upward": "Dependencies against the layers",
    "hotspots": "Hot spots",
    "cycles": "Cycles",
    "entries": "Entry points and flows",
    "central": "Most used symbols",
    "dead": "Probably dead code",
    "duplicates": "Duplicates",
}


class Answers(Protocol):
    """The operations of graphmem whose answers the HTML report shows."""

    def modules(self) -> ModuleMap:
        """Return the modules of the system: groups of files that belong together."""

    def cycles(self, level: str = "files", limit: int = 50) -> CyclesAnswer:
        """Return the import cycles."""

    def entry_points(self, kinds: Sequence[str] | None = None, limit: int = 100, offset: int = 0) -> EntryPointPage:
        """Return the entry points of the code, such as `main` or HTTP routes."""

    def flows(self, kinds: Sequence[str] | None = None, module: str | None = None, limit: int = 50, offset: int = 0) -> FlowPage:
        """Return chains of calls that begin at an entry point."""

    def hotspots(self, level: str = "files", limit: int = 50, offset: int = 0) -> HotspotPage:
        """Return code that changes often, is complex and has many dependents."""

    def central_symbols(self, limit: int = 50) -> CentralPage:
        """Return the definitions that most other code depends on."""

    def dead_code(self, min_confidence: float = 0.6, limit: int = 100, offset: int = 0) -> DeadCodePage:
        """Return definitions that appear to be unused."""

    def duplicates(
        self, min_tokens: int = 50, similarity: float = 0.85, tests: bool = False, limit: int = 50, offset: int = 0
    ) -> DuplicatePage:
        """Return duplicated pieces of code."""


def report(project: Project, ask: Answers) -> str:
    """Return the HTML report on a project.

    The same index gives the same bytes.
    """
    found = ask.modules()
    upward = [one for one in found.dependencies if one.upward]
    file_cycles, entries = ask.cycles("files", FEW), ask.entry_points(limit=1)
    dead, twice = ask.dead_code(limit=ROWS), ask.duplicates(limit=FEW)
    tiles = {
        "files": f"{project.state.files:,}",
        "lines of code files": f"{sum(one.lines for one in found.modules):,}",
        "symbols": f"{project.state.symbols:,}",
        "modules": f"{len(found.modules):,}",
        "dependencies go up": f"{len(upward):,} of {len(found.dependencies):,}",
        "import cycles": f"{file_cycles.total:,}",
        "entry points": f"{sum(entries.by_kind.values()):,}",
        "probably dead": f"{dead.total:,}",
        "duplicate lines": f"{twice.lines:,}",
    }
    return (
        _environment()
        .get_template("report.html")
        .render(
            project=project,
            css=files("graphmem.reports").joinpath("report.css").read_text(encoding="utf-8") + STYLE,
            picture=svg(of_modules(found, "Map of modules"), style=False),
            sections=SECTIONS,
            tiles=tiles,
            modules=found,
            upward=sorted(upward, key=lambda one: (one.weight, one.src_name, one.dst_name)),
            hot_files=ask.hotspots("files", ROWS),
            hot_symbols=ask.hotspots("symbols", ROWS),
            module_cycles=ask.cycles("modules", FEW),
            file_cycles=file_cycles,
            entries=entries,
            flows=ask.flows(limit=FEW),
            central=ask.central_symbols(ROWS),
            dead=dead,
            twice=twice,
            ROWS=ROWS,
        )
    )


def _environment() -> Environment:
    """Return the jinja2 environment, which escapes strings for HTML."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("graphmem.reports", ""),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        finalize=lambda value: inert(value) if type(value) is str else value,
    )
    made.filters["colour"] = colour
    made.filters["counted"] = lambda number, noun: f"{number:,} {noun}{'' if number == 1 else 's'}"
    return made
