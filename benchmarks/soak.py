"""Soak test of one server: clients, edits, kills, restarts, compactions and backups at once.

    python -m benchmarks soak [--seconds 600] [--clients 6] [--seed 1] [--folder DIR]

The benchmark makes and indexes a small git repository. Client processes connect to its server, or start it if none runs, and read and
write. Meanwhile the benchmark kills the server with -9 or ends it with SIGTERM at random moments, kills clients, edits files, and orders
whole indexes, compactions, backups and checks.

At the end, the acknowledged writes of every client are compared with the index. The tables have lost and doubled writes (both must be 0),
refused calls, times of each kind of call, and the time until a client got an answer after a kill. The exit code is 1 if a write was lost
or doubled, an answer was wrong, or a server process was left over. Then the folder is kept.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import report

# Percentage of each kind among a client's calls.
CALLS: Final = {
    "search": 30,
    "remember": 25,
    "impact": 15,
    "symbol": 10,
    "memory": 8,
    "remember_many": 5,
    "forget": 3,
    "pin": 2,
    "state": 2,
}
PATIENCE_S: Final = 90.0  # until a killed server runs again, on a loaded machine
END_S: Final = 5.0  # limit for a server to end after SIGTERM
WORDS: Final = ("router", "session", "cache", "token", "retry", "schema", "worker", "queue", "header", "cookie", "stream", "lock")


# ---- client process


def client(number: int, folder: Path, seconds: float, seed: int) -> None:
    """Call the server until the time is over; log one line for each answer."""
    from graphmem.client.connecting import connect_or_start
    from graphmem.errors import GraphMemError, LimitError, OwnerUnreachableError, StoreBusyError
    from graphmem.location import locate
    from graphmem.settings import Settings

    chance = random.Random(seed)
    location = locate(folder / "repo", Settings())
    log = os.open(folder / f"client-{number}.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    mine: list[str] = []
    until = time.monotonic() + seconds
    service: Any = None
    lost_at = 0.0
    step = 0

    def note(**facts: Any) -> None:
        os.write(log, (json.dumps(facts) + "\n").encode())

    while time.monotonic() < until:
        if service is None:
            began = time.monotonic()
            try:
                service = connect_or_start(location)
                service.state()
            except (OwnerUnreachableError, StoreBusyError) as error:
                service = None
                if time.monotonic() - (lost_at or began) > PATIENCE_S:
                    note(call="connect", fault=error.message)
                    return
                lost_at = lost_at or began
                time.sleep(0.2)
                continue
            if lost_at:
                note(call="find the server again", ms=(time.monotonic() - lost_at) * 1000)
                lost_at = 0.0
        step += 1
        call = chance.choices(list(CALLS), list(CALLS.values()))[0]
        began = time.monotonic()
        try:
            told = one_call(service, call, number, step, seed, mine, chance)
            note(call=call, ms=(time.monotonic() - began) * 1000, **told)
        except OwnerUnreachableError:
            service, lost_at = None, began
            note(call=call, lost=True)
        except (StoreBusyError, LimitError) as error:
            note(call=call, refused=error.message)
            time.sleep(float(error.facts.get("retry_after", 0.2)))
        except GraphMemError as error:
            if call in ("impact", "symbol", "search") and error.code in ("NOT_FOUND", "AMBIGUOUS"):
                note(call=call, ms=(time.monotonic() - began) * 1000)
            else:
                note(call=call, fault=f"{type(error).__name__}: {error.message}")


def one_call(service: Any, call: str, number: int, step: int, seed: int, written: list[str], chance: random.Random) -> dict[str, Any]:
    """Make one call; return the writes that the server acknowledged."""
    name = f"c{number}-{seed}-{step}"
    words = " ".join(chance.sample(WORDS, 3))
    if call == "remember":
        service.remember(f"{words}: note {name} of a client", id=name, files=[f"m{step % FILES}.py"])
        written.append(name)
        return {"kept": [name]}
    if call == "remember_many":
        names = [f"{name}-{i}" for i in range(5)]
        service.remember_many([{"id": one, "content": f"{words}: bulk note {one}"} for one in names])
        written.extend(names)
        return {"kept": names}
    if call in ("forget", "pin", "memory") and written:
        one = chance.choice(written)
        if call == "memory":
            found = service.memory(one)
            return {} if one in found.content else {"fault": f"{one} was asked for, and {found.id} returned: {found.content}"}
        if call == "forget":
            written.remove(one)  # before the call: if the answer is cut off, its status is unknown
        getattr(service, call)(one)
        return {"forgotten": [one]} if call == "forget" else {}
    if call == "search":
        service.search(words, limit=10)
    elif call == "impact":
        service.impact(f"f{step % FILES}", max_depth=3)
    elif call == "symbol":
        service.symbol(f"f{step % FILES}")
    else:
        service.state()
    return {}


# ---- disturbances

FILES: Final = 40


def write_module(root: Path, number: int, version: int) -> None:
    """Replace one module atomically by another version."""
    following = (number + 1) % FILES
    text = f"from m{following} import f{following}\n\n\ndef f{number}(value):\n    return f{following}(value) + {version}\n\n\n"
    text += "".join(f"def extra{number}_{i}(value):\n    return f{number}(value) * {i}\n\n\n" for i in range(version % 5))
    scratch = root / f".m{number}.tmp"
    scratch.write_text(text, encoding="utf-8")
    scratch.replace(root / f"m{number}.py")


class Disturber:
    """Kills, ends, edits and orders long work at random moments of a seed."""

    def __init__(self, folder: Path, seed: int, say: Callable[[str], None]) -> None:
        from graphmem.location import locate
        from graphmem.settings import Settings

        self.location = locate(folder / "repo", Settings())
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self.long: dict[str, list[float]] = {}
        self.servers: set[int] = set()
        self.end_seconds: list[float] = []
        self._chance = random.Random(seed)
        self._folder = folder
        self._stop = threading.Event()
        self._say = say
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._edit, self._signal, self._order)]

    def __enter__(self) -> Disturber:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def serving(self) -> int:
        """Return the id of the server process; 0 if there is none."""
        from graphmem.server import owner

        found = owner.read(self.location.owner_file)
        if found is None or not owner.is_running(found):
            return 0
        self.servers.add(found.pid)
        return found.pid

    def _edit(self) -> None:
        while not self._stop.wait(self._chance.uniform(0.3, 1.5)):
            write_module(self._folder / "repo", self._chance.randrange(FILES), self._chance.randrange(1000))
            self.counts["files edited"] += 1

    def _signal(self) -> None:
        while not self._stop.wait(self._chance.uniform(3.0, 9.0)):
            pid = self.serving()
            if not pid:
                continue
            with contextlib.suppress(ProcessLookupError):
                if self._chance.random() < 0.75:
                    os.kill(pid, signal.SIGKILL)
                    self.counts["servers killed with -9"] += 1
                else:
                    os.kill(pid, signal.SIGTERM)
                    began = time.monotonic()
                    while is_there(pid) and time.monotonic() - began < 30:
                        time.sleep(0.02)
                    self.end_seconds.append(time.monotonic() - began)
                    self.counts["servers ended with SIGTERM"] += 1

    def _order(self) -> None:
        from graphmem.client.connecting import connect_or_start
        from graphmem.errors import GraphMemError, OwnerUnreachableError

        while not self._stop.wait(self._chance.uniform(1.0, 4.0)):
            what = self._chance.choice(("index", "full index", "compact", "backup", "verify"))
            began = time.monotonic()
            try:
                service = connect_or_start(self.location)
                if what == "verify":
                    for check in service.verify_index().checks:
                        if check.level == "bad":
                            self.faults.append(f"verify: {check.name}: {check.said}")
                elif what == "backup":
                    Path(service.backup().path).unlink(missing_ok=True)
                elif what == "compact":
                    service.compact()
                else:
                    service.index(full=what == "full index")
                self.long.setdefault(what, []).append((time.monotonic() - began) * 1000)
            except OwnerUnreachableError:
                self.counts[f"{what} cut off by a kill"] += 1
            except GraphMemError as error:
                # A server that is ending refuses work that it has not begun.
                if error.code in ("CONFLICT", "LIMIT", "TIMEOUT") or "closed" in error.message:
                    self.counts[f"{what} refused"] += 1
                else:
                    self.faults.append(f"{what}: {type(error).__name__}: {error.message}")


def is_there(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    from graphmem.server import owner

    return bool(owner.process_start(pid))


def processes_of(folder: Path) -> list[int]:
    """Return the ids of the running servers of the project."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if b"serve" in words and str(folder).encode() in b" ".join(words) and is_there(int(entry.name)):
                    found.append(int(entry.name))
    return found


