"""Parse, validate and measure each GraphQL document (query text) once.

Strawberry also caches parsing and validation, but its cache key is a hash of the whole syntax tree. Computing this hash takes more than 0.5
ms for a larger persisted operation. Here the key is the text of the document.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from graphql import DocumentNode, GraphQLError, GraphQLSchema, OperationDefinitionNode, parse, specified_rules
from strawberry.schema.schema import validate_document

from graphmem.api.execution.direct import Direct
from graphmem.api.execution.rules import shape_rules, too_much
from graphmem.api.requests.complexity import ComplexityMeter, sizes_of
from graphmem.api.requests.limits import ServerLimits

KEPT: Final = 512
"""Number of cached documents; a client sends few different ones."""
LONGEST: Final = 65_536
"""Maximum characters of a cached text. Longer ones, such as queries with long lists of ids, are rarely sent twice."""
_MEASURES = 64  # per document, one for each set of sizes


@dataclass(slots=True)
class Prepared:
    """A parsed GraphQL document with its errors and possible answer sizes."""

    document: DocumentNode
    errors: list[GraphQLError]  # of validation; never changed
    operations: int
    measures: dict[tuple[Any, ...], int] = field(default_factory=dict)
    direct: dict[str | None, Direct | None] = field(default_factory=dict)  # by name of the operation


class Documents:
    """Caches parsed GraphQL documents of one schema under one set of limits.

    Thread-safe.
    """

    def __init__(self, schema: GraphQLSchema, limits: ServerLimits) -> None:
        self.tokens = limits.tokens
        self._schema = schema
        self._limits = limits
        self._meter = ComplexityMeter(schema)
        self._rules = (*specified_rules, *shape_rules(limits.depth, limits.aliases))
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Prepared] = OrderedDict()
        self.hits = 0
        self.misses = 0

    def prepare(self, text: str) -> Prepared:
        """Parse and validate the text of a GraphQL document, or use the cache.

        Raises:
            GraphQLError: the text cannot be parsed, or is longer or nested deeper than allowed.
        """
        with self._lock:
            known = self._kept.get(text)
            if known is not None:
                self._kept.move_to_end(text)
                self.hits += 1
                return known
            self.misses += 1
        document = parse(text, max_tokens=self._limits.tokens)
        errors = [_of_document(one) for one in validate_document(self._schema, document, self._rules)]
        operations = sum(isinstance(node, OperationDefinitionNode) for node in document.definitions)
        made = Prepared(document, errors, operations)
        if len(text) <= LONGEST:
            with self._lock:
                self._kept[text] = made
                while len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
        return made

    def refusal(self, prepared: Prepared, operation_name: str | None, variables: Mapping[str, object] | None) -> list[GraphQLError]:
        """Return why a GraphQL operation is refused; empty if it is allowed.

        Args:
            prepared: the document.
            operation_name: name of the operation as the client sent it.
            variables: variables as the client sent them.
        """
        if prepared.errors:
            return prepared.errors
        if prepared.operations > 1 and operation_name is None:
            # Strawberry would run the first one; the GraphQL specification requires an error.
            return [GraphQLError("The document has several operations; name one in operationName")]
        sizes = sizes_of(variables)
        key = (operation_name, sizes)
        found = prepared.measures.get(key)
        if found is None:
            found = self._meter.measure(prepared.document, operation_name, dict(sizes))
            if len(prepared.measures) >= _MEASURES:
                prepared.measures.clear()
            prepared.measures[key] = found
        return [too_much("complexity", self._limits.complexity, found)] if found > self._limits.complexity else []


def _of_document(error: GraphQLError) -> GraphQLError:
    """Return an error of validation as one about the document alone.

    A value in the document that a scalar cannot read, such as a number with thousands of digits, is an error of Python to graphql-core. It
    is the client's, and its message says what is wrong.
    """
    if error.original_error is None:
        return error
    return GraphQLError(error.message, error.nodes, extensions=error.extensions)
