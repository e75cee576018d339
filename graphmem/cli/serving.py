"""Implementation of `graphmem serve`: run the server of an index.

The server indexes the project, answers queries, and updates the index when files change.
"""

from __future__ import annotations

import gc
import os
import secrets
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import graphmem
from graphmem.cli.context import CommandContext
from graphmem.cli.failures import REFUSED
from graphmem.cli.listening import SWITCH_S, address_of, expect_protection, is_loopback, listening, options_of
from graphmem.cli.output import plural
from graphmem.cli.progress import shown_progress
from graphmem.client.connecting import Turns, expect_index
from graphmem.errors import GraphMemError, IndexCancelledError, StoreBusyError
from graphmem.runtime.process.ending import threads_ended
from graphmem.runtime.process.faults import unraised
from graphmem.runtime.process.garbage import uncollected
from graphmem.runtime.process.heap import few_arenas
from graphmem.security.tokens import FILE as TOKENS
from graphmem.security.tokens import TokenFile
from graphmem.server import owner
from graphmem.server.keeper import Keeper

if TYPE_CHECKING:
    from graphmem.api.serve import Server
    from graphmem.project.graphmem import GraphMem

SETTLE_S = 0.5  # without a request, before files are checked, because the client that started the server is waiting
FIRST_ANSWERS_S = 3.0  # after the start of a server by a client; files are checked then in any case
PLACE_S = 0.25  # between checks that the folder of the index was not moved


@dataclass(frozen=True, slots=True)
class ServedIndex:
    """Options of a server: the indexing of its project, and its end.

    Attributes:
        full: index all files at the start, not only changed ones.
        no_index: index nothing at the start.
        watch: index files when they change.
        idle_s: end after this many seconds without a request; 0: never.
    """

    full: bool
    no_index: bool
    watch: bool
    idle_s: float


@threads_ended()
def serve_until_interrupted(here: CommandContext, upkeep: ServedIndex) -> None:
    """Run the server until Ctrl-C, SIGTERM, or an idle time.

    The server listens before the first index exists, so that other commands find it and can show progress. The server prints its address
    when it can answer.

    Raises:
        StoreBusyError: another server owns this index; the message has its address.
        SettingsError: the address needs a token and TLS, or the server could not listen on the address.
        GraphMemError: the first index could not be made.
    """
    if not upkeep.no_index:
        here.expect_files()
    expect_index(here.location, create=not upkeep.no_index or here.settings.follow)
    settings = here.settings
    tokens = here.location.data_dir / TOKENS
    loopback = is_loopback(settings.host)
    expect_protection(settings, loopback=loopback, has_tokens=TokenFile(tokens).exists)
    _refuse_second(here)
    # Arrow's own allocator keeps 50 MB that it does not need. The system's allocator returns them (see `graphmem.runtime.process.heap`).
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    few_arenas()
    with uncollected(), _opening(here) as opening:  # scanning the loaded modules repeatedly takes a tenth of the start
        from graphmem.api.app import build_app
        from graphmem.api.serve import Tls
        from graphmem.mcp_server.mount import McpApp

        tls = Tls.load(settings.tls_cert, settings.tls_key) if settings.tls_cert or settings.tls_key else None
        service = opening.result()
    own_token = secrets.token_urlsafe(32)
    options = options_of(settings, own_token, tokens, loopback=loopback)
    # An answering thread waits this long for an indexing thread, several times in a query. Python's 5 ms would add up to 30 ms.
    sys.setswitchinterval(SWITCH_S)
    with service:
        app = build_app(service, options, McpApp(service))
        server = listening(app, settings, tls)
        _Run(here, service, server, own_token, here.root_to_index(service), upkeep).until_stopped()


@contextmanager
def _opening(here: CommandContext) -> Iterator[Future[GraphMem]]:
    """Open the index in a thread; yield a future whose result is the index.

    Meanwhile the block loads Python modules, which takes about as long. If the block raises an error, the index is closed.
    """
    # Imported before, because two threads that import the same modules can see a partly initialised one.
    import graphmem.project.graphmem  # noqa: F401

    with ThreadPoolExecutor(1, "graphmem-open") as beside:
        opening = beside.submit(_open, here)
        try:
            yield opening
        except BaseException:
            if opening.exception() is None:
                opening.result().close()
            raise


