"""Request index runs of a server, wait for them and follow their progress."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from graphmem.client.wire import FOR_EVER
from graphmem.errors import GraphMemError, IndexCancelledError
from graphmem.model import IndexProgress
from graphmem.runtime.process.faults import unraised

if TYPE_CHECKING:
    from graphmem.client.wire import Wire


def run_index(wire: Wire, cancelled: Callable[[], bool] | None, **variables: Any) -> dict[str, Any]:
    """Request an index run; return its answer as JSON data when it has ended.

    `variables` are the arguments of the index run, such as `full`. `cancelled` is called from time to time. The wait has no time limit.

    Raises:
        IndexCancelledError: `cancelled` returned True; the run continues on the server.
    """
    answers: list[dict[str, Any]] = []
    failures: list[Exception] = []

    def ask() -> None:
        try:
            answers.append(wire.ask("Index", timeout_s=FOR_EVER, wait=True, **variables))
        except Exception as failure:  # noqa: BLE001 - passed to the waiting thread
            failures.append(failure)

    thread = threading.Thread(target=ask, name="graphmem-index", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.1)
        if cancelled is not None and cancelled():
            raise IndexCancelledError(
                f"you interrupted the wait for the index run, but the server at {wire.address} continues the run; "
                "wait for its end, or stop the server",
                stage="waiting",
            )
    if failures:
        raise failures[0]
    return answers[0]


@contextlib.contextmanager
def followed(wire: Wire, on_progress: Callable[[IndexProgress], None] | None) -> Iterator[None]:
    """Report progress of the server's index runs during a `with` block.

    `on_progress` is called for each step. If the connection is lost, the reports end without an error.
    """
    if on_progress is None:
        yield
        return
    over = threading.Event()

    def follow() -> None:
        try:
            for step in wire.stream("IndexProgress", follow=True):
                if over.is_set():
                    return
                on_progress(IndexProgress(**step["indexProgress"]))
        except GraphMemError:
            return
        except Exception as error:  # noqa: BLE001 - see above
            unraised(error, "following the index run")

    threading.Thread(target=follow, name="graphmem-progress", daemon=True).start()
    try:
        yield
    finally:
        over.set()
