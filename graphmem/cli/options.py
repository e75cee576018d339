"""Options and arguments that several commands share, said once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer


class Was(NamedTuple):
    """Earlier spellings of an option. They work for one more release, with a warning."""

    flags: tuple[str, ...]


class Setting(NamedTuple):
    """An option whose value is the setting of its name; the command itself does not get it."""


INDEX_PANEL: Final = "Which index"
OUTPUT_PANEL: Final = "Output"

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, also for errors.", rich_help_panel=OUTPUT_PANEL)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notes; only the bare answer.", rich_help_panel=OUTPUT_PANEL)]
Db = Annotated[
    Path | None,
    typer.Option(
        "--db", metavar="DIR", help="Directory the index lives in, instead of .graphmem in the project.", rich_help_panel=INDEX_PANEL
    ),
]
Home = Annotated[
    bool,
    typer.Option("--home", help="Keep the index under your user's data directory, by project.", rich_help_panel=INDEX_PANEL),
]
Project = Annotated[
    Path | None,
    typer.Option(
        "--project", "-C", metavar="DIR", help="Ask about this project instead of the one around here.", rich_help_panel=INDEX_PANEL
    ),
]
Root = Annotated[Path | None, typer.Argument(metavar="[PATH]", help="Root of the repository; default: the project around here.")]
Workers = Annotated[
    int | None, typer.Option("--workers", min=0, max=256, help="Processes that parse; 0: one for each processor."), Setting()
]
Embedder = Annotated[str | None, typer.Option("--embedder", help="auto, sentence-transformers, hashed or none."), Setting()]
MaxDepth = Annotated[int, typer.Option("--max-depth", "-d", min=1, max=50, help="Follow at most this many steps.")]
MinConfidence = Annotated[
    float, typer.Option("--min-confidence", "-c", min=0.0, max=1.0, help="Leave out what is less certain than this, along the whole path.")
]
EdgeKinds = Annotated[
    list[str] | None,
    typer.Option("--kind", metavar="KIND", help="Follow only these edges: CALLS, REFERENCES, INHERITS, … (repeatable)."),
]


def word(text: Any) -> Any:
    """A word of a closed set, as it was typed; the operation refuses one that it does not know."""
    return text
