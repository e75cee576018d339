"""Compute the edges of files in forked processes, without a database.

The program reads all parsed files once and forks. Each process, including the first, resolves its own range of neighbouring files, because
neighbouring files share intermediate results. A process that has finished its range takes remaining batches of other ranges. Each process
writes the rows of its batches to its own pipe. The bytes of a batch do not depend on the number of processes.
"""

from __future__ import annotations

import gc
import os
import pickle
import struct
import sys
import threading
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from graphmem.indexing.contracts import calls_in, rows_of
from graphmem.indexing.facts_source import FactsByPath, FactsSource
from graphmem.indexing.inputs import PackedDependencies, pack, packed_numbers
from graphmem.model import file_id
from graphmem.parsing.discovery import FoundFile
from graphmem.parsing.facts_cache import FactsCache
from graphmem.parsing.worker import receive, send
from graphmem.resolution.files.shelf import Shelf
from graphmem.resolution.interfaces.layout import Layout
from graphmem.resolution.resolver import Resolver
from graphmem.runtime.process import system

if TYPE_CHECKING:
    from graphmem.contracts.rows import ContractRow
    from graphmem.model import ExternalRow, HandlesRow

BATCH: Final = 64
"""Files that a child takes at a time, in a large project."""

_OOM_SCORE: Final = "500"  # if the system has to end a process, this one: the caller can do without it
_NUMBER: Final = struct.Struct("<I")


class Job(NamedTuple):
    """Input of the resolving program: the project, its files, and options."""

    project: str
    root: Path
    cache: Path
    marker: Path
    layout: Layout
    files: list[FoundFile]  # by path
    niceness: int
    batch: int  # files that a child takes at a time


class Resolved(NamedTuple):
    """Results of resolving one file, without the rows for the graph."""

    path: str
    module: str
    call_sites: int
    fault: str
    is_left_out: bool
    handles: Sequence[HandlesRow]
    contracts: Sequence[ContractRow] = ()
    calls: AbstractSet[tuple[str, str]] = frozenset()  # both ends of its calls, if it has contracts


class Batch(NamedTuple):
    """The rows and other results of one batch of files.

    The four fields with rows, such as `symbols`, are (rows pickled as a list of tuples, number of rows).
    """

    number: int
    files: list[Resolved]
    symbols: tuple[bytes, int]
    edges: tuple[bytes, int]
    unresolved: tuple[bytes, int]
    occurrences: tuple[bytes, int]
    externals: list[ExternalRow]


class Start(NamedTuple):
    """First message: the inputs and groups that all child processes share.

    An input is a part of a file that was read to resolve another file. A group is a set of inputs.
    """

    shared: PackedDependencies  # without files
    faults: dict[str, str]  # of configuration files


class End(NamedTuple):
    """Last message of a child process: the inputs and groups that it added.

    An input is a part of a file that was read to resolve another file. A group is a set of inputs. Inputs and groups of the message `Start`
    are not repeated.
    """

    added: PackedDependencies  # with the child's files, in its numbers


