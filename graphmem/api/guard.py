"""The extension every operation passes: its document, its limits, its context, and errors ready for clients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graphql import GraphQLError
from strawberry.extensions import SchemaExtension

from graphmem.api.context import Connection, Operation
from graphmem.api.documents import Documents, Prepared
from graphmem.api.failures import shape


class Guard(SchemaExtension):
    """One for each operation."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._prepared: Prepared | None = None

    def on_operation(self) -> Iterator[None]:
        """Give the operation its own deadline and loaders: one WebSocket connection runs many."""
        connection: Connection = self.execution_context.context
        self.execution_context.context = Operation(connection)
        yield

    def on_parse(self) -> Iterator[None]:
        """Take the document from the cache."""
        context = self.execution_context
        context.parse_options["max_tokens"] = self._documents.tokens
        if context.query:
            try:
                self._prepared = self._documents.prepare(context.query)
                context.graphql_document = self._prepared.document
            except GraphQLError:
                context.graphql_document = None  # Strawberry meets the error again and reports it as every transport should
        yield

    def on_validate(self) -> Iterator[None]:
        """Say whether it may run; this takes the place of Strawberry's own validation."""
        context = self.execution_context
        if self._prepared is not None:
            context.pre_execution_errors = self._documents.refusal(self._prepared, context._provided_operation_name, context.variables)
        yield

    def on_stream_result(self, result: Any) -> Iterator[None]:
        """Shape the errors of each step of a stream; answers to plain requests are shaped by the view."""
        if getattr(result, "errors", None):
            result.errors = [shape(error) for error in result.errors]
        yield
