"""Parse imports of Scala that bind several names, such as `a.{b, c}`."""

from __future__ import annotations

import re
from typing import Final

from graphmem.parsing.facts import Import
from graphmem.parsing.languages import Helper

_RENAMED: Final = re.compile(r"\s*(?:=>|\bas\b)\s*")


class ScalaHelper(Helper):
    """Parses imports of Scala that bind several names, such as `a.{b, c}`."""

    def module(self, text: str) -> str:
        """Return the source of an import on one line, without the word `import`."""
        return " ".join(text.removeprefix("import ").split())

    def imports(self, found: Import) -> tuple[Import, ...]:
        """Return one import for each name of `import a.{B, C => D, _}`.

        The wildcard `_` imports all other names of `a`.
        """
        if found.kind == "package":
            return (found._replace(module=found.module.replace(" ", "")),)
        path, _, braces = found.module.partition("{")
        module = path.rstrip(" .").replace(" ", "")
        if not braces:
            module, _, last = module.rpartition(".")
            return (_taken(found, module, last),)
        return tuple(_taken(found, module, part.strip()) for part in braces.rpartition("}")[0].split(",") if part.strip())


def _taken(found: Import, module: str, part: str) -> Import:
    """Return the import of the name `part` from the package `module`.

    `found` is the whole import statement. `part` may be renamed, as in `C => D`. The wildcards `_` and `*` stand for all names of the
    package.
    """
    if part in ("_", "*"):
        return found._replace(module=module, name="*", alias="")
    name, *renamed = _RENAMED.split(part)
    alias = renamed[0] if renamed else name
    return found._replace(module=f"{module}.{name}" if module else name, name="", alias="" if alias == "_" else alias)


HELPER = ScalaHelper()
