"""Serve GraphQL over HTTP, WebSocket and server-sent events, in JSON."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from datetime import timedelta
from typing import Any, Final, cast

import orjson
from cross_web import AsyncHTTPRequestAdapter, HTTPException
from graphql import GraphQLFormattedError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect
from strawberry.asgi import ASGIWebSocketAdapter, GraphQL
from strawberry.exceptions import ConnectionRejectionError
from strawberry.http import GraphQLHTTPResponse, GraphQLRequestData
from strawberry.http.exceptions import NonJsonMessageReceived, WebSocketDisconnected
from strawberry.schema import BaseSchema
from strawberry.schema.exceptions import CannotGetOperationTypeError, InvalidOperationTypeError
from strawberry.subscriptions import GRAPHQL_SSE_PROTOCOL, GRAPHQL_TRANSPORT_WS_PROTOCOL
from strawberry.subscriptions.protocols.graphql_transport_ws.handlers import BaseGraphQLTransportWSHandler
from strawberry.subscriptions.protocols.graphql_transport_ws.types import ErrorMessage, SubscribeMessage
from strawberry.types import ExecutionResult
from strawberry.types.execution import PreExecutionError
from strawberry.types.graphql import OperationType
from strawberry.types.unset import UnsetType

from graphmem.api.execution.encoding import encoded
from graphmem.api.execution.failures import facts_of, payload, shape, shortened
from graphmem.api.execution.persisted import PersistedOperations
from graphmem.api.http.security import refusal
from graphmem.api.requests.context import Connection, ServerState
from graphmem.errors import BadInputError, ForbiddenError, GraphMemError, UnauthenticatedError
from graphmem.security.access import ACCESS
from graphmem.security.tokens import Keys

RESPONSE_TYPE: Final = "application/graphql-response+json"
"""GraphQL's own media type, with which the status says how the request went."""


class JsonResponse(Response):
    """An HTTP response whose body is already encoded as JSON."""

    media_type = "application/json"


class _WebSocketAdapter(ASGIWebSocketAdapter):
    """Sends answers as text frames of a WebSocket; accepts only JSON objects.

    Answers are converted to strings, because the protocol needs text frames and orjson returns bytes.
    """

    async def iter_json(self, *, ignore_parsing_errors: bool = False) -> AsyncGenerator[object, None]:
        async for message in super().iter_json(ignore_parsing_errors=ignore_parsing_errors):
            if not isinstance(message, dict):
                raise NonJsonMessageReceived
            yield message

    async def send_json(self, message: Mapping[str, object]) -> None:
        try:
            await self.ws.send_text(self.view.encode_json_string(message))
        except (WebSocketDisconnect, RuntimeError) as error:  # starlette raises RuntimeError for a closed socket
            raise WebSocketDisconnected from error


class _WebSocketHandler(BaseGraphQLTransportWSHandler[Any, None]):
    """Handles the GraphQL messages of a WebSocket.

    Persisted operations are supported. The token is checked at each operation.
    """

    async def handle_subscribe(self, message: SubscribeMessage) -> None:
        request = cast("dict[str, Any]", message["payload"])
        view = cast("GraphQLView", self.view)
        try:
            view.expect_standing(self.context)
            check_request(request)
            request["query"] = view.query_of(request)
        except GraphMemError as error:
            body: list[GraphQLFormattedError] = [{"message": shortened(error.message), "extensions": facts_of(error)}]
            await self.send_message(ErrorMessage(id=message["id"], type="error", payload=body))
            return
        await super().handle_subscribe(message)


def check_request(request: object) -> None:
    """Check that a GraphQL request is an object with fields of valid types.

    Raises:
        BadInputError: the request is not an object, or a field has another type.
    """
    if not isinstance(request, dict):
        raise BadInputError("the body of the request must be one JSON object; send one GraphQL operation in each request", argument="query")
    for name, kind in (("query", str), ("operationName", str), ("id", str), ("variables", dict), ("extensions", dict)):
        if not isinstance(request.get(name), (kind, type(None))):
            raise BadInputError(
                f"the field {name} in the JSON of the request must be "
                f"{('an object' if kind is dict else 'a string')} or null; correct the request",
                argument=name,
            )


