"""Names of a project and of a person in the shared database."""

from __future__ import annotations

import getpass
import uuid
from pathlib import Path
from typing import Final

from graphmem.errors import BadInputError, GitError
from graphmem.runtime import git

MAX_CHARACTERS: Final = 200


def project_key(root: Path | None) -> str:
    """Return the key by which all clones of a project find each other.

    The key is the first commit of the repository. For a subdirectory, the path is added. A shallow clone or a directory without commits
    gets a random key. Other people must then pass that key with `--key`.
    """
    if root is not None:
        try:
            if git.run(root, "rev-parse", "--is-shallow-repository").strip() == b"false":
                first = git.run(root, "rev-list", "--max-parents=0", "HEAD").decode().split()
                below = git.run(root, "rev-parse", "--show-prefix").decode("utf-8", "surrogateescape").strip().rstrip("/")
                return checked_key(f"git:{min(first)}" + (f":{below}" if below else ""))
        except (GitError, BadInputError, ValueError):  # no repository, or nothing committed
            pass
    return f"id:{uuid.uuid4()}"


def checked_key(key: str) -> str:
    """Check the key of a project in the shared database, and return it.

    Raises:
        BadInputError: the key is empty, too long, or contains spaces or control characters.
    """
    if not 0 < len(key) <= MAX_CHARACTERS or not key.isprintable() or " " in key:
        raise BadInputError(
            f"invalid project key {key[:60]!r}; use 1 to {MAX_CHARACTERS} characters without spaces", argument="key", value=key[:200]
        )
    return key


def person_of(root: Path | None, configured: str) -> str:
    """Return the name under which others see changes by this machine's user.

    The name is the configured name, or else Git's name and address, or else the login.
    """
    if configured.strip():
        return _plain(configured)
    said = []
    for key in ("user.name", "user.email"):
        try:
            said.append(git.run(root or Path.cwd(), "config", "--get", key).decode("utf-8", "replace").strip())
        except GitError:
            said.append("")
    name, address = said
    if name or address:
        return _plain(f"{name} <{address}>" if name and address else name or address)
    try:
        return _plain(getpass.getuser())
    except (OSError, KeyError):  # a container without an entry for its user
        return "unknown"


def _plain(name: str) -> str:
    return "".join(one if one.isprintable() else " " for one in name).strip()[:MAX_CHARACTERS] or "unknown"
