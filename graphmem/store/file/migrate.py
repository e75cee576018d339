"""Create and update the database's tables from files of `queries/schema`.

The files are numbered. A database records which of them were applied to it. Each file is applied and recorded in one transaction. A
database is refused if a newer graphmem made it, or if its record has a gap. It is also refused if a recorded file was changed later, except
in comments or white space.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.errors import MigrationError, QueryFileError, SchemaTooNewError
from graphmem.runtime.data.resources import data_root
from graphmem.store.engine.times import now
from graphmem.store.tables.catalog import Catalog, blank_opaque, load_catalog
from graphmem.store.tables.tables import NodeTable, RelTable
from graphmem.store.tables.transaction import Transaction

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from graphmem.store.engine.engine import Connection

_FILE = re.compile(r"(\d{4})-([a-z0-9-]+)\.cypher")
_COMMENT = re.compile(r"('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")|//[^\n]*|/\*.*?\*/", re.S)
_HISTORY: Final = "SchemaVersion"  # the table that records the applied files


class Migration(NamedTuple):
    """One numbered file of `queries/schema`, which creates or changes tables."""

    version: str  # 0001
    name: str
    sha256: str  # of the statements, without comments and with white space folded
    statements: tuple[str, ...]


@cache
def load_migrations() -> tuple[Migration, ...]:
    """Return the migrations in `queries/schema`, in numerical order.

    Raises:
        QueryFileError: a file has a wrong name or is empty, or a number is missing.
    """
    return read_migrations(data_root() / "queries" / "schema")


def read_migrations(folder: Traversable) -> tuple[Migration, ...]:
    """Return the migrations in a directory; hidden files are ignored.

    Raises:
        QueryFileError: see `load_migrations`.
    """
    found: list[Migration] = []
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.startswith(".") or not file.name.endswith(".cypher"):
            continue
        name = _FILE.fullmatch(file.name)
        if not name or int(name[1]) != len(found) + 1:
            raise QueryFileError(
                f"the migration file queries/schema/{file.name} must have the number {len(found) + 1:04}; number the files without gaps: "
                "0001-name.cypher, 0002-…",
                path=f"schema/{file.name}",
                line=1,
            )
        statements = split_statements(file.read_text(encoding="utf-8"))
        if not statements:
            raise QueryFileError(
                f"the migration file queries/schema/{file.name} has no statement; write one or delete the file",
                path=f"schema/{file.name}",
                line=1,
            )
        digest = hashlib.sha256(";".join(statements).encode()).hexdigest()
        found.append(Migration(name[1], name[2], digest, statements))
    return tuple(found)


def split_statements(text: str) -> tuple[str, ...]:
    """Return the statements of a schema file in a normalised form.

    Comments are removed, and white space outside strings is reduced to single blanks.
    """
    bare = _COMMENT.sub(lambda found: found[1] or " ", text)
    parts: list[str] = []
    start = 0
    code = blank_opaque(bare)
    for index in [*(place.start() for place in re.finditer(";", code)), len(bare)]:
        folded = re.sub(r"\s+", " ", bare[start:index]).strip()
        if folded:
            parts.append(folded)
        start = index + 1
    return tuple(parts)


def migrate(connection: Connection, catalog: Catalog, path: Path, migrations: tuple[Migration, ...] | None = None) -> list[str]:
    """Apply the missing migrations to a database; return their versions.

    Args:
        connection: the writer's connection.
        catalog: the named queries.
        path: path of the database, for messages.
        migrations: the migrations to apply; None for the result of `load_migrations`.

    Returns:
        The versions that this call applied.

    Raises:
        SchemaTooNewError, MigrationError: see `pending`.
    """
    applied_now = []
    for migration in pending(connection, path, migrations):
        with Transaction(connection, catalog) as transaction:
            if migration.version == "0001":
                transaction.run("history_create")
            for statement in migration.statements:
                transaction.statement(statement)
            transaction.run("history_add", version=migration.version, name=migration.name, sha256=migration.sha256, applied_at=now())
        applied_now.append(migration.version)
    return applied_now


def pending(connection: Connection, path: Path, migrations: tuple[Migration, ...] | None = None) -> tuple[Migration, ...]:
    """Return the migrations that a database lacks.

    Raises:
        SchemaTooNewError: the database has migrations that this graphmem does not know.
        MigrationError: the file is not a graphmem database, its history has a gap, or a migration file was changed after it was applied.
    """
    known = load_migrations() if migrations is None else migrations
    tables = table_names(connection)
    if _HISTORY not in tables:
        if tables:
            raise MigrationError(
                f"{path} is a database of another program (tables {', '.join(sorted(tables)[:5])}); choose another directory for the index",
                path=str(path),
                version="",
            )
        return known
    history = connection.rows(*load_catalog()["history"].bind({})).rows
    if len(history) > len(known) or (history and history[-1][0] > known[-1].version):
        raise SchemaTooNewError(
            f"the database {path} was written by a newer graphmem (schema {history[-1][0]}, this one knows {known[-1].version}); "
            "update graphmem, or move the file to another place and index again",
            path=str(path),
            found=int(history[-1][0]),
            known=int(known[-1].version),
            version=history[-1][0],
        )
    for (version, name, sha256), migration in zip(history, known, strict=False):
        if version != migration.version:
            raise MigrationError(
                f"the database {path} has migration {version} of its schema but lacks the earlier migration {migration.version}; move "
                "the file to another place and index again",
                path=str(path),
                version=migration.version,
            )
        if sha256 != migration.sha256:
            raise MigrationError(
                f"the migration file queries/schema/{version}-{name}.cypher was changed after the database {path} was created with it; "
                "restore the file, and add a new file for the change",
                path=str(path),
                version=version,
            )
    return known[len(history) :]


def newest_of(connection: Connection) -> str:
    """Return the schema version of a database; "0000" if it has none."""
    return max((row[0] for row in connection.rows(*load_catalog()["history"].bind({})).rows), default="0000")


def check_tables(connection: Connection, path: Path) -> None:
    """Check that every table of the schema exists.

    After a crash, or because of another program, some tables may be missing.

    Raises:
        MigrationError: tables are missing.
    """
    missing = sorted({*map(str, NodeTable), *map(str, RelTable)} - table_names(connection))
    if missing:
        raise MigrationError(
            f"the database {path} lacks the tables {', '.join(missing)}; move the file to another place and index again",
            path=str(path),
            version="",
        )


def table_names(connection: Connection) -> set[str]:
    """Return the names of all tables in the database."""
    return {row[0] for row in connection.rows(*load_catalog()["tables"].bind({})).rows}
