"""Connections to PostgreSQL: a few for readers, one for the writer."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from graphmem.errors import (
    BadInputError,
    DeadlineError,
    DiskFullError,
    GraphMemError,
    SchemaTooNewError,
    StoreClosedError,
    StoreUnreachableError,
)
from graphmem.runtime.data.resources import data_root
from graphmem.runtime.network.server_address import shown
from graphmem.store.postgres.tables import Queries
from graphmem.store.tables.meta_names import DATABASE, OWN

if TYPE_CHECKING:
    import psycopg

CONNECT_S: Final = 5
SCHEMA: Final = f"{OWN}schema"  # meta: number of migrations that were run
_NO_TABLES: Final = ("42P01", "3F000")  # SQLSTATE of a missing table, and of a missing schema
_IDLE: Final = 4  # connections of readers that are kept
_LOCK: Final = 0x6772_6171  # advisory lock of the one who makes or migrates tables


class Connections:
    """Connections to the schema of one project. Thread-safe.

    Args:
        url: `postgresql://…`, as libpq reads it.
        schema: name of the schema.

    Raises:
        StoreUnreachableError: raised by the constructor and the methods: the database does not answer.
    """

    def __init__(self, url: str, schema: str) -> None:
        self._url = url
        self._schema = schema
        self._idle: list[psycopg.Connection[Any]] = []
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._closed = False
        self.shown = shown(url)
        self.server_version = 0  # known after `migrate`

    def check_open(self) -> None:
        """Raise StoreClosedError if the store is closed or in a forked child."""
        if self._closed or os.getpid() != self._pid:
            why = "is closed" if self._closed else "belongs to the parent process"
            raise StoreClosedError(f"the connection to the database {self.shown} {why}; open the index again in this process")

    def connect(self) -> psycopg.Connection[Any]:
        """Return a new connection in autocommit mode."""
        module = driver()
        options = f"-c search_path={self._schema} -c client_encoding=UTF8 -c datestyle=ISO -c bytea_output=hex -c extra_float_digits=1"
        try:
            made: psycopg.Connection[Any] = module.connect(
                self._url, autocommit=True, connect_timeout=CONNECT_S, application_name="graphmem", options=options, prepare_threshold=None
            )
            return made
        except module.ProgrammingError:  # its text may quote the password
            raise BadInputError(
                f"the database address {self.shown} cannot be parsed; write postgresql://user:password@host/name, special "
                "characters as %XX",
                argument="store",
            ) from None
        except module.Error as error:
            raise self.refusal(error) from error

    @contextmanager
    def snapshot(self) -> Iterator[Queries]:
        """Open a read transaction for a block; its queries see one snapshot.

        A connection that broke while it was idle is replaced.
        """
        self.check_open()
        errors = driver().Error
        connection = self._begun()
        try:
            yield Queries(connection)
            connection.execute("COMMIT")
        except errors as error:
            raise self.refusal(error) from error
        except UnicodeEncodeError as error:
            raise BadInputError(f"PostgreSQL cannot store a value to be written ({error}); correct that value", argument="value") from error
        finally:
            self._give_back(connection)

    def migrate(self) -> None:
        """Create the schema of the project, or migrate it to the newest version.

        Raises:
            SchemaTooNewError: the tables were written by a newer graphmem.
        """
        files = sorted(
            (one for one in (data_root() / "queries" / "postgres").iterdir() if one.name[:4].isdigit()), key=lambda one: one.name
        )
        psycopg = driver()
        connection = self.connect()
        self.server_version = connection.info.server_version
        try:
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
                connection.execute(f"CREATE SCHEMA IF NOT EXISTS {self._schema}".encode())
                found = 0
                if connection.execute("SELECT to_regclass('meta')").fetchall()[0][0] is not None:
                    found = int(Queries(connection).rows("meta_value", name=SCHEMA)[0][0])
                if found > len(files):
                    raise SchemaTooNewError(
                        f"the graph in {self.shown} was written by a newer graphmem (schema {found}, this one knows {len(files)}); update "
                        "graphmem",
                        path=self.shown,
                        found=found,
                        known=len(files),
                    )
                for file in files[found:]:
                    connection.execute(file.read_text(encoding="utf-8").encode())
                if found < len(files):
                    Queries(connection).run("meta_put", name=SCHEMA, value=str(len(files)))
                if not found:
                    Queries(connection).run("meta_put", name=DATABASE, value=uuid.uuid4().hex)
        except psycopg.Error as error:
            raise self.refusal(error) from error
        finally:
            connection.close()

    def refusal(self, error: Exception) -> GraphMemError:
        """Convert an error of the PostgreSQL driver to an error of graphmem."""
        psycopg = driver()
        said = " ".join(str(error).split())[:300]
        state = getattr(error, "sqlstate", None) or ""
        if isinstance(error, psycopg.errors.UniqueViolation):
            return BadInputError(f"rows of the change are repeated ({said}); use each once", argument="delta")
        if state.startswith("53"):
            return DiskFullError(
                f"{self.shown} has too few resources ({said}), and nothing was written; make room on its machine and try again",
                path=self.shown,
            )
        if state == "57014":
            return DeadlineError(f"{self.shown} did not answer in time ({said}); request less, or raise the limit", seconds=0.0)
        if state in _NO_TABLES:
            return StoreUnreachableError(
                f"{self.shown} has no graph of this project any more; start `graphmem serve --store` where its files are, which makes it "
                "again",
                address=self.shown,
            )
        if isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)):
            return StoreUnreachableError(f"{self.shown} cannot be used ({said}); start it or check the address", address=self.shown)
        return GraphMemError(f"{self.shown} refused a statement ({said}); report this defect to the authors of graphmem", reason=said)

    def close(self) -> None:
        """Close idle connections. Idempotent."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        if os.getpid() == self._pid:
            for connection in idle:
                connection.close()

    def release(self, connection: psycopg.Connection[Any]) -> None:
        """Unlock and close the writer's connection.

        The lock is released explicitly, because the server notices a closed connection only later, and the next writer would have to wait.
        A forked child does nothing, because the connection belongs to its parent.
        """
        if os.getpid() == self._pid:
            with suppress(driver().Error):  # the server ends the lock of a broken connection itself
                Queries(connection).ask("release_lock")
            connection.close()

    def _begun(self) -> psycopg.Connection[Any]:
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is not None:
            with suppress(driver().Error):
                connection.execute(begin)
                return connection
            connection.close()
        connection = self.connect()
        connection.execute(begin)
        return connection

    def _give_back(self, connection: psycopg.Connection[object]) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < _IDLE and connection.info.transaction_status == 0:
                self._idle.append(connection)
                return
        connection.close()


def driver() -> Any:
    """Import and return psycopg, the PostgreSQL driver.

    Raises:
        StoreUnreachableError: psycopg is not installed.
    """
    try:
        import psycopg
    except ModuleNotFoundError as error:
        raise StoreUnreachableError(
            f"the Python package {error.name} is not installed; run `pip install graphmem[organisation]`", address=""
        ) from error
    return psycopg
