"""Prepare and check each GraphQL operation, as an extension of strawberry.

The extension handles the document, the limits, the context, and the form of errors.
"""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Final

from graphql import GraphQLError
from strawberry.extensions import SchemaExtension

from graphmem.api.execution.documents import Documents, Prepared
from graphmem.api.execution.failures import shape
from graphmem.api.requests.context import NOTHING, Connection, Operation
from graphmem.errors import BadInputError

EXPECTED: Final = "expectedGeneration"
"""Key in the `extensions` of a request: the generation of the index that the client expects."""
BRANCH: Final = "branch"
"""Key in the `extensions` of a request: the branch of the project that answers, instead of the one in the address."""


def begun(connection: Connection, extensions: Mapping[str, object] | None) -> Operation:
    """Return the state of a GraphQL operation that begins now.

    `extensions` is the field of this name in the client's request. In it, the client may state which generation of the index it expects.
    The generation is the number of completed changes.
    """
    expected = (extensions or {}).get(EXPECTED)
    return Operation(connection, expected if isinstance(expected, int) else None)


class Guard(SchemaExtension):
    """Extension of strawberry that checks one operation.

    Each operation has its own instance.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._prepared: Prepared | None = None

    async def on_operation(self) -> AsyncIterator[None]:
        """Create the deadline and the data loaders of a GraphQL operation.

        The deadline and the loaders are made for each operation, because a WebSocket carries many operations. If the request's `extensions`
        name a branch, the operation runs on that branch.

        Raises:
            BadInputError: the branch is unknown, or the server keeps no branches.
        """
        connection: Connection = self.execution_context.context
        given = self.execution_context.operation_extensions or {}
        branch = given.get(BRANCH)
        if not branch:
            self.execution_context.context = begun(connection, given)
            yield
            return
        if not isinstance(branch, str):
            raise BadInputError(
                "`extensions.branch` of the GraphQL request must be a string; give the name of a branch that was pushed to the server",
                argument="branch",
            )
        async with connection.server.on_branch(branch, connection.access or NOTHING) as server:
            self.execution_context.context = begun(dataclasses.replace(connection, server=server), given)
            yield

    def on_parse(self) -> Iterator[None]:
        """Take the parsed GraphQL document from the cache, or parse it."""
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
        """Check a GraphQL document and its limits.

        This check replaces Strawberry's validation.
        """
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
