"""Names of the standard library that Windows lacks, as the type checker's stubs declare them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import mypy

STUBS = Path(mypy.__file__).parent / "typeshed" / "stdlib"
MODULES = ("os", "signal", "socket", "select", "selectors", "time", "errno", "mmap", "shutil", "subprocess", "multiprocessing")
OLDEST = (3, 11)  # Python that graphmem runs on


@cache
def posix_only(module: str) -> frozenset[str]:
    """Names of a module that exist on Linux or macOS and not on Windows."""
    file = STUBS / f"{module}.pyi"
    tree = ast.parse((file if file.exists() else STUBS / module / "__init__.pyi").read_text(encoding="utf-8"))
    elsewhere = _names(tree.body, "linux") | _names(tree.body, "darwin")
    return frozenset(name for name in elsewhere - _names(tree.body, "win32") if not name.startswith("__"))


def _names(body: list[ast.stmt], platform: str) -> set[str]:
    found: set[str] = set()
    for one in body:
        if isinstance(one, ast.If):
            known = {"sys": SimpleNamespace(platform=platform, version_info=OLDEST), "TYPE_CHECKING": True}
            is_so = eval(compile(ast.Expression(one.test), "stub", "eval"), known)
            found |= _names(one.body if is_so else one.orelse, platform)
        elif isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(one.name)
        elif isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            found.add(one.target.id)
        elif isinstance(one, ast.Assign):
            found |= {name.id for name in one.targets if isinstance(name, ast.Name)}
        elif isinstance(one, (ast.Import, ast.ImportFrom)):
            found |= {name.asname or name.name for name in one.names}
    return found
