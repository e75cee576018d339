"""The shared log of operations (changes of memories), in PostgreSQL.

The operations of a project are numbered without gaps. A writer locks the project while it assigns the next numbers, so other writers wait.
Each operation has an id, so a push whose answer was lost can be repeated. A database that was restored, or a node that took over, may lack
the last operations. A machine remembers number and id of the last operation that it read. If the log now has another id at this number, the
machine compares all its memories with the log. The database also has an epoch, a random value. A new epoch makes all machines compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphmem.errors import SharingError
from graphmem.runtime.network.server_address import SCHEMES, shown
from graphmem.sharing.state import WORDS
from graphmem.sharing.wire import NewerOpError, Op, UnreadableOpError, decoded, encoded

if TYPE_CHECKING:
    from types import TracebackType

    import psycopg

OPEN: Final = 1  # everybody who may write to the database writes in any name
PEOPLE: Final = 2  # `queries/organisation/people.sql` was run
RULES: Final = 2  # version of `queries/organisation/rules.sql`
LATER: Final = "run `graphmem sync` again later, because the memories stay on this machine until then"
REFUSED: Final = "GM001"  # SQLSTATE of a rule of the organisation
PAGE: Final = 1_000  # operations read at once
BATCH: Final = 1_000  # operations written in one transaction
CONNECT_S: Final = 5
STATEMENT_MS: Final = 60_000
MAKING_TABLES: Final = 0x6772_6170  # advisory lock of the one who makes the tables
TABLES: Final = (
    "CREATE SCHEMA IF NOT EXISTS graphmem",
    "CREATE TABLE IF NOT EXISTS graphmem.about (schema int NOT NULL, epoch uuid NOT NULL DEFAULT gen_random_uuid())",
    f"INSERT INTO graphmem.about (schema) SELECT {OPEN} WHERE NOT EXISTS (SELECT FROM graphmem.about)",  # noqa: S608
    "CREATE TABLE IF NOT EXISTS graphmem.project "
    "(key text PRIMARY KEY, name text NOT NULL, head bigint NOT NULL DEFAULT 0, made timestamptz NOT NULL DEFAULT now())",
    "CREATE TABLE IF NOT EXISTS graphmem.op (project text NOT NULL REFERENCES graphmem.project ON DELETE CASCADE, seq bigint NOT NULL, "
    "id uuid NOT NULL, device text NOT NULL, person text NOT NULL, memory text NOT NULL, body bytea NOT NULL, "
    "at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (project, seq), UNIQUE (project, id))",
    "CREATE INDEX IF NOT EXISTS op_memory ON graphmem.op (project, memory)",
)


class Page(NamedTuple):
    """A part of the shared log: some changes of memories, in the log's order."""

    ops: list[Op]
    last: int  # number of the last one read
    last_id: str  # its id; "" if none was read
    head: int  # number of the last one in the log
    unreadable: list[str]  # one sentence for each that was skipped


class SharedProject(NamedTuple):
    """A project in the shared database."""

    key: str
    name: str
    operations: int


