"""Only `runtime.process.system` uses what one of the operating systems lacks."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphmem
from posix_names import MODULES, posix_only

PACKAGE = Path(graphmem.__file__).parent
ROOM = PACKAGE / "runtime" / "process" / "system.py"
OF_ONE_SYSTEM = {
    *("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "posix", "curses", "readline"),
    *("msvcrt", "_winapi", "winreg", "winsound"),
}
OF_A_PROCESS = {
    *("preexec_fn", "pass_fds", "process_group", "start_new_session", "user", "group", "extra_groups"),
    *("creationflags", "startupinfo"),
}
"""Options of `subprocess` that mean something on one system alone."""
ALLOWED = {
    ("__init__.py", "import resource"): "on POSIX alone; no other module may be loaded there",
    ("indexing/resolving.py", "pass_fds"): "asked only where processes can fork",
    ("sharing/local_postgres.py", "user"): "None but for the superuser, whom Windows does not have",
    ("sharing/local_postgres.py", "group"): "the same",
    ("sharing/local_postgres.py", "extra_groups"): "the same",
}


def of_one_system(tree: ast.Module) -> Iterator[str]:
    """Everything in a source that an operating system lacks."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (f"import {name.name}" for name in node.names if name.name.partition(".")[0] in OF_ONE_SYSTEM)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            module = node.module or ""
            if module.partition(".")[0] in OF_ONE_SYSTEM:
                yield f"import {module}"
            elif module in MODULES:
                yield from (f"{module}.{name.name}" for name in node.names if name.name in posix_only(module))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in MODULES:
            module = node.value.id
            # `os.kill` of Windows ends the process, whatever the signal.
            if node.attr in posix_only(module) or (module, node.attr) == ("os", "kill"):
                yield f"{module}.{node.attr}"
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("subprocess.Popen", "subprocess.run"):
            yield from (word.arg for word in node.keywords if word.arg in OF_A_PROCESS)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import fcntl", ["import fcntl"]),
        ("def f():\n    from pwd import getpwnam", ["import pwd"]),
        ("import os\nos.getuid()", ["os.getuid"]),
        ("from os import fork", ["os.fork"]),
        ("import os\nFLAGS = os.O_RDONLY | os.O_CLOEXEC", ["os.O_CLOEXEC"]),
        ("import signal\nsignal.signal(signal.SIGTERM, f)\nsignal.signal(signal.SIGHUP, f)", ["signal.SIGHUP"]),
        ("import os\nos.kill(pid, 0)", ["os.kill"]),
        ("import socket\nsocket.socket(socket.AF_UNIX)", ["socket.AF_UNIX"]),
        ("import subprocess\nsubprocess.run(command, preexec_fn=f, check=True)", ["preexec_fn"]),
        ("import os\nos.replace(a, b)\nos.open(a, os.O_RDONLY)", []),
    ],
)
def test_the_scan_finds_what_windows_lacks(source, found):
    assert list(of_one_system(ast.parse(source))) == found


def test_only_one_module_depends_on_the_operating_system():
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if path == ROOM:
            continue
        name = path.relative_to(PACKAGE).as_posix()
        found += [f"{name}: {one}" for one in of_one_system(ast.parse(path.read_text(encoding="utf-8"))) if (name, one) not in ALLOWED]
    assert found == []


def test_every_exception_is_still_needed():
    sources = {name: (PACKAGE / name).read_text(encoding="utf-8") for name, _ in ALLOWED}
    assert [one for one in ALLOWED if one[1] not in of_one_system(ast.parse(sources[one[0]]))] == []


def test_the_one_module_needs_no_missing_name_on_windows():
    """What it imports and uses outside of a condition on the system exists everywhere."""
    source = ROOM.read_text(encoding="utf-8")
    assert "sys.platform" in source
    outside = [one for one in ast.parse(source).body if isinstance(one, (ast.Import, ast.ImportFrom, ast.AnnAssign, ast.Assign))]
    assert list(of_one_system(ast.Module(outside, []))) == []
