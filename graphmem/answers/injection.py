"""Types of answers about context that is injected into a session."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from graphmem.answers.marks import Doc, Size
from graphmem.answers.plain import answer


@answer
class InjectedItem:
    """A memory, code excerpt or other entry of the context of an agent."""

    id: Annotated[str, Doc("id of the memory; for a rule, note or file the name")]
    short_id: Annotated[str, Doc("short id of the memory; empty for an entry that is not a memory")]
    kind: Annotated[str, Doc("kind of the entry: memory, code, rule, summary, note or file")]
    type: Annotated[str, Doc("type of the memory, such as gotcha; empty for an entry that is not a memory")]
    section: Annotated[
        str,
        Doc(
            "section of the context that contains the entry: always (rules and notes), editor (about open and edited files), retrieval "
            "(found memories and code) or summaries (of the last sessions)"
        ),
    ]
    title: str
    score: float
    confidence: float


@answer
class Injection:
    """Context to give to an agent now.

    An empty text means that there is nothing to show, or that the deadline passed.
    """

    point: Annotated[
        str,
        Doc(
            "moment of the agent's session for which graphmem made the text: start (the session begins), prompt (the user sent a message), "
            "tool (after a tool call), step (between two steps), take (the agent gets context that was prepared earlier), plan (a "
            "plan was requested), relay (one phase of work passes memories to the next) or search"
        ),
    ]
    session: str
    format: Annotated[str, Doc("format of the context: xml, markdown, text or json")]
    text: str
    tokens: Annotated[int, Doc("size of the context in tokens")]
    budget: Annotated[int, Doc("maximum size of the context in tokens")]
    items: Annotated[list[InjectedItem], Doc("the memories, code excerpts and other entries of the context, in order"), Size(20)]
    left_out: Annotated[dict[str, int], Doc("number of entries left out of the context, by reason")]
    late: Annotated[bool, Doc("true when the context was not ready before the deadline")]
    group: Annotated[
        str,
        Doc(
            "group of the session in the experiment on memories: control (no memories are shown), passive (only at the start of a session) "
            "or full (at any time)"
        ),
    ]
    level: Annotated[
        str,
        Doc("how certain a memory must be to be shown, from most to least certain: cautious, standard, confident or autonomous"),
    ]
    why: Annotated[str, Doc("why context is added between two steps of the agent; empty at other moments")]
    notes: Annotated[list[str], Doc("remarks on the context, such as missing data"), Size(5)]
    seconds: float


@answer
class ContextAccepted:
    """Confirmation that graphmem prepares memories for a reported context."""

    session: str
    turn: Annotated[int, Doc("number of the turn in the conversation, from 1")]


@answer
class ContextReady:
    """Notification that prepared memories can be fetched for a session."""

    session: str
    candidates: Annotated[int, Doc("number of prepared memories and code excerpts that the session has not been shown yet")]


@answer
class ContextBudget:
    """Tokens that may be added to an agent's context, in total and by section."""

    total: int
    always: int
    editor: int
    retrieval: int
    summaries: int


@answer
class PrefetchedFile:
    """A file to read before work on a module."""

    path: str
    share: Annotated[float, Doc("share of the agents' past sessions on this module that read the file, 0 to 1")]
    tokens: int
    why: Annotated[
        str, Doc("why to read the file: always read, often read, or the number of changes that touched both the file and the module")
    ]


@answer
class Prefetch:
    """Files to read before work on a module, most needed first."""

    module: str
    files: Annotated[list[PrefetchedFile], Doc("files to read before work on the module, most needed first; at most 12"), Size(12)]
    tokens: Annotated[int, Doc("size of all listed files in tokens")]
    left_out: Annotated[int, Doc("number of files that were omitted because of the limits")]
    notes: Annotated[list[str], Doc("remarks on the list of files, such as missing data"), Size(5)] = field(default_factory=list)


@answer
class StepLimit:
    """The recommended maximum number of steps for work on a module."""

    module: str
    base: int
    ratio: Annotated[float, Doc("actual steps divided by planned steps, in past agents' sessions on the module; 1 when unknown")]
    limit: Annotated[int, Doc("largest recommended number of steps for an agent's session: `base` × `ratio`, at most twice `base`")]
    samples: int


@answer
class TrustState:
    """Minimum confidence of memories shown to agents, and what sets it."""

    level: Annotated[str, Doc("trust level that applies now: cautious, standard, confident or autonomous")]
    chosen: Annotated[str, Doc("trust level that a person chose; auto when nobody chose one")]
    threshold: Annotated[float, Doc("minimum confidence of a memory that is shown to agents, 0 to 1")]
    sessions: Annotated[int, Doc("number of agent sessions in the project")]
    corrections: Annotated[float, Doc("share of the memories shown in recent sessions that people marked as wrong, 0 to 1")]
    offer: Annotated[str, Doc("a more cautious trust level that graphmem suggests; empty if it suggests none")]


@answer
class HookAnswer:
    """The output of an agent's hook."""

    output: Annotated[str, Doc('the text that the hook prints for the agent; "" if it prints nothing')]
    point: Annotated[str, Doc('moment of the session at which context was injected; "" when this event injects none')]
    events: Annotated[int, Doc("number of events that the hook recorded")]
    late: bool


@answer
class PackedText:
    """Hits of a search as one text within a token budget.

    Pieces of one file are together, and memories have their citations.
    """

    text: str
    format: str
    tokens: int
    budget: int
    left_out: Annotated[
        dict[str, int],
        Doc("number of search results that were left out of the text, for each reason, such as `no room` for the token budget"),
    ]
