"""Names of tables, the only names that code inserts into query text.

The engine takes no parameter in place of a table name, so queries contain `@edge`, and the code replaces it with a value of these
enumerations. `queries/schema` creates exactly these tables; a test checks this.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

MAX_DIMENSIONS: Final = 4096  # of a vector: four times the largest sentence model in use


class NodeTable(StrEnum):
    """Names of the database's tables for nodes, as in `queries/schema`."""

    FILE = "File"
    SYMBOL = "Symbol"
    EXTERNAL = "External"
    CHUNK = "Chunk"
    UNRESOLVED = "Unresolved"
    OCCURRENCES = "Occurrences"
    META = "Meta"
    MODULE = "Module"
    FLOW = "Flow"
    FRAMEWORK_KEY = "FrameworkKey"
    MEMORY = "Memory"
    SESSION = "Session"
    ERROR_PATTERN = "ErrorPattern"
    PERSON = "Person"


class RelTable(StrEnum):
    """Names of the database's tables for edges, as in `queries/schema`."""

    DEFINES = "DEFINES"
    IMPORTS = "IMPORTS"
    CALLS = "CALLS"
    REFERENCES = "REFERENCES"
    INHERITS = "INHERITS"
    OVERRIDES = "OVERRIDES"
    USES_TYPE = "USES_TYPE"
    TESTS = "TESTS"
    CHUNK_OF = "CHUNK_OF"
    CONTAINS = "CONTAINS"
    DEPENDS_ON = "DEPENDS_ON"
    STARTS_AT = "STARTS_AT"
    STEP = "STEP"
    HANDLES = "HANDLES"
    ABOUT = "ABOUT"
    RELATES = "RELATES"
    LEARNT_IN = "LEARNT_IN"
    CO_ACCESSED = "CO_ACCESSED"
    SEEN_IN = "SEEN_IN"
    OWNS = "OWNS"


class TextColumn(StrEnum):
    """Names of columns that hold strings or lists of strings.

    A query that writes such a column writes no other column.
    """

    PATH = "path"
    LANGUAGE = "language"
    MODULE = "module"
    CONTENT_HASH = "content_hash"
    DIAGNOSTIC = "diagnostic"
    KIND = "kind"
    NAME = "name"
    QUALNAME = "qualname"
    PARENT_ID = "parent_id"
    SIGNATURE = "signature"
    DOC = "doc"
    BODY_HASH = "body_hash"
    MODIFIERS = "modifiers"
    ENTRY_POINT = "entry_point"
    PACKAGE = "package"
    SHORT_ID = "short_id"
    FINGERPRINT = "fingerprint"
    TYPE = "type"
    TITLE = "title"
    CITATION = "citation"
    CONTENT = "content"
    SOURCE = "source"
    SCOPE = "scope"
    VISIBILITY = "visibility"
    STATUS = "status"
    TAGS = "tags"
    ORIGIN = "origin"
    COMMIT_SHA = "commit_sha"
    WORK_UNIT = "work_unit"
    DETAILS = "details"
    TEXT_HASH = "text_hash"
    EMBEDDING_MODEL = "embedding_model"
    AGENT = "agent"


class Pair(NamedTuple):
    """An edge table together with the node tables of both ends of its edges.

    For example, (CALLS, Symbol, External) has the calls from symbols to externals, which are names of used packages. In the schema, this is
    `FROM Symbol TO External`.
    """

    edge: RelTable
    src: NodeTable
    dst: NodeTable


@dataclass(frozen=True, slots=True)
class EmbeddingTable:
    """The table for the vectors of one length (number of dimensions).

    The engine fixes the dimension in the column's type.

    Args:
        dim: number of dimensions, 1 to `MAX_DIMENSIONS`.
    """

    dim: int

    def __post_init__(self) -> None:
        if type(self.dim) is not int or not 1 <= self.dim <= MAX_DIMENSIONS:
            raise ValueError(f"vectors of an embedding model have {self.dim!r} dimensions; use 1 to {MAX_DIMENSIONS}")

    def __str__(self) -> str:
        return f"{self.PREFIX}{self.dim}"

    PREFIX = "Embedding_"

    @classmethod
    def parse(cls, name: str) -> EmbeddingTable | None:
        """Return the vector table with this name; None for any other name."""
        digits = name.removeprefix(cls.PREFIX)
        return cls(int(digits)) if digits != name and digits.isascii() and digits.isdigit() else None


