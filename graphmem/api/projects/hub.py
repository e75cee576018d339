"""Serve many projects in one process, each below its path `/p/NAME/`.

Below its prefix, a project has all paths of a server with one project, so clients and pages need only a longer address. Paths without the
prefix serve operations on several projects. A project is opened at its first request, and only for callers with a right in it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast
from weakref import WeakValueDictionary

from starlette.datastructures import Headers

from graphmem.api.app import PREFIX, ServerOptions, build_app, is_page
from graphmem.api.http.security import refuse
from graphmem.api.projects.entrance import PATHS as ENTRANCE
from graphmem.api.projects.entrance import credential_of
from graphmem.api.projects.forwarding import PEER_HEADER, forward, passed_on, without_own
from graphmem.api.projects.hosted import HostedBranch, HostedProject
from graphmem.api.projects.hub_service import HubService, Remote
from graphmem.api.projects.rights import Rights
from graphmem.api.routes.explorer import ASSETS_PATH
from graphmem.api.routes.page import ASSETS_PATH as QUERY_ASSETS_PATH
from graphmem.api.routes.pushes import BRANCH, SCOPE, routes
from graphmem.errors import GraphMemError, SchemaTooNewError
from graphmem.project.hosted.branches import BranchId
from graphmem.project.hosted.overlays import login_of, unknown_branch
from graphmem.runtime.identity import INDEX_HEADER
from graphmem.runtime.network.pushes import BRANCH_HEADER, KEY_HEADER, PUSH_PATH, project_and_branch
from graphmem.runtime.process.faults import unraised
from graphmem.runtime.process.limits import refusal_of_any
from graphmem.security.access import Access
from graphmem.server.peers import RETRY_S, Patience

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from graphmem.api.app import Mounted
    from graphmem.api.requests.context import OnBranch, ServerState
    from graphmem.operations.registry import Operations as Service
    from graphmem.project.graphmem import GraphMem
    from graphmem.server.hosting import Hosting

LOOK_S: Final = 5.0  # between two checks for idle projects
_log = logging.getLogger(__name__)


@dataclass(eq=False)
class _Mount:
    """An open project or branch, with the web application that serves it."""

    app: Starlette
    service: GraphMem
    branch: BranchId | None
    life: contextlib.AsyncExitStack
    users: int = 0
    last: float = 0.0


class _Request(NamedTuple):
    """A request for a project, or for a branch of it."""

    name: str  # of the project
    branch: str  # "" for the main branch
    rest: str  # path below the project's prefix
    scope: Scope  # with this path
    headers: Headers


class HubApp:
    """The ASGI application of a server of several projects.

    Args:
        hosting: opens and closes the projects.
        options: who may use the server, and its limits.
        rights: who may use which project.
        mcp: makes the application for agents of a project; its second argument opens a branch of the project.
        remote: returns the operations of a project that another server of the directory has open; see `HubService`.
        entrance: the application with the routes for logins; None for a server without people.
    """

    def __init__(
        self,
        hosting: Hosting,
        options: ServerOptions,
        rights: Rights,
        mcp: Callable[[Any, OnBranch], Mounted],
        remote: Remote,
        entrance: ASGIApp | None = None,
    ) -> None:
        self._entrance = entrance
        self.service = HubService(hosting, rights, remote)
        self._hosting, self._options, self._rights, self._mcp = hosting, options, rights, mcp
        self._root = build_app(cast("Service", self.service), options, keys=rights.keys(""))
        self._mounts: dict[tuple[str, BranchId | None], _Mount] = {}
        self._turns: WeakValueDictionary[tuple[str, BranchId | None], asyncio.Lock] = WeakValueDictionary()  # without unused locks
        self.state = self._root.state
        self.state.servers = self._servers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request about the whole server, or pass it to a project."""
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
            return
        if self._entrance is not None and scope["path"] in ENTRANCE:
            await self._entrance(scope, receive, send)
            return
        headers = Headers(scope=scope)
        is_passed_on = self._hosting.peers.is_peer(headers.get(PEER_HEADER.decode(), ""))
        scope = passed_on(scope) if is_passed_on else without_own(scope)
        headers = Headers(scope=scope)
        if "authorization" not in headers and (session := credential_of(headers)):
            scope = {**scope, "headers": [*scope["headers"], (b"authorization", f"Bearer {session}".encode("latin-1", "replace"))]}
        part, _, rest = scope["path"].removeprefix(PREFIX).partition("/")
        name, branch = project_and_branch(part)
        branch = branch or headers.get(BRANCH_HEADER, "")
        rest = f"/{rest}"
        if not scope["path"].startswith(PREFIX) or not name:
            await self._root(scope, receive, send)
            return
        inside = {**scope, "path": rest, "raw_path": rest.encode("utf-8", "surrogateescape")}
        if scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and (is_page(rest) or rest.startswith(_ASSETS)):
            await self._root(inside, receive, send)  # the same for everybody and every project
            return
        if not await asyncio.to_thread(self._may_enter, name, rest, Headers(scope=scope), bool(branch)):
            # The server's own application refuses an unknown caller, and answers 404 to a known one. An index that the request names is
            # that of the project, which the server does not have.
            unnamed = [(key, value) for key, value in scope["headers"] if key != _INDEX]
            await self._root({**scope, "headers": unnamed}, receive, send)
            return
        request = _Request(name, branch, rest, inside, headers)
        is_passed_on = is_passed_on or (name, None) in self._mounts
        if (mounted := await self._opened(request, scope, receive, send, stays=is_passed_on)) is not None:
            mount, passed = mounted
            with self._in_use(name, mount):
                await mount.app(passed, receive, send)

    # ---- inside

    async def _opened(self, request: _Request, scope: Scope, receive: Receive, send: Send, *, stays: bool) -> tuple[_Mount, Scope] | None:
        """Return the application for a request, or answer the request.

        See `_mount_of`. If another server of the directory has the project open, that server answers the request, unless the request
        `stays` here. If that server has just ended, the project is opened here. This can take a moment, until the lock of the ended process
        is free. If a newer version of graphmem has written the project, a server of another version answers.
        """
        patience = Patience()
        while True:
            peer = None if stays else await asyncio.to_thread(self._hosting.elsewhere, request.name)
            if peer is not None and await forward(peer, scope, receive, send):
                return None
            try:
                return await self._mount_of(request)
            except Exception as error:  # noqa: BLE001 - outside of an application, which would answer with it
                if patience.lasts(error):
                    await asyncio.sleep(RETRY_S)
                    continue
                if isinstance(error, SchemaTooNewError) and not stays and await self._newer(scope, receive, send):
                    return None
                shaped = error if isinstance(error, GraphMemError) else refusal_of_any(error)
                if shaped is None:
                    shaped = GraphMemError(f"{request.name} cannot be opened; the log of the server has the reason")
                    _log.error("%s cannot be opened", request.name, exc_info=error)
                await refuse(shaped, scope, receive, send)
                return None

    async def _newer(self, scope: Scope, receive: Receive, send: Send) -> bool:
        """Pass a request to a server of another version.

        Returns whether such a server was reached.
        """
        for peer in await asyncio.to_thread(self._hosting.peers.of_other_versions):
            if await forward(peer, scope, receive, send):
                return True
        return False

    def _servers(self) -> Iterable[ServerState]:
        return [self.state.server, *(one.app.state.server for one in self._mounts.values())]

    def _may_enter(self, name: str, rest: str, headers: Headers, is_branch: bool) -> bool:
        """Return whether a request may be passed to a project.

        The caller must have a permission in the project. If the project is missing, it is created here, provided that the request pushes a
        main branch and the caller may push. Other requests for a missing project are not passed.

        Args:
            name: name of the project.
            rest: path of the request below the project's prefix.
            headers: headers of the request.
            is_branch: whether the request is about a branch, which creates no project.
        """
        access = self._rights.keys(name).access(headers.get("authorization"))
        if access is None:
            return False
        if self._hosting.exists(name):
            return True
        return _is_push(rest) and access.may(SCOPE) and not is_branch

    async def _mount_of(self, request: _Request) -> tuple[_Mount, Scope]:
        """Return the application for a request, and the request's ASGI scope.

        The application is that of the branch, or of the main branch if the request names none. The main branch's application also handles
        the push of a branch, whose name is then added to the scope. The first push of a main branch creates the project.

        Raises:
            BadInputError: the branch is unknown, or hidden from the caller; or the name of a new project is invalid.
            DiskFullError: a new project cannot be created.
        """
        name, branch, rest, scope, headers = request
        if _is_push(rest) and not branch:
            await asyncio.to_thread(self._make_missing, name, headers.get(KEY_HEADER, ""))
        main = await self._mounted((name, None))
        if not branch:
            return main, scope
        if _is_push(rest):
            return main, {**scope, BRANCH: branch}
        access = self._rights.keys(name).access(headers.get("authorization"))
        assert access is not None  # noqa: S101 - `_may_enter` has let the request in
        return await self._branch_mount(name, branch, access), scope

    def _make_missing(self, name: str, key: str) -> None:
        """Create a project with the key `key` on the server, unless it exists."""
        if not self._hosting.exists(name):
            self._hosting.make(name, key)

    async def _branch_mount(self, name: str, branch: str, access: Access) -> _Mount:
        """Return the application that serves a branch of a project.

        Raises:
            BadInputError: the branch is unknown, or hidden from the caller.
        """
        main = await self._mounted((name, None))
        key = await asyncio.to_thread(main.service.parts.overlays.identify, branch, login_of(access))
        if key is None:
            raise unknown_branch(branch)
        return await self._mounted((name, key))

    def _on_branch(self, name: str) -> OnBranch:
        """Return a function that opens a branch of the project `name`.

        Some requests name the branch in their body and not in the address. The function returns a context manager that keeps the
        branch open.
        """

        @contextlib.asynccontextmanager
        async def opened(branch: str, access: Access) -> AsyncIterator[ServerState]:
            with self._in_use(name, await self._branch_mount(name, branch, access)) as mount:
                yield mount.app.state.server

        return opened

    @contextlib.contextmanager
    def _in_use(self, name: str, mount: _Mount) -> Iterator[_Mount]:
        mount.users += 1
        try:
            yield mount
        finally:
            mount.users -= 1
            mount.last = time.monotonic()
            self._hosting.touch(name, mount.branch)

    async def _mounted(self, key: tuple[str, BranchId | None]) -> _Mount:
        async with self._turn(key):
            mount = self._mounts.get(key)
            if mount is None:
                mount = self._mounts[key] = await self._mount(*key)
            mount.last = time.monotonic()
            return mount

    def _turn(self, key: tuple[str, BranchId | None]) -> asyncio.Lock:
        """Return the lock for opening and closing a project or branch."""
        return self._turns.setdefault(key, asyncio.Lock())

    async def _mount(self, name: str, branch: BranchId | None) -> _Mount:
        async with contextlib.AsyncExitStack() as life:
            main = await self._acquired(life, name, None)
            service = main if branch is None else await self._acquired(life, name, branch)
            hosted = cast(
                "Any",
                HostedProject(main, name, self.service) if branch is None else HostedBranch(service, name, self.service, main, branch),
            )
            extra = routes(main.parts.receiving) if branch is None else []
            on_branch = self._on_branch(name)
            app = build_app(hosted, self._options, self._mcp(hosted, on_branch), self._rights.keys(name), extra)
            app.state.server.on_branch = on_branch
            await life.enter_async_context(app.router.lifespan_context(app))
            return _Mount(app, service, branch, life.pop_all(), last=time.monotonic())

    async def _acquired(self, life: contextlib.AsyncExitStack, name: str, branch: BranchId | None) -> GraphMem:
        service = await asyncio.to_thread(self._hosting.acquire, name, branch)
        life.push_async_callback(asyncio.to_thread, self._hosting.release, name, branch)
        return service

    async def _unmount_idle(self) -> None:
        """Close the applications of projects that had no request for a while.

        Branches that have expired are deleted, too.
        """
        for key, mount in list(self._mounts.items()):
            if not mount.users and time.monotonic() - mount.last >= self._hosting.idle_s:
                await self._unmount(key, mount)
        await asyncio.to_thread(self._hosting.close_idle)
        for name in await asyncio.to_thread(self._hosting.names):
            try:
                expired = await asyncio.to_thread(self._hosting.drop_expired, name)
            except Exception as error:  # noqa: BLE001 - one project that fails, whatever the reason, does not affect the others
                unraised(error, f"the search for expired branches of {name}")
                continue
            for branch in expired:
                _log.info("the branch %s of %s has expired", branch.name, name)

    async def _unmount(self, key: tuple[str, BranchId | None], mount: _Mount) -> None:
        async with self._turn(key):
            if not mount.users and self._mounts.get(key) is mount:
                del self._mounts[key]
                await mount.life.aclose()

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the server's application, and close idle projects meanwhile.

        At the end, all projects are closed.
        """

        async def look() -> None:
            while True:
                await asyncio.sleep(min(LOOK_S, self._hosting.idle_s))
                try:
                    await self._unmount_idle()
                except Exception as error:  # noqa: BLE001 - no caller can handle it; the next check may succeed
                    unraised(error, "the check for idle projects")
                    self.service.is_cleaned = False
                else:
                    self.service.is_cleaned = True

        async def send_ready(message: Message) -> None:
            if message["type"].startswith("lifespan.shutdown"):  # the server goes on to end when it hears of it
                looking.cancel()
                for _, mount in sorted(self._mounts.items(), key=lambda one: one[0][1] is None):  # branches before their main branches
                    await mount.life.aclose()
                self._mounts.clear()
                self.service.close()
            await send(message)

        looking = asyncio.create_task(look(), name="graphmem-idle-projects")
        await self._root(scope, receive, send_ready)


def _is_push(path: str) -> bool:
    """Whether a path below a project's prefix belongs to `graphmem push`."""
    return path == PUSH_PATH or path.startswith(PUSH_PATH + "/")


_ASSETS: Final = (ASSETS_PATH, QUERY_ASSETS_PATH)
_INDEX: Final = INDEX_HEADER.lower().encode()
