"""A connection to PostgreSQL that waits a limited time for an answer.

PostgreSQL's own limit of a statement does not hold if its process hangs or the network drops packets.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import psycopg

if TYPE_CHECKING:
    from collections.abc import Generator

ANSWER_S: Final = 75.0  # more than a statement may take


class PatientConnection(psycopg.Connection[object]):
    """A connection that closes if the server is silent for `ANSWER_S` seconds."""

    def wait(self, gen: Generator[Any, Any, Any], *args: Any, **more: Any) -> Any:
        """Return the result of a generator that waits for the server.

        Raises:
            psycopg.OperationalError: the server was silent too long; the connection is closed.
        """
        return super().wait(self._limited(gen), *args, **more)

    def _limited(self, gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        """Yield the requests of a generator until the server is silent too long."""
        try:
            wanted = next(gen)
            until = time.monotonic() + ANSWER_S
            while True:
                ready = yield wanted
                if ready:
                    until = time.monotonic() + ANSWER_S
                elif time.monotonic() > until:
                    self.pgconn.finish()
                    raise psycopg.OperationalError(
                        f"the database server did not answer for {ANSWER_S:.0f} seconds; check whether the server is running"
                    )
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value