# ---- run


def run(seconds: float, clients: int, seed: int, folder: Path, say: Callable[[str], None] = print) -> dict[str, Any]:
    """Run for `seconds`, then compare acknowledged writes with the index."""
    from graphmem import GraphMem
    from graphmem.settings import Settings

    repo = folder / "repo"
    repo.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    for number in range(FILES):
        write_module(repo, number, 0)
    settings = Settings(embedder="none", workers=1)
    with GraphMem.open(repo=repo, settings=settings) as memory:
        memory.index(repo)
    environ = {**os.environ, "GRAPHMEM_EMBEDDER": "none", "GRAPHMEM_WORKERS": "1"}
    began = time.monotonic()
    os.environ.update(environ)  # any process that finds no server starts one, this process too

    def start(number: int, again: int) -> subprocess.Popen[bytes]:
        left = max(0.1, seconds - (time.monotonic() - began))
        command = [sys.executable, __file__, "--client", str(number), "--folder", str(folder), "--seconds", str(left)]
        return subprocess.Popen([*command, "--seed", str(seed * 1000 + again)], env=environ, stdin=subprocess.DEVNULL)

    chance = random.Random(seed)
    with Disturber(folder, seed + 1, say) as disturber:
        running = {number: start(number, 0) for number in range(clients)}
        again = 0
        while time.monotonic() - began < seconds:
            time.sleep(min(1.0, max(0.0, seconds - (time.monotonic() - began))))
            disturber.serving()
            if chance.random() < 0.05:
                number = chance.randrange(clients)
                running[number].kill()
                running[number].wait()
                again += 1
                running[number] = start(number, again)
                disturber.counts["clients killed with -9"] += 1
    for process in running.values():
        process.wait(PATIENCE_S + 60)
    for pid in processes_of(folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + 3 * END_S
    while processes_of(folder) and time.monotonic() < deadline:
        time.sleep(0.05)
    orphans = processes_of(folder)
    result = judged(folder, clients, disturber, settings)
    return {
        "seconds": round(time.monotonic() - began, 1),
        "asked_seconds": seconds,
        "clients": clients,
        "seed": seed,
        "disturbances": dict(sorted(disturber.counts.items())),
        "servers": len(disturber.servers),
        "orphans": len(orphans),
        "slowest_end_s": round(max(disturber.end_seconds, default=0.0), 2),
        **result,
    }


def judged(folder: Path, clients: int, disturber: Disturber, settings: Any) -> dict[str, Any]:
    """Return lost and doubled writes, faults and times of all clients."""
    from graphmem import GraphMem

    kept: list[str] = []
    forgotten: set[str] = set()
    times: dict[str, list[float]] = {}
    refused: Counter[str] = Counter()
    lost_calls = 0
    faults = list(disturber.faults)
    for number in range(clients):
        path = folder / f"client-{number}.jsonl"
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                said = json.loads(line)
            except ValueError:
                continue  # the client was killed while it wrote this line
            kept += said.get("kept", ())
            forgotten.update(said.get("forgotten", ()))
            if "ms" in said:
                times.setdefault(said["call"], []).append(said["ms"])
            if "refused" in said:
                refused[said["refused"].split(";")[0]] += 1
            lost_calls += "lost" in said
            if "fault" in said:
                faults.append(f"client {number}, {said['call']}: {said['fault']}")
    repo = folder / "repo"
    with GraphMem.open(repo=repo, settings=settings) as memory:
        memory.index(repo)
        rows = {row.id: row for row in memory.parts.book.index().all_rows()}
        contents = Counter(row.content for row in rows.values())
        checks = memory.verify_index(deep=True)
        notes = [*memory.parts.store.notes, *memory.parts.book.notes]
        entries = memory.parts.book.journal.head.number
    lost = [one for one in kept if one not in rows]
    back = [one for one in forgotten if one in rows and rows[one].status != "deprecated"]
    faults += [f"{one.name}: {one.said}" for one in checks.checks if one.level == "bad"]
    return {
        "calls": sum(map(len, times.values())),
        "calls_cut_off": lost_calls,
        "acknowledged_writes": len(kept) + len(forgotten),
        "memories": len(rows),
        "journal_entries": entries,
        "lost": len(lost) + len(back),
        "doubled": sum(count - 1 for count in contents.values()),
        "refused": dict(refused),
        "faults": faults,
        "notes": notes,
        "times_ms": {call: timing(values) for call, values in sorted(times.items())},
        "long_ms": {call: timing(values) for call, values in sorted(disturber.long.items())},
        "checks": [one.name for one in checks.checks if one.level == "ok"],
    }


def timing(values: list[float]) -> dict[str, float]:
    """Return count, percentiles and maximum of some milliseconds."""
    return {
        "count": len(values),
        **{name: round(report.percentile(values, share), 2) for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))},
        "max": round(max(values), 2),
    }


