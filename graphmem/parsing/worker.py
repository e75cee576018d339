"""Worker process that parses files for the indexing process.

A worker reads batches from standard input and writes one message per file, in order, to standard output. So if a worker crashes, it was
parsing the first unanswered file. A worker does not use the database, and is started as a new program, never forked. It ends when its input
ends. If a file takes too long, an alarm ends the worker, even inside the parser.
"""

from __future__ import annotations

import gc
import logging
import marshal
import os
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from graphmem.errors import GraphMemError
from graphmem.parsing.chunks import chunk
from graphmem.parsing.contracts.ends import ends_of
from graphmem.parsing.discovery import FoundFile, content_hash
from graphmem.parsing.extract import extract_parsed
from graphmem.parsing.facts import FileFacts
from graphmem.parsing.grammar import load_grammar
from graphmem.parsing.packing import ParsedFile, pack
from graphmem.parsing.prose import is_drawing
from graphmem.parsing.salvage import parsed
from graphmem.parsing.sources import source_of
from graphmem.runtime.process import system
from graphmem.runtime.process.faults import CODE, fault
from graphmem.runtime.process.limits import unless_refused

READY: Final = b"ready"
_LENGTH: Final = struct.Struct("<I")


IDLE: Final = 8
"""Seconds on the clock that a file may take for each second of its processor time.

A worker that hangs uses none; on a busy machine a file only waits for its turn.
"""

MEMORY_BYTES: Final = 3 << 30
"""Address space of a worker.

A parser that needs more ends the worker, and only its current file is lost.
"""


def parse_file(file: FoundFile, project: str, *, hasty: bool = False) -> ParsedFile:
    """Read and parse a file; never raises because of its content.

    With `hasty`, parsing stops after a short time limit. The result then has a diagnostic with the code "timeout", and the caller should
    parse the file in a separate process. The result has the hash of the bytes that this call read, because the file may have changed since
    discovery.
    """
    try:
        return _parsed(file, Path(file.absolute).read_bytes(), project, hasty)
    except OSError as error:
        unless_refused(error, f"reading {file.path}", file.absolute)
        # An unknown hash makes the next index run treat the file as changed.
        return without_facts(file._replace(content_hash=""), "unreadable", f"it could not be read: {error.strerror}")
    except GraphMemError:
        raise  # a grammar that does not load affects every file
    except MemoryError:  # of this process alone: more memory may be free next time, and a parser that needs too much is ended
        return without_facts(file._replace(content_hash=""), "crashed", "there was not enough memory to read it")
    except Exception as error:  # noqa: BLE001 - an error that one file causes affects only this file, and is reported
        return without_facts(file, CODE, fault(error, "reading it", file.path))


def _parsed(file: FoundFile, data: bytes, project: str, hasty: bool) -> ParsedFile:
    source = source_of(file.path, data, file.language)
    hashed = content_hash(data)
    tree = None
    if file.language == "text":
        facts = _text_facts(file, hashed, source.text)
    else:
        grammar = load_grammar(file.language)
        tree = parsed(grammar, source.text, hasty=hasty)
        facts = extract_parsed(file.path, source.text, grammar, tree, hashed)
    chunks = chunk(facts, source, project, tree=tree)
    if source.cells:  # outputs do not count
        facts = facts._replace(lines=sum(len(cell.lines) for cell in source.cells if cell.is_code))
    diagnostics = (*facts.diagnostics, *source.notes)
    lines = source.text.rstrip().count(b"\n") + 1  # no chunk has the blank lines at the end
    if chunks and chunks[-1].kind == "data" and chunks[-1].end_line < lines and not is_drawing(file.path):
        diagnostics = (*diagnostics, ("note", "cut", f"only its first {chunks[-1].end_line:,} lines are searchable", chunks[-1].end_line))
    ends = ends_of(facts, source.text)
    return ParsedFile(facts._replace(size_bytes=len(data), encoding=source.encoding, diagnostics=diagnostics, ends=ends), chunks)


def without_facts(file: FoundFile, code: str, message: str) -> ParsedFile:
    """Return the result for a file that could not be parsed: no definitions.

    It is an empty module at the file's path, with one diagnostic of the given `code` and `message`.
    """
    if file.language == "text":
        facts = _text_facts(file, file.content_hash, b"")
    else:
        grammar = load_grammar(file.language)
        facts = extract_parsed(file.path, b"", grammar, grammar.parse(b""), file.content_hash)
    return ParsedFile(facts._replace(size_bytes=file.size_bytes, diagnostics=(("error", code, message, 0),)), [])


def _text_facts(file: FoundFile, hashed: str, source: bytes) -> FileFacts:
    lines = source.count(b"\n") + (not source.endswith(b"\n") and bool(source))
    return FileFacts(file.path, file.language, hashed, len(source), lines, "", [], [], [], [], [], None, 0, (), "")


def send(stream: IO[bytes], message: bytes) -> None:
    """Write one message to a pipe, preceded by its length."""
    stream.write(_LENGTH.pack(len(message)) + message)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """Read the next message from a pipe; None at the end of the stream.

    The result is also None if the stream ends inside a message.
    """
    head = _exactly(stream, _LENGTH.size)
    return None if head is None else _exactly(stream, _LENGTH.unpack(head)[0])


def _exactly(stream: IO[bytes], size: int) -> bytes | None:
    parts = []
    while size:
        part = stream.read(size)  # a pipe returns the available bytes, not the requested number
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def main(project: str, time_limit_s: float, niceness: int = 0) -> None:
    """Parse the batches of files on standard input until it ends.

    `time_limit_s` limits the processor time of each file. `niceness` lowers the priority of the process.
    """
    system.be_nice(niceness)
    system.arm()
    most = system.hard_limit("AS")
    with suppress(ValueError, OSError):  # macOS does not limit the address space
        system.set_limit("AS", MEMORY_BYTES if most is None else min(MEMORY_BYTES, most), most)
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb", buffering=1 << 16)
    os.dup2(2, 1)  # keeps output of libraries out of the messages
    logging.basicConfig(level=logging.DEBUG)  # to the file that the parent process reads at the end
    gc.freeze()
    gc.disable()  # nothing here makes cycles except an occasional exception
    send(sink, READY)
    while (message := receive(source)) is not None:
        for row in marshal.loads(message):  # noqa: S302 - from the process that started this one
            system.alarm(time_limit_s, time_limit_s * IDLE)
            file = FoundFile(*row)
            parsed = parse_file(file, project)
            packed = pack(parsed.facts, parsed.chunks)
            system.alarm(0, 0)
            send(sink, marshal.dumps(tuple(packed)))
        gc.collect()
