"""Find files by the end of a path, a file name, a module or a directory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class FileNames:
    """An index that finds file paths by their last parts, or by any folder.

    Args:
        paths: paths of all files, ascending.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._of_part: dict[str, list[str]] = {}  # by base name, base name up to the first dot, and name of each parent directory
        for path in paths:
            *folders, name = path.split("/")
            for part in {name, name.partition(".")[0], *folders}:
                self._of_part.setdefault(part, []).append(path)

    def ending(self, parts: Sequence[str]) -> tuple[list[str], int]:
        """Return the files whose paths share the longest end with a given path.

        The second value is the number of shared parts. For the given path `/home/a/app/base.py` and the file `app/base.py`, the number is
        2. The result is ([], 0) if no file has the given file name.

        Args:
            parts: the given path, split into its parts.
        """
        name = parts[-1] if parts else ""
        named = self._of_part.get(name, [])
        if len(parts) > 1:
            beside = self._of_part.get(parts[-2], [])
            end = f"/{parts[-2]}/{name}"
            near = [path for path in min(named, beside, key=len) if f"/{path}".endswith(end)]
            shared = {path: _shared(path.split("/"), parts) for path in near}
            if shared:
                most = max(shared.values())
                return [path for path, same in shared.items() if same == most], most
        found = [path for path in named if path.rpartition("/")[2] == name]
        return found, 1 if found else 0

    def files_named(self, place: str) -> list[str]:
        """Return the files that `place` names by path, module or directory.

        The paths are in ascending order. `place` is tried as the end of a path such as "app/base.py", then as a module such as "app.base"
        or "base", then as a directory. The first interpretation that finds files is used.
        """
        parts = place.split("/") if "/" in place else place.split(".")
        end, stem_end = f"/{place}", f"/{'/'.join(parts)}"
        whole = [path for path in self._of_part.get(place.rpartition("/")[2], ()) if f"/{path}".endswith(end)]
        if whole or not parts[-1]:
            return whole
        held = self._of_part.get(parts[-1], ())
        stems = [path for path in held if f"/{_stem(path)}".endswith(stem_end)]
        return stems or [path for path in held if f"{stem_end}/" in f"/{path}"]


def _shared(left: Sequence[str], right: Sequence[str]) -> int:
    """Return the number of common last parts of two paths.

    For `a/b/c` and `x/b/c`, given by their parts, it is 2.
    """
    same = 0
    while same < min(len(left), len(right)) and left[-1 - same] == right[-1 - same]:
        same += 1
    return same


def _stem(path: str) -> str:
    """Return a path without extensions: `app/page.test.ts` gives `app/page`."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}{name.partition('.')[0]}"
