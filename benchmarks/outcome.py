"""Tokens and forgotten files of a scripted agent with grep, graphmem and codegraph, on real commits.

    python -m benchmarks outcome --mirrors DIR [--only NAME …] [--changes 50] [--minutes 8] [--codegraph BINARY] [--embedder none]

DIR has `<owner>+<name>/repo` bare git directories. No language model is used: the agent follows the rules in
`benchmarks/outcome_agent.py`. Its task is the message of a commit that changed 2 to 8 source files. It works in the tree before that commit
until it has read every changed place. There are four policies:

* grep: the agent greps and reads;
* offered: every fourth grep is replaced by a call of graphmem's tool `search`;
* pushed: grep, with the output of graphmem's hooks for Claude Code (session start, prompt, before and after edits, stop);
* codegraph: grep, with `codegraph explore` for the task at the start and for the name of the first edit.

Commits are from the first-parent line. Of the latest ones that fit, two in three are taken and run oldest first, so neither index nor
history of graphmem has seen the future. A task that the agent does not complete counts as the limit of 60,000 tokens.

Intervals are 95 % by bootstrap over changes. The ratio to grep is the geometric mean over changes. "Forgotten" is the number of files of
the change that the agent had not opened when it said "done".
"""

from __future__ import annotations

import atexit
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from math import exp, log
from pathlib import Path
from statistics import mean, median
from typing import Any, Final

import changes as mined
import report
from outcome_agent import DEFINED, MOST_TOKENS, MOST_TURNS, SOURCES, Hear, Run, Target, Told

from graphmem.injection.experiment import FULL, group_of
from graphmem.mcp_server import text as tool_text
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

