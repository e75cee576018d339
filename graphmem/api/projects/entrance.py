"""The routes by which people log in to a server of many projects.

`POST /join` exchanges an invitation for a token. `/login` leads a browser to the identity provider and back. After that, a cookie holds the
session.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Final

import orjson
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request, cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from graphmem.api.http.rate import RateLimit
from graphmem.api.http.security import BodyLimit, HostCheck, OriginCheck, SecurityHeaders, refusal
from graphmem.errors import BadInputError, ForbiddenError, GraphMemError
from graphmem.security.openid import LASTS_S, Begun
from graphmem.security.people import SESSION_HOURS

if TYPE_CHECKING:
    from starlette.datastructures import Headers

    from graphmem.api.app import ServerOptions
    from graphmem.security.openid import OpenId
    from graphmem.security.people import People

JOIN_PATH, LOGIN_PATH, CALLBACK_PATH, LOGOUT_PATH = "/join", "/login", "/login/callback", "/logout"
PATHS: Final = (JOIN_PATH, LOGIN_PATH, CALLBACK_PATH, LOGOUT_PATH)
SESSION_COOKIE: Final = "__Host-graphmem"  # browsers accept the prefix only with Secure, the path / and no domain
STATE_COOKIE: Final = "__Host-graphmem-login"
BODY_BYTES: Final = 4_096
PER_MINUTE: Final = 120  # attempts from one address; secrets are too long to guess, so this only spares the server


def entrance(people: People, openid: OpenId | None, options: ServerOptions, site: str) -> Starlette:
    """Build the application with the routes for logins.

    Args:
        people: the people of the server.
        openid: the identity provider; None without one.
        options: who may use the server.
        site: address under which browsers reach the server; "" for the address of each request.
    """
    logins = _Logins(people, openid, site)
    return Starlette(
        routes=[
            Route(JOIN_PATH, logins.join, methods=["POST"]),
            Route(LOGIN_PATH, logins.login, methods=["GET"]),
            Route(CALLBACK_PATH, logins.back, methods=["GET"]),
            Route(LOGOUT_PATH, logins.logout, methods=["POST"]),
        ],
        middleware=[
            Middleware(SecurityHeaders),
            Middleware(HostCheck, options.allowed_hosts),
            Middleware(OriginCheck, options.allowed_origins, lambda path: path in (LOGIN_PATH, CALLBACK_PATH)),
            Middleware(RateLimit, options.limits.per_minute or PER_MINUTE, ()),
            Middleware(BodyLimit, BODY_BYTES),
        ],
    )


class _Logins:
    """The routes for logins, made from the arguments of `entrance`."""

    def __init__(self, people: People, openid: OpenId | None, site: str) -> None:
        self._people = people
        self._openid = openid
        self._site = site

    async def join(self, request: Request) -> Response:
        try:
            given = orjson.loads(await request.body())
            if not isinstance(given, dict) or not isinstance(given.get("code"), str):
                raise BadInputError("the code of the invitation is missing; send a JSON object with the code as `code`", argument="code")
            login, token = await asyncio.to_thread(self._people.redeem, given["code"], str(given.get("name", "")))
        except orjson.JSONDecodeError:
            return refusal(BadInputError("the body is not JSON; send the code of an invitation", argument="code"))
        except GraphMemError as error:
            return refusal(error)
        return Response(orjson.dumps({"login": login, "token": token}), media_type="application/json", headers=_UNKEPT)

    def _callback(self, request: Request) -> str:
        return (self._site or f"{request.url.scheme}://{request.url.netloc}").rstrip("/") + CALLBACK_PATH

    async def login(self, request: Request) -> Response:
        try:
            if self._openid is None:
                raise ForbiddenError(
                    "this server has no identity provider, so you cannot log in with the browser; run `graphmem "
                    "login` and use the token that it gets",
                    needs="login",
                    verb="login",
                )
            address, begun = await asyncio.to_thread(self._openid.begin, self._callback(request))
        except GraphMemError as error:
            return refusal(error)
        response = RedirectResponse(address, 303, headers=_UNKEPT)
        _put(response, STATE_COOKIE, begun.cookie, LASTS_S)
        return response

    async def back(self, request: Request) -> Response:
        try:
            state, code = request.query_params.get("state", ""), request.query_params.get("code", "")
            begun = Begun.of_cookie(request.cookies.get(STATE_COOKIE, ""))
            if self._openid is None or begun is None or not secrets.compare_digest(begun.state.encode(), state.encode()):
                raise ForbiddenError(
                    "the login was started in another browser, or its cookie is missing; start again at /login", needs="login", verb="login"
                )
            if not code:
                said = request.query_params.get("error", "no code")[:60]
                raise ForbiddenError(
                    f"the identity provider refused the login ({said!r}); log in again, or ask an administrator of the server",
                    needs="login",
                    verb="login",
                )
            identity = await asyncio.to_thread(self._openid.finish, begun, code, self._callback(request))
            person = await asyncio.to_thread(self._people.known_as, *identity)
            if person is None:
                raise ForbiddenError(
                    "no invitation to this server has the verified email address of this login; ask an administrator of the server for one",
                    needs="login",
                    verb="login",
                )
            session = await asyncio.to_thread(self._people.session, person)
        except GraphMemError as error:
            return refusal(error)
        response = RedirectResponse("/", 303, headers=_UNKEPT)
        _put(response, SESSION_COOKIE, session, SESSION_HOURS * 3_600)
        _drop(response, STATE_COOKIE)
        return response

    async def logout(self, request: Request) -> Response:
        await asyncio.to_thread(self._people.end_session, request.cookies.get(SESSION_COOKIE, ""))
        response = Response(status_code=204)
        _drop(response, SESSION_COOKIE)
        return response


def credential_of(headers: Headers) -> str:
    """Return the session's secret from a browser's cookie; "" without one."""
    # `http.cookies` stops at a cookie of another program that it does not understand, or raises an error.
    return cookie_parser(headers.get("cookie", "")).get(SESSION_COOKIE, "")


_UNKEPT: Final = {"cache-control": "no-store"}


def _put(response: Response, name: str, value: str, seconds: int) -> None:
    response.set_cookie(name, value, max_age=seconds, path="/", secure=True, httponly=True, samesite="lax")


def _drop(response: Response, name: str) -> None:
    response.delete_cookie(name, path="/", secure=True, httponly=True, samesite="lax")
