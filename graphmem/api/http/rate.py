"""Limit the requests per minute of each client address.

Each address has a token bucket for one minute's requests, which is refilled evenly. All clients on the server's machine share one address,
so the limit is useful only for servers that other machines use. Behind a proxy all clients share the proxy's address.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from graphmem.api.http.security import refuse
from graphmem.errors import LimitError

MOST_ADDRESSES: Final = 4_096  # remembered addresses; the least recent is forgotten first, and gets a full bucket at its next request


class RateLimit:
    """ASGI middleware that limits the requests per minute of each address.

    Requests over the limit are refused. WebSocket handshakes count as requests. This check runs before the check of the token.

    Args:
        app: the application that receives accepted requests.
        per_minute: maximum number of requests in a minute; 0 for unlimited.
        unless: paths that are not counted.
        clock: a monotonic clock in seconds; for tests.
    """

    def __init__(self, app: ASGIApp, per_minute: int, unless: Iterable[str] = (), clock: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._most = per_minute
        self._unless = frozenset(unless)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # address -> (requests left, when that was)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count HTTP requests and WebSocket handshakes.

        Requests over the limit are refused.
        """
        if self._most and scope["type"] in ("http", "websocket") and scope["path"] not in self._unless:
            wait_s = self._take((scope.get("client") or ("",))[0])
            if wait_s:
                error = LimitError(
                    f"More than {self._most} requests a minute came from this address; try again in {wait_s:g} s",
                    limit="per_minute",
                    allowed=self._most,
                    retry_after=wait_s,
                )
                await refuse(error, scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _take(self, address: str) -> float:
        """Count a request of an address, and return 0 if it is within the limit.

        A request beyond the limit is not counted; the result is the number of seconds to wait.
        """
        now = self._clock()
        a_second = self._most / 60
        left, before = self._buckets.pop(address, (float(self._most), now))
        left = min(float(self._most), left + (now - before) * a_second)
        wait_s = 0.0 if left >= 1 else max(0.1, round((1 - left) / a_second, 1))
        self._buckets[address] = (left if wait_s else left - 1, now)
        if len(self._buckets) > MOST_ADDRESSES:
            self._buckets.popitem(last=False)
        return wait_s
