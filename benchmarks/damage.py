"""Answers of an index with one damaged file: bits flipped, bytes cut off, bytes zeroed.

    python -m benchmarks damage REPOSITORY [--count 1000] [--seed 1] [--jobs 2] [--seconds N] [--resume FILE]

REPOSITORY is a git repository. The benchmark copies it and makes an index with commits, memories, sessions, trails, recorded test runs, a
synced MEMORY.md, a token and a backup, and closes it. Each case copies the index directory, damages one file and runs one
command in a new process. That process also exports every memory. Each file is damaged equally often, so a file of 300 bytes is hit as
often as the database. Answers and memories are compared with those of the undamaged index.

A case is *refused* if the command ends with exit code 1 or 2. This is expected: a damaged database loses the code graph until the next
index run. These results are faults:

* crash: exit code 3, a traceback, or death by a signal;
* wrong: another answer;
* memory: a memory that is missing or different afterwards;
* unseen: `verify` reports nothing about the damaged file;
* hung: the command reaches the time limit twice. A case is repeated once after a time limit, because a machine that is short of memory
  can stall for minutes.

--resume appends each judged case to FILE and skips the cases of the same seed that FILE already has. The index is made again from the same
repository. The result has the number of cases that each revision judged. The exit code is 1 if there is a fault.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import multiprocessing
import os
import pkgutil
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import report

TESTS = Path(__file__).parent.parent / "tests"
KINDS: Final = ("flip", "cut", "zero")
QUESTIONS: Final = ("search", "verify", "symbol", "impact", "recall", "modules", "commits", "coaccess", "sessions", "tests")
PATIENCE_S: Final = 120  # for one command
LATE: Final = -1_000  # instead of an exit code: the time limit was reached
FAULTS: Final = ("crash", "wrong", "memory", "unseen", "hung")
PASSING: Final = frozenset(
    {"ms", "seconds", "at", "took", "timings", "elapsed_ms", "staleness", "used_at", "last_used_at", "data_dir", "rank"}
)
OF_A_STATE: Final = frozenset({"chunks", "note"})  # progress of the word index; searches by words wait until it is built
PASSED_OVER: Final = re.compile(
    r"(\.gitignore|server\.log|.*\.quarantine|.*\.md|.*-shm|tokens\.json\.lock)\Z"
)  # files for people, or without content
MAY_BE_LOST: Final = re.compile(
    r"graph\.db|(history|ledger|evidence)\.sqlite|trails/"
)  # not rebuilt from the other files, or not immediately
LINKS: Final = frozenset({"about", "anchor"})  # from a memory to code; they are missing while the code is


MISSING: Final = "(missing)"
AGEING: Final = 1e-3  # change of a score during a run


class Case(NamedTuple):
    """One damaged file and the question that follows."""

    number: int
    file: str
    kind: str
    question: str
    seed: int


class Said(NamedTuple):
    """Exit code and output of one command."""

    code: int  # exit code; minus the signal that ended it; LATE
    out: str
    err: str
    memories: str  # every memory, as JSON; "" if it did not open an index


class Outcome(NamedTuple):
    """Result of one case."""

    case: Case
    what: str  # how the bytes were damaged
    result: str  # equal | refused | said | found | told | one of FAULTS
    said: str
    repeated: bool = False  # the first attempt reached the time limit


def environment() -> dict[str, str]:
    """Return the environment of every command: no model, no user settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHMEM_")}
    return {**kept, "GRAPHMEM_EMBEDDER": "none", "GRAPHMEM_WORKERS": "1", "COLUMNS": "200"}


# ---- index


def make_index(repo: Path, work: Path, memories: int) -> tuple[Path, Path]:
    """Return (copy, index directory) of a repository, with all kinds of data."""
    root, index = work / "repo", work / "index"
    shutil.copytree(repo, root, symlinks=True, ignore=shutil.ignore_patterns(".graphmem", ".venv", "node_modules"))
    run(["index", str(root), "--db", str(index), "--quiet"])
    in_child(lambda: fill(root, index, memories))
    run(["token", "create", "ci", "--scope", "read", "--db", str(index)])
    record_tests(root, index)
    run(["modules", "--db", str(index), "--json"])
    run(["backup", "--db", str(index), "--quiet"])
    return root, index


