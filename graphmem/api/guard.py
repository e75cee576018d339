"""The extension every operation passes: its limits, its context, and errors ready for clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from graphql import DocumentNode, GraphQLError, OperationDefinitionNode
from strawberry.extensions import SchemaExtension
from strawberry.types import ExecutionContext

from graphmem.api.complexity import ComplexityMeter
from graphmem.api.context import Connection, Operation
from graphmem.api.failures import shape
from graphmem.api.limits import ServerLimits
from graphmem.api.rules import shape_rules, too_much


class Guard(SchemaExtension):
    """Goes last in the list of extensions: it reads what the validation cache found.

    The complexity depends on the variables, so it is measured for each request and not by a
    validation rule, whose verdict is cached for the document.
    """

    def __init__(self, limits: ServerLimits, meter: Callable[[], ComplexityMeter]) -> None:
        self._limits = limits
        self._meter = meter

    def on_operation(self) -> Iterator[None]:
        """Set the token limit and the rules, and give the operation its own deadline and loaders."""
        context: ExecutionContext = self.execution_context
        context.parse_options["max_tokens"] = self._limits.tokens
        context.validation_rules += shape_rules(self._limits.depth, self._limits.aliases)
        connection: Connection = context.context
        context.context = Operation(connection.door)
        yield

    def on_validate(self) -> Iterator[None]:
        """Refuse a valid document that does not say which operation to run, or one that is too complex."""
        context = self.execution_context
        document = context.graphql_document
        if not context.pre_execution_errors and document is not None and (error := self._refusal(context, document)):
            context.pre_execution_errors = [error]
        yield

    def _refusal(self, context: ExecutionContext, document: DocumentNode) -> GraphQLError | None:
        # Strawberry would run the first of several operations; the specification says not to guess.
        operations = sum(isinstance(node, OperationDefinitionNode) for node in document.definitions)
        if operations > 1 and context._provided_operation_name is None:
            return GraphQLError("The document holds several operations; say which one to run in operationName")
        found = self._meter().measure(document, context.operation_name, context.variables)
        return too_much("complexity", self._limits.complexity, found) if found > self._limits.complexity else None

    def on_stream_result(self, result: Any) -> Iterator[None]:
        """Shape the errors of each step of a stream; answers to plain requests are shaped by the view."""
        if getattr(result, "errors", None):
            result.errors = [shape(error) for error in result.errors]
        yield