_F, _S, _X = NodeTable.FILE, NodeTable.SYMBOL, NodeTable.EXTERNAL

# Nodes and edges of the code, in the order they are loaded; all of them come from a GraphDelta.
CODE_NODES: Final = (NodeTable.CHUNK, NodeTable.FILE, NodeTable.SYMBOL, NodeTable.EXTERNAL, NodeTable.UNRESOLVED, NodeTable.OCCURRENCES)
CODE_PAIRS: Final = (
    Pair(RelTable.CALLS, _S, _S),
    Pair(RelTable.CALLS, _S, _X),
    Pair(RelTable.DEFINES, _F, _S),
    Pair(RelTable.DEFINES, _S, _S),
    Pair(RelTable.IMPORTS, _F, _F),
    Pair(RelTable.IMPORTS, _F, _X),
    Pair(RelTable.INHERITS, _S, _S),
    Pair(RelTable.INHERITS, _S, _X),
    Pair(RelTable.OVERRIDES, _S, _S),
    Pair(RelTable.OVERRIDES, _S, _X),
    Pair(RelTable.REFERENCES, _S, _S),
    Pair(RelTable.REFERENCES, _S, _X),
    Pair(RelTable.TESTS, _S, _S),
    Pair(RelTable.USES_TYPE, _S, _S),
    Pair(RelTable.USES_TYPE, _S, _X),
)
CHUNK_OF: Final = Pair(RelTable.CHUNK_OF, NodeTable.CHUNK, _S)

# Layers 2 and 3: carried over when the code graph is rebuilt.
CARRIED_NODES: Final = (
    NodeTable.MODULE,
    NodeTable.FLOW,
    NodeTable.FRAMEWORK_KEY,
    NodeTable.MEMORY,
    NodeTable.SESSION,
    NodeTable.ERROR_PATTERN,
    NodeTable.PERSON,
)
# Derived from the code: an edge to removed code is removed too.
DERIVED_PAIRS: Final = (
    Pair(RelTable.CONTAINS, NodeTable.MODULE, _F),
    Pair(RelTable.DEPENDS_ON, NodeTable.MODULE, NodeTable.MODULE),
    Pair(RelTable.STARTS_AT, NodeTable.FLOW, _S),
    Pair(RelTable.STEP, NodeTable.FLOW, _S),
    Pair(RelTable.HANDLES, _S, NodeTable.FRAMEWORK_KEY),
)
# Knowledge: code it points at is kept, marked stale, when it leaves the repository.
KNOWLEDGE_PAIRS: Final = (
    Pair(RelTable.ABOUT, NodeTable.MEMORY, _S),
    Pair(RelTable.ABOUT, NodeTable.MEMORY, _F),
    Pair(RelTable.ABOUT, NodeTable.MEMORY, _X),
    Pair(RelTable.ABOUT, NodeTable.MEMORY, NodeTable.MODULE),
    Pair(RelTable.RELATES, NodeTable.MEMORY, NodeTable.MEMORY),
    Pair(RelTable.LEARNT_IN, NodeTable.MEMORY, NodeTable.SESSION),
    Pair(RelTable.CO_ACCESSED, _F, _F),
    Pair(RelTable.SEEN_IN, NodeTable.ERROR_PATTERN, NodeTable.SESSION),
    Pair(RelTable.SEEN_IN, NodeTable.ERROR_PATTERN, _F),
    Pair(RelTable.SEEN_IN, NodeTable.ERROR_PATTERN, _S),
    Pair(RelTable.OWNS, NodeTable.PERSON, _F),
    Pair(RelTable.OWNS, NodeTable.PERSON, NodeTable.MODULE),
)
ALL_PAIRS: Final = (*CODE_PAIRS, CHUNK_OF, *DERIVED_PAIRS, *KNOWLEDGE_PAIRS)

# The replacements of `@name` in a query, by the type in its header.
FILLS: Final[dict[str, type]] = {"NodeTable": NodeTable, "RelTable": RelTable, "EmbeddingTable": EmbeddingTable, "TextColumn": TextColumn}