def fill(root: Path, index: Path, memories: int) -> None:
    """Write memories, sessions, a synced file and a person's settings."""
    from graphmem import GraphMem
    from graphmem.search.memories.phases import PHASES, PhaseBook
    from graphmem.settings import Settings

    with GraphMem.open(index, settings=Settings(embedder="none", workers=1, max_db_gb=1)) as memory:
        files = [one.path for one in memory.files(limit=1_000)[0] if one.path.endswith((".py", ".ts", ".go"))]
        for number in range(memories):
            path = files[number * 7 % len(files)]
            memory.remember(
                f"Note {number}: what {path} does at step {number * 37 % 101} must stay as it is, see entry {number * number}.",
                id=f"note-{number:03}",
                type=("gotcha", "decision", "pattern")[number % 3],
                files=[path],
            )
        memory.pin("note-000")
        memory.forget("note-001")
        memory.update_memory("note-002", content="Note 2 was changed: the step comes after the proxy is set.")
        memory.set_trust_level("confident")
        told = [json.loads(line) for line in (TESTS / "observe/sessions/06_repeated_grep_fires.jsonl").read_text().splitlines()[1:]]
        plain = [one for one in told if one["kind"] not in ("session_start", "session_end")]
        for name in ("ended", "running"):
            memory.start_session(name, kind="build", agent="claude-code", work_unit="Tokens", phase="coding", planned_steps=4)
            memory.observe([{**one, "session_id": name} for one in plain])
        memory.end_session("ended", "validated")
        memory.sync_file(root / "MEMORY.md")
    PhaseBook(index).accept({next((phase, one) for phase, own in PHASES.items() for one in own): 1.0}, report_time(), 30)


def report_time() -> Any:
    """Return the current time, as the date of a person's choice."""
    from datetime import UTC, datetime

    return datetime.now(UTC)


def record_tests(root: Path, index: Path) -> None:
    """Add evidence from outside: two small tests, recorded by graphmem."""
    folder = root / "recorded"
    folder.mkdir()
    (folder / "recorded.py").write_text("def add(left, right):\n    return left + right\n", encoding="utf-8")
    tests = "from recorded import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\ndef test_nothing():\n    assert add(0, 0) == 0\n"
    (folder / "test_recorded.py").write_text(tests, encoding="utf-8")
    trace = root.parent / "recorded.trace"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(folder)]
    subprocess.run(
        [*command, "--graphmem-root", str(root), "--graphmem-trace", str(trace), str(folder)], cwd=folder, check=True, capture_output=True
    )
    run(["index", str(root), "--db", str(index), "--quiet", "--runtime", str(trace)])


# ---- commands


def in_child(job: Callable[[], Any]) -> Any:
    """Run a function in a forked process and return its result through JSON.

    The parent never opens an engine, so it can fork later.
    """
    with tempfile.TemporaryFile() as told:
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                told.write(json.dumps(job()).encode())
                told.flush()
                code = 0
            except BaseException:  # noqa: BLE001 - the parent sees it only in this output
                traceback.print_exc()
            finally:
                os._exit(code)
        if wait(pid):
            raise SystemExit("the index could not be made; see above")
        told.seek(0)
        return json.loads(told.read())


