"""`graphmem context` and `trust`: what an agent is shown, seen by a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from graphmem.cli import options
from graphmem.cli.command import command
from graphmem.cli.door import Door

if TYPE_CHECKING:
    from graphmem.cli.door import Door

Files = Annotated[list[str] | None, typer.Option("--file", "-f", metavar="FILE", help="A file that is open, from the root (repeatable).")]
Form = Annotated[str, typer.Option("--format", help="xml, markdown, text or json.")]
Remaining = Annotated[int | None, typer.Option("--remaining", min=0, help="Tokens of context that are left; default: 100,000.")]
Phase = Annotated[str, typer.Option("--phase", help="define, implement, validate, refine, explore or reflect.")]
Session = Annotated[str, typer.Option("--session", help="Remember under this name what was shown, and do not show it again.")]

PATIENCE_S: Final = 30.0  # a person waits for an index to be opened and a model to be loaded, an agent does not


@command()
def context(
    here: Door,
    text: Annotated[str, typer.Argument(metavar="[TEXT]", help="What the person says; without it, what a session begins with.")] = "",
    *,
    point: Annotated[str, typer.Option("--point", help="start, prompt, tool or step; default: prompt with a text, else start.")] = "",
    files: Files = None,
    phase: Phase = "",
    session: Session = "",
    form: Form = "markdown",
    remaining: Remaining = None,
) -> None:
    """Show what an agent would be shown now.

    No deadline holds, as it does for agents.
    """
    from graphmem.cli.rendering import rendering_of, show

    service = here.service(whole=True)
    moment = point or ("prompt" if text else "tool" if files else "start")
    found = service.context(options.word(moment), session, text, files or (), phase, options.word(form), remaining, PATIENCE_S)
    show(here.output, found, rendering_of("context"))


@command()
def trust(
    here: Door,
    level: Annotated[str, typer.Argument(metavar="[LEVEL]", help="cautious, standard, confident, autonomous or auto.")] = "",
) -> None:
    """Show or choose how sure memories must be to be shown.

    A memory that is less sure is shown to an agent only when it asks.
    """
    service = here.service()
    state = service.set_trust_level(options.word(level)) if level else service.trust()

    def told() -> None:
        chosen = "by experience" if state.chosen == "auto" else "by choice"
        here.output.line(f"{state.level} ({chosen}): shown unasked from confidence {state.threshold:.2f}")
        here.output.line(f"{state.sessions} sessions; {state.corrections:.1%} of what the last ones were shown was flagged wrong")
        if state.offer:
            here.output.line(f"several memories were flagged wrong in one session; to be more careful: graphmem trust {state.offer}")

    here.output.show(state, told, state.level)
