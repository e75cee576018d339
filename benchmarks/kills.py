"""Durability after kill -9 during writes, indexing, checkpoints, compaction, migration and backups.

    python -m benchmarks kills [--count 1000] [--seconds 3600] [--kinds write,index,…] [--seed 1] [--jobs 1]

One process imports everything and forks the processes that it kills. Each process opens the index, checks that everything acknowledged
before is there, and works until it is killed. All rounds share one index, so damage by one round is found by the next. --jobs shares the
kills among processes with an index each.

Kinds of work: write, index, checkpoint, rest (close the idle database), compact, projection, migrate, backup. A round of `projection` first
compares every memory with the journal. A round of `migrate` uses a copy of the index. One process writes to it and is killed. The next has
a graphmem with more migrations; it is killed during the migration or while it writes. The third completes the migration, checks the
acknowledged writes, writes, and is killed. A fourth checks again.

The table has kills, acknowledged writes and missing writes by kind. Below it are the repairs that opening the index made. The exit code is
1 if a write is missing or a check fails.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import report

KINDS = ("write", "index", "checkpoint", "rest", "compact", "projection", "migrate", "backup")
FILES = 12  # in the small repository
FIRST = 600  # memories before the first kill: a projection of fewer than 500 is not saved
MIGRATIONS = 4  # additional ones in the newer graphmem
MIGRATION_S = 2.5  # about the time to open with them, including the backup
CHANGE_S = 0.3  # about the time of the migrations alone
MAX_WAIT_S = 60.0  # limit for the next message of a process; longer means that it hangs


class Tell:
    """A pipe to the parent with one line for each message."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __call__(self, *words: object) -> None:
        """Send a word and its data."""
        os.write(self._descriptor, (json.dumps(words) + "\n").encode())


def make_repository(root: Path) -> None:
    """Write a package whose modules call each other."""
    root.mkdir(parents=True)
    for number in range(FILES):
        write_module(root, number, 0)


def write_module(root: Path, number: int, version: int) -> None:
    """Write one module, different in each version."""
    calls = f"from m{(number + 1) % FILES} import f{(number + 1) % FILES}\n\n\n"
    body = f"def f{number}(value):\n    return f{(number + 1) % FILES}(value) + {version}\n\n\n"
    more = "".join(f"def extra{number}_{i}(value):\n    return f{number}(value) * {i}\n\n\n" for i in range(version % 5))
    (root / f"m{number}.py").write_text(calls + body + more, encoding="utf-8")


def settings() -> Any:
    """Return the settings of every process."""
    from graphmem.settings import Settings

    return Settings(embedder="none", workers=1, max_db_gb=1)


def check_open(memory: Any, known: dict[str, Any], tell: Tell, *, in_full: bool = False) -> None:
    """Report missing memories and faults of the graph after opening.

    `in_full` also compares each memory with the journal.
    """
    from graphmem.maintenance import checks

    rows = {row.id: row for row in memory.parts.book.index().all_rows()}
    missing = sorted(set(known["ids"]) - rows.keys())
    halves = [batch for batch, size in Counter(one.rpartition("-")[0] for one in rows if one.count("-") == 2).items() if size != 4]
    generation = memory.parts.store.generation()
    wrong = [one.said for one in checks.graph(memory.parts.store) if one.level == "bad"]
    if generation < known["generation"]:
        wrong.append(f"generation {generation}, {known['generation']} was acknowledged")
    if in_full and any(off := memory.parts.book.recovery.compare()):
        wrong.append(f"memories missing, different, not in the journal: {off}")
    notes = [*memory.parts.store.notes, *memory.parts.book.notes]
    tell("opened", {"missing": missing, "halves": halves, "wrong": wrong, "notes": notes, "generation": generation})


def work(kind: str, number: int, folder: Path, repo: Path, known: dict[str, Any], seed: int, tell: Tell) -> None:
    """Open the index, check it, and do one kind of work until killed."""
    from graphmem import GraphMem

    chance = random.Random(seed)
    with GraphMem.open(folder, settings=settings()) as memory:
        check_open(memory, known, tell, in_full=kind == "projection")
        for i in range(100_000):
            ids = [f"{number}-{i}"]
            if i % 3 == 2:
                ids = [f"{number}-{i}-{j}" for j in range(4)]
                memory.remember_many([{"id": one, "content": f"bulk note {one} about {chance.random()}"} for one in ids])
            else:
                memory.remember(f"note {ids[0]} about {chance.random()}", id=ids[0], files=[f"m{i % FILES}.py"])
            tell("kept", ids)
            if kind == "index" or i % 50 == 49:
                for one in chance.sample(range(FILES), 3):
                    write_module(repo, one, chance.randrange(1000))
                run = memory.index(repo, full=chance.random() < 0.2)
                tell("generation", run.generation)
            elif kind == "checkpoint":
                memory.parts.store.checkpoint()
            elif kind == "rest":
                memory.parts.store.rest(0)
            elif kind == "compact":
                memory.compact()
            elif kind == "projection":
                memory.cool()
            elif kind == "backup":
                made = memory.backup(portable=chance.random() < 0.3)
                tell("backup", made.path)
                Path(made.path).unlink()


