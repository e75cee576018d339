"""A first index resolved in several processes is the one that a single process makes, also when one of them dies."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from graphmem.errors import ResourceError
from graphmem.indexing import parse_stage, pipeline, resolve_stage, resolving
from graphmem.indexing.facts_source import FactsByPath, FactsSource
from graphmem.indexing.inputs import unpack
from graphmem.indexing.listener import Listener
from graphmem.indexing.resolving import MANY_FILES, MEMORY_SHARE, MOST_PROCESSES, memory_of, processes_for
from graphmem.indexing.resolving_worker import Job
from graphmem.indexing.spill import Spill
from graphmem.indexing.tree import Tree
from graphmem.model import WRITTEN_KINDS, file_id
from graphmem.parsing.facts_cache import FactsCache
from graphmem.parsing.ignore import DiscoveryOptions
from graphmem.parsing.marker import FILE as MARKER
from graphmem.parsing.pool import parse_files
from graphmem.resolution.cache.solver import Groups
from graphmem.resolution.resolver import Resolver
from graphmem.runtime.texts.places import unpacked

PROJECT = "tree"


def lines(memory):
    return [json.dumps(row, sort_keys=True) for row in memory.export()]


@pytest.fixture
def starlette_tree(starlette_tree):
    """A third of it, with a module of another language, is enough here."""
    kept = {"__init__", "_utils", "background", "concurrency", "datastructures", "formparsers", "requests", "responses", "types"}
    for path in starlette_tree.rglob("*.py"):
        if path.stem not in kept or path.parent.name != "starlette":
            path.unlink()
    (starlette_tree / "view.ts").write_text("export class View { draw() { return show(this); } }\nfunction show(view: View) {}\n")
    return starlette_tree


@pytest.fixture
def resolved_here(monkeypatch):
    """The files that this process resolves from now on."""
    paths = []
    real = Resolver.resolve
    monkeypatch.setattr(Resolver, "resolve", lambda self, path: paths.append(path) or real(self, path))
    return paths


@pytest.fixture
def divided(monkeypatch):
    """Resolve first indexes of any size in several processes."""
    monkeypatch.setattr(resolve_stage, "processes_for", lambda *_: 2)
    monkeypatch.setattr(resolve_stage, "BATCH", 2)


def described(dependencies):
    """The inputs of each file, by what they are."""
    groups = Groups()
    groups.restore(dependencies.groups)
    return {path: {dependencies.keys[one] for one in groups.inputs(numbers)} for path, numbers in dependencies.inputs.items()}


def test_any_split_gives_the_same_rows_and_dependencies(starlette_tree, tmp_path):
    tree = Tree(starlette_tree, DiscoveryOptions())
    tree.look({}, None, lambda: False)
    files = sorted((file for file in tree.files.values() if file.language in ("python", "typescript")), key=lambda file: file.path)
    parsed = list(parse_files(files, project=PROJECT))
    current = {one.head.path: one.head.content_hash for one in parsed}
    files = [file._replace(content_hash=current[file.path]) for file in files]
    cache = FactsCache(tmp_path / "facts.sqlite", PROJECT)
    assert cache.put_many(parsed)
    source = FactsSource(cache, starlette_tree, PROJECT, tmp_path / MARKER)
    alone = Resolver(PROJECT, tree.layout())
    alone.update(FactsByPath(source, {file.path: file for file in files}, {}, lambda: False), ())
    expected = [[], [], [], []]
    for file in files:
        found = alone.resolve(file.path)
        places = [(file_id(PROJECT, file.path), file.path, unpacked(found.places, WRITTEN_KINDS))] if found.places else []
        for rows, some in zip(expected, (alone.symbols(file.path), found.edges, found.unresolved, places), strict=True):
            rows += map(tuple, some)
    assert len(expected[1]) > 300
    for processes, batch in ((1, 64), (2, 3), (4, 1)):
        job = Job(PROJECT, starlette_tree, cache.path, tmp_path / MARKER, tree.layout(), files, 0, batch)
        spill = Spill(tmp_path)
        found = resolving.resolve_everything(job, processes, spill, Listener(lambda _: None, lambda: False))
        rows = [[row for part in found.parts for row in pickle.loads(spill.read(part[kind][0]))] for kind in range(4)]
        spill.close()
        # The compressor has made 66 and 68 bytes of the same 80 in two processes, so the bytes are not compared.
        rows[3] = [(one, path, unpacked(places, WRITTEN_KINDS)) for one, path, places in rows[3]]
        assert rows == expected, processes
        assert list(found.files) == [file.path for file in files]
        assert described(unpack(found.dependencies)) == described(alone.dependencies()), processes


def test_an_index_by_several_processes_equals_that_of_one_also_after_the_next_change(
    starlette_tree, open_memory, resolved_here, divided, monkeypatch
):
    memory = open_memory()
    memory.index(starlette_tree)
    assert not resolved_here
    monkeypatch.undo()
    alone = open_memory("alone")
    alone.index(starlette_tree)
    assert lines(memory) == lines(alone)
    target = starlette_tree / "starlette" / "datastructures.py"
    target.write_text(target.read_text(encoding="utf-8").replace("def replace(", "def replaced("), encoding="utf-8")
    assert memory.index().mode == "incremental"
    alone.index()
    assert lines(memory) == lines(alone)


@pytest.mark.parametrize("how", ["killed", "without memory", "not started", "of another version"])
def test_processes_that_fail_cost_only_their_time(starlette_tree, open_memory, resolved_here, divided, how, monkeypatch, caplog):
    programs = []
    real = subprocess.Popen

    def start(command, **options):
        if "-P" not in command:  # git
            return real(command, **options)
        if how == "not started":
            raise BlockingIOError("no more processes")
        if how == "without memory":
            command[command.index("-c") + 1] = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({24 << 20},) * 2); {command[3]}"
        if how == "of another version":
            command[command.index("-c") + 1] = (
                "import os, sys; sys.path.append(sys.argv[1]); from graphmem.parsing.worker import send; "
                "send(os.fdopen(int(sys.argv[2]), 'wb'), b'cno_such_module\\nRow\\n.')"
            )
        programs.append(real(command, **options))
        return programs[-1]

    def kill(step):
        """Kill the children of the program when the first rows of one have arrived; most of its rows have no place in a pipe."""
        if how == "killed" and step.stage == "resolve" and step.done and len(programs) == 1:
            for task in Path(f"/proc/{programs[0].pid}/task").iterdir():
                for child in (task / "children").read_text().split():
                    os.kill(int(child), signal.SIGKILL)

    monkeypatch.setattr(resolving.subprocess, "Popen", start)
    memory = open_memory()
    run = memory.index(starlette_tree, on_progress=kill)
    monkeypatch.undo()
    assert bool(resolved_here) == (how != "killed")  # one process of its own does what several did not
    assert len(programs) == {"killed": 2, "not started": 0}.get(how, 2)
    assert "so one process does it" in caplog.text
    assert all(program.poll() is not None for program in programs)
    alone = open_memory("alone")
    assert alone.index(starlette_tree).symbols == run.symbols
    assert lines(memory) == lines(alone)


def test_a_killed_run_keeps_the_old_index_says_why_and_is_continued(starlette_tree, open_memory, resolved_here, divided, monkeypatch):
    memory = open_memory()
    memory.index(starlette_tree)
    before = lines(memory)
    programs = []
    real = subprocess.Popen

    def start(command, **options):
        made = real(command, **options)
        programs.extend([made] if "-P" in command else [])
        return made

    monkeypatch.setattr(resolving.subprocess, "Popen", start)

    def kill(step):
        """Do as the system does when memory runs out: end each process that resolves."""
        if step.stage == "resolve" and step.total:
            for program in programs:
                with suppress(ProcessLookupError):
                    os.killpg(program.pid, signal.SIGKILL)

    (starlette_tree / "added.py").write_text("def added():\n    return 1\n", encoding="utf-8")
    monkeypatch.setattr(pipeline, "_made_by", lambda: "other code")  # every file has to be read again
    monkeypatch.setattr(parse_stage, "LEAST_FILES", 1)
    with pytest.raises(ResourceError, match=r"killed.*MiB of memory; end other programs or exclude folders"):
        memory.index(on_progress=kill)
    assert not resolved_here  # this process would have needed as much
    assert lines(memory) == before
    real_parse, parsed = parse_stage.parse_files, []
    monkeypatch.setattr(parse_stage, "parse_files", lambda files, **options: parsed.extend(files) or real_parse(files, **options))
    assert memory.index().mode == "full"
    assert parsed == []
    fresh = open_memory("fresh")
    fresh.index(starlette_tree)
    assert parsed
    assert lines(memory) == lines(fresh) != before


RUN = """
import os, signal, sys
from graphmem.indexing import resolve_stage, resolving
from graphmem.project.graphmem import GraphMem

