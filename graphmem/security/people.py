"""People, teams and roles of a server, in the file `people.sqlite`.

The file is in the server's directory. Commands change the file, whether or not a server runs. Over the network, only an invitation or a
login changes it. A server sees a change at the next request. Credentials are stored only as hashes.
"""

from __future__ import annotations

import hmac
import re
import secrets
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from graphmem.errors import BadInputError, ForbiddenError
from graphmem.runtime.network.pushes import PROJECT_NAME
from graphmem.security.people_file import PeopleFile, at_once, timestamp
from graphmem.security.tokens import MOST_DAYS, digest

LEVELS: Final = ("none", "read", "write", "curate", "admin")
TOKEN, SESSION, INVITATION = "token", "session", "invitation"
SESSION_HOURS: Final = 12
INVITATION_DAYS: Final = 7
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}")


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

    `login` is the person, or `team NAME`. `by` is the person who acted, or `operator NAME` for an account of the server's machine. It is
    "" in entries of a graphmem that did not record it.
    """

    at: str
    login: str
    action: str
    project: str
    details: str
    by: str


class Listed(NamedTuple):
    """A person with teams, roles and tokens, as the list of people shows it."""

    login: str
    name: str
    email: str
    disabled: bool
    teams: list[str]
    roles: dict[str, str]  # by project
    tokens: list[str]  # names


class People(PeopleFile):
    """People of one server. Thread-safe.

    Several processes may change the file.

    Args:
        folder: the server's directory.
        by: account of the server's machine that makes the changes, for the audit log.
    """

    # ---- who may enter

    def holder(self, credential: str, now: datetime | None = None, kinds: tuple[str, ...] = (TOKEN, SESSION)) -> Holder | None:
        """Return the person who presents a credential, or None.

        The result is None if the credential is unknown, expired or not of one of `kinds`, or if the person is blocked.
        """
        parts = credential.split("_", 2)
        if not self.exist or len(parts) != 3 or parts[0] != "gp":
            return None
        rows = self.rows(
            "SELECT c.hash, c.kind, c.expires, c.team, p.login, p.name FROM credential c JOIN person p ON p.login = c.login "
            "WHERE c.id = ? AND NOT p.disabled",
            parts[1],
        )
        if not rows or not hmac.compare_digest(digest(credential), rows[0][0]):
            return None
        _, kind, expires, team, login, name = rows[0]
        if kind not in kinds or (expires and datetime.fromisoformat(expires) <= (now or datetime.now(UTC))):
            return None
        teams = frozenset(row[0] for row in self.rows("SELECT team FROM member WHERE login = ?", login))
        return Holder(login, name, team if team in teams else "", parts[1], teams)

    def stands(self, credential_id: str) -> bool:
        """Whether a credential (token, session or invitation) is still valid.

        It is given by its id. It is valid until it expires or is revoked, or the person is blocked.
        """
        rows = self.rows(
            "SELECT c.expires FROM credential c JOIN person p ON p.login = c.login WHERE c.id = ? AND NOT p.disabled", credential_id
        )
        return bool(rows) and (not rows[0][0] or datetime.fromisoformat(rows[0][0]) > datetime.now(UTC))

    def level(self, login: str, teams: frozenset[str], project: str) -> str:
        """Return the highest role that a person has in a project; "" without one.

        The roles are the person's own and those of `teams`.
        """
        rows = self.rows("SELECT login, team, level FROM role WHERE project = ?", project)
        held = [level for who, team, level in rows if who == login or (team and team in teams)]
        return max(held, key=LEVELS.index, default="")

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
        with self.transaction():
            self._add(login, name, email)
            if team:
                self.join(team, login)
            if project:
                self.role(project, level, team=team) if team else self.role(project, level, login=login)
            self.note(login, "invited", project, team)
            return self._credential(INVITATION, login, "invitation", "", timedelta(days=INVITATION_DAYS))

    def _add(self, login: str, name: str, email: str) -> None:
        """Add a person; of a known person, change only values that are not ""."""
        self.change(
            "INSERT INTO person (login, name, email, made) VALUES (?, ?, ?, ?) ON CONFLICT (login) DO UPDATE SET "
            "name = iif(excluded.name = excluded.login, name, excluded.name), email = iif(excluded.email = '', email, excluded.email)",
            *(login, name or login, email.lower(), timestamp()),
        )

    @at_once
    def join(self, team: str, login: str, *, leave: bool = False) -> None:
        """Add a person to a team, or with `leave` remove the person from it."""
        _check("team", team)
        self.expect(login)
        self.change(
            "DELETE FROM member WHERE team = ? AND login = ?" if leave else "INSERT OR IGNORE INTO member VALUES (?, ?)", team, login
        )
        self.note(login, "left team" if leave else "joined team", "", team)

    @at_once
    def role(self, project: str, level: str, *, login: str = "", team: str = "") -> None:
        """Give a person or a team a role in a project.

        `level` is the role. "none" takes the present role away.
        """
        if login and team:
            raise BadInputError("a role cannot be given to a person and a team at once; name one of the two", argument="login")
        if not login and not team:
            raise BadInputError("the request does not say who gets the role; name a person or a team", argument="login")
        _check_role(project, level)
        if login:
            self.expect(login)
        self.change("DELETE FROM role WHERE project = ? AND login = ? AND team = ?", project, login, team)
        if level != "none":
            self.change("INSERT INTO role VALUES (?, ?, ?, ?)", project, login, team, level)
        self.note(login or f"team {team}", f"role {level}", project, "")

    @at_once
    def enable(self, login: str, *, on: bool) -> None:
        """Allow a person, or block the person if `on` is False.

        Blocking ends all credentials of the person.
        """
        self.expect(login)
        self.change("UPDATE person SET disabled = ? WHERE login = ?", int(not on), login)
        if not on:
            self.change("DELETE FROM credential WHERE login = ?", login)
        self.note(login, "enabled" if on else "disabled", "", "")

    @at_once
    def token(self, login: str, name: str, team: str = "", days: int | None = None, by: str = "") -> str:
        """Create a token of a person, such as for a CI runner; return it.

        `days` is the time until the token expires; None for never. `by` is the person who creates it; default: the operator.

        Raises:
            BadInputError: the person is unknown, the name is taken, or another argument is invalid.
        """
        self.expect(login)
        _check("name", name)
        if days is not None and not 1 <= days <= MOST_DAYS:
            raise BadInputError(
                f"days, the lifetime of a token, is {days}; give 1 to {MOST_DAYS:,}, or omit days", argument="days", value=days
            )
        if self.rows("SELECT 1 FROM credential WHERE kind = ? AND login = ? AND name = ?", TOKEN, login, name):
            raise BadInputError(f"the token {name!r} of {login} already exists; revoke it first", argument="name", value=name)
        if team and not self.rows("SELECT 1 FROM member WHERE team = ? AND login = ?", team, login):
            raise BadInputError(
                f"{login} is not in the team {team[:60]!r}; add the person to the team first", argument="team", value=team[:60]
            )
        self.note(login, "token created", "", name, by)
        return self._credential(TOKEN, login, name, team, timedelta(days=days) if days is not None else None)

    @at_once
    def revoke(self, login: str, name: str) -> None:
        """Revoke a token of a person, from the next request on."""
        if not self.change("DELETE FROM credential WHERE kind = ? AND login = ? AND name = ?", TOKEN, login, name):
            raise BadInputError(
                f"the person {login[:60]} has no token named {name[:60]!r}; use the name of an existing token",
                argument="name",
                value=name[:60],
            )
        self.note(login, "token revoked", "", name)

    def all(self) -> list[Listed]:
        """Return all people with their teams, roles and tokens, sorted by login."""
        roles = self.rows("SELECT project, login, team, level FROM role ORDER BY project")
        found = []
        for login, name, email, disabled in self.rows("SELECT login, name, email, disabled FROM person ORDER BY login"):
            teams = [row[0] for row in self.rows("SELECT team FROM member WHERE login = ? ORDER BY team", login)]
            projects = sorted({project for project, who, team, _ in roles if who == login or team in teams})
            tokens = [row[0] for row in self.rows("SELECT name FROM credential WHERE kind = ? AND login = ? ORDER BY name", TOKEN, login)]
            levels = {project: self.level(login, frozenset(teams), project) for project in projects}
            found.append(Listed(login, name, email, bool(disabled), teams, levels, tokens))
        return found

    def audit(self, login: str = "", limit: int = 100) -> list[Act]:
        """Return the recorded actions of people and operators, newest first.

        With `login`, only entries about this person or by this person are returned.
        """
        rows = self.rows(
            "SELECT at, login, action, project, details, by FROM act WHERE ? IN ('', login, by) ORDER BY n DESC LIMIT ?", login, limit
        )
        return [Act(*row) for row in rows]

    # ---- entering

    @at_once
    def redeem(self, code: str, name: str) -> tuple[str, str]:
        """Exchange an invitation for a token; return (login, token).

        `name` is the machine's name; the token's name begins with it.

        Raises:
            ForbiddenError: the invitation is unknown, used or too old.
        """
        stem = re.sub(r"[^A-Za-z0-9._-]", "-", name).lstrip("-._")[:60] or "login"  # a name begins with a letter or digit
        holder = self.holder(code, kinds=(INVITATION,))
        if holder is None or not self.change("DELETE FROM credential WHERE id = ?", holder.credential):
            raise ForbiddenError(
                "the invitation is unknown, already used or expired; ask an administrator for a new one", needs="invitation", verb="login"
            )
        return holder.login, self.token(holder.login, f"{stem}-{secrets.token_hex(3)}", by=holder.login)

    @at_once
    def session(self, login: str) -> str:
        """Begin a session of a browser; return its secret, for the cookie."""
        self.note(login, "logged in", "", "", by=login)
        return self._credential(SESSION, login, "session", "", timedelta(hours=SESSION_HOURS))

    @at_once
    def end_session(self, secret: str) -> None:
        """End the session of a browser: log the person out."""
        holder = self.holder(secret, kinds=(SESSION,))
        if holder is not None:
            self.change("DELETE FROM credential WHERE id = ?", holder.credential)

    @at_once
    def known_as(self, issuer: str, subject: str, email: str) -> str | None:
        """Return the login of the person whom an identity provider names, or None.

        `issuer` is the provider, and `subject` is the provider's id of the person. At the first login, the person is found by `email`, the
        verified mail address, and `subject` is recorded. Later logins need only `issuer` and `subject`. If the person is unknown or
        blocked, the result is None.
        """
        bound = f"{issuer}\n{subject}"
        rows = self.rows("SELECT login FROM person WHERE subject = ? AND NOT disabled", bound)
        if not rows and email:
            rows = self.rows("SELECT login FROM person WHERE email = ? AND subject = '' AND NOT disabled", email.lower())
            if len(rows) == 1:
                self.change("UPDATE person SET subject = ? WHERE login = ?", bound, rows[0][0])
        return str(rows[0][0]) if len(rows) == 1 else None

    def _credential(self, kind: str, login: str, name: str, team: str, lasts: timedelta | None) -> str:
        secret = f"gp_{secrets.token_hex(6)}_{secrets.token_urlsafe(32)}"
        expires = (datetime.now(UTC) + lasts).isoformat(timespec="seconds") if lasts is not None else ""
        self.change(
            "INSERT INTO credential VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            *(secret.split("_", 2)[1], kind, digest(secret), login, name, team, timestamp(), expires),
        )
        return secret


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