class _Run:
    """A run of `graphmem serve`: the server, and the indexing of the project.

    The server runs in the main thread, and the indexing in another one.
    """

    def __init__(
        self,
        here: CommandContext,
        service: GraphMem,
        server: Server,
        token: str,
        root: str | None,
        upkeep: ServedIndex,
    ) -> None:
        self._here, self._service, self._server, self._token = here, service, server, token
        self._root, self._upkeep = root, upkeep
        self._address = address_of(server)
        self._stopping = threading.Event()
        self._indexed = threading.Event()  # the first index run has ended
        self._failure: Exception | None = None
        self._found = True  # commands can find it by the file next to the index
        self._vectors = service.subscribe_progress()

    def until_stopped(self) -> None:
        """Block until the server has ended, then clean up.

        Raises:
            GraphMemError: the first index could not be made.
        """
        location = self._here.location
        mine: list[owner.Owner] = []
        keeper = Keeper(self._service, self._server.idle_seconds)
        worker = threading.Thread(target=self._work, name="graphmem-serve-index", daemon=True)

        def on_ready(host: str, port: int) -> None:
            # Processes of this machine use the address without TLS, and a secret of this server.
            try:
                mine.append(owner.publish(location.owner_file, owner.local_address(host, port), self._token, graphmem.__version__))
            except OSError as error:  # clients that know the address are still answered
                self._found = False
                said = f"{location.owner_file} cannot be written ({error.strerror or error}), so commands cannot find this server"
                self._here.output.stderr.line(("graphmem: ", "bold red"), f"{said}; it answers at {self._address}")
            worker.start()
            keeper.start()
            threading.Thread(target=self._end_when_moved, name="graphmem-place", daemon=True).start()
            if self._upkeep.idle_s:
                threading.Thread(target=self._end_when_idle, name="graphmem-idle", daemon=True).start()

        try:
            self._server.run(on_ready)
        finally:
            self._stopping.set()
            self._expect_in_place()
            keeper.stop()
            self._vectors.__exit__(None, None, None)  # ends the worker's wait for progress
            if worker.ident is not None:
                worker.join()
            for one in mine:
                owner.withdraw(location.owner_file, one)
        if self._failure is not None:
            raise self._failure
        self._here.output.note("stopped")

    def _end_when_moved(self) -> None:
        """End the process when its index directory was moved or deleted."""
        while not self._stopping.wait(PLACE_S):
            self._expect_in_place()

    def _expect_in_place(self) -> None:
        """End the process at once if the files of the index were moved or deleted.

        The index is not closed, because closing would write to paths that may belong to another index now.
        """
        if not self._service.in_place:
            said = f"{self._here.location.data_dir} was moved or deleted, so its server ends; no acknowledged write is lost"
            self._here.output.stderr.line(("graphmem: ", "bold red"), said)
            os._exit(REFUSED)

    def _end_when_idle(self) -> None:
        """Stop the server when it is idle and no index run is due or running."""
        while not self._stopping.wait(min(1.0, self._upkeep.idle_s / 4)):
            if not self._indexed.is_set() or self._server.idle_seconds() < self._upkeep.idle_s:
                continue
            try:
                busy = self._service.state().state == "indexing"
            except Exception as error:  # noqa: BLE001 - as above
                unraised(error, "the check whether the server is idle")
                continue
            if not busy:
                self._server.stop()
                return

    def _work(self) -> None:
        """Index the project, print the address when ready, then compute vectors."""
        try:
            self._index_and_follow()
        except Exception as error:  # noqa: BLE001 - no caller can handle it; the server continues to answer
            said = unraised(error, "the background work of the server")
            self._here.output.stderr.line(
                ("graphmem: ", "bold red"), f"{said}; the server answers, but changes of files may not be followed"
            )

    def _index_and_follow(self) -> None:
        output = self._here.output
        had_index = self._service.state().generation > 0
        if had_index or self._upkeep.no_index:
            self._announce()
        if had_index:
            self._settle()
        try:
            if not self._upkeep.no_index:
                self._index()
        except Exception as failure:  # noqa: BLE001 - as above, or raised by the thread that serves
            if had_index and isinstance(failure, IndexCancelledError):
                return  # the server is stopping, and the index is the one that it served
            if had_index:
                said = failure.message if isinstance(failure, GraphMemError) else unraised(failure, "the index run")
                output.stderr.line(("graphmem: ", "bold red"), f"{said}; serving the previous index")
            else:
                self._failure = failure
                self._server.stop()
                return
        finally:
            self._indexed.set()
        if not had_index and not self._upkeep.no_index:
            self._announce()
        if self._upkeep.watch and not self._stopping.is_set():
            self._service.watch()
            # One after the other: data that is read at the same time is mixed in memory, which is not returned when a part is freed.
            self._service.wait_until_ready()
            self._service.warm()
            gc.freeze()  # a full collection would scan all that was loaded, for a tenth of a second in the middle of an answer
        self._follow_vectors()

    def _settle(self) -> None:
        """Wait before the index run until a client has its first answers.

        A client such as an editor starts the server and asks at once. The index run waits, because it would slow down these first answers.
        """
        begun = time.monotonic()
        while not self._stopping.wait(PLACE_S):
            waited = time.monotonic() - begun
            is_quiet = self._server.idle_seconds() >= SETTLE_S and (self._server.has_answered or not self._upkeep.idle_s)
            if (waited >= SETTLE_S and is_quiet) or waited >= (FIRST_ANSWERS_S if self._upkeep.idle_s else SETTLE_S):
                return

    def _index(self) -> None:
        output = self._here.output
        with shown_progress(output) as on_progress:
            run = self._service.index(self._root, full=self._upkeep.full, on_progress=on_progress, cancelled=self._stopping.is_set)
        if run.mode == "unchanged":
            output.note(("nothing has changed since it was indexed", "dim"))
        elif not output.quiet and not output.as_json:
            from graphmem.cli.render.index import summary

            summary(output.stderr, run, self._service.project().name)

    def _announce(self) -> None:
        output = self._here.output
        if output.as_json:
            output.json({"address": self._address, "graphql": f"{self._address}/graphql", "pid": os.getpid()})
            sys.stdout.flush()
            return
        if output.quiet:
            output.line(self._address)
            return
        project = self._service.project()
        there = f"  {plural(project.state.files, 'file')}, {plural(project.state.symbols, 'symbol')}" if project.state.files else ""
        output.line()
        output.line((f"graphmem {graphmem.__version__}", "bold"), " serves ", (project.name or "an empty index", "bold"), (there, "dim"))
        output.line("  Explorer ", (f"{self._address}/", "bold cyan"))
        output.line("  GraphQL  ", (f"{self._address}/graphql", "bold cyan"))
        by_it = "all graphmem commands for this project use it; " if self._found else ""
        output.line((f"  {by_it}Ctrl-C ends it", "dim"))

    def _follow_vectors(self) -> None:
        """Compute vectors in the background, and show their progress.

        The server answers searches in the meantime.
        """
        with self._vectors as steps:
            if self._stopping.is_set():  # it was stopped before this thread started to listen
                return
            self._service.fill_vectors()
            with shown_progress(self._here.output) as on_progress:
                for step in steps:
                    if step.stage == "embed":
                        on_progress(step)


def _refuse_second(here: CommandContext) -> None:
    serving = owner.find(here.location.owner_file)
    if serving is not None:
        raise StoreBusyError(
            f"process {serving.pid} already serves this project at {serving.address}; use that server, or end process {serving.pid} first",
            path=str(here.location.data_dir),
            owner=serving.pid,
            address=serving.address,
        )


def _open(here: CommandContext) -> GraphMem:
    """Open the index; wait while other commands have it open."""
    from graphmem.project.graphmem import GraphMem

    turns = Turns()
    while True:
        try:
            service = GraphMem.open(db=here.location.data_dir, repo=here.location.root, settings=here.settings, patience_s=0)
        except StoreBusyError as busy:
            _refuse_second(here)
            turns.wait(busy)
        else:
            here.tell_damage(service)
            return service
