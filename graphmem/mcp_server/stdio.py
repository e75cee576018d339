"""The Model Context Protocol over standard input and output.

Each window of an editor starts its own process.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from graphmem.mcp_server.server import build_server
from graphmem.runtime.texts.surrogates import decoded

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import ReadStream, WriteStream

    from graphmem.client.connecting import Service


def serve_stdio(service: Callable[[], Service]) -> None:
    """Serve the Model Context Protocol until standard input ends.

    Only messages of the protocol are written to standard output.
    """
    logging.getLogger("mcp").setLevel(logging.WARNING)
    server = build_server(service)

    async def run() -> None:
        send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        async with stdio_server() as (requests, answers), anyio.create_task_group() as group:
            group.start_soon(_mend, requests, answers, send)
            await server.run(receive, answers, server.create_initialization_options())
            group.cancel_scope.cancel()

    anyio.run(run)


async def _mend(
    requests: ReadStream[SessionMessage | Exception],
    answers: WriteStream[SessionMessage],
    mended: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    """Pass messages on, and answer unreadable requests with an error.

    The protocol's library answers no message that it cannot read, so its client would wait for ever.
    """
    async with mended:
        async for one in requests:
            if not isinstance(one, ValidationError):
                await mended.send(one)
                continue
            message = _readable(one)
            if isinstance(message, types.JSONRPCError):
                await answers.send(SessionMessage(message))
            elif message is not None:
                await mended.send(SessionMessage(message))


def _readable(error: ValidationError) -> types.JSONRPCMessage | None:
    """Return the message that the library could not read, or an error.

    An agent that cuts its text inside an emoji sends half of a surrogate pair, which JSON allows and the library does not. Such halves are
    replaced by U+FFFD. For any other unreadable request the result is the error to send to the client. It is None for a message that needs
    no answer.
    """
    given = next((one["input"] for one in error.errors(include_url=False) if one["type"] in ("json_invalid", "missing")), None)
    if isinstance(given, str):
        if not given.strip():
            return None
        try:
            given = decoded(given)
            return types.jsonrpc_message_adapter.validate_json(json.dumps(given), by_name=False)
        except ValidationError:
            pass
        except (ValueError, RecursionError):
            return _refusal(None, types.PARSE_ERROR, "the message is not valid JSON; send one JSON object on each line")
    name = given.get("id") if isinstance(given, dict) else None
    if not isinstance(name, (int, str)) or isinstance(name, bool):
        return None
    return _refusal(
        name, types.INVALID_REQUEST, "the message is not a request of JSON-RPC 2.0; give `jsonrpc`, `id`, `method` and `params`"
    )


def _refusal(name: int | str | None, code: int, message: str) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=name, error=types.ErrorData(code=code, message=message))
