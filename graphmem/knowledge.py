"""The types of the knowledge graph: memories, sessions and links. No I/O.

Rows are NamedTuples in the column order of `queries/schema/0003-knowledge.cypher`; times are aware datetimes in UTC.
A `KnowledgeDelta` has the changes of one accepted write, as `GraphDelta` has those of an index run.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal, NamedTuple, Protocol

LESSON_OF_COMMIT: Final = "commit_auto"
"""Source of a memory that was made from the message of a commit."""


class Anchor(StrEnum):
    """The state of the code that a memory is linked to."""

    VALID = "valid"  # unchanged
    MOVED = "moved"  # the same body under another name or path; the link was updated
    SUSPECT = "suspect"  # the body changed
    ORPHANED = "orphaned"  # removed, or not indexed yet


class Judged(Protocol):
    """The fields of a memory that decide whether agents may see the memory."""

    @property
    def contaminated(self) -> bool:
        """Whether the memory contains text from untrusted sources."""

    @property
    def user_verified(self) -> bool:
        """Whether a person has verified the memory."""

    @property
    def status(self) -> str:
        """Status of the memory in its lifecycle."""

    @property
    def source(self) -> str:
        """Origin of the memory, such as an agent, a person or a commit."""


def is_held(one: Judged) -> bool:
    """Whether a memory is hidden from agents until a person reviews it.

    A hidden memory contains text from untrusted sources, and no person has verified, pinned or taught it.
    """
    return one.contaminated and not (one.user_verified or one.status == "pinned" or one.source == "user_taught")


class MemoryRow(NamedTuple):
    """A memory: a piece of knowledge as a node of the graph."""

    id: str  # UUIDv7, or the id the caller gave
    short_id: str  # first hex digits of sha256(content), as many as make it unique in the project, at least 4
    fingerprint: str  # hash of the normalised content; equal for the same text
    type: str  # key of memory.types.TYPES
    title: str  # at most 80 characters
    citation: str  # at most 40
    content: str
    confidence: float  # 0..1
    importance: float  # 0..1
    strength: int  # number of independent confirmations
    source: str  # key of memory.types.SOURCES
    scope: str  # user | global | module | work_unit | session
    visibility: str  # personal | project | team | organization
    status: str  # candidate | confirmed | pinned | superseded | deprecated
    needs_review: bool
    user_verified: bool
    disputed: bool
    contaminated: bool
    tags: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    last_accessed_at: datetime | None
    valid_from: datetime
    valid_to: datetime | None
    stale_at: datetime | None
    deprecated_at: datetime | None
    injected_count: int
    used_count: int
    confirmed_count: int
    origin: str  # user | repository | web | tool | agent
    half_life_days: float | None  # None: the default of the type
    commit_sha: str | None
    work_unit: str | None  # JSON
    details: str | None  # JSON
    text_hash: str  # blake2b-128 of the contextual text: key of its vector
    embedding_model: str  # "" until it has a vector


class AboutRow(NamedTuple):
    """A link from a memory to the code it is about."""

    memory_id: str
    target_id: str
    label: str  # File | Symbol | External | Module
    role: str  # about | target | impacts
    confidence: float
    body_hash: str  # hash of the target when the link was made; "" without a body
    commit_sha: str
    anchor: str  # Anchor


RelationKind = Literal["required_with", "conflicts_with", "validates", "supersedes", "derived_from"]


class RelatesRow(NamedTuple):
    """A link between two memories."""

    src: str
    dst: str
    kind: RelationKind
    confidence: float
    auto: bool


class SessionRow(NamedTuple):
    """One session of an agent, or one commit: the origin of memories."""

    id: str
    agent: str
    kind: str
    title: str
    started_at: datetime
    ended_at: datetime | None
    commit_sha: str
    details: str  # JSON
    stale_at: datetime | None


class LearntRow(NamedTuple):
    """A session in which a memory was learnt or confirmed."""

    memory_id: str
    session_id: str
    message_from: int
    message_to: int


class NamedFile(NamedTuple):
    """A file that a memory names.

    If the file is not indexed, the store creates a node for the file and marks the node as stale.
    """

    id: str  # model.file_id
    path: str


class KnowledgeDelta(NamedTuple):
    """All changes of the graph by one accepted write of memories.

    The rows of `memories` and `sessions` are new, or replace the stored rows with the same ids. Rows of `relates` and `learnt` are new, or
    replace stored ones with the same ends and kind. `anchored` has ids of memories whose ABOUT edges (links to code) are replaced by those
    in `about`; other memories keep their ABOUT edges. Removing a memory removes its edges, and its vector unless another memory shares the
    vector. `removed_sessions` has ids of sessions that have no memories after the write.
    """

    memories: Sequence[MemoryRow] = ()
    removed_memories: Sequence[str] = ()
    anchored: Sequence[str] = ()
    about: Sequence[AboutRow] = ()
    files: Sequence[NamedFile] = ()
    relates: Sequence[RelatesRow] = ()
    removed_relates: Sequence[tuple[str, str, str]] = ()  # (src, dst, kind)
    sessions: Sequence[SessionRow] = ()
    learnt: Sequence[LearntRow] = ()
    removed_sessions: Sequence[str] = ()

    @property
    def is_empty(self) -> bool:
        """Whether this change of memories and sessions would change nothing."""
        return not any(self)
