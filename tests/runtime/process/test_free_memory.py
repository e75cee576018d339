"""Free memory is that of the machine, or less where a control group limits it."""

from __future__ import annotations

import pytest

from graphmem.runtime.process import free_memory as module
from graphmem.runtime.process.free_memory import free_memory

GIB = 1 << 30


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Eight free gibibytes; write other files of the system below the folder."""
    for name in ("_MEMINFO", "_GROUPS"):
        monkeypatch.setattr(module, name, tmp_path / name)
    monkeypatch.setattr(module, "_MOUNT", tmp_path / "mount")
    (tmp_path / "_MEMINFO").write_text(f"MemTotal: 99999999 kB\nMemAvailable: {8 * GIB >> 10} kB\n")
    return tmp_path


def group(folder, **files):
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


def test_without_groups_it_is_what_the_machine_has(machine):
    assert free_memory() == 8 * GIB


def test_an_unlimited_group_changes_nothing(machine):
    (machine / "_GROUPS").write_text("0::/a\n")
    group(machine / "mount/a", memory__max="max\n", memory__current="5\n", memory__stat="inactive_file 1\n")
    assert free_memory() == 8 * GIB


def test_the_limit_of_a_group_counts_without_what_can_be_taken_back(machine):
    (machine / "_GROUPS").write_text("0::/a\n")
    group(machine / "mount/a", memory__max=f"{2 * GIB}\n", memory__current=f"{GIB}\n", memory__stat=f"anon 1\ninactive_file {GIB // 4}\n")
    assert free_memory() == 2 * GIB - GIB + GIB // 4


def test_groups_of_the_first_version_count_from_inside_a_container(machine):
    (machine / "_GROUPS").write_text("3:cpu,cpuacct:/x\n4:memory:/of/the/host\n")
    files = {"memory__limit_in_bytes": f"{GIB}\n", "memory__usage_in_bytes": f"{2 * GIB}\n", "memory__stat": "total_inactive_file 0\n"}
    group(machine / "mount/memory", **files)
    assert free_memory() == 0


def test_a_system_that_does_not_say_is_unknown(machine):
    (machine / "_MEMINFO").unlink()
    assert free_memory() is None
