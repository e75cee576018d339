"""Create a database from a dump in a separate process.

Usage: `python -m graphmem.store.file.dump_process`.

An engine that fills a file keeps hundreds of megabytes, and a crash of the engine ends the
process. A server that checks a backup must avoid both. The process reads one JSON object with the arguments of `read_dump` from standard
input. The process prints one JSON object, with the key `meta`, or with the keys `error`, `message` and `facts`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from graphmem import errors
from graphmem.errors import DatabaseDamagedError, GraphMemError
from graphmem.store.file.dump import read_dump

_SEEN: Final = 300  # last characters of a process's output that are reported if it ended otherwise


def read_dump_in_process(folder: Path, path: Path, engine: str, buffer_pool_bytes: int, max_db_bytes: int) -> dict[str, str]:
    """Run `read_dump` in a child process, to isolate memory and crashes.

    For the arguments, see `read_dump`. Returns the metadata of the dumped database, such as its project, as `read_dump` does.

    Raises:
        DatabaseDamagedError: see `read_dump`; also if the engine ended the child process.
        SchemaTooNewError, DiskFullError, LimitError: see `read_dump`.
    """
    request = {
        "folder": str(folder),
        "path": str(path),
        "engine": engine,
        "buffer_pool_bytes": buffer_pool_bytes,
        "max_db_bytes": max_db_bytes,
    }
    command = [sys.executable, "-P", "-m", "graphmem.store.file.dump_process"]
    done = subprocess.run(command, input=json.dumps(request), capture_output=True, text=True, check=False)
    if done.returncode:
        how = f"signal {-done.returncode}" if done.returncode < 0 else f"code {done.returncode}"
        said = done.stderr.strip()[-_SEEN:]
        raise DatabaseDamagedError(
            f"creating a database from the backup's tables failed with {how}{f' ({said})' if said else ''}; use another backup",
            path=str(folder),
            reason=how,
        )
    answer: dict[str, Any] = json.loads(done.stdout)
    if "error" in answer:
        raise getattr(errors, answer["error"])(answer["message"], **answer["facts"])
    meta: dict[str, str] = answer["meta"]
    return meta


def main() -> int:
    """Run `read_dump` with the arguments on standard input; print the result.

    Always return 0.
    """
    request = json.load(sys.stdin)
    try:
        meta = read_dump(
            Path(request["folder"]), Path(request["path"]), request["engine"], request["buffer_pool_bytes"], request["max_db_bytes"]
        )
        answer: dict[str, Any] = {"meta": meta}
    except GraphMemError as error:
        answer = {"error": type(error).__name__, "message": error.message, "facts": error.facts}
    sys.stdout.write(json.dumps(answer, default=str))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
