"""POST requests with JSON to one configured host.

The client limits sizes, times and attempts. Redirects are never followed, so texts and keys are sent only to the configured host. Answers
are untrusted data.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from graphmem.errors import SettingsError

if TYPE_CHECKING:
    from http.client import HTTPConnection

ATTEMPTS: Final = 2  # in total, within the time limit of one request
PAUSE_S: Final = 0.2  # seconds between attempts
_AGAIN: Final = frozenset({408, 425, 429, 500, 502, 503, 504})  # retried statuses
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_READ: Final = 65_536


@contextmanager
def cut_after(connection: HTTPConnection, seconds: float) -> Iterator[threading.Event]:
    """Close a connection after some seconds, even while bytes arrive slowly.

    The function is for a `with` block, and yields an event. The event is set as soon as the time is over.
    """
    sock = connection.sock  # kept, because a closing connection passes it to the response
    late = threading.Event()

    def cut() -> None:
        late.set()
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)

    watch = threading.Timer(max(0.0, seconds), cut)
    watch.daemon = True
    watch.start()
    try:
        yield late
    finally:
        watch.cancel()


class OutboundError(Exception):
    """Error: a request had no usable answer.

    Attributes:
        reason: too_large, unreachable, timeout, refused or redirected.
        what: the failure as the end of a sentence, such as "the server answered 503".
    """

    def __init__(self, reason: str, what: str) -> None:
        super().__init__(what)
        self.reason, self.what = reason, what


class Outbound:
    """A client of one host. Thread-safe.

    Args:
        url: base address of the service, as in its documentation: `https://host/v1`.
        path: path of the requests below that address.
        key: sent as a bearer token; "" to send no token.
        setting: the setting with the address, for messages.
        timeout_s: time limit of one request with all its attempts.
        most: maximum number of bytes of a response.
        clock: monotonic clock in seconds; for tests.

    Raises:
        SettingsError: the address is invalid or contains a password, or the key would be sent unencrypted.
    """

    def __init__(
        self, url: str, path: str, key: str, *, setting: str, timeout_s: float, most: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError:
            port = -1
        if parts.scheme not in ("http", "https") or not parts.hostname or port == -1:
            raise SettingsError(f"the setting {setting} is not the address of a server; write https://host/v1", setting=setting, value=url)
        if parts.username is not None or parts.query:
            raise SettingsError(
                f"the address in the setting {setting} contains a user name, a password or a query; remove them", setting=setting, value=url
            )
        if key and parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            raise SettingsError(
                f"the API key of the model would be sent to {parts.hostname} unencrypted; use an https address, or remove the key",
                setting=setting,
                value=url,
            )
        self.host = parts.hostname
        self.timeout_s = timeout_s
        self.calls = 0  # number of sent requests
        self._secure = parts.scheme == "https"
        self._port = port
        self._path = parts.path.rstrip("/") + path
        self._key = key
        self._setting = setting
        self._most = most
        self._clock = clock

    def post(self, body: bytes, until: float) -> bytes:
        """Send a body to the host and return the body of the answer.

        A failed attempt is repeated if the host was unreachable or too busy.

        Args:
            body: JSON.
            until: time of `clock` after which the request is abandoned.

        Raises:
            OutboundError: no attempt had a usable answer.
        """
        for attempt in range(1, ATTEMPTS + 1):
            last = attempt == ATTEMPTS
            try:
                status, raw = self._send(body, until)
            except OutboundError as error:
                if last or error.reason != "unreachable" or until - self._clock() <= PAUSE_S:
                    raise
            else:
                if status == 200:
                    return raw
                if 300 <= status < 400:
                    raise OutboundError(
                        "redirected",
                        f"the server answered with a redirect ({status}), which graphmem does not follow; set "
                        f"{self._setting} to the final address",
                    )
                if status not in _AGAIN or last or until - self._clock() <= PAUSE_S:
                    raise OutboundError("refused", f"the server answered {status}; check {self._setting} and the log of the server")
            time.sleep(PAUSE_S)
        raise AssertionError(
            "every attempt of a request ended without an answer and without an error; report this defect to the authors of graphmem"
        )

    def _send(self, body: bytes, until: float) -> tuple[int, bytes]:
        """Send a body once; return (status, body) of the response.

        At the time `until`, a timer closes the connection, even while bytes still arrive slowly.
        """
        left = until - self._clock()
        if left <= 0:
            raise self._late()
        import http.client

        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        connection = kind(self.host, self._port, timeout=left)
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "graphmem"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        late = threading.Event()
        try:
            connection.connect()
            with cut_after(connection, until - self._clock()) as late:
                self.calls += 1
                connection.request("POST", self._path, body, headers)
                with connection.getresponse() as answer:
                    raw = bytearray()
                    while part := answer.read1(_READ):
                        raw += part
                        if len(raw) > self._most:
                            raise OutboundError(
                                "too_large", f"the answer of the server has more than {self._most:,} bytes; check {self._setting}"
                            )
                    if late.is_set():
                        raise TimeoutError
                    return answer.status, bytes(raw)
        except (OSError, http.client.HTTPException, ValueError) as error:
            if late.is_set() or isinstance(error, TimeoutError):
                raise self._late() from error
            raise OutboundError(
                "unreachable", f"the server cannot be reached ({type(error).__name__}); check {self._setting} and whether the server runs"
            ) from error
        finally:
            connection.close()

    def _late(self) -> OutboundError:
        return OutboundError("timeout", f"the server did not answer in {self.timeout_s:g} s; check its load")