resolve_stage.processes_for = lambda *_: 2
resolve_stage.BATCH = 2
start = resolving.subprocess.Popen

def started(command, **options):
    program = start(command, **options)
    if "-P" in command:
        print(program.pid, flush=True)
    return program

resolving.subprocess.Popen = started
busy = "import time; from graphmem.indexing import resolving_worker; resolving_worker._work = lambda *_: time.sleep(600); "
resolving._BOOT = resolving._BOOT.replace("from graphmem", busy + "from graphmem", 1)
receive = resolving.receive

def received(output):
    message = receive(output)
    os.kill(os.getpid(), signal.SIGKILL)  # when the processes have started

resolving.receive = received
GraphMem.open(sys.argv[1]).index(sys.argv[2])
"""


def test_processes_that_resolve_end_with_a_killed_run(starlette_tree, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", RUN, tmp_path / "db", starlette_tree], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    group = int(done.stdout)
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)
    pytest.fail("a process goes on without the run that started it")


@pytest.mark.parametrize(
    ("files", "size", "workers", "free", "processes"),
    [
        (MANY_FILES - 1, 4_000_000, 4, 16 << 30, 0),
        (MANY_FILES, 4_000_000, 4, 16 << 30, 4),
        (MANY_FILES, 4_000_000, 1, 16 << 30, 1),
        (MANY_FILES, 4_000_000, 4, None, 4),
        (100_000, 4_000_000, 64, 16 << 30, MOST_PROCESSES),
        (3_000, 18_000_000, 4, 16 << 30, 4),
        (3_000, 18_000_000, 4, 2 << 30, 1),
        (30_000, 250_000_000, 4, 14 << 30, 1),
        (6_100, 80_000_000, 4, 64 << 30, 4),
        (6_100, 158_000_000, 4, 64 << 30, 2),  # three would take 4 GB, though more is free
        (30_000, 250_000_000, 4, 64 << 30, 1),
        (3_000, 18_000_000, 4, MEMORY_SHARE * memory_of(3, 18_000_000), 2),
    ],
)
def test_several_processes_only_where_files_processors_and_memory_suffice(files, size, workers, free, processes):
    assert processes_for(files, size, workers, free) == processes