LARGE: Final = 2_000  # files
SMALL: Final = 150
WITHIN: Final = 20_000  # tokens
REPOSITORIES: Final = (
    "wagtail+wagtail",
    "saleor+saleor",
    "ansible+ansible",
    "kaleidos-ventures+taiga-back",
    "sphinx-doc+sphinx",
    "celery+celery",
    "caddyserver+caddy",
    "networkx+networkx",
    "vuejs+core",
    "psf+requests",
    "encode+httpx",
    "python-attrs+attrs",
    "spf13+cobra",
    "gin-gonic+gin",
)
OFFERED_EVERY: Final = 4
MOST_PLACES: Final = 40  # in one change
_NUMBERED: Final = re.compile(r"^(\d+)\t")
_HEADER: Final = re.compile(r"^\*\*`([^`]+)`\*\*")
_OTHERS: Final = re.compile(
    r"(^|/)(migrations|locales?|vendor|dist|node_modules|__snapshots__|changelogs?|docs?)/|\.min\.|(^|/)(__init__|_version|__version__|version)\.py$"
)
_HUNK: Final = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("--mirrors", type=Path, required=True, help="has <owner>+<name>/repo bare git directories")
    options.add_argument("--only", nargs="*", default=list(REPOSITORIES))
    options.add_argument("--changes", type=int, default=50)
    options.add_argument("--minutes", type=float, default=8, help="limit for one repository; changes done by then count")
    options.add_argument("--codegraph", type=Path, help="the binary of npm's @colbymchenry/codegraph")
    options.add_argument("--embedder", default="none")
    options.add_argument("--take", type=Path, nargs="*", default=[], help="results of earlier runs to include")
    options.add_argument("--patience", type=float, default=0.0, help="seconds added to the deadlines of hooks, on a loaded machine")
    options.add_argument("--scratch", type=Path, help="folder that keeps clones and indexes")
    given = options.parse_args()
    os.environ["HOME"] = tempfile.mkdtemp(prefix="graphmem-outcome-home-")  # without the memories of the user
    atexit.register(shutil.rmtree, os.environ["HOME"], ignore_errors=True)
    rows: list[dict[str, Any]] = []
    sizes: dict[str, int] = {}
    version = ""
    for file in given.take:
        earlier = json.loads(file.read_text("utf-8"))
        rows += earlier["changes"]
        sizes |= earlier["files"]
        version = version or earlier["codegraph"]
    if given.codegraph:
        version = subprocess.run([given.codegraph, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    for name in given.only:
        with tempfile.TemporaryDirectory(prefix="graphmem-outcome-") as scratch:
            folder = (given.scratch or Path(scratch)) / name
            try:
                done, sizes[name] = one_repository(name, given.mirrors / name / "repo", folder, given)
            except subprocess.CalledProcessError as error:  # a mirror may lack its largest files
                print(f"{name} was left out: {error}", file=sys.stderr)
                continue
            rows += done
            show(summary(done, sizes), name)
            publish(rows, sizes, version, given)
    if not given.only:
        publish(rows, sizes, version, given)
    for size, own in summary(rows, sizes)["groups"].items():
        show({"groups": {size: own}}, size)
    return 0


def publish(rows: Sequence[dict[str, Any]], sizes: dict[str, int], version: str, given: Any) -> None:
    """Write the figures and every change."""
    slim = [{key: value for key, value in row.items() if key not in ("task", "forgotten_files")} for row in rows]
    facts = {"embedder": given.embedder, "patience": given.patience, "codegraph": version, "files": sizes}
    report.publish("outcome", {**facts, **summary(rows, sizes), "changes": slim}, given.out)


def one_repository(name: str, mirror: Path, folder: Path, given: Any) -> tuple[list[dict[str, Any]], int]:
    """Return the rows of all policies for one repository, and its file count."""
    tree = folder / "tree"
    if not tree.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", str(mirror), str(tree)], check=True)
        with (tree / ".git" / "info" / "exclude").open("a", encoding="utf-8") as out:
            out.write(".codegraph/\n.graphmem/\n")
    shutil.rmtree(folder / "index", ignore_errors=True)  # the history of an earlier run contains later commits
    shutil.rmtree(tree / ".codegraph", ignore_errors=True)
    tasks = list(fitting(tree, given.changes))
    until = time.monotonic() + given.minutes * 60
    rows: list[dict[str, Any]] = []
    size = 0
    spent: dict[str, float] = defaultdict(float)
    checkout(tree, tasks[0][0].parent)
    with GraphMem.open(folder / "index", tree, settings=Settings(embedder=given.embedder), keep_warm=False) as memory:
        for commit, query, targets in tasks:
            if time.monotonic() > until:
                break
            checkout(tree, commit.parent)
            begun = time.monotonic()
            memory.index(tree)
            spent["index"] += time.monotonic() - begun
            if given.codegraph:
                codegraph(given.codegraph, tree, "sync" if (tree / ".codegraph").exists() else "init", ".")
            tracked = frozenset(run(tree, "ls-files").splitlines())
            size = len(tracked)
            policies: dict[str, Callable[[], Hear]] = {
                "grep": lambda: lambda *moment: Told(),
                "offered": lambda q=query: offered(memory, q),
                "pushed": lambda q=query, c=commit: pushed(memory, tree, c.sha, q, given.patience),
            }
            if os.environ.get("OUTCOME_ONLY"):
                policies = {key: own for key, own in policies.items() if key in os.environ["OUTCOME_ONLY"]}
            if given.codegraph:
                policies["codegraph"] = lambda q=query: explored(given.codegraph, tree, q)
            for policy, hear in policies.items():
                begun = time.monotonic()
                done = Run(tree, query, targets, hear(), tracked).go()
                spent[policy] += time.monotonic() - begun
                rows.append(
                    {
                        "repository": name,
                        "sha": commit.sha,
                        "policy": policy,
                        "tokens": done.complete_at or MOST_TOKENS,
                        "turns": done.complete_turns or MOST_TURNS,
                        "complete": bool(done.complete_at),
                        "forgotten": len(done.forgotten),
                        "forgotten_files": sorted(done.forgotten),
                        "done_at": done.done_at,
                        "files": len({one.path for one in targets}),
                        "task": query,
                    }
                )
            if os.environ.get("OUTCOME_VERBOSE"):
                print(commit.sha[:8], query.split("\n")[0][:60], [one.path for one in targets], file=sys.stderr)
                print([(one["policy"], one["tokens"], one["forgotten_files"]) for one in rows[-len(policies) :]], file=sys.stderr)
    if os.environ.get("OUTCOME_VERBOSE"):
        print({key: round(value, 1) for key, value in spent.items()}, file=sys.stderr)
    return rows, size


# ---- changes


def fitting(tree: Path, count: int) -> Iterator[tuple[mined.Commit, str, list[Target]]]:
    """Yield the latest changes that fit, oldest first.

    One and a half times as many are collected, and two in three are taken.
    """
    form = "--format=%x1e%H%x1f%P%x1f%cI%x1f%an%x1f%B%x1f"
    said = run(tree, "log", "origin/HEAD", "--first-parent", "--no-merges", "-M", "--name-status", "-n", "6000", form)
    found = []
    for record in said.split("\x1e")[1:]:
        sha, parents, at, author, message, changed = record.split("\x1f")
        files = [line.split("\t") for line in changed.strip().splitlines()]
        sources = [path for letter, path, *_ in files if letter == "M" and is_source(path)]
        query = mined.described(message)[: mined.MOST_LETTERS]
        title = query.split("\n", 1)[0]
        is_dull = mined._DULL.search(title) or mined._ROBOT.search(author) or any(letter[0] in "RCT" for letter, *_ in files)
        if is_dull or not parents or not 2 <= len(sources) <= 8 or len(re.findall(r"\w{2,}", title)) < 3:
            continue
        commit = mined.Commit(sha, parents.split(" ")[0], at, author, message, files)
        targets = list(places(tree, commit, sources))
        if len({one.path for one in targets}) >= 2 and len(targets) <= MOST_PLACES:
            found.append((commit, query, targets))
        if len(found) >= round(count * 1.5):
            break
    found.reverse()
    yield from [one for number, one in enumerate(found) if number % 3 != 2][-count:]


def is_source(path: str) -> bool:
    """Whether a file is code that a person writes."""
    return path.rpartition(".")[2] in SOURCES and not _OTHERS.search(path)


def places(tree: Path, commit: mined.Commit, sources: Sequence[str]) -> Iterator[Target]:
    """Yield one place for each definition with changed lines.

    A file whose changes are all outside definitions has one place (line 0). A new definition belongs to the file, because the tree before
    the change does not have it.
    """
    said = run(tree, "diff", "-U0", commit.parent, commit.sha, "--", *sources)
    for part in re.split(r"^diff --git ", said, flags=re.M)[1:]:
        named = re.search(r"^--- a/(.+)$", part, re.M)
        if named is None:
            continue
        lines = run(tree, "show", f"{commit.parent}:{named[1]}").split("\n")
        found: dict[int, Target] = {}
        for hunk in re.split(r"^(?=@@ )", part, flags=re.M)[1:]:
            old = [one[1:] for one in hunk.split("\n")[1:] if one.startswith("-")]
            new = [one[1:] for one in hunk.split("\n")[1:] if one.startswith("+")]
            match = _HUNK.match(hunk)
            assert match is not None
            line = max(1, int(match[1]))
            definition = enclosing(lines, line, old or new, is_new=not old)
            found.setdefault(definition, Target(named[1], line if definition else 0, "\n".join(old), "\n".join(new)))
        if len(found) > 1:
            found.pop(0, None)
        yield from found.values()


def enclosing(lines: Sequence[str], line: int, changed: Sequence[str], *, is_new: bool) -> int:
    """Return the line of the definition around a change.

    It is 0 if there is none, or if the change begins with a new definition.
    """
    first = next((one for one in changed if one.strip()), "")
    if DEFINED.match(first):
        return 0 if is_new else line
    depth = len(first) - len(first.lstrip())
    for at in range(min(line, len(lines)), 0, -1):
        text = lines[at - 1]
        own = len(text) - len(text.lstrip())
        if text.strip() and own < depth:
            if DEFINED.match(text):
                return at
            depth = own
    return 0


def run(tree: Path, *arguments: str) -> str:
    """Return the output of a git command."""
    done = subprocess.run(["git", "-c", "core.quotepath=off", *arguments], cwd=tree, capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def checkout(tree: Path, revision: str) -> None:
    """Check out a revision."""
    run(tree, "checkout", "-q", "--force", "--detach", revision)


# ---- policies


def offered(memory: GraphMem, query: str) -> Hear:
    """Policy that answers every fourth grep with a search.

    The first search has the task, later ones the pattern.
    """
    count = 0

    def hear(moment: str, path: str, target: Target | None, pattern: str) -> Told:
        nonlocal count
        if moment != "grep":
            return Told()
        count += 1
        if count % OFFERED_EVERY:
            return Told()
        found = memory.search(query if count == OFFERED_EVERY else pattern, explain=False)
        return Told(tool_text.search(found, 1_500))

    return hear


def pushed(memory: GraphMem, tree: Path, sha: str, query: str, patience: float = 0.0) -> Hear:
    """Policy with the output of the hooks of Claude Code.

    The deadlines of the hooks are `patience` seconds later than in use.
    """
    project = memory.project().name
    session = next(one for one in (f"{sha[:12]}-{n}" for n in range(1000)) if group_of(one, project) == FULL)

    def sent(event: str, **rest: Any) -> Told:
        payload = {"session_id": session, "hook_event_name": event, "cwd": str(tree), **rest}
        output = memory.hook("claude-code", json.dumps(payload), begun=time.monotonic() + patience).output
        memory.parts.injector.settle(30)
        if not output:
            return Told()
        answer = json.loads(output)
        return Told(answer.get("reason") or answer.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def edit(target: Target) -> dict[str, Any]:
        lines = (tree / target.path).read_text(encoding="utf-8", errors="replace").split("\n")
        old = target.old or lines[min(target.line, len(lines)) - 1]
        new = target.new if target.old else f"{old}\n{target.new}"
        return {"tool_name": "Edit", "tool_input": {"file_path": str(tree / target.path), "old_string": old, "new_string": new}}

    def hear(moment: str, path: str, target: Target | None, pattern: str) -> Told:
        if moment == "start":
            return sent("SessionStart", source="startup")
        if moment == "prompt":
            return sent("UserPromptSubmit", prompt=query)
        if moment == "grepped":
            return sent("PostToolUse", tool_name="Grep", tool_input={"pattern": pattern}, tool_response={})
        if moment == "read":
            return sent("PostToolUse", tool_name="Read", tool_input={"file_path": str(tree / path)}, tool_response={})
        if moment == "before_edit" and target is not None:
            return sent("PreToolUse", **edit(target))
        if moment == "after_edit" and target is not None:
            return sent("PostToolUse", tool_response={"success": True}, **edit(target))
        return sent("Stop", stop_hook_active=False) if moment == "stop" else Told()

    return hear


def codegraph(binary: Path, tree: Path, *arguments: str) -> str:
    """Return the output of a codegraph command."""
    environ = {**os.environ, "CODEGRAPH_TELEMETRY": "0", "NO_COLOR": "1"}
    command = [binary.resolve(), *arguments]
    quiet = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    done = subprocess.run(command, cwd=tree, env=environ, stdout=subprocess.PIPE, check=False, **quiet)
    return done.stdout.decode("utf-8", "replace")


def explored(binary: Path, tree: Path, query: str) -> Hear:
    """Policy that runs `explore` with the task and the name of the first edit."""
    again = True

    def explore(words: str) -> Told:
        text = codegraph(binary, tree, "explore", words[:500])
        shown: dict[str, set[int]] = defaultdict(set)
        path = ""
        for line in text.splitlines():
            if header := _HEADER.match(line):
                path = header[1]
            elif (numbered := _NUMBERED.match(line)) and path:
                shown[path].add(int(numbered[1]))
        return Told(text, {name: frozenset(own) for name, own in shown.items()}, calls=1)

    def hear(moment: str, path: str, target: Target | None, pattern: str) -> Told:
        nonlocal again
        if moment == "prompt":
            return explore(query)
        if moment == "before_edit" and pattern and again:
            again = False
            return explore(pattern)
        return Told()

    return hear


# ---- figures


def summary(rows: Sequence[dict[str, Any]], sizes: dict[str, int]) -> dict[str, Any]:
    """Return the figures by repository, and by size of repository."""
    by_repository: dict[str, list[dict[str, Any]]] = defaultdict(list)
    by_size: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_repository[row["repository"]].append(row)
        files = sizes[row["repository"]]
        by_size["over 2,000 files" if files > LARGE else "under 150 files" if files < SMALL else "between"].append(row)
    return {
        "repositories": {name: figures(own) for name, own in by_repository.items()},
        "groups": {name: figures(own) for name, own in by_size.items()},
    }


def figures(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of each policy."""
    policies: dict[str, dict[tuple[str, str], dict[str, Any]]] = defaultdict(dict)
    for row in rows:
        policies[row["policy"]][row["repository"], row["sha"]] = row
    grep = policies["grep"]
    found = {}
    for name, own in policies.items():
        ratios = [log(row["tokens"] / grep[key]["tokens"]) for key, row in own.items()]
        forgotten = [(row["forgotten"], grep[key]["forgotten"]) for key, row in own.items()]
        found[name] = {
            "changes": len(own),
            "tokens": interval([row["tokens"] for row in own.values()], median),
            "turns": interval([row["turns"] for row in own.values()], median),
            "ratio": [round(exp(one), 3) for one in interval(ratios, mean, 6)],
            "sum_ratio": round(sum(row["tokens"] for row in own.values()) / sum(row["tokens"] for row in grep.values()), 3),
            "complete": round(mean(row["complete"] for row in own.values()), 3),
            "within": round(mean(row["tokens"] <= WITHIN and row["complete"] for row in own.values()), 3),
            "forgotten": interval([one for one, _ in forgotten], mean, 3),
            "forgotten_ratio": round(sum(one for one, _ in forgotten) / max(1, sum(one for _, one in forgotten)), 3),
            "done_tokens": median(row["done_at"] for row in own.values()),
        }
    return found


def interval(values: Sequence[float], of: Callable[[Sequence[float]], float], digits: int = 0) -> list[float]:
    """Return a statistic and its 95 % bootstrap interval."""
    chance = random.Random(1)
    again = sorted(of(chance.choices(values, k=len(values))) for _ in range(1000))
    return [round(one, digits) for one in (of(values), again[25], again[974])]


def show(found: dict[str, Any], title: str) -> None:
    """Print the figures of one group."""
    own = next(iter(found["groups"].values()))
    print(f"\n{title}\n")
    report.table(
        [
            "policy",
            "changes",
            "tokens (interval)",
            "against grep (interval)",
            "turns",
            "complete",
            "within 20k",
            "forgotten files",
            "share of grep's",
        ],
        [
            [
                name,
                str(row["changes"]),
                "{:.0f} ({:.0f}-{:.0f})".format(*row["tokens"]),
                "{:.2f} ({:.2f}-{:.2f})".format(*row["ratio"]),
                f"{row['turns'][0]:.0f}",
                row["complete"],
                row["within"],
                row["forgotten"][0],
                row["forgotten_ratio"],
            ]
            for name, row in own.items()
        ],
    )
    sys.stdout.flush()


if __name__ == "__main__":
    if not shutil.which("git"):
        raise SystemExit("git is missing; install it")
    raise SystemExit(main())
