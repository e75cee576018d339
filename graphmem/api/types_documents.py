"""GraphQL types of what is written as a document, and of what a language model says."""

from __future__ import annotations

from enum import StrEnum

import strawberry

from graphmem.api.complexity import assumed
from graphmem.api.describe import field, gql_type
from graphmem.api.types_report import SearchAnswer


@strawberry.enum(description="What is drawn.")
class ViewKind(StrEnum):
    """See `service.documents.VIEWS`."""

    MODULES = "modules"
    IMPACT = "impact"


@strawberry.enum(description="What a view is written in.")
class ViewFormat(StrEnum):
    """See `service.documents.FORMATS`."""

    SVG = "svg"
    MERMAID = "mermaid"
    DOT = "dot"
    GRAPHML = "graphml"
    JSON = "json"


@gql_type
class Document:
    """A text to be kept as a file."""

    text: str
    media_type: str
    name: str = field("of a file it may be kept as")


@gql_type
class ParagraphState:
    """How far a language model has come with its paragraphs about modules and flows."""

    model: str = field("its name and host; empty when none is configured")
    total: int = field("modules, and the flows that are listed first")
    written: int
    refused: int = field("of what it said nothing could be kept")
    running: bool = field("it is at it")
    notes: list[str]


@gql_type
class Sentence:
    """A sentence of a reply."""

    text: str
    cites: list[int] = field("numbers of the hits it stands on, the first hit of the evidence being 1")


@gql_type
class Reply:
    """What is known about a question: the evidence, and what a language model makes of it."""

    question: str
    sentences: list[Sentence] = field("none without a model, or when nothing it said stands", directives=[assumed(12)])
    evidence: SearchAnswer
    model: str = field("who wrote the sentences; empty for nobody")
    notes: list[str] = field("why there are no sentences, or fewer")
