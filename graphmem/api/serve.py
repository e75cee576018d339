"""Serves the application with uvicorn until it is told to stop."""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Final

import uvicorn
from starlette.applications import Starlette

from graphmem.api.context import Door
from graphmem.errors import SettingsError

GRACE_SECONDS: Final = 3
"""How long answers under way may take after the server was told to stop; then they are cut off."""

Ready = Callable[[str, int], None]


def run(app: Starlette, host: str, port: int, on_ready: Ready | None = None) -> None:
    """Serve until SIGINT, SIGTERM or `Server.stop`.

    Args:
        app: from `graphmem.api.app.build_app`.
        host: name or address to listen on.
        port: port to listen on; 0 takes any free one.
        on_ready: told host and real port when the first request can be answered.

    Raises:
        SettingsError: the address cannot be listened on.
    """
    Server(app, host, port).run(on_ready)


class Server:
    """One listening server. `run` blocks; `stop` may be called from any thread.

    Args:
        app: from `graphmem.api.app.build_app`.
        host: name or address to listen on.
        port: port to listen on; 0 takes any free one.

    Raises:
        SettingsError: the address cannot be listened on.
    """

    def __init__(self, app: Starlette, host: str, port: int) -> None:
        door: Door = app.state.door
        self._socket = listen(host, port)
        # A name is known by the address it had when it was listened on: that is what other processes can hold against this machine's own.
        self.host: str = host if host == "localhost" else self._socket.getsockname()[0]
        self.port: int = self._socket.getsockname()[1]
        config = uvicorn.Config(
            app,
            loop="uvloop" if importlib.util.find_spec("uvloop") else "asyncio",
            http="httptools",
            ws="websockets-sansio",
            ws_max_size=door.limits.body_bytes,
            ws_per_message_deflate=False,  # loopback: compressing costs more than it saves
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        self._server = _Uvicorn(config, door)
        self._door = door

    def run(self, on_ready: Ready | None = None) -> None:
        """Serve until told to stop. SIGINT and SIGTERM do so when this is the main thread; they are not raised again."""
        self._server.on_started = None if on_ready is None else lambda: on_ready(self.host, self.port)
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()

    def idle_seconds(self) -> float:
        """How long nobody has asked anything; 0 while somebody does."""
        return self._door.activity.idle_seconds()

    def stop(self) -> None:
        """Answer what is under way, end subscriptions, return from `run`."""
        self._server.should_exit = True


class _Uvicorn(uvicorn.Server):
    """Uvicorn, with a word when it listens, an end to subscriptions, and signals that end `run` and nothing else."""

    def __init__(self, config: uvicorn.Config, door: Door) -> None:
        super().__init__(config)
        self.on_started: Callable[[], None] | None = None
        self._door = door

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and self.on_started is not None:
            self.on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._door.memory_news.close()
        self._door.context_news.close()
        self._door.progress.close()  # or uvicorn would wait for streams that never end by themselves
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        # Uvicorn's own raises the signal again at the end, which would end the process before its index is closed.
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
    """A listening socket.

    Raises:
        SettingsError: the address is taken, not ours, or not allowed.
    """
    listener: socket.socket | None = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(1024)
    except OSError as error:
        if listener is not None:
            listener.close()
        advice = "choose another with --port, or 0 for any" if error.errno in (errno.EADDRINUSE, errno.EACCES) else "check --host"
        raise SettingsError(
            f"Cannot listen on {host} port {port}: {error.strerror or error}; {advice}", setting="port", value=port, origin=host
        ) from error
    listener.setblocking(False)
    return listener
