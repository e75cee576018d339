"""The marked block that graphmem writes into files of instructions.

`graphmem install` writes the block, and `graphmem uninstall` removes it. An import of the file ignores it.
"""

from __future__ import annotations

import re
from typing import Final

BEGIN: Final = "<!-- >>> graphmem: written by `graphmem install`, removed by `graphmem uninstall` >>> -->"
END: Final = "<!-- <<< graphmem <<< -->"
_BLOCK: Final = re.compile(rf"<!-- >>> graphmem:[^\n]*>>> -->.*?{re.escape(END)}", re.DOTALL)


def without_own_block(text: str) -> str:
    """Return a text without the block; the other lines keep their numbers."""
    return _BLOCK.sub(lambda found: "\n" * found[0].count("\n"), text)
