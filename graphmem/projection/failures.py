"""Convert errors of reading or saving the in-memory copies of a database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graphmem.errors import DiskFullError, GraphMemError, ResourceError, StoreBusyError
from graphmem.runtime.process.limits import kind_of, refusal


@contextmanager
def refusal_named(folder: Path) -> Iterator[None]:
    """Convert write errors in a `with` block to graphmem's error classes.

    OSError and SQLite's OperationalError are converted, mostly to DiskFullError. `folder` is the directory of the written files.
    """
    try:
        yield
    except (OSError, sqlite3.OperationalError) as error:
        said = "writing the word index of the new graph (answers use the previous graph; index again)"
        raise refusal(error, said, folder) or DiskFullError(
            f"{said} failed: {error} ({folder}); check the disk and its free space, then try again", path=str(folder)
        ) from error


def may_pass(failure: Exception) -> bool:
    """Return whether an error may be temporary, so that a retry can succeed.

    Examples are a lack of memory or disk space, and a lock held by another process.
    """
    return bool(kind_of(failure)) or isinstance(failure, (DiskFullError, ResourceError, StoreBusyError))


def unread(what: str, failure: Exception | None, folder: Path) -> GraphMemError:
    """Return the error to raise because data could not be read.

    `what` names the data. The message contains the reason from `failure`.
    """
    if isinstance(failure, GraphMemError):
        return type(failure)(f"{what} could not be read from the database: {failure.message}", **failure.facts)
    refused = refusal(failure, f"reading {what}", folder) if failure is not None else None
    return refused or GraphMemError(f"{what} could not be read from the database: {failure}")
