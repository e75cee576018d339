"""GraphQL types of what is put in front of an agent."""

from __future__ import annotations

from strawberry.scalars import JSON

from graphmem.api.complexity import assumed
from graphmem.api.describe import field, gql_type


@gql_type
class InjectedItem:
    """One thing that is shown."""

    id: str = field("of the memory; a name for rules, notes and files")
    short_id: str
    kind: str = field("memory, code, rule, summary, note or file")
    type: str = field("of a memory")
    section: str = field("always, editor, retrieval or summaries")
    title: str
    score: float
    confidence: float


@gql_type
class Injection:
    """What to put in front of an agent now; an empty text means nothing."""

    point: str
    session: str
    format: str
    text: str
    tokens: int = field("of the text")
    budget: int = field("tokens it could have had")
    items: list[InjectedItem] = field("in the order of the text", directives=[assumed(20)])
    left_out: JSON = field("reason to number of items")
    late: bool = field("it was not ready by the deadline")
    group: str = field("control, passive or full: what this session is shown at all")
    level: str = field("of trust")
    why: str = field("what fired, between steps")
    notes: list[str] = field("what else a reader should know", directives=[assumed(5)])
    seconds: float


@gql_type
class ContextAccepted:
    """A context was taken in; what is known of it is made ready behind this answer."""

    session: str
    turn: int = field("from 1")


@gql_type
class ContextReady:
    """What is known of a context is ready to be taken."""

    session: str
    candidates: int = field("that were not shown yet")


@gql_type
class ContextBudget:
    """Tokens that may be put in front of an agent, in all and at most by section."""

    total: int
    always: int
    editor: int
    retrieval: int
    summaries: int


@gql_type
class PrefetchedFile:
    """A file worth reading first."""

    path: str
    share: float = field("of past sessions of the module that read it")
    tokens: int
    why: str


@gql_type
class Prefetch:
    """Files to read before work on a module begins, most needed first."""

    module: str
    files: list[PrefetchedFile] = field("at most 12", directives=[assumed(12)])
    tokens: int
    left_out: int = field("files that found no room")
    notes: list[str] = field("what else a reader should know", directives=[assumed(5)])


@gql_type
class StepLimit:
    """How many steps work on a module may take."""

    module: str
    base: int
    ratio: float = field("actual over planned, of past work there; 1 when nobody knows")
    limit: int
    samples: int


@gql_type
class TrustState:
    """How sure a memory must be to be shown unasked, and why."""

    level: str = field("cautious, standard, confident or autonomous")
    chosen: str = field("auto, or the level a person chose")
    threshold: float = field("confidence in use")
    sessions: int
    corrections: float = field("of what the last sessions were shown: the part that was flagged wrong")
    offer: str = field("a step back that is offered, or empty")


@gql_type
class HookAnswer:
    """What an agent's hook prints."""

    output: str
    point: str
    events: int = field("that were taken")
    late: bool


@gql_type
class PackedText:
    """Hits of a search as one text within a budget."""

    text: str
    format: str
    tokens: int
    budget: int
    left_out: JSON = field("reason to number of hits")
