"""Derive facts from a session's whole record: modules and a digest.

Modules are folders of files. The digest detects copies of the same session.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, Final

from graphmem.observe.commands.places import module_of
from graphmem.observe.model import SessionRecord, as_json
from graphmem.runtime.data.conventions import all_conventions

MAIN: Final = 0.4  # share of a session's edits, or of its uses without edits, for belonging to a module
_TESTS: Final = frozenset({"tests", "test", "spec", "specs", "testing"}) | all_conventions().test_folders
_OWN: Final = frozenset({"id", "parent", "group", "members", "agents"})  # fields that differ between copies of a session


def main_module(record: SessionRecord) -> str:
    """Return the module (folder) with most edited files of a session.

    The result is "" for a session without edits.
    """
    counts = Counter(module_of(one.path) for one in record.files if one.edits)
    return min(counts, key=lambda name: (-counts[name], name), default="")


def modules_of(record: SessionRecord) -> dict[str, int]:
    """Return the modules (folders) in which a session mainly worked.

    The result maps modules to numbers of edits. A module needs at least two fifths of the session's edits. If the session edited nothing,
    uses of files are counted instead of edits. Test folders are left out.
    """
    counts: Counter[str] = Counter()
    for one in record.files:
        counts[module_of(one.path)] += one.edits
    if not +counts:
        counts = Counter(record.modules)
    plain = Counter({name: count for name, count in counts.items() if count > 0 and name.partition("/")[0] not in _TESTS})
    total = sum(plain.values())
    return {name: count for name, count in plain.items() if count >= MAIN * total}


def digest_of(record: SessionRecord) -> str:
    """Return a hash of a session's record without its ids.

    Copies of the same session have equal hashes.
    """

    def plain(value: object) -> Any:
        if isinstance(value, dict):
            return {key: plain(inner) for key, inner in value.items() if key not in _OWN}
        return [plain(inner) for inner in value] if isinstance(value, list) else value

    raw = json.dumps(plain(as_json(record)), sort_keys=True, ensure_ascii=False, default=str)
    return blake2b(raw.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def latest(record: SessionRecord) -> datetime:
    """Return the time of the last use of a file in a session.

    The result is the beginning of 1970 if no file was used.
    """
    times = [one.last_at for one in record.files if one.last_at is not None]
    return max(times, default=datetime(1970, 1, 1, tzinfo=UTC))
