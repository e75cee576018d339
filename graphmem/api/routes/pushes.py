"""The HTTP routes of `graphmem push`.

The routes report the server's files and commits, take commits and parts of an index, and finish a push. An index is sent in parts because
it is too large for a GraphQL request.
"""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import TYPE_CHECKING, Final

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from graphmem.api.http.security import refusal
from graphmem.errors import ForbiddenError, GraphMemError
from graphmem.project.hosted.overlays import login_of
from graphmem.project.hosted.receiving import Pusher
from graphmem.runtime.network.pushes import COMMITS_PATH, PUSH_PATH
from graphmem.security.access import ACCESS, Access

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from graphmem.api.requests.context import ServerState
    from graphmem.project.hosted.receiving import Applied, Receiving

SCOPE: Final = "index"
BRANCH: Final = "graphmem.branch"
"""Key of the ASGI scope: the branch that the address of a push names."""


def routes(receiving: Receiving) -> list[BaseRoute]:
    """Return the HTTP routes that receive an index from `graphmem push`."""

    async def held(request: Request) -> object:
        return await asyncio.to_thread(receiving.held, _branch(request), pusher(request.scope[ACCESS]))

    async def commits(request: Request) -> object:
        server: ServerState = request.app.state.server
        if request.method == "POST":
            return await server.runner.run_long(receiving.take_commits, await request.body())
        return await asyncio.to_thread(receiving.commits)

    async def take(request: Request) -> object:
        server: ServerState = request.app.state.server
        push, number = str(request.path_params["push"]), int(request.path_params["number"])
        await server.runner.run_long(receiving.take, push, number, await request.body())
        return {"kept": number}

    async def end(request: Request) -> object:
        server: ServerState = request.app.state.server
        push, body, access = str(request.path_params["push"]), await request.body(), request.scope[ACCESS]
        return await server.runner.run_long(_finish, receiving, push, body, _branch(request), access)

    return [
        Route(PUSH_PATH, _responding(held), methods=["GET"]),
        Route(PUSH_PATH + COMMITS_PATH, _responding(commits), methods=["GET", "POST"]),
        Route(PUSH_PATH + "/{push:str}/{number:int}", _responding(take), methods=["POST"]),
        Route(PUSH_PATH + "/{push:str}/end", _responding(end), methods=["POST"]),
    ]


def _responding(handle: Callable[[Request], Awaitable[object]]) -> Callable[[Request], Awaitable[Response]]:
    """Return a route that checks the right, and sends the handler's result.

    Errors of graphmem are sent with their codes.
    """

    async def respond(request: Request) -> Response:
        try:
            _expect_right(request)
            return Response(orjson.dumps(await handle(request)), media_type="application/json")
        except GraphMemError as error:
            return refusal(error)
        except ClientDisconnect:
            return Response(status_code=499)

    return respond


def _finish(receiving: Receiving, push: str, body: bytes, branch: str, access: Access) -> Applied:
    """Apply a completely received push, and record it in the audit log."""
    with access.person.doing("push") if access.person is not None else nullcontext([]) as details:
        done = receiving.finish(push, body, branch, pusher(access))
        details.append(f"{f'branch {branch}, ' if branch else ''}generation {done['generation']}")
    return done


def pusher(access: Access) -> Pusher:
    """Return the caller's login, and whether all branches may be changed."""
    return Pusher(login_of(access), access.person is None or access.may("curate"))


def _branch(request: Request) -> str:
    """Return the branch in the address of a request; "" for the main branch."""
    return str(request.scope.get(BRANCH, ""))


def _expect_right(request: Request) -> None:
    """Check that the caller may change the index.

    Raises:
        ForbiddenError: the caller lacks the scope `index`.
    """
    access: Access = request.scope[ACCESS]
    if not access.may(SCOPE):
        raise ForbiddenError(
            f"you may not push to this project, because you lack the scope {SCOPE}; ask an administrator of the server",
            needs=SCOPE,
            verb="push",
        )
