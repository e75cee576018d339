"""Prints the pins of everything installed beside graphmem, for requirements/constraints.txt.

torch is left out: which build of it fits is the machine's choice (see TORCH in the Makefile), and so are
the libraries that only some builds bring.
"""

from __future__ import annotations

import importlib.metadata
import re

LEFT_OUT = re.compile(r"graphmem|torch|triton|nvidia-.*|cuda-.*|pip|setuptools|wheel", re.IGNORECASE)
HEADER = """\
# Exact versions that were tested together. `make` installs with them; `pip install .` resolves by pyproject.toml alone.
# Written by `make pins`.
"""


def main() -> None:
    """Print the file."""
    found = {
        re.sub(r"[-_.]+", "-", one.name).lower(): one.version
        for one in importlib.metadata.distributions()
        if not LEFT_OUT.fullmatch(re.sub(r"[-_.]+", "-", one.name))
    }
    print(HEADER, end="")  # noqa: T201
    for name, version in sorted(found.items()):
        print(f"{name}=={version.partition('+')[0]}")  # noqa: T201


if __name__ == "__main__":
    main()
