"""Decide whether to trust the server that an `owner.json` names.

The file is in the project directory, so another person may have made it. A malicious `owner.json` in a repository could name an attacker's
server. That server would get a person's texts, and the agent would get the server's answers. A copy of a project has the `owner.json` of
the original. Without a check, the original's server would answer for the copy.
"""

from __future__ import annotations

import re
import socket

# graphmem writes an IP address or `localhost`. Another name could mean another machine at the next look-up.
_ADDRESS = re.compile(r"http://(?:\[([0-9A-Fa-f:.]+(?:%[\w.-]+)?)\]|([0-9.]+)|(localhost)):([0-9]{1,5})")


def is_stopped(pid: int, started: str) -> bool:
    """Whether a process is stopped (Ctrl-Z, SIGSTOP) and cannot answer.

    Args:
        pid: number of the process.
        started: boot id and start time of the process, which differ if the number was reused; see `graphmem.server.owner`.
    """
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 -- hooks do without pathlib
            fields = file.read().rpartition(")")[2].split()  # the name in parentheses may hold anything
    except OSError:
        return False
    return fields[0] == "T" and fields[19] == started.rpartition(":")[2]


def is_here(address: str) -> bool:
    """Whether `http://host:port` is an address of this machine.

    To check, the process binds the address, which is possible only for a local one. Nothing is sent over the network.
    """
    found = _ADDRESS.fullmatch(address)
    if found is None:
        return False
    if found[3]:
        return True
    try:
        family, kind, _, _, place = socket.getaddrinfo(found[1] or found[2], 0, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)[0]
        with socket.socket(family, kind) as probe:
            probe.bind(place)
    except OSError:
        return False
    return True
