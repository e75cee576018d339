"""Options and arguments that several commands share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, get_args

import typer


@dataclass(frozen=True, slots=True)
class Was:
    """Annotation of an option with its earlier names.

    The earlier names work for one more release, with a warning.
    """

    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """Annotation of an option whose value is a setting.

    A value on the command line overrides the setting of the same name for this run. The option is not passed to the command's function.
    """


INDEX_PANEL: Final = "Which index"
OUTPUT_PANEL: Final = "Output"

Json = Annotated[bool, typer.Option("--json", help="Print the result, or the error, as one JSON document.", rich_help_panel=OUTPUT_PANEL)]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print only the result, without progress and notes.", rich_help_panel=OUTPUT_PANEL)
]
Db = Annotated[
    Path | None,
    typer.Option("--db", metavar="DIR", help="Directory of the index, instead of .graphmem in the project.", rich_help_panel=INDEX_PANEL),
]
Home = Annotated[
    bool,
    typer.Option("--home", help="Store the index in the user's data directory instead of in the project.", rich_help_panel=INDEX_PANEL),
]
Project = Annotated[
    Path | None,
    typer.Option(
        "--project",
        "-C",
        metavar="DIR",
        help="Root of the project; default: the project that contains the current directory.",
        rich_help_panel=INDEX_PANEL,
    ),
]
Server = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        help="Ask the project on this server, https://host/p/NAME, instead of a local index.",
        rich_help_panel=INDEX_PANEL,
    ),
]
Branch = Annotated[
    str | None,
    typer.Option("--branch", metavar="NAME", help="Ask about this branch of the project; only with --server.", rich_help_panel=INDEX_PANEL),
]
Root = Annotated[
    Path | None, typer.Argument(metavar="[PATH]", help="Root of the repository; default: the project that contains the current directory.")
]
Full = Annotated[bool, typer.Option("--full", help="Read every file again, not only changed ones.")]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", min=0, max=256, help="Number of processes that parse files and resolve references; 0: one for each processor."
    ),
    Setting(),
]
Store = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="Address of a PostgreSQL database that holds the graph, postgresql://host/name; default: a file in the index directory.",
    ),
    Setting(),
]
Embedder = Annotated[
    str | None,
    typer.Option("--embedder", help="Embedding model that computes vectors: auto, sentence-transformers, hashed or none."),
    Setting(),
]
MaxDepth = Annotated[int, typer.Option("--max-depth", "-d", min=1, max=50, help="Follow dependency paths of at most this many steps.")]
MinConfidence = Annotated[
    float, typer.Option("--min-confidence", "-c", min=0.0, max=1.0, help="Omit results whose confidence (0 to 1) is below this value.")
]
Top = Annotated[int, typer.Option("--top", min=0, help="The maximum number of lines to print of each group of results; 0: all.")]
EdgeKinds = Annotated[
    list[str] | None,
    typer.Option("--kind", metavar="KIND", help="Follow only dependencies of these kinds: CALLS, REFERENCES, INHERITS, … (repeatable)."),
]


def one_of(vocabulary: object) -> dict[str, object]:
    """Return keyword arguments for a typer option that accepts certain words.

    The accepted words are those of `vocabulary`, a type in `answers.vocabulary`.
    """
    words = [str(one) for one in get_args(get_args(vocabulary)[0])]  # what follows is its name and description

    def parse(text: str) -> str:
        if text not in words:
            raise typer.BadParameter(f"unknown value {text!r}; use one of {', '.join(words)}")
        return text

    parse.__name__ = "word"  # what help shows as the type
    return {"parser": parse, "metavar": f"[{'|'.join(words)}]"}


def accepted(parameter: Any) -> str:
    """Return a sentence with the words that an option accepts.

    The result is "" if the option accepts any value.
    """
    listed = parameter.metavar or ""
    words = getattr(parameter.type, "choices", None) or (listed[1:-1].split("|") if listed.startswith("[") else [])  # by `one_of`
    return f" One of {', '.join(str(getattr(one, 'value', one)) for one in words)}." if len(words) > 1 else ""


def word(text: object) -> Any:
    """Return a string unchanged, typed as `Any` for the type checker.

    The text is passed to an operation's parameter that accepts only certain words. The operation validates the text.
    """
    return text
