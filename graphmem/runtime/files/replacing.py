"""Replace a file atomically: a reader sees the old or the new content."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def replace_file(path: Path, content: bytes, *, mode: int | None = None, durable: bool = False) -> None:
    """Write a new file next to `path`, and rename it to `path`.

    After a failure `path` is unchanged and the new file is removed. The name of the new file begins with "." and the stem of `path`.

    Args:
        path: the file, in an existing directory.
        content: the whole content.
        mode: permission bits; None for 0600 (only the owner).
        durable: wait until the content is on the disk.

    Raises:
        OSError: the file cannot be written.
    """
    descriptor, name = tempfile.mkstemp(prefix=f".{path.stem}-", dir=path.parent)  # created with mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        if mode is not None:
            Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