class SharedLog(AbstractContextManager["SharedLog"]):
    """A connection to the shared database, for one project.

    Args:
        url: `postgresql://…`, as libpq reads it.
        project: identifier of the project in the team's database.
        name: readable name of the project.
        team: the caller's team, for memories that only one team sees; required if the caller is in several teams.

    Raises:
        SharingError: raised by the constructor and the methods. The database cannot be reached, or a newer graphmem created it.
    """

    def __init__(self, url: str, project: str, name: str = "", team: str = "") -> None:
        self._project = project
        self.person = ""  # the caller's name in the organisation; empty without people
        self.refused: dict[str, str] = {}  # operation -> the rule that forbids it, of the last push
        self.is_outdated = False  # an earlier graphmem wrote the functions with the rules for people
        self._team = ""
        self._db, self._error = connected(url)
        try:
            self._prepare(name, team)
        except BaseException:
            self._db.close()
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._db.close()

    def now(self) -> datetime:
        """Return the current time by the clock of the database's machine."""
        now: datetime = self._one("SELECT clock_timestamp()")[0]
        return now.astimezone(UTC)

    def epoch(self) -> str:
        """Return a value that changes if the database is replaced."""
        return str(self._one("SELECT epoch FROM graphmem.about")[0])

    def id_at(self, number: int) -> str:
        """Return the id of the operation with a log number.

        The result is "" if the log has no operation of this number, or the caller may not see it.
        """
        rows = self._all("SELECT id::text FROM graphmem.op WHERE project = %s AND seq = %s", self._project, number)
        return str(rows[0][0]) if rows else ""

    def head(self) -> int:
        """Return the number of the last change in a project's shared log."""
        return int(self._one("SELECT head FROM graphmem.project WHERE key = %s", self._project)[0])

    def projects(self) -> list[SharedProject]:
        """Return the projects of the database, sorted by name."""
        return [SharedProject(*row) for row in self._all("SELECT key, name, head FROM graphmem.project ORDER BY name, key")]

    def sight(self) -> str:
        """Return a value that changes when any person's access rights change.

        In a database without accounts for people, the value is always "".
        """
        return str(self._one("SELECT sight FROM graphmem.about")[0]) if self.person else ""

    def has(self, number: int, op: str) -> bool | None:
        """Whether the log has an operation, even if the caller cannot see it.

        `number` is the log number of the operation `op`. The result is None if the database cannot tell.
        """
        if not self.person or self.is_outdated:
            return None
        return bool(self._one("SELECT graphmem.has_op(%s, %s, %s)", self._project, number, op)[0])

    def visible(self) -> set[str]:
        """Return ids of the project's memories that the caller may see."""
        return {row[0] for row in self._all("SELECT id FROM graphmem.memory WHERE project = %s", self._project)}

    def of(self, memories: Sequence[str], upto: int) -> Page:
        """Return all changes of the given memories, in the order of the log.

        Only changes (operations) with a log number of at most `upto` are returned.
        """
        rows = self._all(
            "SELECT seq, body, id::text FROM graphmem.op WHERE project = %s AND memory = ANY(%s) AND seq <= %s ORDER BY seq",
            self._project,
            list(memories),
            upto,
        )
        return self._page(rows, upto)

    def note(self, device: str, pulled: int) -> None:
        """Record an exchange by this person in the organisation's audit log.

        `device` is the name of the machine, and `pulled` the number of operations that it received. In a database without accounts for
        people, nothing is recorded.
        """
        if self.person:
            self._all("SELECT graphmem.note_exchange(%s, %s, %s)", self._project, device, pulled)

    def push(self, ops: Sequence[Op]) -> dict[str, int]:
        """Append changes of memories to the shared log.

        The result maps their ids to their log numbers. A change (operation) that is already in the log keeps its number, so a push may be
        repeated. Changes that the access rules forbid are not appended and are missing in the result. The attribute `refused` maps the id
        of each forbidden change to the rule.
        """
        self.refused = {}
        numbers: dict[str, int] = {}
        for start in range(0, len(ops), BATCH):
            numbers.update(self._push(ops[start : start + BATCH]))
        return numbers

    def pull(self, after: int) -> Page:
        """Return a page of changes of memories from the log.

        The changes have higher numbers in the log than `after`.

        Raises:
            SharingError: a newer graphmem wrote one of the changes.
        """
        rows = self._all(
            "SELECT seq, body, id::text FROM graphmem.op WHERE project = %s AND seq > %s ORDER BY seq LIMIT %s", self._project, after, PAGE
        )
        return self._page(rows, after)

    # ---- inside

    def _page(self, rows: Sequence[Any], after: int) -> Page:
        ops: list[Op] = []
        unreadable: list[str] = []
        for seq, body, _ in rows:
            try:
                ops.append(decoded(bytes(body)))
            except NewerOpError as error:
                raise _newer() from error
            except UnreadableOpError as error:
                unreadable.append(f"operation {seq} of the shared log was skipped: {error}")
        last, last_id = (rows[-1][0], rows[-1][2]) if rows else (after, "")
        return Page(ops, last, last_id, self.head(), unreadable)

    def _prepare(self, name: str, team: str) -> None:
        """Create the tables and the project's row if they are missing."""
        try:
            if self._one("SELECT to_regclass('graphmem.op')")[0] is None:
                with self._db.transaction():
                    self._db.execute("SELECT pg_advisory_xact_lock(%s)", (MAKING_TABLES,))
                    for statement in TABLES:
                        self._db.execute(statement)
            found = int(self._one("SELECT schema FROM graphmem.about")[0])
            if found > PEOPLE:
                raise SharingError(
                    f"the team's database has version {found}, and this graphmem reads version {PEOPLE}; update graphmem", reason="version"
                )
            if found == PEOPLE:
                self._enter(name, team)
            elif self._all("SELECT 1 FROM graphmem.project WHERE key = %s", self._project) == []:
                self._db.execute("INSERT INTO graphmem.project (key, name) VALUES (%s, %s) ON CONFLICT DO NOTHING", (self._project, name))
        except self._error as error:
            raise refusal(f"the team's database refused the connection, or access to this project; {LATER}", error) from error

    def _enter(self, name: str, team: str) -> None:
        """Open the project for the caller; set the caller's name and team.

        Raises:
            SharingError: the caller is not an active person, or has no role in the project.
        """
        [level, me] = self._one("SELECT graphmem.open_project(%s, %s), graphmem.my_name()", self._project, name)
        if not level:
            who = self._one("SELECT session_user, graphmem.me() IS NOT NULL")
            reason = f"has no role in the project {self._project}" if who[1] else "is not an active person of the organisation"
            raise SharingError(
                f"{who[0]} {reason}; ask an administrator of the organisation (`graphmem organisation people` lists them)",
                reason="forbidden",
            )
        self.person = me
        self._team = team
        self.is_outdated = rules_of(self._db) < RULES

    def _push(self, ops: Sequence[Op]) -> dict[str, int]:
        if not self.person:
            return self._push_open(ops)
        try:
            self._insert(ops)
        except self._error as error:
            if not _is_refusal(error):
                raise refusal(f"the changes of memories were not written to the team's database; {LATER}", error) from error
            for op in ops:  # one of them is refused: find out which
                try:
                    self._insert([op])
                except self._error as one:
                    if not _is_refusal(one):
                        raise refusal(f"the changes of memories were not written to the team's database; {LATER}", one) from one
                    self.refused[op.id] = one.diag.message_primary or ""
        ids = [op.id for op in ops]
        return dict(self._all("SELECT id::text, seq FROM graphmem.op WHERE project = %s AND id = ANY(%s)", self._project, ids))

    def _insert(self, ops: Sequence[Op]) -> None:
        with self._db.transaction(), self._db.cursor() as cursor:
            cursor.execute("SELECT set_config('graphmem.team', %s, true)", (self._team,))
            cursor.executemany(
                "INSERT INTO graphmem.op (project, id, device, memory, body) VALUES (%s, %s, %s, %s, %s)",
                [(self._project, op.id, op.device, op.memory, encoded(op)) for op in ops],
            )

    def _push_open(self, ops: Sequence[Op]) -> dict[str, int]:
        try:
            with self._db.transaction():
                [head] = self._one("SELECT head FROM graphmem.project WHERE key = %s FOR UPDATE", self._project)
                ids = [op.id for op in ops]
                known = dict(self._all("SELECT id::text, seq FROM graphmem.op WHERE project = %s AND id = ANY(%s)", self._project, ids))
                fresh = [op for op in ops if op.id not in known]
                rows = [(self._project, head + n, op.id, op.device, op.person, op.memory, encoded(op)) for n, op in enumerate(fresh, 1)]
                with self._db.cursor() as cursor:
                    cursor.executemany(
                        "INSERT INTO graphmem.op (project, seq, id, device, person, memory, body) VALUES (%s, %s, %s, %s, %s, %s, %s)", rows
                    )
                self._db.execute("UPDATE graphmem.project SET head = %s WHERE key = %s", (head + len(rows), self._project))
                for op in fresh:
                    if op.forget is not None:
                        self._erase(op)
        except self._error as error:
            raise refusal(f"the changes of memories were not written to the team's database; {LATER}", error) from error
        return {**known, **{row[2]: row[1] for row in rows}}

    def _erase(self, forget: Op) -> None:
        """Delete the earlier texts of a forgotten memory from the team's database.

        `forget` is the change by which the memory was forgotten. Two kinds of changes of the memory lose their texts: changes with a log
        number up to `forget.upto`, and changes whose ids are in `forget.forget`.
        """
        rows = self._all(
            "SELECT seq, body, id::text FROM graphmem.op WHERE project = %s AND memory = %s AND (id = ANY(%s) OR seq <= %s)",
            self._project,
            forget.memory,
            list(forget.forget or ()),
            forget.upto,
        )
        for seq, body, _ in rows:
            erased = _without_words(bytes(body))
            if erased is not None:
                self._db.execute("UPDATE graphmem.op SET body = %s WHERE project = %s AND seq = %s", (erased, self._project, seq))

    def _one(self, statement: str, *values: object) -> Any:
        return self._all(statement, *values)[0]

    def _all(self, statement: str, *values: object) -> list[Any]:
        try:
            return self._db.execute(statement, values or None).fetchall()
        except self._error as error:
            raise refusal(f"the team's database did not answer; {LATER}", error) from error


