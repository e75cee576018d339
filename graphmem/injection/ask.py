"""A request for context to show to an agent, and its packed result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from graphmem.errors import BadInputError
from graphmem.injection.budgets import Budget
from graphmem.injection.formats import format_named
from graphmem.injection.packing import Packed
from graphmem.search.request import MAX_FILES, PHASES

MAX_SESSION_NAME: Final = 200


class Ask(NamedTuple):
    """A request for context to show to an agent.

    The field `point` names the moment of the session, such as `start`. `remaining` is the number of tokens that the agent has left.
    """

    point: str
    session: str = ""
    text: str = ""  # the person's message, or the task
    files: tuple[str, ...] = ()
    phase: str = ""
    form: str = "xml"
    remaining: int | None = None
    window: str = ""  # id of the subagent that is shown the context; "" for the main agent


class Gathered(NamedTuple):
    """The memories, rules and code for a request, packed into one string."""

    packed: Packed
    why: str = ""
    notes: Sequence[str] = ()


def check(ask: Ask) -> None:
    """Validate the format, phase, names and numbers of a context request.

    Raises:
        BadInputError: a format, phase, name or number is invalid.
    """
    format_named(ask.form)
    if ask.phase and ask.phase not in PHASES:
        raise BadInputError(f"unknown phase of work {ask.phase!r}; use one of {', '.join(PHASES)}", argument="phase", value=ask.phase)
    if len(ask.session) > MAX_SESSION_NAME:
        raise BadInputError(
            f"the session name has {len(ask.session):,} characters; use at most {MAX_SESSION_NAME}",
            argument="session",
            allowed=MAX_SESSION_NAME,
            found=len(ask.session),
        )
    if ask.point in ("step", "take") and not ask.session:
        raise BadInputError("the request for context does not name the session; pass its name as `session`", argument="session")
    if len(ask.files) > MAX_FILES:
        raise BadInputError(
            f"the request for context names {len(ask.files):,} files, which is too many; name at most {MAX_FILES}",
            argument="files",
            allowed=MAX_FILES,
        )


def whole_budget(tokens: int) -> Budget:
    """Return a budget of `tokens` without limits for single sections.

    Each section of `budgets.SECTIONS` may use all tokens.
    """
    return Budget(tokens, tokens, tokens, tokens, tokens)
