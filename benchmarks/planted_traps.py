"""Traps shown before edits of the functions they are about, and false warnings before other edits.

    python -m benchmarks planted_traps REPOSITORY … [--traps 10] [--others 20] [--seed 1] [--patience 0]

A person teaches each repository traps about random functions. Then Claude Code's `PreToolUse` payload is sent for an edit of the first body
line of each of these functions, and of functions without a trap, each in its own session. A push is false if it shows a trap of another
function. A late answer counts as a trap that was not shown; --patience moves the deadline on a loaded machine. The exit code is 1 if fewer
than 95 % of the traps are shown, or more than 5 % of the edits have a false push.
"""

from __future__ import annotations

import json
import os
import random
import tempfile
import time
from pathlib import Path
from typing import Any

import report

from graphmem.injection.experiment import FULL, group_of
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

MARK = "planted trap"


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("repositories", type=Path, nargs="+")
    options.add_argument("--traps", type=int, default=10, help="in each repository")
    options.add_argument("--others", type=int, default=20, help="edits in each repository without a trap")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--patience", type=float, default=0.0, help="seconds added to the deadlines of hooks, on a loaded machine")
    given = options.parse_args()
    rows = {}
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["HOME"] = scratch  # without the memories of the user
        for root in given.repositories:
            name = root.resolve().name if root.name != "tree" else root.resolve().parent.name
            rows[name] = one_repository(root.resolve(), Path(scratch) / name, given)
            print(name, rows[name], flush=True)
    total = {key: sum(row[key] for row in rows.values()) for key in next(iter(rows.values()))}
    report.table(["repository", *total], [[name, *map(str, row.values())] for name, row in [*rows.items(), ("all", total)]])
    shares = {
        "shown_share": round(total["shown"] / total["traps"], 3),
        "false_share": round(total["false"] / (total["traps"] + total["others"]), 3),
    }
    print(f"\n{shares['shown_share']:.1%} of the traps shown, false pushes in {shares['false_share']:.1%} of the edits")
    settings = {"seed": given.seed, "patience": given.patience}
    report.publish("planted_traps", {**settings, "repositories": rows, "all": total, **shares}, given.out)
    return 0 if shares["shown_share"] >= 0.95 and shares["false_share"] <= 0.05 else 1


def one_repository(root: Path, db: Path, given: Any) -> dict[str, int]:
    """Return counts of edits, traps shown and false pushes."""
    with GraphMem.open(db, root, settings=Settings(embedder="none"), keep_warm=False) as memory:
        memory.index(root)
        functions = [one for one in memory.symbols("", ["function", "method"], limit=10_000)[0] if has_body(root, one)]
        chosen = random.Random(given.seed).sample(functions, given.traps + given.others)
        trapped, others = chosen[: given.traps], chosen[given.traps :]
        for number, one in enumerate(trapped):
            memory.remember(
                f"{MARK} {number}: never change {one.qualname} without its caller's lock.",
                "gotcha",
                symbols=[f"{one.path}:{one.qualname}"],
                source="user_taught",
            )
        memory.impact(f"{trapped[0].path}:{trapped[0].start_line}")  # opens the graph
        sessions = (f"trap-{n}" for n in range(10_000))
        named = (one for one in sessions if group_of(one, memory.project().name) == FULL)
        for one in others[:3]:
            hook_output(memory, root, one, next(named), given.patience)
        shown = wrong = late = 0
        for number, one in enumerate(trapped):
            text, is_late = hook_output(memory, root, one, next(named), given.patience)
            own = f"{MARK} {number}:"
            shown += own in text and not is_late
            wrong += text.count(MARK) > text.count(own)
            late += is_late
        for one in others:
            text, is_late = hook_output(memory, root, one, next(named), given.patience)
            wrong += MARK in text
            late += is_late
    return {"traps": len(trapped), "shown": shown, "others": len(others), "false": wrong, "late": late}


def has_body(root: Path, one: Any) -> bool:
    """Whether the first body line identifies one place of the file."""
    if one.is_test or one.end_line <= one.start_line:
        return False
    text = (root / one.path).read_text(encoding="utf-8", errors="replace")
    lines = text.split("\n")[one.start_line - 1 : one.start_line + 1]
    return len(lines) == 2 and text.count("\n".join(lines)) == 1


def hook_output(memory: GraphMem, root: Path, one: Any, session: str, patience: float) -> tuple[str, bool]:
    """Return the output of the hook before an edit, and whether it was late."""
    lines = (root / one.path).read_text(encoding="utf-8", errors="replace").split("\n")[one.start_line - 1 : one.start_line + 1]
    edit = {"file_path": str(root / one.path), "old_string": "\n".join(lines), "new_string": f"{lines[0]}\n{lines[1]}  # edited"}
    payload = {"session_id": session, "hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": edit, "cwd": str(root)}
    answer = memory.hook("claude-code", json.dumps(payload), begun=time.monotonic() + patience)
    memory.parts.injector.settle(30)
    return answer.output, answer.late


if __name__ == "__main__":
    raise SystemExit(main())