class GraphQLView(GraphQL[Connection, None]):
    """The ASGI application behind `/graphql`.

    Args:
        schema: the schema.
        server: the state of the server.
        operations: the persisted operations.
        keys: the valid tokens; if the handshake of a WebSocket had no token, its first message must have one.
        allowed_origins: other sites whose pages may open a WebSocket.
        persisted_only: refuse queries other than `operations`.
    """

    websocket_adapter_class = _WebSocketAdapter
    graphql_transport_ws_handler_class = _WebSocketHandler

    def __init__(
        self,
        schema: BaseSchema,
        server: ServerState,
        operations: PersistedOperations,
        keys: Keys,
        allowed_origins: tuple[str, ...] = (),
        persisted_only: bool = False,
    ) -> None:
        super().__init__(
            schema,
            graphql_ide=None,
            allow_queries_via_get=False,
            subscription_protocols=(GRAPHQL_TRANSPORT_WS_PROTOCOL, GRAPHQL_SSE_PROTOCOL),
            max_subscriptions_per_connection=server.limits.subscriptions,
            allowed_origins=allowed_origins,
            connection_init_wait_timeout=timedelta(seconds=server.limits.header_seconds),
        )
        self._server = server
        self._operations = operations
        self._keys = keys
        self._persisted_only = persisted_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request; errors have the JSON form of answers."""
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        try:
            response = await self.run(Request(scope, receive))
        except HTTPException as error:
            body = payload("BAD_INPUT", error.reason)
            response = JsonResponse(orjson.dumps(body), status_code=error.status_code)
        except GraphMemError as error:
            response = refusal(error)
        await response(scope, receive, send)

    async def get_context(self, request: Request | WebSocket, response: Response | WebSocket) -> Connection:
        """Return the state that all operations of a request or WebSocket share."""
        return Connection(self._server, request.scope.get(ACCESS), self._keys.stands)

    def expect_standing(self, context: Connection) -> None:
        """Check that the token with which a connection began is still valid.

        Raises:
            UnauthenticatedError: the token of the connection was revoked or expired.
        """
        if context.access is None or not self._keys.stands(context.access):
            raise UnauthenticatedError(
                "the token with which this connection was opened is no longer valid; connect again with a valid token"
            )

    async def parse_http_body(self, request: AsyncHTTPRequestAdapter) -> GraphQLRequestData:
        """Parse the body as a single operation.

        Raises:
            HTTPException: the body is not JSON (status 400), or its media type is not `application/json` (status 415). Other media types
                are refused, because a page of another site can send them without a preflight request.
            BadInputError: the body is not one operation, or names an unknown operation.
        """
        if (request.content_type or "").partition(";")[0].strip().lower() != "application/json":
            raise HTTPException(415, "the content type of a GraphQL request must be application/json; send the operation as JSON")
        data = cast("dict[str, Any]", self.parse_json(await request.get_body()))
        check_request(data)
        transport = self._get_stream_transport_from_headers(request.headers)
        return GraphQLRequestData(
            query=self.query_of(data),
            variables=data.get("variables"),
            operation_name=data.get("operationName"),
            extensions=data.get("extensions"),
            protocol=transport.protocol if transport else "http",
        )

    async def execute_single(
        self,
        request: Request,
        request_adapter: AsyncHTTPRequestAdapter,
        sub_response: Response,
        context: Connection,
        root_value: None,
        request_data: GraphQLRequestData,
    ) -> ExecutionResult:
        """Run the query or mutation of a request.

        Raises:
            BadInputError: the document does not contain the operation, or the operation is a subscription.
        """
        try:
            return await self.schema.execute(
                request_data.query,
                variable_values=request_data.variables,
                context_value=context,
                operation_name=request_data.operation_name,
                allowed_operation_types=(OperationType.QUERY, OperationType.MUTATION),
                operation_extensions=request_data.extensions,
            )
        except CannotGetOperationTypeError as error:
            raise BadInputError(error.as_http_error_reason(), argument="operationName", value=request_data.operation_name) from error
        except InvalidOperationTypeError as error:
            raise BadInputError(
                "a subscription needs a stream of answers; ask with `Accept: text/event-stream`, or over a graphql-transport-ws WebSocket",
                argument="query",
            ) from error

    def query_of(self, request: Mapping[str, object]) -> str:
        """Return the document of a request: its own text or a persisted one.

        Raises:
            BadInputError: the named operation is unknown.
            ForbiddenError: the request has its own text, and only persisted operations are allowed.
        """
        query = request.get("query")
        if not isinstance(query, str) or not query:
            return self._operations.find(request).text
        if self._persisted_only and not self._operations.has(query):
            raise ForbiddenError(
                "this server runs only the GraphQL operations that are stored in it; send the name of one of "
                f"{', '.join(self._operations.names)}"
            )
        return query

    async def get_sub_response(self, request: Request | WebSocket) -> Response:
        """Return an empty response with the media type that the client accepts."""
        response = await super().get_sub_response(request)
        response.media_type = RESPONSE_TYPE if RESPONSE_TYPE in request.headers.get("accept", "") else "application/json"
        return response

    def create_response(self, response_data: GraphQLHTTPResponse | list[GraphQLHTTPResponse], sub_response: Response) -> Response:
        """Make the HTTP response for a GraphQL answer.

        The status is 200, or 400 if no operation was run and the client accepts the media type of GraphQL responses.
        """
        failed = sub_response.media_type == RESPONSE_TYPE and "data" not in response_data
        return Response(self.encode_json(response_data), 400 if failed else 200, media_type=sub_response.media_type)

    async def process_result(self, request: Request, result: ExecutionResult) -> GraphQLHTTPResponse:
        """Return the answer in the form for clients: `data` and `errors`.

        `data` is missing if no operation was run. `errors` is missing if nothing failed.
        """
        answer: GraphQLHTTPResponse = {}
        if result.errors:
            answer["errors"] = [shape(error).formatted for error in result.errors]
        if not isinstance(result, PreExecutionError):
            answer["data"] = result.data
        return answer

    async def on_ws_connect(self, context: Connection) -> UnsetType | dict[str, object] | None:
        """Check the token in the first message of a WebSocket.

        The check applies if the handshake had no token, as in browsers.

        Raises:
            ConnectionRejectionError: the token is missing or wrong; the socket is closed with the close code 4403.
        """
        if context.access is None:
            given = (context.connection_params or {}).get("authorization")
            context.access = self._keys.access(given) if isinstance(given, str) else None
            if context.access is None:
                raise ConnectionRejectionError
        return UnsetType()

    def decode_json(self, data: str | bytes) -> object:
        """Decode the JSON body of a request."""
        return orjson.loads(data)

    def encode_json(self, data: object) -> bytes:
        """Encode an answer as JSON."""
        return encoded(data)