def pretend_newer_schema(count: int) -> None:
    """Patch in more schema migrations, so that opening migrates."""
    from graphmem.store.file import dump, migrate

    known = migrate.load_migrations()
    more = tuple(
        migrate.Migration(f"{len(known) + i + 1:04}", f"extra-{i}", f"{i:064x}", (f"CREATE NODE TABLE Extra{i}(id STRING PRIMARY KEY)",))
        for i in range(count)
    )
    migrate.load_migrations = dump.load_migrations = lambda: (*known, *more)


def migrating(folder: Path, known: dict[str, Any], names: Sequence[str], tell: Tell) -> None:
    """Open a copy with more migrations, check it, and write until killed."""
    from graphmem import GraphMem

    pretend_newer_schema(MIGRATIONS)
    tell("begun")
    with GraphMem.open(folder, settings=settings()) as memory:
        check_open(memory, known, tell)
        for name in names:
            memory.remember(f"note {name}", id=name)
            tell("kept", [name])
    tell("closed")


def one_migration(index: Path, copy: Path, number: int, known: dict[str, Any], seed: int) -> dict[str, Any]:
    """Run one round of `migrate`; see the module.

    Returns the acknowledged writes, the results of the checks, and when the kill came.
    """
    chance = random.Random(seed)
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(index, copy)
    ids: list[str] = []
    faults: list[str] = []
    found: list[dict[str, Any]] = []

    def state() -> dict[str, Any]:
        return {**known, "ids": [*known["ids"], *ids]}

    def took(messages: dict[str, list[Any]], why: str, *, may_end: bool = False) -> None:
        ids.extend(one for some in messages.get("kept", ()) for one in some)
        found.extend(messages.get("opened", ()))
        if why and not (may_end and why == "ended by itself"):
            faults.append(why)

    took(*one_kill(lambda tell: work("write", number, copy, copy, state(), seed, tell), lambda told: len(told.get("kept", ())) > 1, 0.0))
    before = len(ids)
    names = [f"{number}-after{i}" for i in range(1000)]
    # The time of the kill: while the index opens, which writes a backup first; while tables are made; while memories are written.
    delay, wait = chance.choice(
        (
            (chance.random() * MIGRATION_S, lambda told: "begun" in told),
            (chance.random() * CHANGE_S, lambda told: bool(list(copy.glob("graph.db.before-*")))),
            (chance.choice((0.0, 0.01, 0.05)), lambda told: len(told.get("kept", ())) > 1),
        )
    )
    told, why = one_kill(lambda tell: migrating(copy, state(), names, tell), wait, delay)
    hit = "after it" if "opened" in told else "in the migration" if list(copy.glob("graph.db.before-*")) else "before it"
    took(told, why)
    last = [f"{number}-last{i}" for i in range(3)]
    took(*one_kill(lambda tell: migrating(copy, state(), last, tell), lambda told: len(told.get("kept", ())) > 2, 0.0), may_end=True)
    took(*one_kill(lambda tell: migrating(copy, state(), (), tell), lambda told: "closed" in told, 0.0), may_end=True)
    if len([one for one in ids if "-last" in one]) != len(last):
        faults.append("the migrated copy took no writes")
    return {"before": before, "acknowledged": len(ids), "found": found, "faults": faults, "hit": hit}


