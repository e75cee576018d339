"""Feedback on memories: confidence of true and false lessons over 200 sessions of a scripted agent.

    python -m benchmarks loops [--sessions 200] [--seed 1]

A project of generated modules has one lesson for each module. In the first sessions an agent states the lessons in its own words: true ones
for half of the modules, false ones for the others. Each later session works on one module. All events go through the code of the hooks, as
Claude Code sends them, and all memories through the store; only the clock is set. The agent does not know which lessons are true. It reads
a file and then acts on the output of the hook:

* It follows a true lesson in four of five sessions. Then its tests pass, and it cites the lesson in every second session.
* It follows a false lesson in one of three sessions. Then its tests fail, it undoes the edit, and in every second such session it says
  that the lesson is wrong.

The run "deaf" is a control: the same agent, without the events that carry feedback to memories. The tables have the confidence, use and
status of the true ("good") and false ("bad") lessons over time, and how often each kind was shown in the last sessions.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Any

import report

MODULES = 40
PLANTING = 20  # sessions that state two lessons each
LAST = 50  # sessions at the end in which shown lessons are counted
HOURS = 8.0  # between two sessions


def source(number: int) -> str:
    return f"def step_{number}(value):\n    return value + {number}\n"


def lesson(number: int) -> str:
    return f"I was wrong about module m{number}: step_{number} needs `guard_{number}` before it returns its value to callers."


class Agent:
    """A scripted agent that sends hook events to one open project."""

    def __init__(self, memory: Any, root: Path, rng: random.Random, *, deaf: bool) -> None:
        self.memory, self.root, self.rng, self.deaf = memory, root, rng, deaf
        self.session = self.standing = ""

    def send(self, event: str, tool: str = "", given: dict[str, Any] | None = None, **more: Any) -> str:
        """Send an event of this session; return the output of the hook."""
        payload = {"session_id": self.session, "hook_event_name": event, "cwd": str(self.root), **more}
        payload |= {"tool_name": tool, "tool_input": given or {}} if tool else {}
        said: str = self.memory.hook("claude-code", json.dumps(payload)).output
        self.memory.parts.injector.settle(60)
        return said

    def begin(self, name: str) -> None:
        """Start a session."""
        self.session = name
        self.standing = self.send("SessionStart", source="startup")

    def read(self, number: int) -> str:
        """Read a module."""
        return self.send("PostToolUse", "Read", {"file_path": str(self.root / f"m{number}.py")}, tool_response=source(number))

    def edit(self, number: int, new: str, old: str = "") -> None:
        """Edit a module."""
        given = {"file_path": str(self.root / f"m{number}.py"), "old_string": old or f"return value + {number}", "new_string": new}
        self.send("PostToolUse", "Edit", given, tool_response="ok")

    def test(self, ok: bool) -> None:
        """Run the tests."""
        said = {"stdout": "4 passed in 0.10s" if ok else "1 failed, 3 passed in 0.10s", "stderr": ""}
        told: dict[str, Any] = {"tool_response": said} if ok else {"error": f"Exit code 1\n{said['stdout']}"}
        self.send("PostToolUse" if ok else "PostToolUseFailure", "Bash", {"command": "pytest -q"}, **told)

    def say(self, text: str) -> None:
        """Send a message of the agent."""
        self.send("Stop", last_assistant_message=text)

    def end(self) -> None:
        """End the session."""
        self.send("SessionEnd")

    def work(self, number: int, planted: dict[int, tuple[str, str, bool]]) -> bool:
        """Work on a module; return whether its lesson was shown."""
        shown = self.standing + self.read(number)
        known = planted.get(number)
        short, is_true = (known[1], known[2]) if known is not None else ("", False)
        seen = bool(short) and f"#{short}" in shown
        takes = seen and self.rng.random() < (0.8 if is_true else 1 / 3)
        says = self.rng.random() < 0.5
        guarded = f"return guard_{number}(value + {number})"
        self.edit(number, guarded if takes and not self.deaf else f"return value + {number + 1}")
        self.test(ok=not takes or is_true)
        if takes and not is_true:
            self.edit(number, f"return value + {number + 2}", "" if self.deaf else guarded)
            self.test(ok=True)
        if takes and says and not self.deaf:
            self.say(f"Done, as #{short} says." if is_true else f"#{short} is wrong: the guard breaks its callers.")
        return seen


def run(sessions: int, seed: int, *, deaf: bool) -> dict[str, Any]:
    from graphmem.injection.experiment import FULL, group_of
    from graphmem.memory.reading.clock import ManualClock
    from graphmem.project.graphmem import GraphMem
    from graphmem.settings import Settings

    rng = random.Random(seed)
    clock = ManualClock(datetime(2026, 3, 2, 9, tzinfo=UTC))
    begun = time.process_time()
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "project"
        root.mkdir()
        for number in range(MODULES):
            (root / f"m{number}.py").write_text(source(number), encoding="utf-8")
        with GraphMem.open(Path(scratch) / "index", repo=root, settings=Settings(embedder="none", workers=1)) as memory:
            memory.parts.book.clock = clock
            memory.index(root)
            project = memory.project().name
            names = (name for n in range(100 * sessions) if group_of(name := f"session-{n}", project) == FULL)
            agent = Agent(memory, root, rng, deaf=deaf)
            truth = {number: place < MODULES // 2 for place, number in enumerate(rng.sample(range(MODULES), MODULES))}
            planted: dict[int, tuple[str, str, bool]] = {}
            curve: list[dict[str, Any]] = []
            seen: list[tuple[bool, bool]] = []

            def rows() -> dict[bool, list[Any]]:
                found: dict[bool, list[Any]] = {True: [], False: []}
                for one, _, is_true in planted.values():
                    found[is_true].append(memory.memory(one))
                return found

            for place in range(sessions):
                clock.advance(timedelta(hours=HOURS))
                agent.begin(next(names))
                if place < PLANTING:
                    for number in (2 * place, 2 * place + 1):
                        agent.read(number)
                        agent.edit(number, f"return value + {number}  # seen")
                        agent.say(lesson(number))
                else:
                    number = rng.randrange(MODULES)
                    seen.append((truth[number], agent.work(number, planted)))
                agent.end()
                memory.parts.learner.wait_for_learning()
                memory.parts.book.just_loaded = place % 3 == 0  # a server starts once a day, and prunes memories then
                memory.parts.memories.prune_when_due()
                if place == PLANTING - 1:
                    for one in memory.memories(limit=1_000).memories:
                        for number in range(MODULES):
                            if f"step_{number} " in one.content.lower():
                                planted[number] = (one.id, one.short_id, truth[number])
                if place >= PLANTING - 1 and (place + 1 - PLANTING) % 30 == 0:
                    curve.append({"sessions": place + 1, **{("good" if kind else "bad"): summary(own) for kind, own in rows().items()}})
            last = seen[-LAST:]
            return {
                "planted": {name: sum(one[2] is kind for one in planted.values()) for name, kind in (("good", True), ("bad", False))},
                "curve": curve,
                "shown_at_the_end": {
                    name: round(fmean(hit for kind, hit in last if kind is wanted), 3) for name, wanted in (("good", True), ("bad", False))
                },
                "trust": memory.trust().level,
                "sessions_counted": memory.trust().sessions,
                "phase_weights_proposed": sum(one.proposed is not None for one in memory.phase_weights().weights),
                "cpu_s": round(time.process_time() - begun, 1),
            }


def summary(rows: list[Any]) -> dict[str, Any]:
    return {
        "confidence": round(fmean(one.confidence for one in rows), 3),
        "confidence_in_use": round(fmean(one.confidence_in_use for one in rows), 3),
        "importance": round(fmean(one.importance for one in rows), 3),
        "used": round(fmean(one.used_count for one in rows), 2),
        "confirmed_share": round(fmean(one.status == "confirmed" for one in rows), 3),
        "disputed_share": round(fmean(one.disputed for one in rows), 3),
        "retired_share": round(fmean(one.status == "deprecated" for one in rows), 3),
    }


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    result = {}
    for name, deaf in (("closed", False), ("deaf", True)):
        result[name] = found = run(options.sessions, options.seed, deaf=deaf)
        print(f"\n## {name}: planted {found['planted']}, {found['cpu_s']} s of processor time\n")
        head = ["sessions", "memories", *found["curve"][0]["good"]]
        report.table(head, [[one["sessions"], kind, *one[kind].values()] for one in found["curve"] for kind in ("good", "bad")])
        print(f"\nshown when their file was read, last {LAST} sessions: {found['shown_at_the_end']}")
        print(
            f"trust {found['trust']} after {found['sessions_counted']} sessions; {found['phase_weights_proposed']} phase weights proposed"
        )
    report.publish("loops", {"parameters": {"sessions": options.sessions, "seed": options.seed}, **result}, options.out)


if __name__ == "__main__":
    main()
