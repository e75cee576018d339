"""Inputs and constants of learning from sessions, such as its log name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.observe.signals import BROWSER, CORRECTED, QA_FAILED, STATED

if TYPE_CHECKING:
    from graphmem.language_model import LanguageModel
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.observe.ledger.ledger import Ledger

SOURCE: Final = "observer_inferred"
ACTOR: Final = "observer"
SOURCE_OF: Final = {BROWSER.name: "mcp_auto", QA_FAILED.name: "qa_auto"}  # of signals whose author is a tool
REVIEWED: Final = frozenset({CORRECTED.name, STATED.name, BROWSER.name})  # a person looks at their memories
WISH_TAGS: Final = ("observed", "remember")  # of requested memories


class Means(NamedTuple):
    """Inputs of learning: memories, statistics, settings, a language model."""

    book: MemoryRepository
    ledger: Ledger
    preset: str = "balanced"  # a key of gates.PRESETS
    model: LanguageModel | None = None
    extraction: bool = True  # also ask the model for facts