def one_kill(job: Callable[[Tell], None], wait: Callable[[dict[str, list[Any]]], bool], delay_s: float) -> tuple[dict[str, list[Any]], str]:
    """Fork a process and kill it `delay_s` after `wait` is true.

    Returns its messages, and how it ended if it was not killed.
    """
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            job(Tell(write))
        except BaseException as error:  # noqa: BLE001 -- any error is reported to the parent
            Tell(write)("failed", f"{type(error).__name__}: {error}")
        finally:
            os._exit(9)
    os.close(write)
    told: dict[str, list[Any]] = {}
    data = b""
    os.set_blocking(read, False)
    begun, due = time.monotonic(), 0.0

    def take() -> bool:
        nonlocal data, begun
        try:
            more = os.read(read, 1 << 20)
        except BlockingIOError:
            return True
        data += more
        if more:
            begun = time.monotonic()  # only a silent process counts as hanging, not a slow one
        while b"\n" in data:
            line, data = data.split(b"\n", 1)
            word, *rest = json.loads(line)
            told.setdefault(word, []).append(rest[0] if rest else None)
        return bool(more)

    ended = ""
    while True:
        alive = take()
        if not due and (wait(told) or "failed" in told):
            due = time.monotonic() + delay_s
        if not alive:
            ended = "ended by itself"
            break
        if due and time.monotonic() >= due:
            break
        if time.monotonic() - begun > MAX_WAIT_S:
            ended = f"said nothing for {MAX_WAIT_S:g} s"
            break
        time.sleep(0.0005)
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if ended and os.WIFSIGNALED(status) and os.WTERMSIG(status) != signal.SIGKILL:
        ended = f"died of signal {os.WTERMSIG(status)}"
    os.set_blocking(read, True)
    while take():
        pass
    os.close(read)
    return told, told["failed"][0] if "failed" in told else ended


def run(
    count: int, seed: int, seconds: float, folder: Path, kinds: Sequence[str] = KINDS, say: Callable[[str], None] = print
) -> dict[str, Any]:
    """Kill `count` processes, or as many as fit into `seconds`."""
    import graphmem.maintenance.backup
    import graphmem.memory.repository.repository
    import graphmem.projection.memories.index
    import graphmem.store.kuzu_store  # noqa: F401 -- imported once, before the forks
    from graphmem import GraphMem

    chance = random.Random(seed)
    index, repo, migrated = folder / "index", folder / "repo", folder / "migrated"
    make_repository(repo)
    known: dict[str, Any] = {"ids": [], "generation": 0}
    rows = {kind: Counter[str]() for kind in kinds}
    faults: list[str] = []
    told_of = 0
    mended: Counter[str] = Counter()
    begun = time.monotonic()
    first, why = one_kill(lambda tell: first_index(index, repo, tell), lambda told: "generation" in told, 0.0)
    if why:
        raise SystemExit(f"the first index could not be made; the process reports: {why}")
    known["generation"] = first["generation"][-1]
    done = 0
    while done < count and time.monotonic() - begun < seconds:
        kind = kinds[done % len(kinds)]
        number, state, least = done, dict(known), chance.randrange(4)
        done += 1
        row = rows[kind]
        row["kills"] += 1
        if kind == "migrate":
            moved = one_migration(index, migrated, number, state, seed + number)
            opened, told_why = moved["found"], moved["faults"]
            row["acknowledged"] += moved["acknowledged"]
            row[f"killed {moved['hit']}"] += 1
        else:
            told, why = one_kill(
                lambda tell, kind=kind, number=number, state=state: work(kind, number, index, repo, state, seed + number, tell),
                lambda told, least=least: len(told.get("kept", ())) + len(told.get("opened", ())) > least,
                chance.choice((0.0, 0.002, 0.01, 0.05, 0.2)),
            )
            kept = [one for ids in told.get("kept", ()) for one in ids]
            known["ids"] += kept
            known["generation"] = max([known["generation"], *told.get("generation", ())])
            row["acknowledged"] += len(kept) + len(told.get("generation", ())) + len(told.get("backup", ()))
            opened, told_why = told.get("opened", ()), [why] if why else []
        faults += [f"round {number}, {kind}: {why}" for why in told_why]
        for found in opened:
            row["opened"] += 1
            row["missing"] += len(found["missing"]) + len(found["halves"])
            faults += [f"round {number}, {kind}: {said}" for said in (*found["missing"], *found["halves"], *found["wrong"])]
            mended.update(_kind_of_note(note) for note in found["notes"])
            quarantined = [note for note in found["notes"] if "quarantined" in note or "cut off" in note]
            if quarantined:
                say(f"round {number}, {kind}, generation {found['generation']}: {'; '.join(quarantined)}")
        for fault in faults[told_of:]:
            say(f"fault: {fault}")
        told_of = len(faults)
        if done % 50 == 0:
            say(f"{done} kills, {sum(row['acknowledged'] for row in rows.values())} acknowledged, {len(faults)} faults")
    with GraphMem.open(index, settings=settings()) as memory:
        memory.index(repo)
        there = {row.id for row in memory.parts.book.index().all_rows()}
        lost = sorted(set(known["ids"]) - there)
        last = memory.verify_index(deep=True)
        sound = [f"{one.name}: {one.said}" for one in last.checks if one.level == "bad"]
    return {
        "kills": done,
        "seconds": round(time.monotonic() - begun, 1),
        "seed": seed,
        "acknowledged": sum(row["acknowledged"] for row in rows.values()),
        "memories": len(there),
        "unacknowledged_but_kept": len(there - set(known["ids"])),
        "lost": len(lost) + sum(row["missing"] for row in rows.values()),
        "by_kind": {kind: dict(row) for kind, row in rows.items()},
        "mended_at_open": dict(sorted(mended.items())),
        "faults": faults + sound,
    }


