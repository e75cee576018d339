"""The route `POST /import`: import a document of memories.

The document may be larger than a GraphQL request. The request is checked like every other request.
"""

from __future__ import annotations

from typing import Final

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from graphmem.answers import to_json
from graphmem.api.http.security import refusal
from graphmem.api.requests.context import ServerState
from graphmem.api.types.roots import ACTOR
from graphmem.errors import BadInputError, GraphMemError
from graphmem.security.access import ACCESS
from graphmem.security.guarded import guarded

IMPORT_PATH: Final = "/import"
IMPORT_BYTES: Final = 256 << 20  # 100,000 memories of the maximum length with their links; import more in parts


async def import_memories(request: Request) -> Response:
    """Import memories from the body of a request.

    The body is the JSON object `{"content", "path", "format"}`. The answer has the form of a GraphQL answer: `{"data": {"importMemories":
    …}}`, or errors.
    """
    server: ServerState = request.app.state.server
    try:
        operation = guarded(
            server.service, request.scope[ACCESS]
        ).import_memories  # a missing permission is reported before the body is read
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise BadInputError(
                "the content type of an import request must be application/json; set the header Content-Type", argument="content-type"
            )
        given = _parsed_body(await request.body())
        answer = await server.runner.run_long(operation, given["content"], given["path"], given["format"], actor=ACTOR)
    except GraphMemError as error:
        return refusal(error)
    except ClientDisconnect:
        return Response(status_code=499)
    return Response(orjson.dumps({"data": {"importMemories": to_json(answer)}}), media_type="application/json")


def _parsed_body(body: bytes) -> dict[str, str]:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadInputError(
            f"the body of the import request is not JSON ({error}); send a JSON object with content, path and format", argument="body"
        ) from error
    content = found.get("content", found.get("text")) if isinstance(found, dict) else None  # older clients send `text`
    if not isinstance(content, str):
        raise BadInputError(
            "the body of the import request has no `content`; send a JSON object with content, path and format", argument="content"
        )
    given = {"content": content, "path": found.get("path", ""), "format": found.get("format", "")}
    if not all(isinstance(value, str) for value in given.values()):
        raise BadInputError("`path` and `format` in the body of the import request must be strings; send strings", argument="path")
    return given
