"""Cost of observing sessions: processor time for each event and at the end, and memory.

    python -m benchmarks observing

Both sessions have 10,000 events. The recorded one repeats the annotated sessions of tests/observe/sessions as one session. The generated
one is of an agent in a large repository: long outputs, many files, commands, errors, messages. The columns "wanted" and "allowed" have the
goals and the limits of the product.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from benchmarks.report import parser, percentile, publish, table
from graphmem.observe.counts.scratchpad import MAX_BYTES
from graphmem.observe.running.events import checked
from graphmem.observe.running.observer import Observer
from graphmem.observe.running.running import EVENT_BUDGET_S, FINISH_BUDGET_S, Running, started_info

SESSIONS: Final = Path(__file__).parent.parent / "tests" / "observe" / "sessions"
ROOT: Final = "/home/dev/shop"
EVENTS: Final = 10_000
START: Final = 1_767_261_600.0
ROUNDS: Final = 3  # of the whole session; the least time of each event counts, because load only adds
WARM: Final = 200  # events that are not measured


def recorded(count: int = EVENTS) -> list[dict[str, Any]]:
    """Return events of real sessions, repeated with other steps and times."""
    lines = [json.loads(line) for path in sorted(SESSIONS.glob("*.jsonl")) for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    kept = [one for one in lines if one["kind"] not in ("session_start", "session_end")]
    return [{**kept[i % len(kept)], "session_id": "s", "step": i // 2, "at": START + i * 2.0} for i in range(count)]


def generated(count: int = EVENTS, seed: int = 7) -> list[dict[str, Any]]:
    """Return a long session in a large repository; equal for equal seeds."""
    rng = random.Random(seed)
    folders = [f"src/pkg{i:02}" for i in range(40)]
    files = [f"{rng.choice(folders)}/module_{i:04}.py" for i in range(2_500)]
    words = [f"word{i}" for i in range(400)]
    body = "\n".join(f"    value_{i} = compute({rng.choice(words)}, index={i})" for i in range(60))
    made: list[dict[str, Any]] = []
    near = 0

    def add(kind: str, **rest: Any) -> None:
        made.append({"session_id": "s", "step": len(made) // 2, "at": START + 1.5 * len(made), "kind": kind, **rest})

    def call(tool: str, args: dict[str, Any], text: str, *, ok: bool = True) -> None:
        add("tool_call", tool=tool, args=args)
        add("tool_result", tool=tool, args=args, ok=ok, text=text)

    while len(made) < count:
        near = (near + rng.choice((0, 0, 1, 2, 40))) % len(files)
        path = f"{ROOT}/{files[near]}"
        roll = rng.random()
        if roll < 0.35:
            head = f"from {files[(near + 1) % len(files)][:-3].replace('/', '.')} import thing\n"
            call("Read", {"file_path": path}, head + body)
        elif roll < 0.60:
            call(
                "Edit",
                {"file_path": path, "old_string": body[: rng.randrange(40, 900)], "new_string": body[: rng.randrange(40, 900)]},
                "updated",
            )
        elif roll < 0.72:
            found = "\n".join(f"{one}:{rng.randrange(400)}: {rng.choice(words)}" for one in rng.sample(files, 40))
            call("Grep", {"pattern": rng.choice(words[:150])}, found)
        elif roll < 0.78:
            call("Glob", {"pattern": "**/*.py"}, "\n".join(rng.sample(files, 100)))
        elif roll < 0.90:
            failed = rng.random() < 0.3
            error = f"E   KeyError: '{rng.choice(words)}'\n1 failed, 20 passed in 0.{rng.randrange(99)}s" if failed else "21 passed in 0.4s"
            call("Bash", {"command": f"pytest tests/{rng.choice(folders)[4:]} -q"}, error, ok=not failed)
        elif roll < 0.93:
            call("Bash", {"command": f"cd {ROOT} && alembic upgrade head 2>&1 | tail -5"}, body[:1500])
        else:
            lead = rng.choice(("Now I will", "Actually, the", "Wait, the", "I initially thought it was there, but the", "The"))
            add("message", text=f"{lead} {' '.join(rng.choices(words, k=60))} is not what `{files[near]}` returns. " + "It holds. " * 20)
    return made[:count]


def measure(events: list[dict[str, Any]]) -> dict[str, float]:
    """Return processor time by event, at the end and in batches, and memory."""
    at_last = _now()
    spent = [1e9] * len(events)
    finish = 1e9
    for _ in range(ROUNDS):
        now = Running(started_info("s", at_last, {}), [ROOT])
        for place, event in enumerate(events):
            begun = time.thread_time()
            now.take(checked(event, at_last))
            spent[place] = min(spent[place], time.thread_time() - begun)
        begun = time.thread_time()
        record, _ = now.finish("validated")
        finish = min(finish, time.thread_time() - begun)
    with tempfile.TemporaryDirectory() as folder:
        observer = Observer(Path(folder) / "trails", lambda: [ROOT])
        begun = time.process_time()
        for at in range(0, len(events), 20):
            observer.observe(events[at : at + 20])
        batches = time.process_time() - begun
        trail = sum(path.stat().st_size for path in Path(folder).rglob("*.trail"))
        observer.close()
    tracemalloc.start()
    held = Running(started_info("s", _now(), {}), [ROOT])
    for event in events:
        held.take(checked(event, _now()))
    memory = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    warm = spent[WARM:]
    return {
        "events": len(events),
        "p50_ms": percentile(warm, 0.5) * 1e3,
        "p90_ms": percentile(warm, 0.9) * 1e3,
        "p99_ms": percentile(warm, 0.99) * 1e3,
        "most_ms": max(warm) * 1e3,
        "finish_ms": finish * 1e3,
        "observer_ms_an_event": batches / len(events) * 1e3,
        "memory_mb": memory / (1 << 20),
        "estimate_mb": held.pad.cost() / (1 << 20),
        "trail_mb": trail / (1 << 20),
        "findings": len(record.findings),
    }


def _now() -> Any:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(START + 10_000_000, UTC)


def main() -> None:
    """Measure both sessions and print them beside the limits."""
    args = parser(__doc__).parse_args()
    kinds: dict[str, Callable[[], list[dict[str, Any]]]] = {"recorded": recorded, "generated": generated}
    result = {name: measure(make()) for name, make in kinds.items()}
    allowed = {"p99_ms": EVENT_BUDGET_S * 1e3, "finish_ms": FINISH_BUDGET_S * 1e3, "memory_mb": MAX_BYTES / (1 << 20)}
    wanted = {"p99_ms": 0.2, "finish_ms": 50.0, "memory_mb": 50.0}
    names = list(next(iter(result.values())))
    table(
        ["", *result, "wanted", "allowed"],
        [[name, *(one[name] for one in result.values()), wanted.get(name, ""), allowed.get(name, "")] for name in names],
    )
    publish("observing", {"sessions": result, "wanted": wanted, "allowed": allowed}, args.out)


if __name__ == "__main__":
    main()
