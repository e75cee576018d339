"""The answers of what is put in front of an agent, beside those of `graphmem.answers`."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from graphmem.answers.marks import Doc, Size
from graphmem.answers.plain import answer


@answer
class InjectedItem:
    """One thing that is shown."""

    id: Annotated[str, Doc("of the memory; a name for rules, notes and files")]
    short_id: Annotated[str, Doc("of a memory")]
    kind: Annotated[str, Doc("memory, code, rule, summary, note or file")]
    type: Annotated[str, Doc("of a memory")]
    section: Annotated[str, Doc("always, editor, retrieval or summaries")]
    title: str
    score: float
    confidence: float


@answer
class Injection:
    """What to put in front of an agent now. An empty text means nothing: there is nothing to say, or it would have come too late."""

    point: Annotated[str, Doc("start | prompt | tool | step | take | plan | relay | search")]
    session: str
    format: Annotated[str, Doc("xml | markdown | text | json")]
    text: str
    tokens: Annotated[int, Doc("of the text")]
    budget: Annotated[int, Doc("tokens it could have had")]
    items: Annotated[list[InjectedItem], Doc("in the order of the text"), Size(20)]
    left_out: Annotated[dict[str, int], Doc("reason to number of items")]
    late: Annotated[bool, Doc("it was not ready by the deadline")]
    group: Annotated[str, Doc("control, passive or full: what this session is shown at all")]
    level: Annotated[str, Doc("of trust")]
    why: Annotated[str, Doc("what fired, between steps")]
    notes: Annotated[list[str], Doc("what else a reader should know"), Size(5)]
    seconds: float


@answer
class ContextAccepted:
    """A context was taken in; what is known of it is made ready behind this answer."""

    session: str
    turn: Annotated[int, Doc("from 1")]


@answer
class ContextReady:
    """What is known of a context is ready to be taken."""

    session: str
    candidates: Annotated[int, Doc("that were not shown yet")]


@answer
class ContextBudget:
    """Tokens that may be put in front of an agent, in all and at most by section."""

    total: int
    always: int
    editor: int
    retrieval: int
    summaries: int


@answer
class PrefetchedFile:
    """A file worth reading first."""

    path: str
    share: Annotated[float, Doc("of past sessions of the module that read it")]
    tokens: int
    why: Annotated[str, Doc("read always | read often | moves with it")]


@answer
class Prefetch:
    """Files to read before work on a module begins, most needed first."""

    module: str
    files: Annotated[list[PrefetchedFile], Doc("at most 12"), Size(12)]
    tokens: Annotated[int, Doc("of all")]
    left_out: Annotated[int, Doc("files that found no room")]
    notes: Annotated[list[str], Doc("what else a reader should know"), Size(5)] = field(default_factory=list)


@answer
class StepLimit:
    """How many steps work on a module may take."""

    module: str
    base: int
    ratio: Annotated[float, Doc("actual over planned, of past work there; 1 when nobody knows")]
    limit: Annotated[int, Doc("base × ratio, at most twice the base")]
    samples: int


@answer
class TrustState:
    """How sure a memory must be to be shown unasked, and why."""

    level: Annotated[str, Doc("cautious, standard, confident or autonomous")]
    chosen: Annotated[str, Doc("auto, or the level a person chose")]
    threshold: Annotated[float, Doc("confidence in use")]
    sessions: Annotated[int, Doc("that this project has had")]
    corrections: Annotated[float, Doc("of what the last sessions were shown: the part that was flagged wrong")]
    offer: Annotated[str, Doc("a step back that is offered, or empty")]


@answer
class HookAnswer:
    """What an agent's hook prints."""

    output: Annotated[str, Doc('"" for nothing')]
    point: Annotated[str, Doc('which moment it was; "" when nothing is injected there')]
    events: Annotated[int, Doc("that were taken")]
    late: bool


@answer
class PackedText:
    """Hits of a search as one text within a budget: pieces of one file together, memories with their citations."""

    text: str
    format: str
    tokens: int
    budget: int
    left_out: Annotated[dict[str, int], Doc("reason to number of hits")]