def show(result: dict[str, Any]) -> None:
    """Print the tables."""
    report.table(
        ("call", "count", "p50 ms", "p95 ms", "p99 ms", "longest ms"),
        [
            (call, one["count"], one["p50"], one["p95"], one["p99"], one["max"])
            for call, one in [*result["times_ms"].items(), *result["long_ms"].items()]
        ],
    )
    print()
    told = (
        "acknowledged_writes",
        "lost",
        "doubled",
        "calls",
        "calls_cut_off",
        "memories",
        "servers",
        "orphans",
        "slowest_end_s",
        "seconds",
    )
    report.table(("event", "count"), [*((name.replace("_", " "), result[name]) for name in told), *result["disturbances"].items()])
    print(
        f"\nrefused: {sum(result['refused'].values())}" + "".join(f"\n  {times} times: {why}" for why, times in result["refused"].items())
    )
    print(f"faults: {len(result['faults'])}" + "".join(f"\n  {fault}" for fault in result["faults"][:20]))


def main(arguments: list[str]) -> int:
    """Run, print and write the result; the exit code is 1 on any fault."""
    parser = report.parser(__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--clients", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--client", type=int, help="be this client (the benchmark starts them itself)")
    parser.add_argument("--folder", type=Path, help="working directory; default a temporary one")
    given = parser.parse_args(arguments)
    if given.client is not None:
        client(given.client, given.folder, given.seconds, given.seed)
        return 0
    folder = given.folder or Path(tempfile.mkdtemp(prefix="graphmem-soak-"))
    result = run(given.seconds, given.clients, given.seed, folder)
    show(result)
    report.publish("soak", result, given.out)
    bad = result["lost"] or result["doubled"] or result["faults"] or result["orphans"]
    if not given.folder and not bad:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
