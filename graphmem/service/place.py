"""The directory of an index."""

from __future__ import annotations

from pathlib import Path

from graphmem.errors import BadInputError


def prepare_data_dir(data_dir: Path) -> None:
    """Make the directory of an index, hidden from git.

    Raises:
        BadInputError: the system refused.
    """
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        ignore = data_dir / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise BadInputError(
            f"cannot make {data_dir}: {error.strerror or error}; name a directory you may write to with --db",
            argument="db",
            path=str(data_dir),
        ) from error
