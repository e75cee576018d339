"""`graphmem context` and `trust`: preview and control of injected context."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from graphmem.answers.vocabulary import InjectionFormat, InjectionPoint, TrustLevel
from graphmem.cli import options
from graphmem.cli.command import command
from graphmem.cli.context import CommandContext
from graphmem.cli.output import plural
from graphmem.cli.positions import paths_of

Files = Annotated[
    list[str] | None,
    typer.Option("--file", "-f", metavar="FILE", help="A file that is open in the editor, as path from the project's root (repeatable)."),
]
Form = Annotated[str, typer.Option("--format", **options.one_of(InjectionFormat), help="Format of the printed context.")]
Remaining = Annotated[
    int | None, typer.Option("--remaining", min=0, help="Number of tokens that the agent's context can still hold; default: 100,000.")
]
Phase = Annotated[str, typer.Option("--phase", help="The phase of work: define, implement, validate, refine, explore or reflect.")]
Session = Annotated[str, typer.Option("--session", help="Any name for this session; items shown once under the name are not shown again.")]

PATIENCE_S: Final = 30.0  # unlike an agent, a person waits for the index to open and the model to load


@command()
def context(
    here: CommandContext,
    text: Annotated[
        str,
        typer.Argument(
            metavar="[TEXT]",
            help="The user's prompt, for which context is printed. If it is missing, the context for the start of a session is printed.",
        ),
    ] = "",
    *,
    point: Annotated[
        str | None,
        typer.Option(
            "--point",
            **options.one_of(InjectionPoint),
            help="Moment of the session that needs context. Default: `prompt` with TEXT, `tool` with files only, else `start`.",
        ),
    ] = None,
    files: Files = None,
    phase: Phase = "",
    session: Session = "",
    form: Form = "markdown",
    remaining: Remaining = None,
) -> None:
    """Show the context that an agent would get now.

    The command waits for the context longer than an agent does.
    """
    from graphmem.cli.rendering import rendering_of, show

    service = here.service(whole=True)
    moment = point or ("prompt" if text else "tool" if files else "start")
    found = service.context(options.word(moment), session, text, paths_of(files), phase, options.word(form), remaining, PATIENCE_S)
    show(here.output, found, rendering_of("context"))


@command()
def trust(
    here: CommandContext,
    level: Annotated[
        str | None,
        typer.Argument(
            **options.one_of(TrustLevel),
            help="How certain a memory must be before agents see it without a request; auto: computed from how "
            "often people correct shown memories.",
        ),
    ] = None,
) -> None:
    """Show or set how certain a memory must be to be shown to agents.

    An agent sees a less certain memory only when it searches for memories.
    """
    service = here.service()
    state = service.set_trust_level(options.word(level)) if level else service.trust()

    def print_text() -> None:
        chosen = "by experience" if state.chosen == "auto" else "by choice"
        here.output.line(f"{state.level} ({chosen}): injected from confidence {state.threshold:.2f}")
        here.output.line(
            f"{plural(state.sessions, 'session')}; {state.corrections:.1%} of the items shown in the last ones were marked as wrong"
        )
        if state.offer:
            here.output.line(f"several memories were marked as wrong in one session; for a stricter level: graphmem trust {state.offer}")

    here.output.show(state, print_text, state.level)
