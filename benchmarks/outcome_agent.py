"""Scripted agent of `outcome`: it greps and reads by fixed rules, without a language model.

The agent knows the words of a task and recognises a place to change as soon as it has read it. All other rules are the same for all
policies:

* It first greps the names of the task that look like code, then its other words, at most three before it reads anything.
* A file gets points for each pattern found in it, fewer for a frequent pattern. Tests get half, unless the task mentions tests.
* It reads the file with the most points: all of it up to WHOLE lines, else WINDOW lines around the lines that greps and policies named.
* When it has found a place it edits it, greps the name of the edited definition, and reads on in that file.
* It later greps identifiers that it has read if they contain two words of the task.
* It says "done" after PATIENCE reads in a row without a find, if it has edited something. Then it continues until everything is found.

The output of a policy costs tokens like any other text. A file named in it gets points like a file of a grep; its rank stands for
the number of files of that grep. So the agent weighs the file and does not obey the policy. Only files named when it stops are opened
at once, because the stop hook asks for that. When nothing is left, the agent reads the other files of the folders in which it edited.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import log
from pathlib import Path
from typing import Final, NamedTuple

from graphmem.injection.tokens import count_tokens

WHOLE: Final = 200  # lines; a file up to this length is read in one call
WINDOW: Final = 120
FIRST_GREPS: Final = 3
GREP_EVERY: Final = 3  # reads without a find before the next grep
SHOWN: Final = 40  # lines of a grep's output; with more hits only files are listed
PATIENCE: Final = 4
MOST_TURNS: Final = 80
MOST_TOKENS: Final = 60_000
CALL: Final = 60  # tokens of one tool call, without its result
SOURCES: Final = frozenset(
    "py|pyi|js|jsx|ts|tsx|mjs|cjs|vue|go|rb|java|kt|php|rs|c|h|cc|cpp|hpp|cs|html|css|scss".split("|")  # noqa: SIM905
)
_STOP: Final = frozenset(
    re.findall(
        r"\w+",
        "with from that this when where which should would could have been into than then also only over under about after before "
        "instead make makes made using used uses use allow allows support supports does doesn don not for the and but are was were has had "
        "its their them they some more most other each every all any add adds added fix fixes fixed remove removed update updated change "
        "changed",
    )
)
_NAME: Final = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
DEFINED: Final = re.compile(
    r"^\s*(?:export\s+|default\s+|public\s+|private\s+|protected\s+|static\s+|async\s+)*"
    r"(?:(?:def|class|func|function|fn|interface|struct|enum)\s+(?:\([^)]*\)\s*)?(\w+)|(?:const|let)\s+(\w+)\s*=\s*(?:async\s*)?(?:\(|function))"
)
_PLACE: Final = re.compile(r"([\w@+./-]+\.\w{1,5})(?::(\d+)(?:-(\d+))?)?")


class Target(NamedTuple):
    """A place of a change, in the tree before it."""

    path: str
    line: int  # 0: any line of the file
    old: str  # lines of the place
    new: str


class Told(NamedTuple):
    """Output of a policy."""

    text: str = ""
    shown: Mapping[str, frozenset[int]] = {}  # source lines in the output, by file
    calls: int = 0  # tool calls; pushed output needs none


Hear = Callable[[str, str, Target | None, str], Told]  # (moment, path, target, pattern) -> output of the policy


@dataclass
class Run:
    """One agent working on one task."""

    root: Path
    task: str
    targets: list[Target]
    hear: Hear
    tracked: frozenset[str]
    tokens: int = 0
    turns: int = 0
    complete_at: int = 0  # tokens until complete; 0: never
    complete_turns: int = 0
    is_done: bool = False
    was_reminded: bool = False
    forgotten: set[str] = field(default_factory=set)  # files of the change not opened at "done"
    done_at: int = 0
    points: dict[str, float] = field(default_factory=dict)
    hits: dict[str, set[int]] = field(default_factory=dict)
    read: dict[str, set[int]] = field(default_factory=dict)
    pushed: list[str] = field(default_factory=list)
    edited: set[Target] = field(default_factory=set)
    greps: list[str] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    idle: int = 0  # reads since the last find
    since_grep: int = 0

    def __post_init__(self) -> None:
        self.words = {one.lower() for one in re.findall(r"[A-Za-z]{4,}", self.task)} - _STOP
        self.about_tests = bool(re.search(r"\btest", self.task, re.I))

    def go(self) -> Run:
        """Work on the task until everything is found, or nothing is left to do."""
        self.tokens = count_tokens(self.task)
        self.greps = _patterns(self.task)
        for found in _PLACE.finditer(self.task):
            self._notice(found[1], 3.0)
        self.take(self.hear("start", "", None, ""))
        self.take(self.hear("prompt", "", None, ""))
        first = 0
        while not self.complete_at and self.turns < MOST_TURNS and self.tokens < MOST_TOKENS:
            if self.edited and self.idle >= PATIENCE and not self.is_done and not self._stop():
                continue
            if self.pushed and self._open(self.pushed.pop(0)):
                continue
            if self.greps and (first < FIRST_GREPS or self.since_grep >= GREP_EVERY):
                first += 1
                self._grep(self.greps.pop(0))
            elif (best := self._best()) is not None:
                self._open(best)
            elif self.greps:
                self._grep(self.greps.pop(0))
            elif not self._look_around() and (self.is_done or self._stop()):
                break
        if not self.is_done:
            self._done()
        return self

    def take(self, output: Told, *, urgent: bool = False) -> None:
        """Read the output of a policy: count tokens, note files, see source."""
        if not output.text:
            return
        self.turns += output.calls
        self.tokens += count_tokens(output.text) + CALL * output.calls
        for path, lines in output.shown.items():
            self._see(path, lines)
        named: dict[str, None] = {}
        for found in _PLACE.finditer(output.text):
            path = found[1].removeprefix("./")
            if path not in self.tracked or path in output.shown:
                continue
            if found[2]:
                self.hits.setdefault(path, set()).add(int(found[2]))
            if path not in named and (path not in self.read or found[2]):
                named[path] = None
        if urgent:
            self.pushed += named
        for rank, path in enumerate(named, 1):
            self._notice(path, 1 / log(2 + rank))

    def left(self) -> set[str]:
        """Return the files of the change that were not opened."""
        return {one.path for one in self.targets if not self.read.get(one.path)}

    def _stop(self) -> bool:
        """Say "done"; return False if the policy names files to open first."""
        if not self.was_reminded:
            self.was_reminded = True
            self.take(self.hear("stop", "", None, ""), urgent=True)
            if self.pushed:
                self.idle = 0
                return False
        self._done()
        return True

    def _done(self) -> None:
        self.is_done, self.forgotten, self.done_at = True, self.left(), self.tokens

    def _notice(self, path: str, points: float) -> None:
        if path in self.tracked:
            self.points[path] = self.points.get(path, 0.0) + points

    def _grep(self, pattern: str) -> None:
        if pattern in self.asked:
            return
        self.asked.add(pattern)
        self.turns += 1
        self.since_grep = 0
        told = self.hear("grep", "", None, pattern)
        if told.text:  # the policy answers instead of grep
            self.tokens += CALL
            self.take(told)
            return
        found = _found(self.root, pattern)
        lines = sum(len(own) for own in found.values())
        if lines <= SHOWN:
            text = "\n".join(f"{path}:{line}:{said[:160]}" for path, own in found.items() for line, said in own)
        else:
            text = "\n".join(f"{path}:{len(own)}" for path, own in sorted(found.items(), key=lambda one: (-len(one[1]), one[0]))[:SHOWN])
        self.tokens += CALL + count_tokens(text)
        shown = list(found) if lines <= SHOWN else [line.rpartition(":")[0] for line in text.splitlines()]
        weight = 1 / log(2 + len(found))
        for path in shown:
            is_test = bool(re.search(r"(^|[/_.])(tests?|spec)([/_.]|$)", path))
            in_path = pattern.lower() in path.lower()
            self._notice(path, weight * (0.5 if is_test and not self.about_tests else 1) * (2 if in_path else 1))
            self.hits.setdefault(path, set()).update(line for line, _ in found[path][:SHOWN])
        self.take(self.hear("grepped", "", None, pattern))

    def _best(self) -> str | None:
        """Return the file with the most points that has unread lines."""
        open_files = [(points, path) for path, points in self.points.items() if points > 0]
        return min(open_files, key=lambda one: (-one[0], one[1]))[1] if open_files else None

    def _look_around(self) -> bool:
        """Note unread files of the edited folders; False if there are none."""
        folders = {one.path.rpartition("/")[0] for one in self.edited}
        near = [
            one for one in self.tracked if one.rpartition("/")[0] in folders and one.rpartition(".")[2] in SOURCES and one not in self.read
        ]
        for path in near:
            self._notice(path, 0.01)
        return bool(near)

    def _open(self, path: str) -> bool:
        """Read the next part of a file; return False if nothing is left of it."""
        lines = _lines(self.root, path)
        seen = self.read.setdefault(path, set())
        wanted = sorted(line for line in self.hits.get(path, ()) if line not in seen and line <= len(lines))
        if len(lines) <= WHOLE:
            part = set(range(1, len(lines) + 1)) - seen
        elif wanted or not seen:
            middle = max(wanted, key=lambda at: (sum(abs(at - one) <= WINDOW // 2 for one in wanted), -at)) if wanted else WINDOW // 2
            start = max(1, min(middle - WINDOW // 2, len(lines) - WINDOW + 1))
            part = set(range(start, start + WINDOW)) - seen
        else:
            unread = [line for line in range(1, len(lines) + 1) if line not in seen]
            part = set(unread[:WINDOW]) if any(one.path == path for one in self.edited) else set()
        if not part:
            self.points[path] = 0.0
            return False
        self.points[path] = self.points.get(path, 0.0) / 2 if len(lines) > WHOLE else 0.0
        self.turns += 1
        self.since_grep += 1
        self.tokens += CALL + count_tokens("\n".join(f"{at}\t{lines[at - 1]}" for at in sorted(part)))
        if not self._see(path, part):
            self.idle += 1
        self._note_names(lines, part)
        self.take(self.hear("read", path, None, ""))
        return True

    def _see(self, path: str, part: Iterable[int]) -> bool:
        """Take in lines and edit the places found; False if there are none."""
        self.read.setdefault(path, set()).update(part)
        new = [one for one in self.targets if one.path == path and (one.line in self.read[path] or not one.line) and one not in self.edited]
        if not new:
            return False
        self.idle = 0
        lines = _lines(self.root, path)
        self.edited.update(new)
        if len(self.edited) == len(self.targets):
            self.complete_at, self.complete_turns = self.tokens, self.turns
            if not self.is_done:
                self._done()
            return True
        for one in new:
            name = next(
                (found[1] or found[2] for at in range(min(one.line, len(lines)), 0, -1) if (found := DEFINED.match(lines[at - 1]))), ""
            )
            if name and name not in self.asked and name not in self.greps:
                self.greps.insert(0, name)
                self.since_grep = GREP_EVERY
            self.take(self.hear("before_edit", path, one, name))
            self.take(self.hear("after_edit", path, one, name))
        self.points[path] = max([self.points.get(path, 0.0), *self.points.values()]) if len(lines) > WHOLE else 0.0
        return True

    def _note_names(self, lines: list[str], part: Iterable[int]) -> None:
        text = "\n".join(lines[at - 1] for at in sorted(part))
        found: dict[str, int] = {}
        for name in _NAME.findall(text):
            own = name.rpartition(".")[2]
            words = {one.lower() for one in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", own)}
            if len(words) > 1 and (both := len(words & self.words)) > 1:
                found[own] = both
        for name, _ in sorted(found.items(), key=lambda one: (-one[1], one[0]))[:2]:
            if name not in self.asked and name not in self.greps:
                self.greps.append(name)


def _patterns(task: str) -> list[str]:
    """Return the patterns to grep, in order.

    Names that look like code come first, then the words.
    """
    names = [one.rpartition(".")[2] for one in _NAME.findall(task) if re.search(r"[a-z][A-Z]|_|\w\.\w", one)]
    words = [one for one in re.findall(r"[A-Za-z]{4,}", task) if one.lower() not in _STOP]
    return [*dict.fromkeys([one for one in names if len(one) > 3] + words)][:12]


@lru_cache(4096)
def _lines_of(root: Path, path: str, stamp: int) -> list[str]:
    return (root / path).read_text(encoding="utf-8", errors="replace").split("\n")


def _lines(root: Path, path: str) -> list[str]:
    file = root / path
    return _lines_of(root, path, file.stat().st_mtime_ns) if file.is_file() else []


def _found(root: Path, pattern: str) -> dict[str, list[tuple[int, str]]]:
    """Return lines of tracked source files with a word, by file."""
    command = ["git", "grep", "-nIFiw", "-e", pattern, "--", *(f"*.{one}" for one in sorted(SOURCES))]
    said = subprocess.run(command, cwd=root, capture_output=True, check=False).stdout.decode("utf-8", "replace")
    found: dict[str, list[tuple[int, str]]] = {}
    for line in said.split("\n"):
        path, _, rest = line.partition(":")
        number, _, text = rest.partition(":")
        if number.isdigit():
            found.setdefault(path, []).append((int(number), text.strip()))
    return found
