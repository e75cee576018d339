"""People, teams and roles of the shared database.

The access rules are in the database (`queries/organisation`), so they apply to every client. This module calls the functions of
the database.
"""

from __future__ import annotations

import re
import secrets
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit, urlunsplit

from graphmem.answers.organisation import (
    AuditedAct,
    Comment,
    Erased,
    Exported,
    Invited,
    Organisation,
    Person,
    ProjectAccess,
    Team,
)
from graphmem.errors import BadInputError, SharingError
from graphmem.runtime.data.resources import data_root
from graphmem.runtime.network.server_address import shown
from graphmem.sharing.identity import checked_key
from graphmem.sharing.postgres import MAKING_TABLES, OPEN, PEOPLE, REFUSED, RULES, TABLES, connected, refusal, rules_of

if TYPE_CHECKING:
    from types import TracebackType

LEVELS: Final = ("none", "read", "write", "curate", "admin")
STANDINGS: Final = ("none", "member", "steward")
_BEGINNING: Final = 8  # characters of a key: `git:` and four digits
_SHORT: Final = re.compile(r"git:[0-9a-f]{0,39}|id:[0-9a-f-]{0,35}")  # the beginning of a key that graphmem makes
_NAMED: Final = 5  # projects in a message


class OrganisationDesk(AbstractContextManager["OrganisationDesk"]):
    """A connection to the shared database, to manage people and teams.

    Args:
        url: `postgresql://…`, as libpq reads it.
        new: accept a database that has no tables of people yet.

    Raises:
        SharingError: raised by the constructor and the methods. The database cannot be reached, has no tables of people, or forbids the
            call.
    """

    def __init__(self, url: str, *, new: bool = False) -> None:
        self._url = url
        self._db, self._error = connected(url)
        try:
            if not new:
                self._expect_people()
        except BaseException:
            self._db.close()
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._db.close()

    def found(self) -> Organisation:
        """Add tables of people, roles and row-level security to the database.

        If the database has them, the functions with the rules are replaced by newer ones. Idempotent.

        Raises:
            SharingError: the caller does not own the tables.
        """
        try:
            with self._db.transaction():
                self._db.execute("SELECT pg_advisory_xact_lock(%s)", (MAKING_TABLES,))
                if self._all("SELECT to_regclass('graphmem.op')")[0][0] is None:
                    for statement in TABLES:
                        self._db.execute(statement)
                found = self._all("SELECT schema FROM graphmem.about")[0][0]
                if found == OPEN:
                    self._db.execute("LOCK TABLE graphmem.op, graphmem.project IN ACCESS EXCLUSIVE MODE")
                    for file in ("people.sql", "rules.sql", "walls.sql"):
                        self._db.execute(_statements(file))
                    self._db.execute("SELECT graphmem.note('found', '', '')")
                elif rules_of(self._db) < RULES:
                    self._db.execute(_statements("rules.sql"))
                    self._db.execute("SELECT graphmem.note('rules', '', %s)", (f"version {RULES}",))
        except self._error as error:
            raise self._refusal(
                "the organisation could not be created in the database; connect as the owner of graphmem's tables", error
            ) from error
        return self.people()

    def people(self) -> Organisation:
        """Return persons, teams and projects that the caller may see."""
        [[login, name, is_admin]] = self._all("SELECT session_user::text, graphmem.my_name(), graphmem.is_admin()")
        roles: dict[int, dict[str, str]] = {}
        of_team: dict[int, dict[str, str]] = {}
        for project, team, person, level in self._all("SELECT project, team, person, level FROM graphmem.access ORDER BY project"):
            (of_team.setdefault(team, {}) if team is not None else roles.setdefault(person, {}))[project] = LEVELS[level]
        members = self._all(
            "SELECT m.team, m.person, p.role::text, t.name, m.is_steward FROM graphmem.member m "
            "JOIN graphmem.person p ON p.id = m.person JOIN graphmem.team t ON t.id = m.team ORDER BY t.name, p.role"
        )
        last = dict(self._all("SELECT person, max(last) FROM graphmem.seen GROUP BY person"))
        said = dict(self._all("SELECT author, count(*) FROM graphmem.op WHERE author IS NOT NULL GROUP BY author"))
        persons = [
            Person(
                login=role,
                name=shown_name,
                is_admin=admin,
                is_disabled=disabled is not None,
                teams=[one[3] for one in members if one[1] == number],
                roles=[ProjectAccess(key, level) for key, level in roles.get(number, {}).items()],
                last=last[number].isoformat() if number in last else "",
                operations=said.get(number, 0),
            )
            for number, role, shown_name, admin, disabled in self._all(
                "SELECT id, role::text, name, is_admin, disabled FROM graphmem.person ORDER BY name"
            )
        ]
        teams = [
            Team(
                name=name_of,
                members=[one[2] for one in members if one[0] == number],
                stewards=[one[2] for one in members if one[0] == number and one[4]],
                roles=[ProjectAccess(key, level) for key, level in of_team.get(number, {}).items()],
            )
            for number, name_of in self._all("SELECT id, name FROM graphmem.team ORDER BY name")
        ]
        return Organisation(shown(self._url), login, name, is_admin, persons, teams)

    def invite(self, login: str, name: str, *, team: str, project: str, level: str, admin: bool) -> Invited:
        """Add a person to the organisation; return the database address to use.

        `name` is the readable name. The person joins `team`, and the role `level` on `project` is given, unless these are "". `admin` makes
        the person an administrator. If the login exists in the database, its password stays. A login that bypasses row-level security is
        refused.

        Raises:
            SharingError: the caller may not invite, or the owner of the tables may not create login roles.
        """
        secret = secrets.token_urlsafe(18)
        verifier = self._db.pgconn.encrypt_password(secret.encode(), login.encode(), b"scram-sha-256").decode()
        [[owner, creates]] = self._all(
            "SELECT r.rolname, r.rolsuper OR r.rolcreaterole OR NOT graphmem.is_admin() "
            "OR EXISTS (SELECT FROM pg_roles WHERE rolname = %s) "
            "FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner WHERE c.oid = 'graphmem.about'::regclass",
            login,
        )
        if not creates:
            raise SharingError(
                f"the role {owner}, which owns graphmem's tables, may not create the login {login}; let a superuser of PostgreSQL run "
                f'`ALTER ROLE "{owner}" CREATEROLE`, or create the login',
                reason="forbidden",
            )
        with self._transaction():
            made = self._all("SELECT graphmem.invite(%s, %s, %s, %s)", login, name or login, verifier, admin)[0][0]
            if team:
                self._all("SELECT graphmem.set_member(%s, %s, 'member')", team, login)
            if project:
                key = self._project_key(project)
                self._all("SELECT graphmem.set_role(%s, %s, %s, %s)", key, "" if team else login, team, LEVELS.index(level))
        return Invited(login, _address(self._url, login, secret if made else ""), made)

    def set_member(self, team: str, login: str, standing: str) -> Organisation:
        """Add a person to a team, or remove the person from it.

        `standing` is the person's position in the team, one of `STANDINGS`; `none` removes the person.
        """
        self._all("SELECT graphmem.set_member(%s, %s, %s)", team, login, standing)
        return self.people()

    def set_role(self, project: str, login: str, team: str, level: str) -> Organisation:
        """Give a person or a team a role in a project, or remove the role.

        `project` is the project's key, the beginning of the key, or the project's name. `level` is one of LEVELS; `none` removes the role.

        Raises:
            BadInputError: several projects fit, or the project is unknown and `project` is not a whole key.
        """
        if login and team:
            raise SharingError("a role cannot be given to a person and a team at once; name one of the two", reason="role")
        if not login and not team:
            raise SharingError("the request does not say who gets the role; name a person or a team", reason="role")
        self._all("SELECT graphmem.set_role(%s, %s, %s, %s)", self._project_key(project), login, team, LEVELS.index(level))
        return self.people()

    def enable(self, login: str, *, on: bool) -> Organisation:
        """Allow (`on`) or block a person's access to the shared database."""
        self._all("SELECT graphmem.enable(%s, %s)", login, on)
        return self.people()

    def audit(self, person: str, limit: int) -> list[AuditedAct]:
        """Return entries of the database's audit log, newest first.

        `person` is a name or a login; an empty one selects the acts of all people.
        """
        rows = self._all(
            "SELECT at, person, action, target, details FROM graphmem.audit WHERE %s = '' OR person = %s "
            "OR person = (SELECT name FROM graphmem.person WHERE role = %s) ORDER BY n DESC LIMIT %s",
            *(person, person, person, limit),
        )
        return [AuditedAct(at.isoformat(), *rest) for at, *rest in rows]

    def comments(self, project: str, memories: list[str]) -> list[Comment]:
        """Return the comments that people wrote on given memories of a project.

        Each reply follows the comment that it answers.
        """
        rows = self._all(
            "SELECT c.id::text, coalesce(c.parent::text, ''), c.memory, coalesce(p.name, 'a former member'), c.at, c.text "
            "FROM graphmem.comment c LEFT JOIN graphmem.person p ON p.id = c.author "
            "WHERE c.project = %s AND c.memory = ANY(%s) ORDER BY c.at, c.id",
            *(project, memories),
        )
        below: dict[str, list[Comment]] = {}
        for one, parent, memory, person, at, text in rows:
            below.setdefault(parent, []).append(Comment(one, parent, memory, person, at.isoformat(), text, 0))
        found: list[Comment] = []
        waiting = [(one, 0) for one in reversed(below.get("", []))]
        while waiting:
            comment, depth = waiting.pop()
            found.append(replace(comment, depth=depth))
            waiting += [(one, depth + 1) for one in reversed(below.get(comment.id, []))]
        return found

    def comment(self, project: str, memory: str, text: str, reply: str) -> None:
        """Add a person's comment on a memory to the shared database.

        `reply` is the id of the comment to answer, or "".
        """
        self._all(
            "INSERT INTO graphmem.comment (project, memory, parent, text) VALUES (%s, %s, %s, %s) RETURNING 1",
            *(project, memory, reply or None, text),
        )

    def export(self, login: str) -> Exported:
        """Return all stored data of one person or the organisation, as JSON.

        There is one JSON object on each line. An empty login means the whole organisation.
        """
        import orjson

        rows = self._all("SELECT graphmem.export_person(%s)", login) if login else self._all("SELECT graphmem.export_organisation()")
        lines = [orjson.dumps(row[0], option=orjson.OPT_SORT_KEYS).decode() for row in rows]
        return Exported(login, len(lines), "".join(f"{line}\n" for line in lines))

    def erase(self, login: str) -> Erased:
        """Erase all data of one person for good; return counts of erased data.

        The result is also stored in the audit log.
        """
        [[receipt]] = self._all("SELECT graphmem.erase_person(%s)", login)
        return Erased(**receipt)

    def dissolve(self, confirm: str) -> Erased:
        """Erase the organisation with all its memories.

        Raises:
            SharingError: `confirm` is not the name of the database, or the caller does not own the tables.
        """
        [[name, is_owner, by]] = self._all("SELECT current_database(), graphmem.is_owner(), graphmem.my_name()")
        if not is_owner:
            raise SharingError(
                "only the database role that owns graphmem's tables may erase the organisation; connect with that role", reason="forbidden"
            )
        if confirm != name:
            raise SharingError(
                f"this command permanently erases the organisation in the database; repeat the command with --confirm {name} to erase it",
                reason="confirm",
            )
        with self._transaction():
            [[at, memories, comments]] = self._all(
                "SELECT now(), (SELECT count(*) FROM graphmem.memory), (SELECT count(*) FROM graphmem.comment)"
            )
            [[operations, digest]] = self._all(
                "SELECT count(*), encode(sha256(coalesce(string_agg(id::text || encode(sha256(body), 'hex'), '' ORDER BY project, seq), '')"
                "::bytea), 'hex') FROM graphmem.op"
            )
            roles = [row[0] for row in self._all("SELECT role::text FROM graphmem.person WHERE made_role")]
            self._run("DROP SCHEMA graphmem CASCADE")
        dropped = [role for role in roles if self._drop_role(role)]
        return Erased(memories, operations, comments, len(dropped) == len(roles), at.isoformat(), by, digest)

    # ---- inside

    def _project_key(self, given: str) -> str:
        """Return the key of the project that a person names.

        An unknown key is accepted if it is whole, because a role may be given before the project's first exchange.

        Raises:
            BadInputError: several projects fit, or `given` is neither known nor a whole key.
        """
        projects: dict[str, str] = dict(self._all("SELECT key, name FROM graphmem.project ORDER BY key"))
        if given in projects:
            return given
        found = [key for key, name in projects.items() if name == given or (len(given) >= _BEGINNING and key.startswith(given))]
        if len(found) > 1:
            raise BadInputError(
                f"{given[:60]!r} fits {len(found)} projects of the team's database ({', '.join(found[:3])}); write the whole key of one",
                argument="key",
                value=given[:200],
            )
        if found:
            return found[0]
        if ":" not in given or _SHORT.fullmatch(given):
            known = ", ".join(f"{name or 'unnamed'} ({key})" for key, name in list(projects.items())[:_NAMED]) or "none yet"
            raise BadInputError(
                f"unknown project {given[:60]!r}; use a project of the team's database ({known}), or the whole key that "
                "`graphmem organisation status` shows in the project",
                argument="key",
                value=given[:200],
            )
        return checked_key(given)

    def _drop_role(self, role: str) -> bool:
        from psycopg import sql

        try:
            self._db.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))
        except self._error:  # it is used elsewhere in this PostgreSQL; the receipt says so
            return False
        return True

    def _run(self, statement: str) -> None:
        try:
            self._db.execute(statement)
        except self._error as error:
            raise self._refusal("the team's database rejected the change; ask an administrator of the organisation", error) from error

    def _expect_people(self) -> None:
        if self._all("SELECT to_regclass('graphmem.about')")[0][0] is None or self._all("SELECT schema FROM graphmem.about")[0][0] < PEOPLE:
            raise SharingError(
                f"the database {shown(self._url)} has no organisation yet; run `graphmem organisation found` as the owner of the database",
                reason="open",
            )
        found = self._all("SELECT schema FROM graphmem.about")[0][0]
        if found > PEOPLE:
            raise SharingError(
                f"the team's database has version {found}, and this graphmem reads version {PEOPLE}; update graphmem", reason="version"
            )
        if not self._all("SELECT graphmem.me() IS NOT NULL OR graphmem.is_admin()")[0][0]:
            raise SharingError(
                "you are not an active person of the organisation in this database; ask the administrator of the organisation",
                reason="forbidden",
            )

    def _transaction(self) -> AbstractContextManager[Any]:
        return self._db.transaction()

    def _all(self, statement: str, *values: object) -> list[Any]:
        try:
            return self._db.execute(statement, values or None).fetchall()
        except self._error as error:
            raise self._refusal("the team's database rejected the change; ask an administrator of the organisation", error) from error

    def _refusal(self, message: str, error: Any) -> SharingError:
        if error.sqlstate == REFUSED:
            return SharingError(error.diag.message_primary or message, reason="forbidden")
        if (error.sqlstate or "").startswith(("42", "23")):  # a right that is missing, a reserved or taken name
            return SharingError(f"{message} (PostgreSQL: {error.diag.message_primary})", reason="forbidden")
        return refusal(message, error)


def _statements(file: str) -> str:
    return (data_root() / "queries" / "organisation" / file).read_text(encoding="utf-8")


def _address(url: str, login: str, secret: str) -> str:
    """Return a database's address with the login and password of another user.

    `secret` is the password.
    """
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2]
    who = quote(login, safe="") + (f":{secret}" if secret else "")
    return urlunsplit(parts._replace(netloc=f"{who}@{place}"))
