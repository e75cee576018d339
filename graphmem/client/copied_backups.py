"""Copy backups between a path and the directory of a server's backups.

A server accepts no paths. The client and the server must be on one machine.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from graphmem.errors import BadInputError
from graphmem.location import BACKUPS
from graphmem.runtime.process.limits import disk_refusal


def expect_new(dest: Path) -> None:
    """Check that a backup can be copied to a path.

    Raises:
        BadInputError: `dest` is an existing file.
    """
    if dest.suffix == ".zip" and dest.exists() and not dest.is_dir():
        raise BadInputError(
            f"the backup file {dest} already exists; give the name of a new file, or a directory", argument="dest", path=str(dest)
        )


def move_out(source: Path, dest: Path) -> Path:
    """Move a backup from the server's directory; return its new path.

    Args:
        source: the backup, as the server names it.
        dest: path of the new file, which ends in `.zip`, or a directory.

    Raises:
        BadInputError: the server is probably on another machine.
        DiskFullError, ResourceError: the copy failed; the backup is still at `source`.
    """
    _expect_local(source)
    target = dest
    if target.suffix != ".zip" or target.is_dir():
        target = target / source.name
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    except OSError as error:
        with contextlib.suppress(OSError):
            target.unlink(missing_ok=True)
        elsewhere = f"choose another directory; the backup is at {source}"
        raise disk_refusal(error, "copying the backup", target.parent, elsewhere) from error
    source.unlink()
    return target


@contextlib.contextmanager
def copied_in(file: str | Path, data_dir: Path) -> Iterator[str]:
    """Give the name of a backup in the server's directory to a `with` block.

    A backup that the server does not have is copied into the directory for the time of the block.

    Args:
        file: name of a backup of the server, or path of a file.
        data_dir: the index directory of the server.

    Raises:
        BadInputError: the file was not found, or the server is probably on another machine.
        DiskFullError, ResourceError: the copy failed.
    """
    path = Path(file).expanduser()
    own = data_dir / BACKUPS
    known = own / path.name
    if (path.name == str(file) and not path.exists()) or (known.exists() and path.exists() and known.samefile(path)):
        yield path.name
        return
    if not path.is_file():
        raise BadInputError(f"the backup {path} was not found; choose one from `graphmem backup --list`", argument="file", path=str(path))
    _expect_local(data_dir)
    given = own / f"given-{path.name}"
    try:
        own.mkdir(exist_ok=True)
        shutil.copyfile(path, given)
        yield given.name
    except OSError as error:
        raise disk_refusal(error, f"copying {path} to {own}", own) from error
    finally:
        with contextlib.suppress(OSError):
            given.unlink(missing_ok=True)


def _expect_local(path: Path) -> None:
    """Check that a path exists on this machine.

    Raises:
        BadInputError: the path does not exist here; the server is probably on another machine.
    """
    if not path.exists():
        raise BadInputError(
            f"{path} does not exist on this machine, and the server may run on another one; run the command on the server's machine, or "
            "omit the path",
            argument="path",
            path=str(path),
        )
