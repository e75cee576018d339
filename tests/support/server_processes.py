"""Processes of `graphmem serve --projects` over one directory, also of a newer graphmem."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import graphmem


class Servers:
    """Processes of `graphmem serve --projects` over one directory."""

    def __init__(self, folder: Path, environ: Mapping[str, str], store: str = "") -> None:
        self.folder, self._environ = folder, environ
        self._command = [sys.executable, "-m", "graphmem", "serve", "--quiet", "--projects", str(folder)]
        self._command += ["--store", store] if store else []
        self.running: dict[str, subprocess.Popen[str]] = {}

    def start(self, port: int = 0, **more: str) -> str:
        command = [*self._command, "--port", str(port)]
        process = subprocess.Popen(
            command, env={**self._environ, **more}, cwd=self.folder.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http"), process.communicate(timeout=30)
        self.running[address] = process
        return address

    def kill(self, address: str) -> None:
        process = self.running.pop(address)
        process.kill()
        process.communicate(timeout=30)

    def end(self) -> list[str]:
        """End all servers; return their complaints."""
        for process in self.running.values():
            process.send_signal(signal.SIGTERM)
        return [process.communicate(timeout=30)[1] for process in self.running.values()]


def newer_graphmem(folder: Path) -> dict[str, str]:
    """A copy of graphmem with another version and a further migration of graphs in PostgreSQL."""
    source = Path(graphmem.__file__).parents[1]
    unwanted = shutil.ignore_patterns("__pycache__")
    for name in ("graphmem", "queries", "grammars"):
        shutil.copytree(source / name, folder / name, ignore=unwanted)  # no links: the folder may be on another disk
    shutil.copy2(source / "pyproject.toml", folder / "pyproject.toml")
    (folder / "queries/postgres/0099-later.sql").write_text("ALTER TABLE meta ADD COLUMN later TEXT;\n")
    text = (source / "graphmem/__init__.py").read_text()
    (folder / "graphmem/__init__.py").write_text(text.replace(graphmem.__version__, "99.0"))
    return {"PYTHONPATH": str(folder)}