def merged(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Merge the results of several runs, each with its own index."""
    kinds: dict[str, Counter[str]] = {}
    mended: Counter[str] = Counter()
    for part in parts:
        mended.update(part["mended_at_open"])
        for kind, row in part["by_kind"].items():
            kinds.setdefault(kind, Counter()).update(row)
    sums = {name: sum(part[name] for part in parts) for name in ("kills", "acknowledged", "memories", "unacknowledged_but_kept", "lost")}
    return {
        **sums,
        "seconds": max(part["seconds"] for part in parts),
        "seeds": [part["seed"] for part in parts],
        "by_kind": {kind: dict(row) for kind, row in kinds.items()},
        "mended_at_open": dict(sorted(mended.items())),
        "faults": [fault for part in parts for fault in part["faults"]],
    }


def at_once(jobs: int, count: int, seconds: float, kinds: str, seed: int, folder: Path) -> dict[str, Any]:
    """Share the kills among processes like this one, with successive seeds."""
    shares = [count // jobs + (job < count % jobs) for job in range(jobs)]
    outs = [folder / f"{job}.json" for job in range(jobs)]
    common = [sys.executable, __file__, "--seconds", str(seconds), "--kinds", kinds]
    running = [
        subprocess.Popen([*common, "--count", str(share), "--seed", str(seed + job), "--out", str(out)])
        for job, (share, out) in enumerate(zip(shares, outs, strict=True))
    ]
    for process in running:
        process.wait()
    return merged([json.loads(out.read_text(encoding="utf-8")) for out in outs])


def first_index(index: Path, repo: Path, tell: Tell) -> None:
    """Make the index that all rounds use."""
    from graphmem import GraphMem

    with GraphMem.open(index, settings=settings()) as memory:
        made = memory.index(repo)
        memory.remember_many([{"id": f"first{i}", "content": f"note {i} that was there before"} for i in range(FIRST)])
    tell("generation", made.generation)
    time.sleep(MAX_WAIT_S)


def _kind_of_note(note: str) -> str:
    """Return a note without its numbers and names."""
    for words, kind in (
        ("incomplete", "unfinished write at the journal's end quarantined"),
        ("were replayed", "entries of the journal replayed into the graph"),
        ("cut off", "unfinished end of the log cut off"),
        ("quarantined", "file quarantined"),
        ("rebuilt from the journal", "memories rebuilt from the journal"),
        ("written to the journal again", "journal restated from the graph"),
    ):
        if words in note:
            return kind
    return note


def main(arguments: list[str]) -> int:
    """Run, print the table and write the result."""
    parser = report.parser(__doc__)
    parser.add_argument("--count", type=int, default=1000, help="kills")
    parser.add_argument("--seconds", type=float, default=3600.0, help="end after this time, even with fewer kills")
    parser.add_argument("--kinds", default=",".join(KINDS), help="kinds of work, separated by commas")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="processes that share the kills, each with an index of its own")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="graphmem-kills-") as folder:
        if given.jobs > 1:
            result = at_once(given.jobs, given.count, given.seconds, given.kinds, given.seed, Path(folder))
        else:
            result = run(given.count, given.seed, given.seconds, Path(folder), given.kinds.split(","))
    report.table(
        ("killed while", "kills", "acknowledged", "missing"),
        [(kind, row.get("kills", 0), row.get("acknowledged", 0), row.get("missing", 0)) for kind, row in result["by_kind"].items()],
    )
    print(f"\n{result['kills']} kills in {result['seconds']} s; lost: {result['lost']}; faults: {len(result['faults'])}")
    for fault in result["faults"][:20]:
        print("  " + fault)
    for kind, times in result["mended_at_open"].items():
        print(f"  repaired at open, {times} times: {kind}")
    report.publish("kills", result, given.out)
    return 1 if result["lost"] or result["faults"] else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
