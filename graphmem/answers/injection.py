"""Answers about injected context; other types are in `graphmem.answers`."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from graphmem.answers.marks import Doc, Size
from graphmem.answers.plain import answer


@answer
class InjectedItem:
    """One injected item."""

    id: Annotated[str, Doc("id of the memory; a name for rules, notes and files")]
    short_id: Annotated[str, Doc("short id of a memory")]
    kind: Annotated[str, Doc("memory, code, rule, summary, note or file")]
    type: Annotated[str, Doc("type of a memory")]
    section: Annotated[str, Doc("always, editor, retrieval or summaries")]
    title: str
    score: float
    confidence: float


@answer
class Injection:
    """Context to inject now.

    An empty text means that there is nothing to show, or that the deadline passed.
    """

    point: Annotated[str, Doc("start | prompt | tool | step | take | plan | relay | search")]
    session: str
    format: Annotated[str, Doc("xml | markdown | text | json")]
    text: str
    tokens: Annotated[int, Doc("tokens of the text")]
    budget: Annotated[int, Doc("maximum number of tokens of the text")]
    items: Annotated[list[InjectedItem], Doc("the shown items, in the order of the text"), Size(20)]
    left_out: Annotated[dict[str, int], Doc("number of omitted items by reason")]
    late: Annotated[bool, Doc("the context was not ready before the deadline")]
    group: Annotated[str, Doc("experiment group of the session: control, passive or full")]
    level: Annotated[str, Doc("trust level of the project")]
    why: Annotated[str, Doc("the trigger of an injection between steps")]
    notes: Annotated[list[str], Doc("further remarks, such as missing data"), Size(5)]
    seconds: float


@answer
class ContextAccepted:
    """A reported context; related knowledge is prepared in the background."""

    session: str
    turn: Annotated[int, Doc("number of the turn, from 1")]


@answer
class ContextReady:
    """Notice that the knowledge about a context is ready to be taken."""

    session: str
    candidates: Annotated[int, Doc("candidates that were not shown yet")]


@answer
class ContextBudget:
    """Tokens that may be injected, in total and by section."""

    total: int
    always: int
    editor: int
    retrieval: int
    summaries: int


@answer
class PrefetchedFile:
    """A file to read first."""

    path: str
    share: Annotated[float, Doc("share of the module's past sessions that read the file")]
    tokens: int
    why: Annotated[str, Doc("always read, often read, or the number of changes in which it changed together with the module")]


@answer
class Prefetch:
    """Files to read before work on a module, most needed first."""

    module: str
    files: Annotated[list[PrefetchedFile], Doc("at most 12"), Size(12)]
    tokens: Annotated[int, Doc("tokens of all files")]
    left_out: Annotated[int, Doc("number of files omitted because of the limits")]
    notes: Annotated[list[str], Doc("further remarks, such as missing data"), Size(5)] = field(default_factory=list)


@answer
class StepLimit:
    """The number of steps that work on a module may take."""

    module: str
    base: int
    ratio: Annotated[float, Doc("actual steps divided by planned steps, in past work on the module; 1 when unknown")]
    limit: Annotated[int, Doc("base × ratio, at most twice the base")]
    samples: int


@answer
class TrustState:
    """The confidence that a memory needs to be injected, and why."""

    level: Annotated[str, Doc("cautious, standard, confident or autonomous")]
    chosen: Annotated[str, Doc("auto, or the level a person chose")]
    threshold: Annotated[float, Doc("minimum confidence in use")]
    sessions: Annotated[int, Doc("number of sessions of the project")]
    corrections: Annotated[float, Doc("share of the items shown in the last sessions that were marked as wrong")]
    offer: Annotated[str, Doc("a suggested lower level, or empty")]


@answer
class HookAnswer:
    """The output of an agent's hook."""

    output: Annotated[str, Doc('the text to print; "" for none')]
    point: Annotated[str, Doc('the injection point; "" when this event injects nothing')]
    events: Annotated[int, Doc("number of recorded events")]
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
    left_out: Annotated[dict[str, int], Doc("number of omitted hits by reason")]
