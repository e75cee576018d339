"""`python -m benchmarks` lists all benchmarks; `python -m benchmarks NAME ARGUMENT …` runs one."""

from __future__ import annotations

import ast
import runpy
import sys
from pathlib import Path

HERE = Path(__file__).parent
# Modules of benchmarks that measure nothing themselves.
HELPERS = (
    "__main__",
    "report",
    "browser",
    "outcome_agent",
    "subjects",
    "patroni_nodes",
)


def main(arguments: list[str]) -> int:
    """Run the named benchmark, or list all with their first line."""
    found = {path.stem: path for path in sorted(HERE.glob("*.py")) if path.stem not in HELPERS}
    if not arguments or arguments[0] not in found:
        for name, path in found.items():
            doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            print(f"  {name:<16} {doc.splitlines()[0] if doc else ''}")
        return 2 if arguments else 0
    sys.path.insert(0, str(HERE))
    sys.argv = [str(found[arguments[0]]), *arguments[1:]]
    runpy.run_path(sys.argv[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
