"""Serialised form of a parsed file, for pipes and the facts cache."""

from __future__ import annotations

import gc
import marshal
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, Final, NamedTuple

from graphmem.model import ChunkRow, PackedChunkRow
from graphmem.parsing.facts import Binding, Definition, FileFacts, Import, Parameter, Reference
from graphmem.parsing.grammar import extraction_version
from graphmem.runtime.compression import deflate, deflated, inflated
from graphmem.runtime.resources import digest

# Bytes of another Python version or with other fields are not read.
FORMAT: Final = f"3 marshal {marshal.version} python {sys.version_info[0]}.{sys.version_info[1]} " + " ".join(
    ",".join(kind._fields) for kind in (FileFacts, Definition, Parameter, Import, Binding, Reference, ChunkRow)
)
_PARAMETERS: Final = Definition._fields.index("parameters")
_TERMS: Final = FileFacts._fields.index("terms")
_REFERENCES: Final = FileFacts._fields.index("references")

# `_make` would check the length of every row in Python.
_facts = partial(tuple.__new__, FileFacts)
_definition = partial(tuple.__new__, Definition)
_parameter = partial(tuple.__new__, Parameter)
_import = partial(tuple.__new__, Import)
_binding = partial(tuple.__new__, Binding)
_reference = partial(tuple.__new__, Reference)
_chunk = partial(tuple.__new__, PackedChunkRow)
_TEXT: Final = PackedChunkRow._fields.index("packed")


class Packed(NamedTuple):
    """Facts and chunks of a file as separate bytes.

    Chunks of an unchanged file are rarely needed. Facts are compressed as a whole. The text of each chunk is compressed alone,
    in the form in which the store keeps it.
    """

    facts: bytes
    chunks: bytes
    chunk_count: int


class ParsedFile:
    """Result of parsing one file. Chunks stay packed until they are written."""

    __slots__ = ("_chunks", "_packed", "facts")

    def __init__(self, facts: FileFacts, chunks: list[ChunkRow] | None = None, packed: Packed | None = None) -> None:
        self.facts = facts
        self._chunks = chunks
        self._packed = packed

    @property
    def chunks(self) -> list[ChunkRow]:
        """Return the chunks; packed ones are unpacked at every call."""
        if self._chunks is not None:
            return self._chunks
        return unpack_chunks(self._packed.chunks) if self._packed is not None else []

    def forget_packed_facts(self) -> None:
        """Keep the facts as objects only."""
        if self._packed is not None:
            self._packed = self._packed._replace(facts=b"")

    @property
    def packed(self) -> Packed:
        """Return facts and chunks as bytes; objects are packed at every call."""
        return self._packed or pack(self.facts, self.chunks)


@cache
def extraction_key(language: str) -> str:
    """Return a key of everything besides the content that affects facts."""
    return extraction_version(language) if language != "text" else f"text {digest('parsing')}"


def pack(facts: FileFacts, chunks: list[ChunkRow]) -> Packed:
    """Serialise a file's facts and chunks."""
    # marshal is several times faster than pickle, but only supports exact tuples.
    after = _PARAMETERS + 1
    plain = (
        *facts[: _TERMS + 1],
        [(*one[:_PARAMETERS], tuple(map(tuple, one.parameters)), *one[after:]) for one in facts.definitions],
        list(map(tuple, facts.imports)),
        list(map(tuple, facts.bindings)),
        list(map(tuple, facts.references)),
        *facts[_REFERENCES + 1 :],
    )
    texts = [(*one[:_TEXT], deflated(one.prefix, one.text, one.start_line, one.end_line), one.text_hash) for one in chunks]
    return Packed(deflate(marshal.dumps(plain)), marshal.dumps(texts), len(chunks))


def unpack_facts(data: bytes) -> FileFacts:
    """The facts given to `pack`."""
    plain: Any = marshal.loads(zlib.decompress(data))  # noqa: S302 - our own bytes; zlib's checksum refuses damaged ones
    after = _PARAMETERS + 1
    definitions, imports, bindings, references = plain[_TERMS + 1 : _REFERENCES + 1]
    return _facts(
        (
            *plain[: _TERMS + 1],
            [
                _definition((*one[:_PARAMETERS], tuple(map(_parameter, one[_PARAMETERS])), *one[after:]) if one[_PARAMETERS] else one)
                for one in definitions
            ],
            list(map(_import, imports)),
            list(map(_binding, bindings)),
            list(map(_reference, references)),
            *plain[_REFERENCES + 1 :],
        )
    )


def unpack_chunks(data: bytes) -> list[ChunkRow]:
    """The chunks given to `pack`."""
    rows = packed_chunks(data)
    return [ChunkRow._make((*one[:_TEXT], *inflated(one.packed, one.start_line, one.end_line), one.text_hash)) for one in rows]


def packed_chunks(data: bytes) -> list[PackedChunkRow]:
    """The chunks given to `pack`, with texts as the store keeps them."""
    return list(map(_chunk, marshal.loads(data)))  # noqa: S302 - as above


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the cyclic collector.

    Unpacking creates millions of tuples without cycles.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
