"""Serialise a parsed file, for pipes between processes and for the cache."""

from __future__ import annotations

import gc
import marshal
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, Final, NamedTuple

from graphmem.model import ChunkRow, PackedChunkRow
from graphmem.parsing.facts import Binding, Definition, FileFacts, Import, Note, Parameter, Reference
from graphmem.parsing.grammar import extraction_version
from graphmem.parsing.language import languages
from graphmem.runtime.data.resources import digest
from graphmem.runtime.texts.compression import deflate, deflated, inflated

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


class Head(NamedTuple):
    """Path, content hash and other properties of a parsed file.

    Every index run needs these properties. They are much smaller than the definitions and references of the file, which are stored
    separately.
    """

    path: str
    language: str
    content_hash: str
    size_bytes: int
    lines: int
    is_test: bool
    error_count: int
    diagnostics: tuple[Note, ...]  # as in `FileFacts`


class Packed(NamedTuple):
    """A parsed file as bytes: its facts, its chunks and its `Head`.

    The facts (definitions, uses of names, and so on) are compressed as a whole. The text of each chunk (piece of the file for search) is
    compressed separately, so that the store can keep the same bytes. The `Head` has the properties that every index run needs, such as the
    path.
    """

    facts: bytes
    chunks: bytes
    chunk_count: int
    head: tuple[Any, ...]  # a `Head`


class ParsedFile:
    """Result of parsing one file, as objects or as packed bytes.

    If the file is packed, each access to `facts` or `chunks` unpacks them again; the objects are not cached.

    Args:
        facts: the definitions, uses of names and so on; None if `packed` has them.
        chunks: the pieces of the file for search; None if `packed` has them.
        packed: the facts and chunks as bytes; None if they are given as objects.

    Attributes:
        head: properties such as the path, which need no unpacking.
    """

    __slots__ = ("_chunks", "_facts", "_packed", "_spilled", "head")

    def __init__(self, facts: FileFacts | None = None, chunks: list[ChunkRow] | None = None, packed: Packed | None = None) -> None:
        self._facts = facts
        self._chunks = chunks
        self._packed = packed
        self._spilled: tuple[Any, int] = (b"", 0)
        self.head = Head._make(packed.head) if packed is not None else head_of(self.facts)

    @property
    def facts(self) -> FileFacts:
        """Results of parsing the file; packed ones are unpacked each time."""
        if self._facts is not None:
            return self._facts
        if self._packed is None or not self._packed.facts:
            raise LookupError(
                f"the results of parsing {self.head.path} were used after their release from memory; report this "
                "defect to the authors of graphmem"
            )
        return unpack_facts(self._packed.facts)

    @property
    def has_facts(self) -> bool:
        """Whether this object still holds the results of parsing the file."""
        return self._facts is not None or (self._packed is not None and bool(self._packed.facts))

    @property
    def chunks(self) -> list[ChunkRow]:
        """The chunks of the file; packed chunks are unpacked at every access."""
        if self._chunks is not None:
            return self._chunks
        return unpack_chunks(self._packed.chunks) if self._packed is not None else []

    def forget_facts(self) -> None:
        """Release the packed results of parsing; the cache still has them.

        The attribute `head`, with the path and similar properties, is kept.
        """
        if self._packed is not None:
            self._packed = self._packed._replace(facts=b"")

    def spill_chunks(self, write: Callable[[bytes], object]) -> None:
        """Move the packed chunks to a file, so that they need no memory.

        `write` stores the given bytes and returns a position. Afterwards `chunks` is empty, and `spilled_chunks` returns the position.
        """
        packed = self.packed
        self._spilled = (write(packed.chunks), packed.chunk_count)
        self._chunks = []
        if self._packed is not None:
            self._packed = packed._replace(chunks=b"")

    @property
    def spilled_chunks(self) -> tuple[Any, int]:
        """Position and number of the chunks that `spill_chunks` moved to a file."""
        return self._spilled

    @property
    def packed(self) -> Packed:
        """Results of parsing the file, and its chunks, as bytes.

        If this object was made without `packed`, every access serialises the file again.
        """
        return self._packed or pack(self.facts, self.chunks)


def head_of(facts: FileFacts) -> Head:
    """Return path, content hash and other properties of a parsed file."""
    spec = languages().get(facts.language)  # plain text has none
    is_test = spec is not None and spec.tests.is_test_path(facts.path)
    return Head(
        facts.path, facts.language, facts.content_hash, facts.size_bytes, facts.lines, is_test, facts.error_count, facts.diagnostics
    )


@cache
def extraction_key(language: str) -> str:
    """Return a key that identifies the version of a language's parser.

    The key changes if the parsing code or the grammar changes. Cached results with another key are not used.
    """
    return extraction_version(language) if language != "text" else f"text {digest('parsing')}"


def pack(facts: FileFacts, chunks: list[ChunkRow]) -> Packed:
    """Serialise the facts and the chunks of a parsed file.

    Facts are definitions, uses of names, and so on. Chunks are pieces of the file for search.
    """
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
    return Packed(deflate(marshal.dumps(plain)), marshal.dumps(texts), len(chunks), tuple(head_of(facts)))


def unpack_facts(data: bytes) -> FileFacts:
    """Return the results of parsing a file (its facts) that `pack` serialised."""
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
    """Return the chunks (pieces of a file for search) that `pack` serialised."""
    rows = packed_chunks(data)
    return [ChunkRow._make((*one[:_TEXT], *inflated(one.packed, one.start_line, one.end_line), one.text_hash)) for one in rows]


def packed_chunks(data: bytes) -> list[PackedChunkRow]:
    """Return the chunks that `pack` serialised; their texts stay compressed.

    A chunk is a piece of a file.
    """
    return list(map(_chunk, marshal.loads(data)))  # noqa: S302 - as above


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause Python's cyclic garbage collector during a `with` block.

    Unpacking creates millions of tuples without cycles. The collector would scan them and free nothing.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
