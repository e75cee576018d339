"""Make memories from a project's own files, and keep them up to date.

Such a memory is called a seed. An example is a sentence of the README.
"""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from graphmem.memory.repository.changes import forget_many
from graphmem.memory.seeds.seeds import seed_files, seeds_of
from graphmem.memory.texts.text import fingerprint
from graphmem.memory.texts.types import LIVE_STATUSES, SEEDED
from graphmem.parsing.contents import read_regular

if TYPE_CHECKING:
    from pathlib import Path

    from graphmem.knowledge import MemoryRow
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.memory.seeds.seeds import Kind
    from graphmem.projection.projections import Projections
    from graphmem.settings import Settings

ACTOR: Final = "index"
STATE: Final = "seeds"  # meta of the store: hash of the files at the last run
RULES: Final = 1  # changes with the rules of `memory.seeds.seeds`
_log = logging.getLogger(__name__)


@dataclass(eq=False, repr=False)
class Seeding:
    """Makes, changes and removes the memories that come from files."""

    book: MemoryRepository
    projections: Projections
    settings: Settings
    _found: tuple[list[str], dict[str, Kind]] = field(default_factory=lambda: ([], {}), init=False)  # all paths, and the files of seeds

    def refresh(self, root: Path) -> None:
        """Update the memories from files (seeds) to match the indexed files.

        If a file no longer has the sentence of a seed, the seed is removed, unless it was confirmed, verified or pinned. A seed that a
        person deleted is not made again. A seed that a person changed keeps that change.
        """
        if not self.settings.seeds:
            return
        view = self.projections.graph()
        hashes = view.arrays.paths.content_hash
        if self._found[0] != view.paths:  # most edits change no path, and the patterns take 15 ms for 4,000 paths
            self._found = (view.paths, seed_files(view.paths))
        kinds = self._found[1]
        state = [RULES, [[path, str(hashes[view.path_number[path]])] for path in kinds]]
        mark = hashlib.blake2b(json.dumps(state).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        if self.book.store.meta().get(STATE, "") == mark:
            return
        texts: dict[str, str] = {}
        for path in kinds:
            data = read_regular(str(root / path), self.settings.max_file_kb << 10)
            if isinstance(data, bytes):
                texts[path] = data.decode("utf-8", "replace").removeprefix("\ufeff")
        wanted, notes, left_out = seeds_of(texts, kinds)
        for said in notes:
            _log.warning("%s", said)
        if left_out:
            _log.info("%d sentences were not seeded: a file, a kind of files and a project have at most a number of seeds", left_out)
        with self.book.writing():
            rows = list(self.book.index().all_rows())
            ids = {row.id for row in rows}
            live = {row.fingerprint for row in rows if row.status in LIVE_STATUSES}
            keep = {item["id"] for item in wanted}
            gone = sorted(row.id for row in rows if row.id not in keep and is_only_seed(row))
            if gone:
                forget_many(self.book, gone, hard=True, actor=ACTOR, op="remove", note="its file no longer says it")
                live -= {row.fingerprint for row in rows if row.id in set(gone)}
            fresh = [one for one in wanted if one["id"] not in ids and fingerprint(one["content"]) not in live]
        if fresh:
            answer = self.book.remember_many(fresh, source=SEEDED, embedding_model=None, skip_invalid=True, actor=ACTOR)
            for refused in answer.refused:
                _log.warning("a seed was not stored: %s", refused.message)
        self.book.store.set_meta({STATE: mark})


def is_only_seed(row: MemoryRow) -> bool:
    """Whether a memory was made from a file, and was not confirmed later.

    A memory that was verified or pinned counts as confirmed. The result is False for superseded and deprecated memories.
    """
    is_taken = row.user_verified or row.status == "pinned" or row.confirmed_count
    return row.source == SEEDED and row.status in LIVE_STATUSES and not is_taken