def run(args: Sequence[str], *, may_fail: bool = False, cwd: Path | None = None) -> Said:
    """Run one command in a forked process."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as kept:
        status = _run(args, out, err, kept, cwd)
        texts = []
        for stream in (out, err, kept):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "replace"))
    if status and not may_fail:
        raise SystemExit(f"{' '.join(args)} ended with {status}; its output: {texts[1]}{texts[0]}")
    return Said(status, *texts)


def _run(args: Sequence[str], out: IO[bytes], err: IO[bytes], kept: IO[bytes], cwd: Path | None) -> int:
    pid = os.fork()
    if pid == 0:
        code = 3
        try:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            sys.stdout, sys.stderr = io.TextIOWrapper(os.fdopen(1, "wb", 0)), io.TextIOWrapper(os.fdopen(2, "wb", 0), write_through=True)
            os.environ.clear()
            os.environ.update(environment())
            if cwd is not None:
                os.chdir(cwd)
            tell_memories(kept)
            code = command(list(args))
        finally:
            with contextlib.suppress(Exception):
                sys.stdout.flush()
            os._exit(code)
    return wait(pid)


def tell_memories(kept: IO[bytes]) -> None:
    """Patch the command line: export every memory before an index is closed."""
    from graphmem.cli.context import CommandContext

    open_service = CommandContext.service

    def service(self: CommandContext, **options: Any) -> Any:
        opened = open_service(self, **options)

        def tell() -> None:
            kept.write(opened.export_memories("json").encode())
            kept.flush()

        self._stack.callback(tell)
        return opened

    CommandContext.service = service  # type: ignore[method-assign]


def command(args: list[str]) -> int:
    """Run `graphmem ARGS` like its entry point and return the exit code."""
    from graphmem.cli.main import run as main

    sys.argv = ["graphmem", *args]
    try:
        main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


def wait(pid: int) -> int:
    """Return the exit code of a process, or kill it after the time limit."""
    due = time.monotonic() + PATIENCE_S
    pause = 0.002
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > due:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return LATE
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)


def questions(root: Path, index: Path) -> dict[str, list[list[str]]]:
    """Return several commands of each kind about the content of the index."""
    from graphmem import GraphMem
    from graphmem.settings import Settings

    with GraphMem.open(index, settings=Settings(embedder="none", workers=1, max_db_gb=1)) as memory:
        memory.wait_until_ready()
        files = [one.path for one in memory.files(limit=400)[0]]
        refs = [one.ref for letter in "aeiost" for one in memory.symbols(letter, kinds=["function", "method"], limit=60)[0]]
    words = [
        "session adapter send",
        "proxy authentication header",
        "cookies of a redirect",
        "timeout retry",
        "json decode error",
        "where is a url prepared",
    ]
    step = max(1, len(refs) // 12)
    return {
        "search": [["search", one, "--json"] for one in words],
        "symbol": [["symbol", one, "--json"] for one in refs[::step][:5]],
        "impact": [["impact", one, "--json"] for one in refs[1::step][:5]],
        "recall": [["recall", f"what must stay at step {n}", "--json"] for n in (0, 74)],
        "verify": [["verify", "--json"]],
        "modules": [["modules", "--json"]],
        "commits": [["commits", "--json"]],
        "coaccess": [["coaccess", one, "--json"] for one in files[:: max(1, len(files) // 2)][:2]],
        "sessions": [["session", "list", "--json"]],
        "tests": [["dead-code", "--json"]],
    }


def plain(text: str) -> Any:
    """Return an answer without the parts that differ between two calls."""
    try:
        return strip(json.loads(text))
    except ValueError:
        return text


def strip(value: Any) -> Any:
    """Return a value without times and without the order of equal scores."""
    if isinstance(value, dict):
        passing = PASSING | OF_A_STATE if "indexed_at" in value else PASSING
        return {key: strip(one) for key, one in value.items() if key not in passing}
    if not isinstance(value, list):
        return value
    if all(isinstance(one, dict) and "score" in one and "id" in one for one in value):
        value = sorted(value, key=lambda one: str(one["id"]))  # neighbours in the list can change places when memories age
    return [strip(one) for one in value]


# ---- damage


def damaged(path: Path, kind: str, seed: int) -> str:
    """Damage a file as the seed says; return a description of the damage."""
    rng = random.Random(seed)
    data = bytearray(path.read_bytes())
    before = bytes(data)
    said = ""
    for _ in range(100):
        size = len(before)
        at = rng.randrange(size)
        if kind == "flip":
            count = rng.choice((1, 1, 1, 5))
            places = [rng.randrange(size) for _ in range(count)]
            for place in places:
                data[place] ^= 1 << rng.randrange(8)
            said = f"flipped a bit at {', '.join(map(str, places))} of {size}"
        elif kind == "cut":
            at = rng.choice((0, at, at, max(0, size - rng.randrange(1, 200))))
            del data[at:]
            said = f"cut at {at} of {size}"
        else:
            length = rng.choice((1, 16, 512, 4096))
            data[at : at + length] = bytes(len(data[at : at + length]))
            said = f"zeroed {length} bytes at {at} of {size}"
        if bytes(data) != before:
            break
        data = bytearray(before)
    path.write_bytes(data)
    return said


class Attack:
    """Cases against one index, and the answers of that index undamaged.

    Args:
        root: the tree that was indexed.
        index: its directory, closed.
        work: the directory of the copies.
        most: questions of each kind.
    """

    def __init__(self, root: Path, index: Path, work: Path, most: int) -> None:
        self.root, self.index, self.work = root, index, work
        self.asked: dict[str, list[list[str]]] = {kind: asked[:most] for kind, asked in in_child(lambda: questions(root, index)).items()}
        self.whole: dict[tuple[str, ...], Any] = {}
        self.files = sorted(
            str(path.relative_to(index))
            for path in index.rglob("*")
            if path.is_file() and path.stat().st_size and not PASSED_OVER.match(path.name)
        )

    def ask(self, index: Path, args: Sequence[str]) -> Said:
        """Run one command on an index."""
        return run([*args, "--db", str(index)], may_fail=True, cwd=self.work)

    def memories(self, answer: Said, index: Path) -> Any:
        """Return every memory of any status, as sorted JSON.

        If the command did not open the index, `memory list` is run on it.
        """
        if not answer.memories:
            answer = self.ask(index, ["memory", "list", "--json"])
        if not answer.memories:
            return f"exit code {answer.code}: {answer.out[-300:]}{answer.err[-300:]}"
        kept = [{key: value for key, value in one.items() if key not in LINKS} for one in strip(json.loads(answer.memories)["memories"])]
        return sorted(json.dumps(one, sort_keys=True) for one in kept)

    def learn(self) -> None:
        """Run every question twice on the undamaged index and keep the answers.

        An answer that differs without damage ends the benchmark, because it cannot be judged.
        """
        copy = self.copied("whole")
        for kind, several in self.asked.items():
            for args in several:
                first, second = (self.ask(copy, args) for _ in range(2))
                if kind != "verify" and (first[0] or difference(plain(first[1]), plain(second[1]))):
                    raise SystemExit(
                        f"{args} cannot be judged; without damage it has exit code {first[0]} and answers that differ: "
                        f"{difference(plain(first[1]), plain(second[1]))} {first[2][:500]}"
                    )
                self.whole[tuple(args)] = plain(second[1])
        self.kept = self.memories(second, copy)
        if isinstance(self.kept, str) or not self.kept:
            raise SystemExit(f"the memories of the undamaged index cannot be read; its answer: {self.kept}")
        shutil.rmtree(copy)

    def copied(self, name: str) -> Path:
        """Return a fresh copy of the index."""
        copy = self.work / name
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.index, copy)
        return copy

    def cases(self, count: int, seed: int) -> list[Case]:
        """Return cases with files, kinds of damage and questions drawn evenly."""
        rng = random.Random(seed)
        made = []
        for number in range(count):
            file = self.files[number % len(self.files)]
            question = QUESTIONS[sum(divmod(number, len(self.files))) % len(QUESTIONS)]  # every file meets every question
            made.append(Case(number, file, rng.choice(KINDS), question, rng.randrange(1 << 40)))
        return made

    def outcome(self, case: Case) -> Outcome:
        """Return the outcome of a case, repeated once after a time limit."""
        first = self.attempt(case)
        if first.result != "late":
            return first
        second = self.attempt(case)
        return second._replace(repeated=True, result="hung" if second.result == "late" else second.result)

    def attempt(self, case: Case) -> Outcome:
        """Damage a file, run the command, and compare the memories."""
        copy = self.copied(f"case-{case.number}")
        try:
            what = damaged(copy / case.file, case.kind, case.seed)
            several = self.asked[case.question]
            args = several[case.seed % len(several)]
            answer = self.ask(copy, args)
            result, said = self.judged(case, args, *answer[:3])
            if result == "wrong" and self.is_so_without_damage(case, args, answer):
                result, said = "equal", ""
            if result not in ("crash", "late") and (kept := self.memories(answer, copy)) != self.kept:
                lost = kept if isinstance(kept, str) else f"{len(set(self.kept) - set(kept))} of {len(self.kept)} memories differ"
                result, said = "late" if lost.startswith(f"exit code {LATE}:") else "memory", lost
            return Outcome(case, what, result, said)
        finally:
            shutil.rmtree(copy, ignore_errors=True)

    def is_so_without_damage(self, case: Case, args: Sequence[str], answer: Said) -> bool:
        """Whether the undamaged index now gives this answer, too.

        Memories age, so two nearly equal ones can change places in a list.
        """
        copy = self.copied(f"control-{case.number}")
        try:
            return not difference(plain(self.ask(copy, args).out), plain(answer.out))
        finally:
            shutil.rmtree(copy, ignore_errors=True)

    def judged(self, case: Case, args: Sequence[str], code: int, out: str, err: str) -> tuple[str, str]:
        """Return (result, message) of one answer."""
        words = " ".join((err + out).split())[:400]
        if code == LATE:
            return "late", f"ended after {PATIENCE_S} s: {words}"
        if code == 3 or code < 0 or "Traceback" in err or "internal error" in err:
            return "crash", f"exit code {code}: {words}"
        answer = plain(out)
        if case.question == "verify":
            if code == 0 and not difference(self.whole[tuple(args)], answer):
                return "unseen", "verify says the same as of a whole index"
            return ("found" if code == 1 else "told"), words
        if code in (1, 2):
            return "refused", words
        if found := difference(self.whole[tuple(args)], answer):
            if MAY_BE_LOST.match(case.file) and Path(case.file).name in err:
                return "said", words
            return "wrong", f"{args}: {found} {err[:200]}"
        return "equal", ""


def difference(old: Any, new: Any, at: str = "") -> str:
    """Return the first place where two answers differ; "" for none.

    Numbers may differ by less than `AGEING`, because memories age between two questions.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        places: list[Any] = [*old, *(new.keys() - old.keys())]
        return next(filter(None, (difference(old.get(one, MISSING), new.get(one, MISSING), f"{at}.{one}") for one in places)), "")
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return next(filter(None, (difference(*pair, f"{at}[{place}]") for place, pair in enumerate(zip(old, new, strict=True)))), "")
    if isinstance(old, float) and isinstance(new, float) and abs(old - new) < AGEING:
        return ""
    return "" if old == new else f"{at}: {str(old)[:150]} -> {str(new)[:150]}"