def rules_of(db: psycopg.Connection[Any]) -> int:
    """Return the version of the access rules for people in a database.

    A database whose rules have no version number has the version 1.
    """
    [has_version] = db.execute("SELECT to_regprocedure('graphmem.rules()') IS NOT NULL").fetchall()[0]
    return int(db.execute("SELECT graphmem.rules()").fetchall()[0][0]) if has_version else 1


def connected(url: str) -> tuple[psycopg.Connection[object], type[psycopg.Error]]:
    """Return a connection to a PostgreSQL database, and its error class.

    Raises:
        SharingError: the driver is missing, the address is invalid, or the database cannot be reached.
    """
    try:
        import psycopg

        from graphmem.sharing.patience import PatientConnection
    except ModuleNotFoundError as error:
        raise SharingError(
            f"the Python package {error.name} is not installed; run `pip install graphmem[organisation]`", reason="extra"
        ) from error
    if not url.startswith(SCHEMES):
        raise SharingError("the given address is not the address of a PostgreSQL database; use postgresql://host/name", reason="address")
    host, _, name_of_it = url.partition("//")[2].partition("?")[0].partition("/")
    try:
        if host.count("@") > 1 or "@" in name_of_it:  # a part of the password would count as the host
            raise psycopg.ProgrammingError
        options = f"-c statement_timeout={STATEMENT_MS}"
        made = PatientConnection.connect(url, autocommit=True, connect_timeout=CONNECT_S, application_name="graphmem", options=options)
        return made, psycopg.Error
    except psycopg.ProgrammingError:  # its text quotes the part, which may be the password
        raise SharingError(
            f"the database address {shown(url)} cannot be parsed; write postgresql://user:password@host/name, special characters as %XX",
            reason="address",
        ) from None
    except psycopg.Error as error:
        if "FATAL:" in str(error):  # PostgreSQL answered: a wrong login, or a server that is starting or full
            raise refusal(
                f"the team's database {shown(url)} rejected the connection; check login, password and name of the database, or {LATER}",
                error,
            ) from error
        raise refusal(f"the team's database {shown(url)} cannot be reached; {LATER}", error) from error


