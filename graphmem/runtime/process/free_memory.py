"""Measure the memory that this process and its children can still use."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_MEMINFO: Final = Path("/proc/meminfo")
_GROUPS: Final = Path("/proc/self/cgroup")
_MOUNT: Final = Path("/sys/fs/cgroup")
# Of the two versions of control groups: limit, use, and the line of memory.stat with pages that the system takes back first.
_FILES: Final = {
    "": ("memory.max", "memory.current", "inactive_file"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}


def free_memory() -> int | None:
    """Return the bytes that can be used without swapping; None if unknown.

    The result is the smaller of two numbers. One is the free memory of the machine. The other is the free part of the memory limit of a
    control group, such as a container.
    """
    free = _of_machine()
    if free is None:
        return None
    try:
        lines = _GROUPS.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return free
    for line in lines:
        controllers, _, path = line.partition(":")[2].partition(":")
        for version, names in _FILES.items():
            if version in controllers.split(","):
                mount = _MOUNT / version
                # A container often sees its own group as the root.
                left = (_of_group(folder, names) for folder in (mount / path.lstrip("/"), mount))
                free = min([free, *(one for one in left if one is not None)])
    return free


def _of_group(folder: Path, names: tuple[str, str, str]) -> int | None:
    limit, used, reclaimable = names
    try:
        most = (folder / limit).read_text(encoding="ascii").strip()
        if most == "max":
            return None
        taken = int((folder / used).read_text(encoding="ascii"))
        stat = dict(line.split() for line in (folder / "memory.stat").read_text(encoding="ascii").splitlines())
        return max(0, int(most) - taken + int(stat.get(reclaimable, 0)))
    except (OSError, ValueError):
        return None


def _of_machine() -> int | None:
    try:
        for line in _MEMINFO.read_text(encoding="ascii").splitlines():
            name, _, value = line.partition(":")
            if name == "MemAvailable":
                return int(value.split()[0]) << 10
    except (OSError, ValueError, IndexError):
        pass
    return None
