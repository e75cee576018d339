"""Persisted operations: GraphQL documents stored on the server.

A client sends the name or the hash of a document instead of its text. One document is derived from each operation; others are in
`queries/operations/*.graphql`. A client can send `{"operationName": "Impact", "variables": {…}}` without a query. Or it sends the SHA-256
of the text, as `id` or in `extensions.persistedQuery`.

A file whose name begins with `_` has one fragment. Fragments that an operation uses and does not define are appended to its text. The hash
is computed from the text with the appended fragments.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import cast

from graphql import (
    DocumentNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLSchema,
    OperationDefinitionNode,
    Visitor,
    parse,
    visit,
)

from graphmem.api.execution.selections import derived_names, document
from graphmem.errors import BadInputError, QueryFileError
from graphmem.runtime.data.resources import data_root

SUFFIX = ".graphql"
FRAGMENT = "_"
_HASH_LENGTH = 64  # hexadecimal digits of a SHA-256


@dataclass(frozen=True, slots=True)
class PersistedOperation:
    """A GraphQL document with a name and a hash, by which clients call it."""

    name: str
    text: str
    sha256: str


class PersistedOperations:
    """The GraphQL documents that clients can call by name or by hash.

    A document is read from its file, or generated from the schema, at its first use. The first request by hash needs all documents.

    Args:
        texts: texts of the files, by name.
        schema: the schema from which documents are generated; None to use only documents from files.

    Methods raise QueryFileError when a file is not usable; see `read_operation`.
    """

    def __init__(self, texts: Mapping[str, str], schema: GraphQLSchema | None = None) -> None:
        stems = {name.removesuffix(SUFFIX): text for name, text in texts.items()}
        self._fragments = {name.removeprefix(FRAGMENT): text for name, text in stems.items() if name.startswith(FRAGMENT)}
        self._texts = {name: text for name, text in stems.items() if not name.startswith(FRAGMENT)}
        self._schema = schema
        self._derived = derived_names() if schema is not None else {}
        self._read: dict[str, PersistedOperation] = {}

    @property
    def names(self) -> list[str]:
        """Names of all persisted operations, ascending."""
        return sorted(self._texts.keys() | self._derived.keys())

    def has(self, text: str) -> bool:
        """Whether a document equals a persisted operation byte for byte."""
        return _sha256(text) in self._by_hash

    def find(self, request: Mapping[str, object]) -> PersistedOperation:
        """Return the persisted operation that a request names.

        The request has no query, but the name or the hash of a document.

        Raises:
            BadInputError: the request names no operation, or an unknown one.
        """
        for key in _keys(request):
            if key in self._texts or key in self._derived:
                return self._operation(key)
            if len(key) == _HASH_LENGTH and key in self._by_hash:
                return self._by_hash[key]
            raise BadInputError(
                f"unknown operation {key!r}; send one of the names {', '.join(self.names)}, or the text of a query",
                argument="operationName",
                value=key,
            )
        raise BadInputError("the request has neither a query nor the name or id of an operation; send one of them", argument="query")

    @cached_property
    def _by_hash(self) -> dict[str, PersistedOperation]:
        return {one.sha256: one for one in map(self._operation, self.names)}

    def _operation(self, name: str) -> PersistedOperation:
        if name not in self._read:
            if name in self._texts:
                self._read[name] = read_operation(f"{name}{SUFFIX}", self._texts[name], self._fragments)
            else:
                text = document(cast("GraphQLSchema", self._schema), self._derived[name])
                self._read[name] = PersistedOperation(name, text, _sha256(text))
        return self._read[name]


def _keys(request: Mapping[str, object]) -> Iterator[str]:
    extensions = request.get("extensions")
    persisted = extensions.get("persistedQuery") if isinstance(extensions, dict) else None
    hashed = persisted.get("sha256Hash") if isinstance(persisted, dict) else None
    for key in (request.get("id"), hashed, request.get("operationName")):
        if isinstance(key, str) and key:
            yield key.removeprefix("sha256:")


@cache
def load_operations(schema: GraphQLSchema) -> PersistedOperations:
    """Return the persisted operations for a schema."""
    folder = data_root() / "queries" / "operations"
    files = [entry for entry in folder.iterdir() if entry.name.endswith(SUFFIX) and not entry.name.startswith(".")]
    texts = {file.name: file.read_text(encoding="utf-8") for file in sorted(files, key=lambda file: file.name)}
    return PersistedOperations(texts, schema)


def read_operation(file: str, text: str, fragments: Mapping[str, str] | None = None) -> PersistedOperation:
    """Read the operation of a file of `queries/operations`.

    Args:
        file: name of the file.
        text: content of the file.
        fragments: texts of fragments by name; those that the operation uses are appended to its text.

    Raises:
        QueryFileError: the file is not GraphQL, does not have exactly one named operation, or the name of the operation does not fit the
            name of the file.
    """
    shared = dict(fragments or {})
    document = _parsed(file, text)
    while wanted := sorted(_missing(document) & shared.keys()):
        text = "\n".join([text.rstrip("\n") + "\n", *(shared.pop(name) for name in wanted)])
        document = _parsed(file, text)
    names = [node.name.value if node.name else "" for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    if len(names) != 1 or not names[0]:
        raise QueryFileError(
            f"the query file {file} defines {len(names)} operations; write exactly one named operation in each query file",
            path=file,
            line=1,
        )
    if f"{names[0]}{SUFFIX}" != file:
        raise QueryFileError(
            f"the query file {file} defines the operation {names[0]}; rename the file to the name of its operation", path=file, line=1
        )
    return PersistedOperation(names[0], text, _sha256(text))


def _parsed(file: str, text: str) -> DocumentNode:
    try:
        return parse(text)
    except GraphQLError as error:
        line = error.locations[0].line if error.locations else 1
        raise QueryFileError(f"the query in {file}:{line} is invalid ({error.message}); correct the query", path=file, line=line) from error


def _missing(document: DocumentNode) -> set[str]:
    """Return names of fragments that a document uses and does not define."""
    spread: set[str] = set()

    class Spreads(Visitor):
        def enter_fragment_spread(self, node: FragmentSpreadNode, *_: object) -> None:
            spread.add(node.name.value)

    visit(document, Spreads())
    return spread - {node.name.value for node in document.definitions if isinstance(node, FragmentDefinitionNode)}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
