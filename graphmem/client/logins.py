"""Store the user's tokens for servers of many projects, in a file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from graphmem.client.connecting import checked_server
from graphmem.client.remote import TIMEOUT_S
from graphmem.client.wire import Wire
from graphmem.location import user_data_dir
from graphmem.runtime.files.replacing import replace_file
from graphmem.runtime.process import system
from graphmem.runtime.process.limits import disk_refusal

FILE: Final = "servers.json"


def join(address: str, code: str, machine: str) -> tuple[str, Path]:
    """Exchange an invitation for a token, and store the token.

    Args:
        address: address of the server.
        code: code of the invitation.
        machine: name of this machine, which names the token.

    Returns:
        The login of the person, and the file with the token.

    Raises:
        GraphMemError: the server refuses, or cannot be reached.
        DiskFullError: the token cannot be written.
    """
    checked = checked_server(address, code)
    answer = Wire(checked, "", TIMEOUT_S).plain("/join", {"code": code, "name": machine})
    return str(answer["login"]), _keep(checked, str(answer["token"]))


def token_for(address: str) -> str:
    """Return the stored token for a server; "" if there is none.

    Scheme, host and port of `address` must be the same as when the token was stored.
    """
    try:
        found = json.loads(_file().read_text(encoding="utf-8"))
        return str(found["servers"].get(_origin(address), ""))
    except (OSError, ValueError, KeyError, AttributeError):  # none, or unreadable: the server tells that it needs one
        return ""


def _keep(address: str, token: str) -> Path:
    file = _file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.with_name(f"{FILE}.lock").open("a") as lock:
            system.lock(lock.fileno(), wait=True)
            try:
                known = dict(json.loads(file.read_text(encoding="utf-8"))["servers"])
            except (FileNotFoundError, ValueError, KeyError, TypeError):
                known = {}
            known[_origin(address)] = token
            replace_file(file, (json.dumps({"servers": known}, indent=2) + "\n").encode(), durable=True)
    except OSError as error:
        raise disk_refusal(error, "keeping the token of a server", file) from error
    return file


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}".lower()


def _file() -> Path:
    return user_data_dir(os.environ) / "graphmem" / FILE
