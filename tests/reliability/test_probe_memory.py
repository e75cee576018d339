"""A database that would take all memory of the machine to read is damaged, and the process that finds out stays small."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from graphmem.store import probe

PROGRAM = """
import sys
from graphmem.store import probe

def greedy(*_):
    held = []
    while True:
        held.append(bytearray(64 << 20))

probe._read = greedy
raise SystemExit(probe.main("kuzu", sys.argv[1], "0", str(1 << 30)))
"""


def test_a_probe_ends_itself_before_it_takes_the_machine_s_memory(tmp_path: Path) -> None:
    file = tmp_path / "graph.db"
    file.write_bytes(b"x" * 4096)
    ran = subprocess.run([sys.executable, "-c", PROGRAM, str(file)], capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == probe.DAMAGED
    assert "memory" in ran.stdout
