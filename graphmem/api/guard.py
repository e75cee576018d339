"""Prepare and check each GraphQL operation, as an extension of strawberry.

The extension handles the document, the limits, the context, and the form of errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from graphql import GraphQLError
from strawberry.extensions import SchemaExtension

from graphmem.api.context import Connection, Operation
from graphmem.api.documents import Documents, Prepared
from graphmem.api.failures import shape

EXPECTED: Final = "expectedGeneration"
"""Key in the `extensions` of a request: the generation of the index that the client expects."""


class Guard(SchemaExtension):
    """Extension of strawberry that checks one operation.

    Each operation has its own instance.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._prepared: Prepared | None = None

    def on_operation(self) -> Iterator[None]:
        """Create the deadline and the loaders of the operation.

        Each operation has its own, because a WebSocket runs many operations.
        """
        connection: Connection = self.execution_context.context
        expected = (self.execution_context.operation_extensions or {}).get(EXPECTED)
        self.execution_context.context = Operation(connection, expected if isinstance(expected, int) else None)
        yield

    def on_parse(self) -> Iterator[None]:
        """Take the parsed document from the cache, or parse it."""
        context = self.execution_context
        context.parse_options["max_tokens"] = self._documents.tokens
        if context.query:
            try:
                self._prepared = self._documents.prepare(context.query)
                context.graphql_document = self._prepared.document
            except GraphQLError:
                context.graphql_document = None  # Strawberry raises the error again and reports it for each transport
        yield

    def on_validate(self) -> Iterator[None]:
        """Check the document and its limits, in place of Strawberry's validation."""
        context = self.execution_context
        if self._prepared is not None:
            context.pre_execution_errors = self._documents.refusal(self._prepared, context._provided_operation_name, context.variables)
        yield

    def on_stream_result(self, result: Any) -> Iterator[None]:
        """Convert errors in each result of a subscription for the client.

        The HTTP view converts the errors of other requests.
        """
        if getattr(result, "errors", None):
            result.errors = [shape(error) for error in result.errors]
        yield
