"""Names of small values that the database stores, such as counters.

The values are counters of changes, the identity of the database, and versions of derived data.
"""

from __future__ import annotations

from typing import Final

OWN: Final = "store."  # prefix of the names that only the store writes
GENERATION: Final = f"{OWN}generation"
DATABASE: Final = f"{OWN}database"
CHECKPOINT: Final = f"{OWN}checkpoint"
KNOWLEDGE: Final = f"{OWN}knowledge"  # counts changes of layer 3; missing before the first

MODULES_OF: Final = "modules_generation"  # the generation of the code that the modules were derived from
FLOWS_OF: Final = "flows_generation"
CO_ACCESSED_OF: Final = "co_accessed"  # the history that the edges between files were derived from
