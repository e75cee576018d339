"""Read and write the files of recorded test runs, called traces.

A trace is one header line, then compressed JSON. Each definition is stored once and referred to by number. The checksum of the compression
detects a truncated file. Unknown keys are ignored, so that later versions can add keys.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from graphmem.errors import EvidenceError
from graphmem.evidence.observations import End, Observation, Reading, Seen
from graphmem.model import EdgeKind

MAGIC: Final = b"graphmem trace "
VERSION: Final = 1
SUFFIX: Final = ".trace"
MAX_BYTES: Final = 1 << 30  # decompressed; a run of a hundred thousand tests is smaller
_KINDS: Final = (EdgeKind.CALLS, EdgeKind.TESTS)


def write(path: Path, observations: list[Observation], origin: Mapping[str, str]) -> None:
    """Write what a test run called to a file, atomically.

    `observations` are the calls as edges. `origin` describes the run for people, for example the tool and its version.
    """
    numbers: dict[End, int] = {}
    rows = []
    for one in observations:
        seen = [value for step in one.seen for value in (numbers.setdefault(step.end, len(numbers)), step.offset)]
        rows.append([_KINDS.index(EdgeKind(one.kind)), numbers.setdefault(one.subject, len(numbers)), one.runs, seen])
    said = {"origin": dict(origin), "definitions": list(numbers), "observations": rows}
    data = zlib.compress(json.dumps(said, separators=(",", ":")).encode(), 6)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    draft.write_bytes(b"%s%d\n" % (MAGIC, VERSION) + data)
    draft.replace(path)


def read(path: Path) -> Reading:
    """Read from a file what a test run called.

    Raises:
        EvidenceError: the file cannot be read, is not a trace, is truncated or damaged, or has a later version.
    """
    if path.exists() and not path.is_file():
        raise EvidenceError(
            f"{path} is not a file; give the path of a trace that `pytest --graphmem` wrote", path=str(path), reason="unreadable"
        )
    try:
        data = path.read_bytes()
    except OSError as error:
        raise EvidenceError(
            f"the trace {path} cannot be read: {error.strerror}; check the path and permissions of the file",
            path=str(path),
            reason="unreadable",
        ) from error
    head, _, body = data.partition(b"\n")
    if not head.startswith(MAGIC):
        raise EvidenceError(
            f"{path} is not a trace of a test run; record a trace with `pytest --graphmem`", path=str(path), reason="format"
        )
    if head != b"%s%d" % (MAGIC, VERSION):
        version = head[len(MAGIC) :].decode("ascii", "replace")
        raise EvidenceError(
            f"{path} is a test trace of version {version}, but this graphmem reads version {VERSION}; record the trace again",
            path=str(path),
            reason="version",
        )
    try:
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(body, MAX_BYTES)
        if unpacking.unconsumed_tail:
            raise EvidenceError(
                f"the test trace {path} has more than {MAX_BYTES >> 20} MB; record fewer tests in each trace",
                path=str(path),
                reason="damaged",
            )
        if not unpacking.eof:
            raise ValueError("the test trace ends too early; record the trace again")
        said = json.loads(text)
        ends = [_end(*row) for row in said["definitions"]]
        observations = [_observation(row, ends) for row in said["observations"]]
        origin = {str(key): str(value) for key, value in said["origin"].items()}
    except (zlib.error, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise EvidenceError(
            f"the test trace {path} is damaged ({error}); record the trace again with `pytest --graphmem`", path=str(path), reason="damaged"
        ) from error
    return Reading(observations, None, origin, ())


def _end(path: object, qualname: object, kind: object, ordinal: object, body_hash: object) -> End:
    texts = (path, qualname, kind, body_hash)
    if not all(isinstance(one, str) for one in texts) or not isinstance(ordinal, int):
        raise TypeError("a definition in the test trace has values of wrong types; record the trace again")
    for one in texts:
        str(one).encode()  # a lone surrogate raises ValueError
    return End(str(path), str(qualname), str(kind), ordinal, str(body_hash))


def _observation(row: Any, ends: list[End]) -> Observation:
    kind, subject, runs, flat = row
    seen = tuple(Seen(ends[number], int(offset)) for number, offset in zip(flat[::2], flat[1::2], strict=True))
    return Observation("runtime", _KINDS[kind], ends[subject], seen, int(runs))
