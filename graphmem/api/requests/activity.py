"""Time since the last request of a server.

A server process uses this time to end itself when nobody needs it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class Activity:
    """Counts the open requests of a server, and notes when the last one ended.

    A subscription is open as long as a client listens.
    """

    def __init__(self) -> None:
        self._open = 0
        self._last = time.monotonic()
        self.has_answered = False  # any request

    def idle_seconds(self) -> float:
        """Return the seconds since the last request ended; 0 while one is open."""
        return 0.0 if self._open else time.monotonic() - self._last

    def begin(self) -> None:
        """Count one more open request."""
        self._open += 1

    def end(self) -> None:
        """Count one open request less, and note the time."""
        self._open -= 1
        self._last = time.monotonic()
        self.has_answered = True


class NoteActivity:
    """ASGI middleware that counts open requests.

    Requests to the paths in `unless`, such as health checks, are not counted. So these requests do not keep an idle server running.
    """

    def __init__(self, app: ASGIApp, activity: Activity, unless: tuple[str, ...]) -> None:
        self._app = app
        self._activity = activity
        self._unless = unless

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count a request while the application answers it."""
        if scope["type"] == "lifespan" or scope["path"] in self._unless:
            await self._app(scope, receive, send)
            return
        self._activity.begin()
        try:
            await self._app(scope, receive, send)
        finally:
            self._activity.end()