def refusal(message: str, error: Exception) -> SharingError:
    """Convert an error of PostgreSQL's driver to a `SharingError`.

    `message` says what failed and what to do; the reason that PostgreSQL gave is appended.
    """
    said = " ".join(str(error).split())[:200]
    return SharingError(f"{message} (PostgreSQL: {said})", reason="unreachable")


def _is_refusal(error: psycopg.Error) -> bool:
    """Whether the database would refuse the same operation again.

    Classes 22 and 23 of SQLSTATE are values that have no valid form, or break a constraint.
    """
    state = error.sqlstate or ""
    return state == REFUSED or state.startswith(("22", "23"))


def _without_words(body: bytes) -> bytes | None:
    """Return an operation, given as bytes, without texts that people wrote.

    The result is None if the operation has no such texts. An unreadable operation becomes an empty JSON object, because it may contain
    such texts.
    """
    try:
        op = decoded(body)
    except NewerOpError as error:
        raise _newer() from error
    except UnreadableOpError:
        return b"{}"
    if not (op.set or op.add or op.drop):
        return None
    words = {name: write._replace(value=None) for name, write in op.set.items() if name in WORDS}
    return encoded(op._replace(set={**op.set, **words}, add=(), drop={}))


def _newer() -> SharingError:
    return SharingError("the team uses a newer graphmem; upgrade graphmem on this machine", reason="version")
