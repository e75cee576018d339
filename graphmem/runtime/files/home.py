"""The home directory of the account that runs the process."""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """Return the home directory of the account that runs the process.

    An account without one, such as a container's user without an entry in the list of accounts, gets a path in which nothing can exist.
    So its files are missing, and writing one is refused.
    """
    try:
        return Path.home()
    except RuntimeError:  # HOME is not set, and the account is not listed
        return Path(os.devnull)
