"""Data about one person in `people.sqlite`: export and erasure."""

from __future__ import annotations

from typing import Final

from graphmem.security.people_file import OPERATOR, PeopleFile

_PERSONAL: Final = (  # kind of a line in an export, table, columns
    ("person", "person", "login, name, email, subject, disabled, made"),
    ("team", "member", "team"),
    ("role", "role", "project, level"),
    ("credential", "credential", "name, kind AS use, team, made, expires"),
    ("action", "act", "at, action, project, details, by"),
)


def data_of(file: PeopleFile, login: str) -> list[dict[str, str]]:
    """Return everything that the file has about a person, without hashes.

    Raises:
        BadInputError: the person is unknown.
    """
    file.expect(login)
    found = [
        {"kind": kind, **dict(zip((one.split()[-1] for one in names.split(", ")), map(str, row), strict=True))}
        for kind, table, names in _PERSONAL
        for row in file.rows(f"SELECT {names} FROM {table} WHERE login = ? ORDER BY 1", login)  # noqa: S608 - constants
    ]
    return [{name: value for name, value in one.items() if value} for one in found]


def erase(file: PeopleFile, login: str, receipt: str) -> None:
    """Erase a person with everything about them.

    `receipt` states what was erased, without the login. In the audit log, one entry with the receipt replaces the person's actions.
    """
    file.expect(login)
    with file.opened() as db:
        db.execute("PRAGMA secure_delete = ON")
        with db:
            db.execute("BEGIN IMMEDIATE")
            for table in ("credential", "member", "role", "owner", "act", "person"):
                db.execute(f"DELETE FROM {table} WHERE login = ?", (login,))  # noqa: S608 - constants
            db.execute("UPDATE act SET by = ? WHERE by IN (?, ?)", (OPERATOR, login, f"{OPERATOR} {login}"))
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.note("", "erased a person", "", receipt)
