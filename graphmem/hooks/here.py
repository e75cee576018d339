"""Whether an address is this machine's own. The file that names a server lies in the project, and a project may be a stranger's.

A repository can bring an `owner.json` of its own. Followed blindly, it would send what a person says to whoever wrote it, and put that
one's words in front of the agent.
"""

from __future__ import annotations

import re
import socket

# As graphmem writes it: an address or `localhost`. A name could mean another machine at the next look-up.
_ADDRESS = re.compile(r"http://(?:\[([0-9A-Fa-f:.]+(?:%[\w.-]+)?)\]|([0-9.]+)|(localhost)):([0-9]{1,5})")


def is_here(address: str) -> bool:
    """Whether `http://host:port` is on this machine. Asks the kernel, never the network: only an own address can be bound."""
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
