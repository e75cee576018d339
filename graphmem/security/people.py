"""People, teams and roles of a server, in the file `people.sqlite`.

The file is in the server's directory. Commands change the file, whether or not a server runs. Over the network, only an invitation or a
login changes it. A server sees a change at the next request. Credentials are stored only as hashes.
"""

from __future__ import annotations

import hmac
import re
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, Final, NamedTuple, ParamSpec, TypeVar, cast

from graphmem.answers.organisation import Colleague
from graphmem.errors import BadInputError, ForbiddenError
from graphmem.runtime.pushes import PROJECT_NAME
from graphmem.runtime.sqlite_file import Sidefile
from graphmem.security.access import Access
from graphmem.security.tokens import MOST_DAYS, digest

FILE: Final = "people.sqlite"
LEVELS: Final = ("none", "read", "write", "curate", "admin")
_WRITES: Final = ("read", "remember", "index")
SCOPES_OF: Final[Mapping[str, frozenset[str]]] = {
    "read": frozenset({"read"}),
    "write": frozenset(_WRITES),
    "curate": frozenset({*_WRITES, "curate"}),
    "admin": frozenset({*_WRITES, "curate", "admin"}),
}
SEEN_BY_ALL: Final = frozenset({"project", "organization"})
"""Visibilities of memories that everybody with a role in the project sees."""

TOKEN, SESSION, INVITATION = "token", "session", "invitation"
SESSION_HOURS: Final = 12
INVITATION_DAYS: Final = 7
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}")
_FILE: Final = Sidefile(
    format="1",
    schema=(
        "CREATE TABLE person (login TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, subject TEXT NOT NULL DEFAULT '', "
        "disabled INT NOT NULL DEFAULT 0, made TEXT NOT NULL)",
        "CREATE TABLE member (team TEXT NOT NULL, login TEXT NOT NULL REFERENCES person, PRIMARY KEY (team, login)) WITHOUT ROWID",
        "CREATE TABLE role (project TEXT NOT NULL, login TEXT NOT NULL DEFAULT '', team TEXT NOT NULL DEFAULT '', level TEXT NOT NULL, "
        "PRIMARY KEY (project, login, team)) WITHOUT ROWID",
        "CREATE TABLE credential (id TEXT PRIMARY KEY, kind TEXT NOT NULL, hash TEXT NOT NULL, login TEXT NOT NULL REFERENCES person, "
        "name TEXT NOT NULL, team TEXT NOT NULL, made TEXT NOT NULL, expires TEXT NOT NULL)",
        "CREATE TABLE owner (project TEXT NOT NULL, memory TEXT NOT NULL, login TEXT NOT NULL, team TEXT NOT NULL, "
        "PRIMARY KEY (project, memory)) WITHOUT ROWID",
        "CREATE INDEX owner_login ON owner (project, login)",
        "CREATE INDEX owner_team ON owner (project, team)",
        "CREATE TABLE act (n INTEGER PRIMARY KEY, at TEXT NOT NULL, login TEXT NOT NULL, action TEXT NOT NULL, project TEXT NOT NULL, "
        "details TEXT NOT NULL)",
    ),
    counter="changes",
    error=BadInputError,
    advice="move the file away, and invite the people again",
    explicit=True,
)

_P = ParamSpec("_P")
_R = TypeVar("_R")
_PERSONAL: Final = (  # kind of a line in an export, table, columns
    ("person", "person", "login, name, email, subject, disabled, made"),
    ("team", "member", "team"),
    ("role", "role", "project, level"),
    ("credential", "credential", "name, kind AS use, team, made, expires"),
    ("action", "act", "at, action, project, details"),
)


class Holder(NamedTuple):
    """A person who presented a credential, with the credential's id and team.

    A credential is a token, a browser's session or an invitation.
    """

    login: str
    name: str
    team: str  # of the credential; "" for none
    credential: str  # id
    teams: frozenset[str]


