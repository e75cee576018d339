"""Pass changes of a graph from the writing server to reading servers.

The writer stores each change with its number, in the same transaction, and notifies the followers. When a follower is notified, and also
every second, the follower reads the changes after the last one that it knows. So a lost notification does no harm. If a change is missing,
the follower reads the whole graph again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from graphmem.errors import GraphMemError
from graphmem.model import GraphDelta
from graphmem.store.postgres.connections import Connections, driver
from graphmem.store.tables.meta_names import DATABASE, GENERATION, KNOWLEDGE
from graphmem.store.wire import decoded, encoded
from graphmem.store.writes.delta import weight

if TYPE_CHECKING:
    from graphmem.store.postgres.tables import Queries

MOST_ROWS: Final = 20_000  # of a change in the feed
MOST_TEXT: Final = 8 << 20
KEPT: Final = 500  # changes
LOOK_S: Final = 1.0  # between two looks without a bell
_log = logging.getLogger(__name__)

OnCode = Callable[[int, GraphDelta | None], object]
OnKnowledge = Callable[[int], object]


def put(queries: Queries, generation: int, delta: GraphDelta, *, first: bool) -> None:
    """Store a code change for the servers that follow; delete old changes.

    `delta` is the change, and `generation` its number. Two kinds of changes are not stored: the first content of a graph (`first` is true),
    and a very large change. Servers that follow then read the whole graph again.
    """
    rows, text = weight(delta)
    if not first and rows <= MOST_ROWS and text <= MOST_TEXT:
        queries.run("put_feed", generation=generation, delta=encoded(delta))
    queries.run("prune_feed", generation=generation - KEPT)


class Feed:
    """Follows the changes that another server commits to a shared graph.

    Attributes:
        note: one sentence about a fault and what to do; "" without a fault. Answers, `health` and the log show the sentence.

    Args:
        connections: provides connections to the schema of the project.
        channel: name of the schema, on which PostgreSQL notifies of changes.
        project: key of the project.
        known: the metadata that this server last read from the database.
        learn: receives the current metadata.
    """

    def __init__(
        self, connections: Connections, channel: str, project: str, known: Mapping[str, str], learn: Callable[[Mapping[str, str]], None]
    ) -> None:
        self._connections = connections
        self._channel = channel
        self._learn = learn
        self._project = project
        self._database = known.get(DATABASE, "")
        self._last = datetime.now(UTC)  # when the graph was read without an error
        self.note = ""
        self._tell(self._missing(known))
        self._at = {name: int(known.get(name, "0")) for name in (GENERATION, KNOWLEDGE)}
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    def follow(self, on_code: OnCode, on_knowledge: OnKnowledge) -> None:
        """Call back in a thread for each change of the code and of memories.

        Args:
            on_code: gets the new counter of code changes, and the change since the previous call. None instead of a change means that the
                whole graph must be read again.
            on_knowledge: gets the new counter of changes of memories.
        """
        self._thread = threading.Thread(target=self._run, args=(on_code, on_knowledge), name="graphmem-feed", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the thread that reads the changes. Idempotent."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self, on_code: OnCode, on_knowledge: OnKnowledge) -> None:
        while not self._ending.is_set():
            try:
                with self._connections.connect() as bell:
                    bell.execute(f"LISTEN {self._channel}".encode())
                    while not self._ending.is_set():
                        self.take(on_code, on_knowledge)
                        for _ in bell.notifies(timeout=LOOK_S, stop_after=1):
                            pass
            except (GraphMemError, driver().Error) as error:  # what was missed is taken after the next LISTEN
                self._tell(self._interrupted(error.message if isinstance(error, GraphMemError) else str(error)))
            except Exception as error:  # noqa: BLE001 - this thread has nobody to raise to, and the next try reads everything that is missing
                _log.exception("a change of another server could not be followed; it is tried again")
                self._tell(self._interrupted(f"internal error {type(error).__name__}; the log has the details"))
            self._ending.wait(LOOK_S)

    def _tell(self, note: str) -> None:
        """Set the attribute `note`, and log when a fault begins or ends.

        `note` describes the fault; "" if there is none.
        """
        if note == self.note:
            return
        if note:
            _log.warning("%s", note)
        else:
            _log.info("the graph of the project %s is followed again", self._project)
        self.note = note

    def _interrupted(self, why: str) -> str:
        return f"{why}; until then, answers show the graph of {self._last:%Y-%m-%d %H:%M:%S} UTC"

    def _missing(self, meta: Mapping[str, str]) -> str:
        """Return what to do if no server has ever written the graph, else "".

        `meta` is the metadata of the database.
        """
        if any(int(meta.get(name, "0")) for name in (GENERATION, KNOWLEDGE)):
            return ""
        return (
            f"{self._connections.shown} has no graph of the project {self._project} yet; run `graphmem serve --store` where its files are; "
            "if it runs, both index directories need the same project.key"
        )

    def take(self, on_code: OnCode, on_knowledge: OnKnowledge) -> None:
        """Read changes committed since the last call; pass them to functions.

        `on_code` receives the number of each change of the code, and the change. If a change is missing, it receives only the newest
        number, with None as the change. `on_knowledge` receives the number of the newest change of memories.
        """
        with self._connections.snapshot() as queries:
            meta = dict(queries.rows("meta_all"))
            changes = dict(queries.rows("feed_after", generation=self._at[GENERATION]))
        found = {name: int(meta.get(name, "0")) for name in self._at}
        self._learn(meta)
        if meta.get(DATABASE, "") != self._database:  # the graph was dropped and made again, and counts from 0
            self._database = meta.get(DATABASE, "")
            self._at = dict.fromkeys(self._at, -1)
        if found[GENERATION] != self._at[GENERATION]:
            wanted = range(self._at[GENERATION] + 1, found[GENERATION] + 1)
            if self._at[GENERATION] >= 0 and wanted and all(one in changes for one in wanted):
                for one in wanted:
                    on_code(one, decoded(changes[one]))
                    self._at[GENERATION] = one
            else:
                on_code(found[GENERATION], None)
                self._at[GENERATION] = found[GENERATION]
        if found[KNOWLEDGE] != self._at[KNOWLEDGE]:
            on_knowledge(found[KNOWLEDGE])
            self._at[KNOWLEDGE] = found[KNOWLEDGE]
        self._last = datetime.now(UTC)
        self._tell(self._missing(meta))