def judged_before(kept: Path, cases: Sequence[Case], seed: int) -> dict[int, tuple[Outcome, str]]:
    """Return (outcome, revision) by case number from an earlier run's file.

    Only cases of the same seed count.
    """
    same = {(case.number, case.kind, case.question, case.seed) for case in cases}
    found = {}
    for line in kept.read_text(encoding="utf-8").splitlines() if kept.exists() else ():
        told = json.loads(line)
        case = Case(**told["case"])
        if told["seed"] == seed and (case.number, case.kind, case.question, case.seed) in same:
            found[case.number] = (Outcome(case, told["what"], told["result"], told["said"], told["repeated"]), told["revision"])
    return found


def attack(
    repo: Path,
    work: Path,
    count: int,
    seed: int,
    jobs: int,
    most: int = 5,
    seconds: float = 36_000,
    say: Callable[[str], None] = print,
    memories: int = 40,
    resume: Path | None = None,
) -> dict[str, Any]:
    """Index a repository, damage it `count` times, and count the results."""
    import graphmem

    for module in pkgutil.walk_packages(graphmem.__path__, "graphmem."):  # imported once, before the forks
        if not module.name.endswith(("__main__", "pytest_plugin")):
            importlib.import_module(module.name)
    root, index = make_index(repo, work, memories)
    made = Attack(root, index, work, most)
    made.learn()
    begun = time.monotonic()
    results: Counter[str] = Counter()
    revisions: Counter[str] = Counter()
    by_file: dict[str, Counter[str]] = {}
    faults: list[dict[str, Any]] = []
    repeated = 0

    def count_in(one: Outcome, revision: str) -> None:
        nonlocal repeated
        results[one.result] += 1
        revisions[revision] += 1
        repeated += one.repeated
        name = re.sub(r"\d+(-[0-9a-f]+)?", "N", one.case.file)
        by_file.setdefault(name, Counter())[one.result] += 1
        if one.result in FAULTS:
            faults.append({"file": one.case.file, "what": one.what, "question": one.case.question, "result": one.result, "said": one.said})
            say(f"{one.result}: {one.case.file} ({one.what}), {one.case.question}: {one.said}")

    cases = made.cases(count, seed)
    judged = judged_before(resume, cases, seed) if resume else {}
    for one, revision in judged.values():
        count_in(one, revision)
    now = report.facts()["revision"]
    left = [case for case in cases if case.number not in judged]
    with multiprocessing.get_context("fork").Pool(jobs) as pool, resume.open("a") if resume else contextlib.nullcontext() as kept:
        for one in pool.imap_unordered(made.outcome, left):
            count_in(one, now)
            if kept:
                kept.write(json.dumps({"seed": seed, "revision": now, **one._asdict(), "case": one.case._asdict()}) + "\n")
                kept.flush()
            if time.monotonic() - begun > seconds:
                pool.terminate()
                break
            if results.total() % 100 == 0:
                say(f"{results.total()} of {count}: {dict(results)}")
    return {
        "cases": results.total(),
        "seed": seed,
        "judged_by_revision": dict(revisions),
        "files": len(made.files),
        "seconds": round(time.monotonic() - begun, 1),
        "exit_code_3": results["crash"],
        "wrong_answers": results["wrong"],
        "lost_memories": results["memory"],
        "verify_calls_damage_sound": results["unseen"],
        "never_ended": results["hung"],
        "repeated_after_time_limit": repeated,
        "results": dict(sorted(results.items())),
        "by_file": {name: dict(sorted(counts.items())) for name, counts in sorted(by_file.items())},
        "faults": faults,
    }


def main() -> None:
    """Run the benchmark, print the table and write the result."""
    parser = report.parser(__doc__)
    parser.add_argument("repository", type=Path, help="a git repository, which is copied")
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=36_000, help="start no case after this many seconds")
    parser.add_argument("--questions", type=int, default=5, help="of each kind")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="append judged cases here, and skip those it has")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="graphmem-damage-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        found = attack(
            arguments.repository,
            Path(folder),
            arguments.count,
            arguments.seed,
            arguments.jobs,
            arguments.questions,
            arguments.seconds,
            resume=arguments.resume,
        )
    rows = [[name, *(counts.get(one, 0) for one in found["results"])] for name, counts in found["by_file"].items()]
    report.table(["file", *found["results"]], rows)
    found["repository"] = subprocess.run(
        ["git", "-C", str(arguments.repository), "describe", "--always"], capture_output=True, text=True, check=False
    ).stdout.strip()
    report.publish("damage", found, arguments.out)
    raise SystemExit(bool(found["faults"]))


if __name__ == "__main__":
    main()
