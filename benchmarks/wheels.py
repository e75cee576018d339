"""Wheels of every dependency for Linux, macOS and Windows.

    python -m benchmarks wheels

The program follows the requirements of the base installation and of the extra `lsp`, with the markers of each system and Python. It asks
pip for a wheel of each (`pip install --dry-run --only-binary :all:`) in the version of the constraints file. If that version has none, it
asks for any version that the requirements allow. It needs the package index of pip, and installs nothing. The exit code is 1 if a package
has no wheel.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from importlib.metadata import requires
from pathlib import Path

import report
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "benchmarks" / "results" / "wheels.json"
PYTHONS = ("3.11", "3.12", "3.13")
SYSTEMS = {  # name: pip's platforms (the newest tag first), markers
    "Linux x86-64": (
        ("manylinux_2_34_x86_64", "manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
        {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix", "platform_machine": "x86_64"},
    ),
    "macOS arm64": (
        (
            "macosx_14_0_arm64",
            "macosx_13_0_arm64",
            "macosx_12_0_arm64",
            "macosx_11_0_arm64",
            "macosx_11_0_universal2",
            "macosx_10_9_universal2",
        ),
        {"sys_platform": "darwin", "platform_system": "Darwin", "os_name": "posix", "platform_machine": "arm64"},
    ),
    "macOS x86-64": (
        ("macosx_13_0_x86_64", "macosx_12_0_x86_64", "macosx_11_0_x86_64", "macosx_10_12_x86_64", "macosx_10_9_universal2"),
        {"sys_platform": "darwin", "platform_system": "Darwin", "os_name": "posix", "platform_machine": "x86_64"},
    ),
    "Windows x86-64": (
        ("win_amd64",),
        {"sys_platform": "win32", "platform_system": "Windows", "os_name": "nt", "platform_machine": "AMD64"},
    ),
}


def wanted(markers: dict[str, str]) -> dict[str, str]:
    """Return the packages that the base installation and `lsp` need.

    The values are requirements with the allowed versions.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    open_ones = [(Requirement(one), "") for one in [*project["dependencies"], *project["optional-dependencies"]["lsp"]]]
    found: set[tuple[str, str]] = set()
    allowed: dict[str, set[str]] = {}
    while open_ones:
        requirement, extra = open_ones.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({**markers, "extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        allowed.setdefault(name, set()).update(map(str, requirement.specifier))
        for asked in ("", *sorted(requirement.extras)):
            if (name, asked) not in found:
                found.add((name, asked))
                try:
                    said = requires(name) or []
                except ModuleNotFoundError:  # a package of other systems only
                    said = []
                open_ones += [(Requirement(one), asked) for one in said]
    return {name: name + ",".join(sorted(allowed[name])) for name in sorted(allowed)}


def wheels(names: list[str], python: str, platforms: tuple[str, ...], *, pinned: bool) -> dict[str, str]:
    """Return the file name of the wheel of each package that has one."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "report.json"
        command = [
            *(sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--ignore-installed", "--no-deps", "--only-binary", ":all:"),
            *("--python-version", python, "--implementation", "cp", "--target", folder, "--report", str(answer)),
            *(word for one in platforms for word in ("--platform", one)),
            *(("--constraint", str(ROOT / "requirements" / "constraints.txt")) if pinned else ()),
        ]
        done = subprocess.run([*command, *names], capture_output=True, text=True, check=False)
        if done.returncode:
            if len(names) == 1:
                return {}
            half = len(names) // 2  # find the ones without a wheel
            return {**wheels(names[:half], python, platforms, pinned=pinned), **wheels(names[half:], python, platforms, pinned=pinned)}
        said = json.loads(answer.read_text(encoding="utf-8"))["install"]
    return {canonicalize_name(one["metadata"]["name"]): one["download_info"]["url"].rsplit("/", 1)[-1] for one in said}


def main() -> None:
    """Ask pip, print a table and write the result."""
    out = report.parser(__doc__).parse_args().out or RESULT
    rows = []
    for system, (platforms, markers) in SYSTEMS.items():
        for python in PYTHONS:
            own = {**markers, "python_version": python, "python_full_version": f"{python}.0", "implementation_name": "cpython"}
            names = wanted({**own, "platform_python_implementation": "CPython"})
            found = wheels(list(names), python, platforms, pinned=True)
            others = (
                wheels([names[one] for one in names if one not in found], python, platforms, pinned=False)
                if len(found) < len(names)
                else {}
            )
            missing = sorted(names.keys() - found.keys() - others.keys())
            row = {"system": system, "python": python, "packages": len(names), "pinned": len(found), "other": others, "missing": missing}
            rows.append({**row, "wheels": found})
            said = f"{system:16} {python}  {len(names)} packages, {len(found)} in the pinned version"
            print(f"{said}; older: {', '.join(others.values()) or 'none'}; without a wheel: {', '.join(missing) or 'none'}", flush=True)
    out.write_text(json.dumps({"command": "python -m benchmarks wheels", "rows": rows}, indent=1) + "\n", encoding="utf-8")
    raise SystemExit(1 if any(row["missing"] for row in rows) else 0)


if __name__ == "__main__":
    main()
