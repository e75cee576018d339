"""Find the Cargo target of a file, such as a library, program or test."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def target_of(parts: Sequence[str], library: str | None, program: str | None) -> tuple[str, list[str]]:
    """Return the Cargo option that selects a file's target, and its modules.

    The option is that of the library or of the program. A module belongs to the library unless only `main.rs` declares it.

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


class IntegrationTests(NamedTuple):
    """The integration tests of a Cargo package: name by path of the root file.

    Unless `only_listed` is true, Cargo takes each file `tests/NAME.rs` and `tests/NAME/main.rs` for the root of a test.
    """

    roots: Mapping[str, str]
    only_listed: bool

    def at(self, path: str) -> str:
        """Return the name of the test whose root is a file; "" for others."""
        parts = PurePosixPath(path).with_suffix("").parts
        is_root = not self.only_listed and (len(parts) == 2 or (len(parts) == 3 and parts[2] == "main"))
        return self.roots.get(path, parts[1] if is_root else "")


def tests_of(folder: Path, manifest: str, endings: Sequence[str]) -> IntegrationTests:
    """Return the integration tests of a package.

    Args:
        folder: the directory of the package.
        manifest: the text of its `Cargo.toml`.
        endings: the ends of the names of source files.
    """
    try:
        document: dict[str, Any] = tomllib.loads(manifest)
    except (ValueError, RecursionError):
        document = {}
    tests, package = document.get("test"), document.get("package")
    listed = [one for one in tests if isinstance(one, dict) and "name" in one] if isinstance(tests, list) else []
    found = {str(one.get("path", f"tests/{one['name']}{endings[0]}")): str(one["name"]) for one in listed}
    only_listed = isinstance(package, dict) and package.get("autotests") is False
    if not only_listed:
        beside = [path for ending in endings for path in folder.glob(f"tests/*{ending}")]
        inside = [path for ending in endings for path in folder.glob(f"tests/*/main{ending}")]
        roots = [*((path.stem, path) for path in beside), *((path.parent.name, path) for path in inside)]
        for name, path in sorted(roots):
            found.setdefault(path.relative_to(folder).as_posix(), name)
    return IntegrationTests(found, only_listed)


def test_of(path: str, tests: IntegrationTests, read: Callable[[str], str]) -> tuple[str, list[str]] | None:
    """Return the integration test to which a file belongs, and its modules.

    A file that is not a root belongs to the first test that declares it with `mod`, as `mod common;` declares `tests/common/mod.rs`. The
    result is None if no test declares it.

    Args:
        path: the file, below the directory of the package.
        tests: the integration tests of the package.
        read: returns the text of a file of the package; "" if it is missing.
    """
    if tests.at(path):
        return tests.at(path), []
    own: list[tuple[str, list[str]]] = []
    for root, name in tests.roots.items():
        folder = PurePosixPath(root).parent
        if PurePosixPath(path).is_relative_to(folder):
            modules = [one for one in PurePosixPath(path).relative_to(folder).with_suffix("").parts if one != "mod"]
            if modules and re.search(rf"\bmod\s+{re.escape(modules[0])}\b", read(root)):
                return name, modules
            if PurePosixPath(root).stem == "main":  # a macro may declare its modules
                own.append((name, modules))
    return own[0] if own else None
