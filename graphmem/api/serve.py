"""Serve the ASGI application with uvicorn until it is stopped."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import importlib.util
import signal
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final, NamedTuple

import uvicorn
from starlette.applications import Starlette

from graphmem.api.http.holding import Acceptor, Connections, Slot
from graphmem.api.http.protocol import BoundedHttp
from graphmem.api.requests.context import ServerState
from graphmem.errors import SettingsError
from graphmem.runtime.process.system import IS_WINDOWS

if TYPE_CHECKING:
    from graphmem.api.projects.hub import HubApp

    ServedApp = Starlette | HubApp

GRACE_SECONDS: Final = 3
"""How long answers under way may take after the server was told to stop; then they are cut off."""

LOOK_TICKS: Final = 5  # ticks (0.1 s each) between checks for late connections

Ready = Callable[[str, int], None]
ServerStates = Callable[[], Iterable[ServerState]]


def run(app: Starlette, host: str, port: int, on_ready: Ready | None = None) -> None:
    """Serve until SIGINT, SIGTERM or `Server.stop`.

    Args:
        app: result of `graphmem.api.app.build_app`.
        host: name or address to listen on.
        port: port to listen on; 0 for any free port.
        on_ready: called with host and actual port when the server accepts requests.

    Raises:
        SettingsError: the server cannot listen on the address.
    """
    Server(app, host, port).run(on_ready)


class Tls(NamedTuple):
    """The file paths of a TLS certificate and its key."""

    cert: str
    key: str

    @classmethod
    def load(cls, cert: str, key: str) -> Tls:
        """Load the certificate and its key, and check that they fit.

        Raises:
            SettingsError: a file is missing or unreadable, needs a passphrase, or does not match the other.
        """
        for name, value in (("tls_cert", cert), ("tls_key", key)):
            if not Path(value).is_file():
                said = f"{value} is not a file" if value else "the path is missing"
                raise SettingsError(
                    f"invalid TLS setting {name}: {said}; give a certificate and its private key, both as PEM files",
                    setting=name,
                    value=value,
                    origin="",
                )
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password=lambda: "")
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            reason = getattr(error, "reason", "") or getattr(error, "strerror", "") or error
            raise SettingsError(
                f"{cert} and {key} cannot be used for TLS ({reason}); give a certificate and its own private key as PEM files without a "
                "pass phrase",
                setting="tls_cert",
                value=cert,
                origin="",
            ) from error
        return cls(cert, key)


class Server:
    """One HTTP server that listens on an address.

    `run` blocks; `stop` may be called from any thread.

    With TLS the server also listens on loopback in plain text, for other processes of the same user. Plain text is safe there, because the
    data does not leave the machine, and these processes need no certificate.

    Args:
        app: result of `graphmem.api.app.build_app`, or the application of a server of several projects.
        host: name or address to listen on.
        port: port to listen on; 0 for any free port.
        tls: certificate and key; None for HTTP in plain text.

    Raises:
        SettingsError: the server cannot listen on the address.
    """

    def __init__(self, app: ServedApp, host: str, port: int, tls: Tls | None = None) -> None:
        state: ServerState = app.state.server
        self.is_tls = tls is not None
        self._socket = listen(host, port)
        self._own = listen("127.0.0.1", 0) if tls is not None else None
        # A name is published as the address it had when the socket was opened: other processes compare it with this machine's addresses.
        self.host: str = host if host == "localhost" else self._socket.getsockname()[0]
        self.port: int = self._socket.getsockname()[1]
        self._connections = Connections(state.limits)
        config = uvicorn.Config(
            app,
            # Named, because uvicorn's "asyncio" means another loop on Windows, which cannot wait for a listening socket (`add_reader`).
            loop="uvloop" if importlib.util.find_spec("uvloop") else "asyncio:SelectorEventLoop",
            http=partial(BoundedHttp, state.limits.header_bytes, self._connections),  # type: ignore[arg-type]
            ws="websockets-sansio",
            ws_max_size=state.limits.body_bytes,
            ws_per_message_deflate=False,  # on loopback compression costs more than it saves
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=state.limits.idle_seconds,
            timeout_graceful_shutdown=GRACE_SECONDS,
            ssl_certfile=tls.cert if tls is not None else None,
            ssl_keyfile=tls.key if tls is not None else None,
        )
        self._server = _Uvicorn(config, state, self._connections, self._own, getattr(app.state, "servers", None) or (lambda: (state,)))
        self._state = state

    def run(self, on_ready: Ready | None = None, on_stopping: Callable[[], None] | None = None) -> None:
        """Serve until stopped.

        In the main thread, SIGINT and SIGTERM stop the server; the signals are not raised again afterwards.

        Args:
            on_ready: called once the server accepts requests. Its arguments are host and port for processes of this machine, which use
                plain HTTP.
            on_stopping: called before the server closes its address, which another process may use from then on.
        """
        self._server.on_stopping = on_stopping
        here = (self.host, self.port) if self._own is None else self._own.getsockname()[:2]
        self._server.on_started = None if on_ready is None else lambda: on_ready(*here)
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()
            if self._own is not None:
                self._own.close()

    def idle_seconds(self) -> float:
        """Return the seconds since the last request ended; 0 while one is open."""
        return self._state.activity.idle_seconds()

    @property
    def has_answered(self) -> bool:
        """Whether the server has answered a request."""
        return self._state.activity.has_answered

    def stop(self) -> None:
        """Finish open requests, end subscriptions, and return from `run`."""
        self._server.should_exit = True


class _Uvicorn(uvicorn.Server):
    """Uvicorn's server, extended by a call when the server listens.

    The server also closes subscriptions when it stops. A signal makes `run` return, and does not end the process.
    """

    def __init__(
        self, config: uvicorn.Config, state: ServerState, connections: Connections, own: socket.socket | None, states: ServerStates
    ) -> None:
        super().__init__(config)
        self._states = states
        self.on_started: Callable[[], None] | None = None
        self.on_stopping: Callable[[], None] | None = None
        self._state = state
        self._connections = connections
        self._own = own

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup([])  # this package accepts connections, not uvicorn
        if self.started:
            listeners = [(one, self.config.ssl) for one in sockets or ()] + ([(self._own, None)] if self._own is not None else [])
            self.servers += [self._acceptor(listener, tls) for listener, tls in listeners]  # type: ignore[misc]
            if self.on_started is not None:
                self.on_started()

    def _acceptor(self, listener: socket.socket, tls: ssl.SSLContext | None) -> Acceptor:
        def protocol(slot: Slot) -> asyncio.Protocol:
            made: asyncio.Protocol = self.config.http_protocol_class(  # type: ignore[call-arg]
                slot, config=self.config, server_state=self.server_state, app_state=self.lifespan.state
            )
            return made

        return Acceptor(listener, self._connections, protocol, tls, self._state.limits.header_seconds)

    async def on_tick(self, counter: int) -> bool:
        """Look for late connections a few times a second, and close them.

        A connection is late if its time limit has passed.
        """
        if counter % LOOK_TICKS == 0:
            self._connections.end_late()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self.on_stopping is not None:
            self.on_stopping()
        for state in self._states():
            state.end_streams()  # otherwise uvicorn would wait for streams that do not end
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop at the first signal; ignore further ones.

        Further signals are ignored, because uvicorn would abandon its tasks at a second signal, and the tasks would print tracebacks.
        """
        self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        # Uvicorn's method raises the signal again at the end, which would end the process before its index is closed.
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def listen(host: str, port: int) -> socket.socket:
    """Open a socket that listens on the address `host` and a TCP port.

    Raises:
        SettingsError: the address is in use, is not one of this machine, or is not allowed.
    """
    listener: socket.socket | None = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.socket(family, kind, protocol)
        if not IS_WINDOWS:  # there it would let another program listen at the same address
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(1024)
    except OSError as error:
        if listener is not None:
            listener.close()
        advice = "choose another port with --port, or 0 for any" if error.errno in (errno.EADDRINUSE, errno.EACCES) else "check --host"
        raise SettingsError(
            f"cannot listen on {host} port {port}: {error.strerror or error}; {advice}", setting="port", value=port, origin=host
        ) from error
    listener.setblocking(False)
    return listener