def main(outputs: Sequence[int]) -> None:
    """Resolve the files of a job, which is read from standard input.

    `outputs` are pipes that the caller opened. One process writes to each pipe: this one to the first, and forked ones to the others.
    """
    message = receive(sys.stdin.buffer)
    if message is None:
        return
    threading.Thread(target=_end_with_caller, name="graphmem-caller", daemon=True).start()
    job: Job = pickle.loads(message)  # noqa: S301 - from the process that started this one
    system.be_nice(job.niceness)
    with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:  # noqa: PTH123 - no file of a disk
        score.write(_OOM_SCORE)
    gc.disable()  # millions of rows and few cycles
    cache = FactsCache(job.cache, job.project)
    source = FactsSource(cache, job.root, job.project, job.marker)
    resolver = Resolver(job.project, job.layout, Shelf(source))
    files = {file.path: file for file in job.files}
    paths = sorted(resolver.update(FactsByPath(source, files, {}, lambda: False), ()))
    shared = resolver.dependencies(())
    first = (len(shared.keys), len(shared.groups))
    with open(outputs[0], "wb", closefd=False) as sink:
        _say(sink, Start(pack(shared), dict(resolver.faults)))
    del shared
    batches = [paths[at : at + job.batch] for at in range(0, len(paths), job.batch)]
    orders = [_orders(len(batches) * number // len(outputs), len(batches) * (number + 1) // len(outputs)) for number in range(len(outputs))]
    gc.freeze()  # a collection would copy the shared memory into each child
    # This process resolves as well: one that only waited would keep the memory that its children have copied.
    children: list[int] = []
    mine = 0
    for number in range(1, len(outputs)):
        child = system.fork()
        if not child:
            mine = number
            break
        children.append(child)
    try:
        _work(job, resolver, batches, first, orders, outputs, mine)
    except BaseException:  # noqa: BLE001 - a child must not go on in its parent's code
        sys.excepthook(*sys.exc_info())
        os._exit(1)
    failed = [child for child in children if not mine and os.waitpid(child, 0)[1] != 0]
    os._exit(1 if failed else 0)  # without freeing millions of objects


def _end_with_caller() -> None:
    """End this process and its children when the process that started it dies.

    The caller sends nothing more, and keeps the standard input of this process open while the caller lives. So the end of the input shows
    that the caller has died.
    """
    try:
        os.read(0, 1)
    finally:
        system.kill_group(0)


def _work(
    job: Job,
    resolver: Resolver,
    batches: list[list[str]],
    first: tuple[int, int],
    orders: list[int],
    outputs: Sequence[int],
    number: int,
) -> None:
    """Resolve batches in one of several processes, until none is left.

    Args:
        job: the input of the program.
        resolver: has read the facts of all files.
        batches: paths of files, in batches.
        first: (number of keys, number of groups) that all processes share; see `Start`.
        orders: for each process, a pipe with the numbers of its batches.
        outputs: for each process, the pipe for its results.
        number: number of this process, from 0.
    """
    for other in outputs:
        if other != outputs[number]:
            os.close(other)
    cache = FactsCache(job.cache, job.project)  # a connection must not be used on both sides of a fork
    resolver.divide(FactsSource(cache, job.root, job.project, job.marker), len(outputs))
    inputs: dict[str, bytes] = {}
    with open(outputs[number], "wb") as sink:  # noqa: PTH123 - a descriptor
        for position in _taken([*orders[number:], *orders[:number]]):
            _say(sink, _batch(job.project, resolver, position, batches[position]))
            inputs.update((path, packed_numbers(numbers)) for path, numbers in resolver.take_inputs(batches[position]))
        _say(sink, End(pack(resolver.dependencies((), *first))._replace(inputs=inputs)))


def _orders(begin: int, end: int) -> int:
    """Return a pipe that contains the batch numbers `begin` to `end` - 1.

    Several processes read from the pipe. Each number is read by only one of them.
    """
    taking, giving = os.pipe()
    with open(giving, "wb") as orders:  # noqa: PTH123 - a descriptor
        for position in range(begin, end):
            orders.write(_NUMBER.pack(position))
    return taking


def _taken(orders: Sequence[int]) -> Iterator[int]:
    """Read batch numbers from pipes; yield each until every pipe is empty.

    A number stands for a batch of files. The pipes are read in the given order. Other processes read from the same pipes, so each number is
    yielded in only one process.
    """
    for order in orders:
        while len(taken := os.read(order, _NUMBER.size)) == _NUMBER.size:
            yield _NUMBER.unpack(taken)[0]


def _batch(project: str, resolver: Resolver, position: int, paths: list[str]) -> Batch:
    files: list[Resolved] = []
    symbols: list[tuple[Any, ...]] = []
    edges: list[tuple[Any, ...]] = []
    unresolved: list[tuple[Any, ...]] = []
    occurrences: list[tuple[Any, ...]] = []
    externals: dict[str, ExternalRow] = {}
    for path in paths:
        found = resolver.resolve(path)
        symbols += map(tuple, resolver.symbols(path))
        edges += map(tuple, found.edges)
        unresolved += map(tuple, found.unresolved)
        if found.places:
            occurrences.append((file_id(project, path), path, found.places))
        externals.update((row.id, row) for row in found.externals)
        fault = resolver.fault(path) or found.fault
        module, left_out = resolver.module_name(path), resolver.is_left_out(path)
        facts = resolver.facts(path)
        contracts = rows_of(path, facts.ends, resolver, found.edges) if facts is not None and facts.ends else ()
        calls = calls_in(found.edges) if contracts else frozenset()
        files.append(Resolved(path, module, found.call_sites, fault, left_out, found.handles, contracts, calls))
    return Batch(position, files, _packed(symbols), _packed(edges), _packed(unresolved), _packed(occurrences), list(externals.values()))


def _packed(rows: list[tuple[object, ...]]) -> tuple[bytes, int]:
    return pickle.dumps(rows, pickle.HIGHEST_PROTOCOL), len(rows)


def _say(sink: IO[bytes], what: Start | Batch | End) -> None:
    send(sink, pickle.dumps(what, pickle.HIGHEST_PROTOCOL))
