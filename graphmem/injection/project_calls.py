"""Functions of the project that the injection of context calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphmem.answers import IndexState, RuleSet, SessionSummary
    from graphmem.answers.injection import ContextReady
    from graphmem.injection.agent import Check
    from graphmem.injection.consequences import Advise, TestCommand
    from graphmem.injection.planner import Moving


@dataclass(frozen=True, kw_only=True)
class ProjectCalls:
    """Functions of the project that the injection of context calls.

    Attributes:
        state: returns the state of the index.
        rules: returns the rules that apply to given files, or all rules if called with None.
        root: returns the root directory of the project, if known.
        on_ready: called after memories were prepared for a session's next turn.
        summaries: returns summaries of the last sessions, newest first.
        moving: returns the files that often change together with given files or folders. If its second argument is True, it waits until
            the Git history is read.
        relevance: checks prepared memories in the background; None without a language model.
        advise: returns the consequences of edits; None if they are unknown.
        command: returns the command line that runs given tests; "" if their runner is unknown.
        unit_of: returns the unit of work (task) of a session; "" if there is none.
        refresh: copies changes of the user's own memories to the project.
    """

    state: Callable[[], IndexState]
    rules: Callable[[Sequence[str] | None], RuleSet]
    root: Callable[[], Path | None]
    on_ready: Callable[[ContextReady], None]
    summaries: Callable[[], Sequence[SessionSummary]]
    moving: Callable[[Sequence[str], bool], Moving]
    relevance: Check | None
    advise: Advise
    command: TestCommand
    unit_of: Callable[[str], str]
    refresh: Callable[[], None]
