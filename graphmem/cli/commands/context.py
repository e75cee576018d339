"""`graphmem context`, `plan` and `trust`: what an agent is shown, seen by a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from graphmem.cli import options
from graphmem.cli.commands.memory import show_answer
from graphmem.cli.door import door

if TYPE_CHECKING:
    from graphmem.answers.injection import Injection
    from graphmem.cli.door import Door

Files = Annotated[list[str] | None, typer.Option("--file", "-f", metavar="FILE", help="A file that is open, from the root (repeatable).")]
Form = Annotated[str, typer.Option("--format", help="xml, markdown, text or json.")]
Remaining = Annotated[int | None, typer.Option("--remaining", min=0, help="Tokens of context that are left; default: 100,000.")]
Phase = Annotated[str, typer.Option("--phase", help="define, implement, validate, refine, explore or reflect.")]
Session = Annotated[str, typer.Option("--session", help="Remember under this name what was shown, and do not show it again.")]

PATIENCE_S: Final = 30.0  # a person waits for an index to be opened and a model to be loaded, an agent does not


def context(
    text: Annotated[str, typer.Argument(metavar="[TEXT]", help="What the person says; without it, what a session begins with.")] = "",
    *,
    point: Annotated[str, typer.Option("--point", help="start, prompt, tool or step; default: prompt with a text, else start.")] = "",
    files: Files = None,
    phase: Phase = "",
    session: Session = "",
    form: Form = "markdown",
    remaining: Remaining = None,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show what would be put in front of an agent now, without its deadline."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        service = here.service(whole=True)
        moment = point or ("prompt" if text else "tool" if files else "start")
        _show(here, service.context(options.word(moment), session, text, files or (), phase, options.word(form), remaining, PATIENCE_S))


def plan(
    task: Annotated[str, typer.Argument(metavar="TASK", help="What is to be done.")],
    modules: Annotated[list[str] | None, typer.Argument(metavar="[MODULE]...", help="Directories or files it is about.")] = None,
    *,
    form: Form = "markdown",
    remaining: Remaining = None,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """What past work says about a task: how long such work took, dead ends, what moves together, outcomes, recipes."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        _show(here, here.service(whole=True).plan_context(task, modules or (), options.word(form), remaining))


def trust(
    level: Annotated[str, typer.Argument(metavar="[LEVEL]", help="cautious, standard, confident, autonomous or auto.")] = "",
    *,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show, or choose, how sure a memory must be before an agent is shown it unasked."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        service = here.service()
        state = service.set_trust_level(options.word(level)) if level else service.trust()

        def told() -> None:
            chosen = "by experience" if state.chosen == "auto" else "by choice"
            here.output.line(f"{state.level} ({chosen}): shown unasked from confidence {state.threshold:.2f}")
            here.output.line(f"{state.sessions} sessions; {state.corrections:.1%} of what the last ones were shown was flagged wrong")
            if state.offer:
                here.output.line(f"several memories were flagged wrong in one session; to be more careful: graphmem trust {state.offer}")

        show_answer(here, state, told, state.level)


def _show(here: Door, found: Injection) -> None:
    def told() -> None:
        if found.text:
            here.output.text(found.text)
        else:
            here.output.note("nothing to show" if not found.late else "it was not ready by its deadline, so nothing is shown")
        left = ", ".join(f"{count} {reason}" for reason, count in found.left_out.items())
        here.output.note(
            f"{found.tokens:,} of {found.budget:,} tokens, {found.seconds * 1000:.0f} ms, trust level {found.level}"
            + (f"; left out: {left}" if left else "")
        )
        for note in found.notes:
            here.output.note(note)

    show_answer(here, found, told, found.text)
