"""How often one address may ask: a token bucket for each, which holds a minute's worth and fills evenly.

Everybody on this machine has one address, so the limit is for servers that others reach; behind a proxy everybody has the proxy's.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from graphmem.api.security import refuse
from graphmem.errors import LimitError

MOST_ADDRESSES: Final = 4_096  # that are remembered; whoever asked longest ago is forgotten first, with a full bucket when they come again


class RateLimit:
    """Refuses requests, and handshakes of WebSockets, beyond so many a minute from one address. Checked before the token is.

    Args:
        app: what is behind it.
        per_minute: requests; 0 for any number.
        unless: paths that do not count.
        clock: seconds that only grow; for tests.
    """

    def __init__(self, app: ASGIApp, per_minute: int, unless: Iterable[str] = (), clock: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._most = per_minute
        self._unless = frozenset(unless)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # address -> (requests left, when that was)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count HTTP requests and WebSocket handshakes."""
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
        """Take one request out of an address's bucket; seconds until there is one again when it is empty, else 0."""
        now = self._clock()
        a_second = self._most / 60
        left, before = self._buckets.pop(address, (float(self._most), now))
        left = min(float(self._most), left + (now - before) * a_second)
        wait_s = 0.0 if left >= 1 else max(0.1, round((1 - left) / a_second, 1))
        self._buckets[address] = (left if wait_s else left - 1, now)
        if len(self._buckets) > MOST_ADDRESSES:
            self._buckets.popitem(last=False)
        return wait_s