class Act(NamedTuple):
    """An entry of the audit log: what a person did, or what changed for them.

    `login` is the person. The entry does not say which operator made a change, because operators use the commands on the server's machine.
    """

    at: str
    login: str
    action: str
    project: str
    details: str


class Listed(NamedTuple):
    """A person with teams, roles and tokens, as the list of people shows it."""

    login: str
    name: str
    email: str
    disabled: bool
    teams: list[str]
    roles: dict[str, str]  # by project
    tokens: list[str]  # names


def _at_once(method: Callable[Concatenate[People, _P], _R]) -> Callable[Concatenate[People, _P], _R]:
    """Make all changes of a method of `People` in one transaction.

    If the file does not exist, the method is called without one. Only `invite` creates the file.
    """

    @wraps(method)
    def whole(self: People, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        with self._transaction() if self.exist else nullcontext():
            return method(self, *args, **kwargs)

    return whole


class People:
    """People of one server. Thread-safe.

    Several processes may change the file.

    Args:
        folder: the server's directory.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._lock = threading.RLock()  # a method may call another
        self._db: sqlite3.Connection | None = None

    @property
    def exist(self) -> bool:
        """Whether anybody was ever invited; then a server requires credentials."""
        return self._path.exists()

    def close(self) -> None:
        """Close the file with people, teams and roles. Idempotent."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    # ---- who may enter

    def holder(self, credential: str, now: datetime | None = None, kinds: tuple[str, ...] = (TOKEN, SESSION)) -> Holder | None:
        """Return the person who presents a credential, or None.

        The result is None if the credential is unknown, expired or not of one of `kinds`, or if the person is blocked.
        """
        parts = credential.split("_", 2)
        if not self.exist or len(parts) != 3 or parts[0] != "gp":
            return None
        rows = self._rows(
            "SELECT c.hash, c.kind, c.expires, c.team, p.login, p.name FROM credential c JOIN person p ON p.login = c.login "
            "WHERE c.id = ? AND NOT p.disabled",
            parts[1],
        )
        if not rows or not hmac.compare_digest(digest(credential), rows[0][0]):
            return None
        _, kind, expires, team, login, name = rows[0]
        if kind not in kinds or (expires and datetime.fromisoformat(expires) <= (now or datetime.now(UTC))):
            return None
        teams = frozenset(row[0] for row in self._rows("SELECT team FROM member WHERE login = ?", login))
        return Holder(login, name, team if team in teams else "", parts[1], teams)

    def stands(self, credential_id: str) -> bool:
        """Whether a credential (token, session or invitation) is still valid.

        It is given by its id. It is valid until it expires or is revoked, or the person is blocked.
        """
        rows = self._rows(
            "SELECT c.expires FROM credential c JOIN person p ON p.login = c.login WHERE c.id = ? AND NOT p.disabled", credential_id
        )
        return bool(rows) and (not rows[0][0] or datetime.fromisoformat(rows[0][0]) > datetime.now(UTC))

    def level(self, login: str, teams: frozenset[str], project: str) -> str:
        """Return the highest role that a person has in a project; "" without one.

        The roles are the person's own and those of `teams`.
        """
        rows = self._rows("SELECT login, team, level FROM role WHERE project = ?", project)
        held = [level for who, team, level in rows if who == login or (team and team in teams)]
        return max(held, key=LEVELS.index, default="")

    def access(self, holder: Holder, project: str) -> Access | None:
        """Return the permissions of a person in a project; None without a role."""
        level = self.level(holder.login, holder.teams, project)
        if not level:
            return None
        return Access(
            holder.login, SCOPES_OF[level], SEEN_BY_ALL, holder.credential, Person(self, holder.login, holder.teams, holder.team, project)
        )

    def at_door(self, holder: Holder) -> Access:
        """Return a person's permissions for operations that need no project."""
        return Access(
            holder.login, SCOPES_OF["read"], SEEN_BY_ALL, holder.credential, Person(self, holder.login, holder.teams, holder.team, "")
        )

    def again(self, access: Access, project: str) -> Access | None:
        """Return the current permissions of a caller in a project, or None.

        `access` has permissions that the caller was given before, perhaps in another project. Roles and teams are read again. The result is
        None if the caller has no role in `project`.
        """
        if access.person is None:
            return access
        person = cast("Person", access.person)
        teams = frozenset(row[0] for row in self._rows("SELECT team FROM member WHERE login = ?", person.login))
        return self.access(Holder(person.login, "", person.chosen if person.chosen in teams else "", access.token_id, teams), project)

    # ---- whose a memory is

    def own(self, project: str, memory: str, login: str, team: str) -> None:
        """Record owner and team of a new memory, unless it already has an owner.

        `team` is the team that sees the memory; "" for none.
        """
        self._change("INSERT OR IGNORE INTO owner VALUES (?, ?, ?, ?)", project, memory, login, team)

    def owner(self, project: str, memory: str) -> str:
        """Return the login of a memory's owner; "" if unknown."""
        rows = self._rows("SELECT login FROM owner WHERE project = ? AND memory = ?", project, memory)
        return rows[0][0] if rows else ""

    def authors(self, project: str) -> dict[str, str]:
        """Return logins of the owners of a project's memories, by memory id."""
        return dict(self._rows("SELECT memory, login FROM owner WHERE project = ?", project))

    def move(self, project: str, memory: str, team: str) -> None:
        """Record `team` as the team that sees a memory; "" for no team."""
        self._change("UPDATE owner SET team = ? WHERE project = ? AND memory = ?", team, project, memory)

    def seen(self, project: str, login: str, teams: frozenset[str]) -> Mapping[str, frozenset[str]]:
        """Return ids of memories that a person sees as author or team member.

        The result maps "personal" to the memories that the person wrote, and "team" to those that one of `teams` sees.
        """
        own = frozenset(row[0] for row in self._rows("SELECT memory FROM owner WHERE project = ? AND login = ?", project, login))
        marks = ", ".join("?" * len(teams))
        theirs = self._rows(f"SELECT memory FROM owner WHERE project = ? AND team IN ({marks})", project, *teams)  # noqa: S608
        return {"personal": own, "team": frozenset(row[0] for row in theirs)}

    # ---- changes, by the server's operator

    def invite(self, login: str, name: str = "", email: str = "", *, team: str = "", project: str = "", level: str = "write") -> str:
        """Add a person, or invite again; return a code for `graphmem login`.

        With `team`, the person joins this team. With `project`, the role `level` in this project is given to the team, or without `team` to
        the person.

        Raises:
            BadInputError: an argument is invalid.
        """
        _check("login", login)
        if email and not re.fullmatch(r"[^@\s]+@[^@\s]+", email):
            raise BadInputError(f"{email[:100]!r} is not an email address; write name@host", argument="email")
        if team:
            _check("team", team)
        if project:
            _check_role(project, level)
        with self._transaction():
            self._add(login, name, email)
            if team:
                self.join(team, login)
            if project:
                self.role(project, level, team=team) if team else self.role(project, level, login=login)
            self.note(login, "invited", project, team)
            return self._credential(INVITATION, login, "invitation", "", timedelta(days=INVITATION_DAYS))

    def _add(self, login: str, name: str, email: str) -> None:
        """Add a person; for a known person, change only what is given."""
        self._change(
            "INSERT INTO person (login, name, email, made) VALUES (?, ?, ?, ?) ON CONFLICT (login) DO UPDATE SET "
            "name = iif(excluded.name = excluded.login, name, excluded.name), email = iif(excluded.email = '', email, excluded.email)",
            *(login, name or login, email.lower(), _now()),
        )

    @_at_once
    def join(self, team: str, login: str, *, leave: bool = False) -> None:
        """Add a person to a team, or remove the person from it."""
        _check("team", team)
        self._expect(login)
        self._change(
            "DELETE FROM member WHERE team = ? AND login = ?" if leave else "INSERT OR IGNORE INTO member VALUES (?, ?)", team, login
        )
        self.note(login, "left team" if leave else "joined team", "", team)

    @_at_once
    def role(self, project: str, level: str, *, login: str = "", team: str = "") -> None:
        """Give a person or a team a role in a project; `none` takes it away."""
        if login and team:
            raise BadInputError("a role cannot be given to a person and a team at once; name one of the two", argument="login")
        if not login and not team:
            raise BadInputError("the request does not say who gets the role; name a person or a team", argument="login")
        _check_role(project, level)
        if login:
            self._expect(login)
        self._change("DELETE FROM role WHERE project = ? AND login = ? AND team = ?", project, login, team)
        if level != "none":
            self._change("INSERT INTO role VALUES (?, ?, ?, ?)", project, login, team, level)
        self.note(login or f"team {team}", f"role {level}", project, "")

    @_at_once
    def enable(self, login: str, *, on: bool) -> None:
        """Allow or block a person; blocking ends all credentials of the person."""
        self._expect(login)
        self._change("UPDATE person SET disabled = ? WHERE login = ?", int(not on), login)
        if not on:
            self._change("DELETE FROM credential WHERE login = ?", login)
        self.note(login, "enabled" if on else "disabled", "", "")

    @_at_once
    def token(self, login: str, name: str, team: str = "", days: int | None = None) -> str:
        """Create a token of a person, such as for a CI runner; return it.

        Raises:
            BadInputError: the person is unknown, the name is taken, or another argument is invalid.
        """
        self._expect(login)
        _check("name", name)
        if days is not None and not 1 <= days <= MOST_DAYS:
            raise BadInputError(
                f"days, the lifetime of a token, is {days}; give 1 to {MOST_DAYS:,}, or omit days", argument="days", value=days
            )
        if self._rows("SELECT 1 FROM credential WHERE kind = ? AND login = ? AND name = ?", TOKEN, login, name):
            raise BadInputError(f"the token {name!r} of {login} already exists; revoke it first", argument="name", value=name)
        if team and not self._rows("SELECT 1 FROM member WHERE team = ? AND login = ?", team, login):
            raise BadInputError(
                f"{login} is not in the team {team[:60]!r}; add the person to the team first", argument="team", value=team[:60]
            )
        self.note(login, "token created", "", name)
        return self._credential(TOKEN, login, name, team, timedelta(days=days) if days is not None else None)

    @_at_once
    def revoke(self, login: str, name: str) -> None:
        """Revoke a token of a person, from the next request on."""
        if not self._change("DELETE FROM credential WHERE kind = ? AND login = ? AND name = ?", TOKEN, login, name):
            raise BadInputError(
                f"{login[:60]} has no token {name[:60]!r}; use the name of an existing token", argument="name", value=name[:60]
            )
        self.note(login, "token revoked", "", name)

    def all(self) -> list[Listed]:
        """Return all people with their teams, roles and tokens, sorted by login."""
        roles = self._rows("SELECT project, login, team, level FROM role ORDER BY project")
        found = []
        for login, name, email, disabled in self._rows("SELECT login, name, email, disabled FROM person ORDER BY login"):
            teams = [row[0] for row in self._rows("SELECT team FROM member WHERE login = ? ORDER BY team", login)]
            projects = sorted({project for project, who, team, _ in roles if who == login or team in teams})
            tokens = [row[0] for row in self._rows("SELECT name FROM credential WHERE kind = ? AND login = ? ORDER BY name", TOKEN, login)]
            levels = {project: self.level(login, frozenset(teams), project) for project in projects}
            found.append(Listed(login, name, email, bool(disabled), teams, levels, tokens))
        return found

    def audit(self, login: str = "", limit: int = 100) -> list[Act]:
        """Return the recorded actions of people, newest first."""
        rows = self._rows(
            "SELECT at, login, action, project, details FROM act WHERE ? IN ('', login) ORDER BY n DESC LIMIT ?", login, limit
        )
        return [Act(*row) for row in rows]

    def note(self, login: str, action: str, project: str, details: str) -> None:
        """Record an action of a person in the audit log."""
        self._change(
            "INSERT INTO act (at, login, action, project, details) VALUES (?, ?, ?, ?, ?)", _now(), login, action, project, details[:200]
        )

    def data_of(self, login: str) -> list[dict[str, str]]:
        """Return everything that the file has about a person, without hashes.

        Raises:
            BadInputError: the person is unknown.
        """
        self._expect(login)
        found = [
            {"kind": kind, **dict(zip((one.split()[-1] for one in names.split(", ")), map(str, row), strict=True))}
            for kind, table, names in _PERSONAL
            for row in self._rows(f"SELECT {names} FROM {table} WHERE login = ? ORDER BY 1", login)  # noqa: S608 - constants
        ]
        return [{name: value for name, value in one.items() if value} for one in found]

    def owned(self, login: str) -> dict[str, list[str]]:
        """Return the ids of a person's memories, by project."""
        found: dict[str, list[str]] = {}
        for project, memory in self._rows("SELECT project, memory FROM owner WHERE login = ? ORDER BY project, memory", login):
            found.setdefault(project, []).append(memory)
        return found

    def erase(self, login: str, receipt: str) -> None:
        """Erase a person with everything about them.

        `receipt` states what was erased, without the login. In the audit log, one entry with the receipt replaces the person's actions.
        """
        self._expect(login)
        with self._opened() as db:
            db.execute("PRAGMA secure_delete = ON")
            with db:
                db.execute("BEGIN IMMEDIATE")
                for table in ("credential", "member", "role", "owner", "act", "person"):
                    db.execute(f"DELETE FROM {table} WHERE login = ?", (login,))  # noqa: S608 - constants
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.note("", "erased a person", "", receipt)

    # ---- entering

    @_at_once
    def redeem(self, code: str, name: str) -> tuple[str, str]:
        """Exchange an invitation for a token; return (login, token).

        `name` is the machine's name; the token's name begins with it.

        Raises:
            ForbiddenError: the invitation is unknown, used or too old.
        """
        stem = re.sub(r"[^A-Za-z0-9._-]", "-", name).lstrip("-._")[:60] or "login"  # a name begins with a letter or digit
        holder = self.holder(code, kinds=(INVITATION,))
        if holder is None or not self._change("DELETE FROM credential WHERE id = ?", holder.credential):
            raise ForbiddenError(
                "the invitation is unknown, already used or expired; ask an administrator for a new one", needs="invitation", verb="login"
            )
        return holder.login, self.token(holder.login, f"{stem}-{secrets.token_hex(3)}")

    @_at_once
    def session(self, login: str) -> str:
        """Begin a session of a browser; return its secret, for the cookie."""
        self.note(login, "logged in", "", "")
        return self._credential(SESSION, login, "session", "", timedelta(hours=SESSION_HOURS))

    @_at_once
    def end_session(self, secret: str) -> None:
        """End the session of a browser: log the person out."""
        holder = self.holder(secret, kinds=(SESSION,))
        if holder is not None:
            self._change("DELETE FROM credential WHERE id = ?", holder.credential)

    @_at_once
    def known_as(self, issuer: str, subject: str, email: str) -> str | None:
        """Return the login of the person whom an identity provider names, or None.

        `issuer` is the provider, and `subject` is the provider's id of the person. At the first login, the person is found by `email`, the
        verified mail address, and `subject` is recorded. Later logins need only `issuer` and `subject`. If the person is unknown or
        blocked, the result is None.
        """
        bound = f"{issuer}\n{subject}"
        rows = self._rows("SELECT login FROM person WHERE subject = ? AND NOT disabled", bound)
        if not rows and email:
            rows = self._rows("SELECT login FROM person WHERE email = ? AND subject = '' AND NOT disabled", email.lower())
            if len(rows) == 1:
                self._change("UPDATE person SET subject = ? WHERE login = ?", bound, rows[0][0])
        return str(rows[0][0]) if len(rows) == 1 else None

    # ---- inside

    def _credential(self, kind: str, login: str, name: str, team: str, lasts: timedelta | None) -> str:
        secret = f"gp_{secrets.token_hex(6)}_{secrets.token_urlsafe(32)}"
        expires = (datetime.now(UTC) + lasts).isoformat(timespec="seconds") if lasts is not None else ""
        self._change(
            "INSERT INTO credential VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            *(secret.split("_", 2)[1], kind, digest(secret), login, name, team, _now(), expires),
        )
        return secret

    def _expect(self, login: str) -> None:
        if not self._rows("SELECT 1 FROM person WHERE login = ?", login):
            raise BadInputError(f"unknown person {login[:60]!r}; invite the person first", argument="login", value=login[:60])

    def _rows(self, statement: str, *values: Any) -> list[Any]:
        if not self.exist:
            return []
        with self._opened() as db:
            return db.execute(statement, values).fetchall()

    def _change(self, statement: str, *values: Any) -> int:
        with self._opened() as db:
            return db.execute(statement, values).rowcount

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Make all changes of a `with` block, or none; other processes wait."""
        with self._opened() as db:
            if db.in_transaction:  # a method that calls another
                yield
                return
            db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                db.rollback()
                raise
            db.commit()

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._db is None:
                self._db = _FILE.connect(self._path, create=True)
            try:
                yield self._db
            except sqlite3.Error as error:
                raise _FILE.unreadable(self._path, error) from error


class Person:
    """A person in one project: which memories they own and see.

    Two objects are equal if login, teams, project and the team of the credential are equal.
    """

    def __init__(self, people: People, login: str, teams: frozenset[str], chosen: str, project: str) -> None:
        self._people = people
        self.login, self.teams, self.chosen, self.project = login, teams, chosen, project

    @property
    def team(self) -> str:
        """The team that sees the team memories of this person.

        The team of the person's credential is returned. If the credential has none and the person is in exactly one team, that team is
        returned. Otherwise the result is "".
        """
        return self.chosen or (next(iter(self.teams)) if len(self.teams) == 1 else "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Person) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[str, frozenset[str], str, str]:
        return self.login, self.teams, self.chosen, self.project

    def seen(self) -> Mapping[str, frozenset[str]]:
        """Return ids of memories that the person sees as author or team member.

        The result maps "personal" to the memories that the person wrote, and "team" to those that the person's teams see.
        """
        return self._people.seen(self.project, self.login, self.teams)

    def owns(self, memory: str) -> bool:
        """Whether this person wrote a memory, which is given by its full id."""
        return self._people.owner(self.project, memory) == self.login

    def authors(self) -> Mapping[str, str]:
        """Map ids of the project's memories to the logins of the authors."""
        return self._people.authors(self.project)

    def colleagues(self) -> list[Colleague]:
        """Return the people with a role in the project, sorted by login.

        Blocked people are left out.
        """
        found = [one for one in self._people.all() if self.project in one.roles and not one.disabled]
        return [Colleague(one.login, one.name, tuple(one.teams), one.roles[self.project]) for one in found]

    def writes(self, memory: str, visibility: str) -> None:
        """Record this person as the owner of a memory that is written now."""
        self._people.own(self.project, memory, self.login, self.team if visibility == "team" else "")

    def moves(self, memory: str, visibility: str) -> None:
        """Record the new `visibility` of a memory that this person owns."""
        self._people.move(self.project, memory, self.team if visibility == "team" else "")

    def did(self, action: str) -> None:
        """Record in the audit log that the person called an operation (`action`)."""
        self._people.note(self.login, action, self.project, "")


def _check(argument: str, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise BadInputError(
            f"invalid {argument} {name[:60]!r}; use up to 100 letters, digits, dots, hyphens, underscores, @ or +",
            argument=argument,
            value=name[:60],
        )


def _check_role(project: str, level: str) -> None:
    if level not in LEVELS:
        raise BadInputError(f"unknown role {level[:40]!r}; use one of {', '.join(LEVELS)}", argument="level", value=level[:40])
    if not PROJECT_NAME.fullmatch(project):
        raise BadInputError(
            f"{project[:80]!r} cannot be the name of a project; use a name that `graphmem projects` lists", argument="project"
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
