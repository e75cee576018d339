"""The marked block of text that graphmem writes into instruction files.

Coding agents read instruction files, such as CLAUDE.md. `graphmem install` writes the block, and `graphmem uninstall` removes it. When
memories are imported from an instruction file, the block is skipped.
"""

from __future__ import annotations

import re
from typing import Final

BEGIN: Final = "<!-- >>> graphmem: written by `graphmem install`, removed by `graphmem uninstall` >>> -->"
END: Final = "<!-- <<< graphmem <<< -->"
_BLOCK: Final = re.compile(rf"<!-- >>> graphmem:[^\n]*>>> -->.*?{re.escape(END)}", re.DOTALL)


def without_own_block(text: str) -> str:
    """Return a file's text without the marked block that graphmem wrote.

    The other lines keep their numbers.
    """
    return _BLOCK.sub(lambda found: "\n" * found[0].count("\n"), text)
