"""Last step of the wiring: health, maintenance and backups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from graphmem.observe.ledger.ledger import Ledger
from graphmem.project.care.backing_up import Backups
from graphmem.project.care.health import IndexHealth
from graphmem.project.care.upkeep import Upkeep
from graphmem.project.wiring.code import CodeParts
from graphmem.project.wiring.context import ContextParts
from graphmem.project.wiring.inputs import Inputs
from graphmem.project.wiring.stored import StoredParts

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, kw_only=True)
class CareParts:
    """Health, maintenance and backups of the index."""

    health: IndexHealth
    upkeep: Upkeep
    backups: Backups


def create_care(inputs: Inputs, stored: StoredParts, code: CodeParts, context: ContextParts) -> CareParts:
    """Create the parts that check and maintain the index."""
    store, data_dir, settings = inputs.store, inputs.data_dir, inputs.settings
    book, projections, vectors, ledger = stored.book, stored.projections, stored.vectors, stored.ledger
    renewed = (stored.history.renew, partial(ledger.renew, Ledger.close))
    return CareParts(
        health=IndexHealth(store, book, projections, vectors, context.searcher, stored.following, data_dir, context.learning.cost),
        upkeep=Upkeep(store, book, projections, vectors, data_dir, settings, code.runs, stored.put_aside, inputs.tables_of),
        backups=Backups(store, book, projections, vectors, data_dir, settings, code.runs, renewed),
    )
