"""Parsing in worker processes gives what parsing here gives, and survives what a file can do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from graphmem.errors import IndexCancelledError, IndexingError
from graphmem.parsing import pool
from graphmem.parsing.discovery import FoundFile, discover
from graphmem.parsing.packing import ParsedFile
from graphmem.parsing.pool import SMALL_SET, default_workers, parse_files
from graphmem.runtime.files.checksums import read_sealed_json
from trees import NETWORKX


@pytest.fixture(scope="module")
def files() -> list[FoundFile]:
    return discover(NETWORKX / "algorithms").files[:150]


def children() -> set[int]:
    """Processes this one has started since the test began."""
    return _children() - _before


def _children() -> set[int]:
    listed = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    return {int(pid) for pid in listed}


_before: set[int] = set()


@pytest.fixture(autouse=True)
def _others() -> None:
    """Earlier tests may have left a process that is none of ours."""
    _before.clear()
    _before.update(_children())


def source_files(folder: Path, count: int, contents: str = "def f():\n    return 1\n") -> list[FoundFile]:
    for number in range(count):
        (folder / f"m{number:03}.py").write_text(contents)
    return discover(folder).files


def test_workers_say_what_this_process_would_say(files):
    assert len(files) >= SMALL_SET
    here = {
        parsed.facts.path: (parsed.facts, parsed.chunks)
        for part in (files[:60], files[60:120], files[120:])
        for parsed in parse_files(part, project="p")
    }
    there = {parsed.facts.path: parsed for parsed in parse_files(files, project="p", workers=2)}
    assert sorted(there) == [file.path for file in files]
    assert {path: (parsed.facts, parsed.chunks) for path, parsed in there.items()} == here


def test_small_sets_start_no_process(files, monkeypatch):
    monkeypatch.setattr(pool.subprocess, "Popen", None)
    assert len(list(parse_files(files[:5], project="p"))) == 5


def test_progress_counts_every_file(files):
    steps = []
    list(parse_files(files, project="p", workers=1, on_progress=steps.append))
    assert [step.done for step in steps] == list(range(1, len(files) + 1))
    assert {(step.stage, step.total) for step in steps} == {("parse", len(files))}


def test_nothing_to_parse_is_nothing():
    assert list(parse_files([], project="p")) == []


def test_a_file_that_kills_its_worker_is_the_only_one_lost(tmp_path, monkeypatch):
    files = source_files(tmp_path, SMALL_SET + 20)
    monkeypatch.setattr(pool, "_BOOT", _boot_that("m050.py", "os.kill(os.getpid(), signal.SIGSEGV)"))
    parsed = {one.facts.path: one for one in parse_files(files, project="p", workers=2)}
    assert len(parsed) == SMALL_SET + 20
    assert parsed["m050.py"].facts.diagnostics == (("error", "crashed", "the parser ended on it (SIGSEGV)", 0),)
    assert parsed["m050.py"].facts.content_hash == files[50].content_hash
    assert [one.qualname for one in parsed["m050.py"].facts.definitions] == ["<module>"]
    assert all(len(one.facts.definitions) == 2 for path, one in parsed.items() if path != "m050.py")


def test_a_file_over_its_time_is_given_up(tmp_path, monkeypatch):
    files = source_files(tmp_path, SMALL_SET)
    # Held inside C code, where no Python signal handler would run.
    monkeypatch.setattr(pool, "_BOOT", _boot_that("m010.py", "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT]); time.sleep(60)"))
    started = time.monotonic()
    parsed = {one.facts.path: one for one in parse_files(files, project="p", workers=1, time_limit_s=1)}
    assert time.monotonic() - started < 20
    assert len(parsed) == SMALL_SET
    assert parsed["m010.py"].facts.diagnostics == (("error", "timeout", "it took longer than 1 seconds to parse", 0),)


def test_a_file_that_waits_for_its_turn_is_kept_and_one_that_computes_too_long_is_given_up(tmp_path, monkeypatch):
    files = source_files(tmp_path, SMALL_SET)
    monkeypatch.setattr(pool, "_BOOT", _boot_that("m010.py", "time.sleep(2)"))
    assert not any(one.facts.diagnostics for one in parse_files(files, project="p", workers=1, time_limit_s=1))
    monkeypatch.setattr(pool, "_BOOT", _boot_that("m010.py", "sum(range(10**10))"))
    parsed = {one.facts.path: one for one in parse_files(files, project="p", workers=1, time_limit_s=1)}
    assert [path for path, one in parsed.items() if one.facts.diagnostics] == ["m010.py"]


@pytest.mark.usefixtures("lenient")
def test_an_exception_on_one_file_is_told_and_contained(tmp_path, monkeypatch):
    files = source_files(tmp_path, SMALL_SET)
    monkeypatch.setattr(pool, "_BOOT", _boot_that("m010.py", "raise RecursionError('too deep')"))
    parsed = {one.facts.path: one for one in parse_files(files, project="p", workers=1)}
    ((severity, code, message, line),) = parsed["m010.py"].facts.diagnostics
    assert (severity, code, line) == ("error", "internal", 0)
    assert message.startswith("reading it failed on it (RecursionError: too deep, ")


def test_an_exception_on_one_file_fails_a_test_that_does_not_expect_it(tmp_path, monkeypatch):
    monkeypatch.setattr(pool, "_BOOT", _boot_that("m010.py", "raise KeyError('x')"))
    with pytest.raises(IndexingError, match=r"m010\.py: KeyError"):
        list(parse_files(source_files(tmp_path, SMALL_SET), project="p", workers=1))


def test_workers_that_cannot_start_are_one_clear_error(tmp_path, monkeypatch):
    monkeypatch.setattr(pool, "_BOOT", "raise ImportError('no such grammar')")
    with pytest.raises(IndexingError, match="no such grammar"):
        list(parse_files(source_files(tmp_path, SMALL_SET), project="p", workers=2))
    assert not children()


def test_cancelling_ends_the_workers_at_once(files):
    seen: list[ParsedFile] = []
    with pytest.raises(IndexCancelledError):
        seen.extend(parse_files(files, project="p", workers=2, cancelled=lambda: len(seen) >= 3))
    assert len(seen) == 3
    assert not children()


def test_leaving_the_loop_ends_the_workers(files):
    results = parse_files(files, project="p", workers=2)
    next(results)
    assert children()
    results.close()
    assert not children()


def test_a_file_that_vanished_or_changed_since_discovery_is_told_as_it_is_now(tmp_path):
    files = source_files(tmp_path, 3)
    (tmp_path / "m000.py").unlink()
    (tmp_path / "m001.py").write_text("x = 1\n")
    parsed = {one.facts.path: one for one in parse_files(files, project="p")}
    assert parsed["m000.py"].facts.diagnostics[0][1] == "unreadable"
    assert parsed["m000.py"].facts.content_hash == ""  # the same bytes, when they come back, are a change
    assert parsed["m001.py"].facts.content_hash != files[1].content_hash
    assert parsed["m002.py"].facts.content_hash == files[2].content_hash


def test_names_of_libraries_in_the_working_directory_are_not_imported(tmp_path, monkeypatch):
    for name in ("json.py", "tree_sitter.py", "graphmem.py", "signal.py"):
        (tmp_path / name).write_text("raise SystemExit('imported from the repository')\n")
    files = source_files(tmp_path, SMALL_SET)
    monkeypatch.chdir(tmp_path)
    assert len(list(parse_files(files, project="p", workers=1))) == len(files)


def test_interrupting_a_script_without_a_main_guard_leaves_no_process_behind(tmp_path):
    source_files(tmp_path, 200, "def f():\n    return 1\n" * 2000)
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
        import signal
        from pathlib import Path
        from graphmem.parsing.discovery import discover
        from graphmem.parsing.pool import parse_files
        # A shell's background job is started with Ctrl-C ignored, and hands that on to what it starts.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        files = discover(Path({str(tmp_path)!r})).files
        for number, parsed in enumerate(parse_files(files, project="p", workers=2)):
            if number == 0:
                children = Path("/proc/self/task").glob("*/children")
                print(" ".join(path.read_text() for path in children), flush=True)
        """)
    )
    process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0)
    assert process.stdout is not None
    workers = [int(pid) for pid in process.stdout.readline().split()]
    assert len(workers) == 2
    os.killpg(process.pid, signal.SIGINT)
    assert "KeyboardInterrupt" in process.communicate(timeout=20)[1]
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def test_killing_the_parent_ends_its_workers(tmp_path):
    source_files(tmp_path, 200, "def f():\n    return 1\n" * 500)
    code = textwrap.dedent(f"""
        from pathlib import Path
        from graphmem.parsing.discovery import discover
        from graphmem.parsing.pool import parse_files
        results = parse_files(discover(Path({str(tmp_path)!r})).files, project="p", workers=1)
        next(results)
        print(Path("/proc/self/task").glob("*/children").__next__().read_text(), flush=True)
        import time; time.sleep(60)
    """)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    worker = int(process.stdout.readline())
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 10
    while _is_alive(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _is_alive(worker)


def test_there_is_at_least_one_worker():
    assert default_workers() >= 1


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _boot_that(name: str, statement: str) -> str:
    """The boot code of a worker in which extracting the file of that name runs a statement first."""
    return textwrap.dedent(f"""
        import os, signal, sys, time
        sys.path.append(sys.argv[1])
        from graphmem.parsing import worker
        original = worker.extract_parsed
        def odd(path, source, *arguments):
            if path == {name!r} and source:
                {statement}
            return original(path, source, *arguments)
        worker.extract_parsed = odd
        worker.main(sys.argv[2], float(sys.argv[3]))
    """)


def test_a_source_that_ends_the_process_does_so_once(tmp_path):
    code = """
import os, signal, sys
from pathlib import Path
from graphmem.parsing import pool
from graphmem.parsing.discovery import discover
parse = pool.parse_file
def dying(file, project, **how):
    if file.path == "m001.py":
        os.kill(os.getpid(), signal.SIGSEGV)  # as a parser does that runs out of stack
    return parse(file, project, **how)
pool.parse_file = dying
found = list(pool.parse_files(discover(Path(sys.argv[1])).files, project="p", marker=Path(sys.argv[2])))
print(sorted(one.facts.path for one in found))
"""
    folder, marker = tmp_path / "tree", tmp_path / "parsing.json"
    folder.mkdir()
    source_files(folder, 3)
    ends = []
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", code, str(folder), str(marker)], capture_output=True, text=True, check=False)
        ends.append(done.returncode)
        assert marker.stat().st_mode & 0o777 == 0o600
    assert ends == [-signal.SIGSEGV, 0, 0], done.stderr
    assert done.stdout == "['m000.py', 'm001.py', 'm002.py']\n"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"suspects": 5}', b'{"at": 7, "suspects": [1, null]}', b"\xff" * 99])
def test_a_marker_of_which_little_is_left_suspects_nobody_and_is_written_again(tmp_path, content):
    files = source_files(tmp_path, 2)
    marker = tmp_path / "parsing.json"
    marker.write_bytes(content)
    assert len(list(parse_files(files, project="p", marker=marker))) == 2
    assert {name: read_sealed_json(marker.read_bytes())[name] for name in ("at", "suspects")} == {"at": "", "suspects": []}


def test_where_nothing_can_be_marked_files_are_parsed_all_the_same(tmp_path):
    files = source_files(tmp_path, 2)
    assert len(list(parse_files(files, project="p", marker=tmp_path))) == 2
