"""When the server was last asked something: what an owner that ends itself when idle goes by."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class Activity:
    """Requests under way, and when the last one ended. A subscription is under way as long as somebody listens."""

    def __init__(self) -> None:
        self._open = 0
        self._last = time.monotonic()

    def idle_seconds(self) -> float:
        """Seconds since the last request ended; 0 while there is one."""
        return 0.0 if self._open else time.monotonic() - self._last

    def begin(self) -> None:
        """A request has come."""
        self._open += 1

    def end(self) -> None:
        """It has been answered."""
        self._open -= 1
        self._last = time.monotonic()


class NoteActivity:
    """Counts requests; those that only ask whether the server is alive do not keep it alive."""

    def __init__(self, app: ASGIApp, activity: Activity, unless: tuple[str, ...]) -> None:
        self._app = app
        self._activity = activity
        self._unless = unless

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] == "lifespan" or scope["path"] in self._unless:
            await self._app(scope, receive, send)
            return
        self._activity.begin()
        try:
            await self._app(scope, receive, send)
        finally:
            self._activity.end()
