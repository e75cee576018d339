"""Show addresses of PostgreSQL databases without secrets."""

from __future__ import annotations

import re
from typing import Final

SCHEMES: Final = ("postgresql://", "postgres://")
_SHOWN: Final = ("host", "port", "dbname", "user", "sslmode", "target_session_attrs")  # options that never hold a secret


def shown(url: str) -> str:
    """Return a database address for display, without its password.

    Of the options after `?`, only those that never contain a secret are kept.
    """
    if not url.startswith(SCHEMES):
        return "an invalid address" if url else ""
    start, _, rest = url.partition("//")
    rest, _, options = rest.partition("?")
    head, at, place = rest.rpartition("@")
    person = re.split("[:/]", head)[0]
    if not at and "@" in options:  # the question mark may be of the password
        return f"{start}//{re.split('[:/]', rest)[0]}"
    kept = "&".join(one for one in options.split("&") if one.partition("=")[0] in _SHOWN)
    return f"{start}//{person}{at}{place}" + (f"?{kept}" if kept else "")
