"""Find the target of Cargo, such as a library or a program, of a file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def target_of(parts: Sequence[str], library: str | None, program: str | None) -> tuple[str, list[str]]:
    """Return the option that selects the target of a file, and its modules.

    A module belongs to the library unless only `main.rs` declares it.

    Args:
        parts: path of the file below `src`, without its suffix.
        library: the text of `src/lib.rs`; None without the file.
        program: the text of `src/main.rs`; None without the file.
    """
    if parts[0] == "bin" and len(parts) > 1:
        return f"--bin {parts[1]}", [one for one in parts[2:] if one not in ("mod", "main")]
    modules = [one for one in parts if one not in ("mod", "lib", "main")]
    if not modules:
        return ("--bins" if parts[0] == "main" else "--lib"), modules
    declared = re.compile(rf"\bmod\s+{re.escape(modules[0])}\b")
    in_library = library is not None and (declared.search(library) or not declared.search(program or ""))
    return ("--lib" if in_library or (library is None and program is None) else "--bins"), modules
