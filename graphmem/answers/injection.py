"""The answers of what is put in front of an agent, beside those of `graphmem.answers`."""

from __future__ import annotations

from dataclasses import field

from graphmem.answers.plain import answer


@answer
class InjectedItem:
    """One thing that is shown."""

    id: str  # of the memory; a name for rules, notes and files
    short_id: str  # of a memory
    kind: str  # memory | code | rule | summary | note | file
    type: str  # of a memory
    section: str  # always | editor | retrieval | summaries
    title: str
    score: float
    confidence: float


@answer
class Injection:
    """What to put in front of an agent now. An empty text means nothing: there is nothing to say, or it would have come too late."""

    point: str  # start | prompt | tool | step | take | plan | relay | search
    session: str
    format: str  # xml | markdown | text | json
    text: str
    tokens: int  # of the text
    budget: int  # tokens it could have had
    items: list[InjectedItem]
    left_out: dict[str, int]  # reason -> items
    late: bool  # it was not ready by the deadline
    group: str  # control | passive | full: what this session is shown at all
    level: str  # of trust
    why: str  # what fired, between steps
    notes: list[str]
    seconds: float


@answer
class ContextAccepted:
    """A context was taken in; what is known of it is made ready behind this answer."""

    session: str
    turn: int  # from 1


@answer
class ContextReady:
    """What is known of a context is ready to be taken."""

    session: str
    candidates: int  # that were not shown yet


@answer
class PrefetchedFile:
    """A file worth reading first."""

    path: str
    share: float  # of past sessions of the module that read it; 0 to 1
    tokens: int
    why: str  # read always | read often | moves with it


@answer
class Prefetch:
    """Files to read before work on a module begins, most needed first."""

    module: str
    files: list[PrefetchedFile]
    tokens: int  # of all
    left_out: int  # files that found no room
    notes: list[str] = field(default_factory=list)


@answer
class StepLimit:
    """How many steps work on a module may take."""

    module: str
    base: int
    ratio: float  # actual over planned, of past work there; 1 when nobody knows
    limit: int  # base × ratio, at most twice the base
    samples: int


@answer
class TrustState:
    """How sure a memory must be to be shown unasked, and why."""

    level: str  # cautious | standard | confident | autonomous
    chosen: str  # auto, or the level a person chose
    threshold: float  # confidence in use
    sessions: int  # that this project has had
    corrections: float  # of what the last sessions were shown: the part that was flagged wrong
    offer: str  # a step back that is offered after three memories were flagged wrong in one session; ""


@answer
class HookAnswer:
    """What an agent's hook prints."""

    output: str  # "" for nothing
    point: str  # which moment it was; "" when nothing is injected there
    events: int  # that were taken
    late: bool


@answer
class PackedText:
    """Hits of a search as one text within a budget: pieces of one file together, memories with their citations."""

    text: str
    format: str
    tokens: int
    budget: int
    left_out: dict[str, int]  # reason -> hits
