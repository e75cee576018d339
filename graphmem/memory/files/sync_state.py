"""Store the texts on which MEMORY.md and the graph last agreed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.memory.files.markdown import one_line, unfolded
from graphmem.memory.texts.redact import redact
from graphmem.runtime.files.checksums import read_sealed_json, sealed_json
from graphmem.runtime.process.limits import unless_refused

if TYPE_CHECKING:
    from collections.abc import Mapping

BASE: Final = "memory-md.json"  # in the index directory: the common state of each file and the graph


class Common(NamedTuple):
    """The texts on which MEMORY.md and graph agreed after the last sync."""

    in_file: dict[str, str]  # short id -> text of its item
    in_graph: dict[str, str]  # short id -> content on one line; not the file's text if a secret was left out
    ours: frozenset[str] = frozenset()  # short ids of lines that no person wrote
    taken: frozenset[str] = frozenset()  # fingerprints of items without an id whose words are already known


def without_secrets(text: str) -> str:
    """Return the text of a list item with its secrets redacted.

    A memory made from the item stores exactly this text. Text without secrets is returned unchanged.
    """
    clean, kinds = redact(unfolded(text))
    return one_line(clean) if kinds else text


NOTHING_COMMON: Final = Common({}, {})


def name_in_state(path: Path, state: Path) -> str:
    """Return the key under which the state of a file is stored.

    The key is the file's path relative to the index directory, `state`. So the key stays the same when project and index move together.
    """
    return Path(os.path.relpath(path.absolute(), state.absolute())).as_posix()


def stored_state(path: Path) -> dict[str, Common]:
    """Return the states of synced files after their last syncs.

    The result maps the key of a file (see `name_in_state`) to a `Common`: the texts in the file and in the graph. Earlier versions stored
    the state of MEMORY.md alone, with one text for both. Damaged or missing state counts as empty.
    """
    try:
        return _read_state(path)
    except (OSError, ValueError) as error:
        unless_refused(error, f"reading {path.name}", path)
        return {}  # without it every difference counts as the person's: nothing is forgotten, at worst an old text returns as a change


def _read_state(path: Path) -> dict[str, Common]:
    """Read the states of synced files after their last syncs, from a file.

    Raises:
        OSError: the state file cannot be read.
        ValueError: the state file is damaged.
    """
    found = read_sealed_json(path.read_bytes())
    try:
        if "files" not in found:
            lines = {str(key): str(value) for key, value in found.items()}
            lines = {short: without_secrets(text) for short, text in lines.items()}
            return {"MEMORY.md": Common(lines, lines, frozenset(lines))}
        return {
            str(name): Common(
                _all_without_secrets(one["in_file"]), _all_without_secrets(one["in_graph"]), frozenset(one["ours"]), frozenset(one["taken"])
            )
            for name, one in found["files"].items()
        }
    except (TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(
            "the state file of earlier syncs has missing or invalid fields; graphmem ignores the file, so you need not do anything"
        ) from error


def _all_without_secrets(texts: Mapping[str, str]) -> dict[str, str]:
    """Redact the secrets in each text of a state file.

    `texts` maps short ids of memories, such as `a1b2`, to texts; the result has the same keys. A file of an earlier version may contain
    secrets.
    """
    return {short: without_secrets(text) for short, text in texts.items()}


def cleaned_state(path: Path) -> bytes:
    """Return the content of the state file of syncs, without secrets.

    The file may contain secrets, because an earlier version stored them.

    Raises:
        OSError: the state file cannot be read.
        ValueError: the state file is damaged, so its content is unknown.
    """
    return state_bytes(_read_state(path))


def state_bytes(state: Mapping[str, Common]) -> bytes:
    """Encode the states of synced files, with a checksum."""
    files = {
        name: {"in_file": one.in_file, "in_graph": one.in_graph, "ours": sorted(one.ours), "taken": sorted(one.taken)}
        for name, one in state.items()
    }
    return sealed_json({"files": files}, ensure_ascii=False, indent=0, sort_keys=True)
