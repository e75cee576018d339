"""Detectors of patterns in how a session uses tools.

They find errors that were fixed, undone edits, repeated searches, recurring sequences of tools and slow commands. They also find the order
of tests, and tasks that took more steps than planned.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Final

from graphmem.observe.commands.places import module_of
from graphmem.observe.counts.acts import Act
from graphmem.observe.counts.scratchpad import Scratchpad
from graphmem.observe.counts.tables import Mark
from graphmem.observe.detectors.detect import Detector
from graphmem.observe.model import Finding
from graphmem.observe.signals import EARLY_ERRORS, EARLY_GREP
from graphmem.observe.texts.words import advises

SHORTEST: Final = 3  # tools in a sequence
LONGEST: Final = 6
RECURS: Final = 3  # successes of a sequence
SLOW: Final = 5.0  # times the usual duration
SLOW_S: Final = 20.0
SLOW_SAMPLES: Final = 5
NEAR_STEPS: Final = 2  # distance to the evidence of another signal
ROUNDS: Final = 2  # rounds of tests in one order
TESTED_FIRST: Final = 3  # stretches of edits with a test before each
OVERRUN: Final = 1.5  # times the planned steps
OVERRUN_STEPS: Final = 3  # steps beyond the plan
MOST_FOUND: Final = 8  # files opened after a search
_FEW: Final = 20  # marks of one finding


class ErrorRetry(Detector):
    """Detects errors that were fixed.

    An error is fixed if a command fails, a file is changed, and the command then succeeds. This pattern is signal 3 of the 17 in
    `observe.signals`.
    """

    signal: ClassVar = "error_retry"
    wants: ClassVar = frozenset()  # none: the scratchpad keeps the errors

    def findings(self, pad: Scratchpad) -> Iterator[Finding]:
        """Yield the errors that were fixed in the session.

        A failing assertion in a test does not count, because it is normal during work.
        """
        told = [(key, use) for key, use in pad.errors.items() if not use.expected and use.message]
        early = len(told) >= EARLY_ERRORS
        for key, use in told:
            if use.fixed_at is None:
                continue
            facts = {"error": use.message, "fingerprint": key, "command": use.command, "times": use.times, "fix_files": list(use.fix_files)}
            found = pad.finding(self.signal, key, facts, use.fix_files, [*use.marks, use.fixed_at], early=early)
            # Output may contain external text, of a package or a service. Text that instructs its reader needs a person's approval.
            is_advice = advises(use.message) and not found.contaminated
            yield found._replace(contaminated=True, sources=(f"output of {use.label or use.command}"[:200],)) if is_advice else found


class Backtrack(Detector):
    """Detects edits that were soon undone, by another edit or by git.

    This pattern is signal 4 of the 17 in `observe.signals`.
    """

    signal: ClassVar = "backtrack"
    wants: ClassVar = frozenset()  # none: the scratchpad detects undone edits

    def findings(self, pad: Scratchpad) -> Iterator[Finding]:
        """Yield one finding for each file with an undone edit."""
        by_path: dict[str, list[Mark]] = {}
        times: Counter[str] = Counter()
        for mark in pad.undone:
            times[mark.path] += 1
            if mark.undone is not None:
                by_path.setdefault(mark.path, []).extend([(mark.n, mark.step), mark.undone])
        for path in sorted(by_path):
            marks = by_path[path][:_FEW]
            facts = {
                "file": path,
                "module": module_of(path),
                "undone": times[path],
                "edits": pad.files[path].edits if path in pad.files else 0,
            }
            yield pad.finding(self.signal, path, facts, (path,), marks)


class RepeatedGrep(Detector):
    """Detects searches that the agent makes three times or more.

    The finding names the files that were opened next. This pattern is signal 6 of the 17 in `observe.signals`.
    """

    signal: ClassVar = "repeated_grep"
    wants: ClassVar = frozenset({"search", "read", "edit"})

    def __init__(self, pad: Scratchpad) -> None:
        self.seen = pad.table(self.signal, 2_000, lambda entry: float(len(entry[0])), 500)  # pattern -> marks, files opened next
        self.last = ""

    def see(self, act: Act, pad: Scratchpad) -> None:
        """Record a search pattern, or the files opened after a search.

        If the results of the search are known, only files among these results count.
        """
        if act.action == "search":
            self.last = ""
            if act.pattern and not act.later_page:
                self.last = act.pattern
                entry = self.seen.get(act.pattern)
                if entry is None:
                    entry = self.seen.add(act.pattern, ([], {}, set()))
                if len(entry[0]) < _FEW:
                    entry[0].append((act.n, act.step))
                entry[2].update(act.listed[:MOST_FOUND])
        elif self.last and act.ok is not False:
            entry = self.seen.get(self.last)
            if entry is not None and len(entry[1]) < MOST_FOUND:
                for path in act.paths[:MOST_FOUND]:
                    if not entry[2] or path in entry[2]:
                        entry[1][path] = None

    def findings(self, pad: Scratchpad) -> Iterator[Finding]:
        """Yield the searches that were made repeatedly, the most frequent first."""
        often = [(pad.searches.get(pattern, len(entry[0])), pattern, entry) for pattern, entry in self.seen.items()]
        for times, pattern, (marks, opened, _) in sorted(often, key=lambda one: (-one[0], one[1])):
            if times < EARLY_GREP:
                return
            facts = {"pattern": pattern, "times": times, "found_in": sorted(opened), "module": pad.module()}
            yield pad.finding(self.signal, pattern, facts, opened, marks, early=True)


class ToolSequence(Detector):
    """Detects recurring sequences of tools that end in a successful command.

    An example is an edit, then a run of pytest. This pattern is signal 7 of the 17 in `observe.signals`.
    """

    signal: ClassVar = "tool_sequence"
    wants: ClassVar = frozenset({"read", "edit", "search", "list", "run", "test", "web", "user"})

    def __init__(self, pad: Scratchpad) -> None:
        self.run: deque[str] = deque(maxlen=LONGEST)
        self.counts = pad.table(self.signal, 5_000, lambda entry: float(entry[0]), 500)  # labels -> times, marks, files, commands

    def see(self, act: Act, pad: Scratchpad) -> None:
        """Count the sequences of tools that end in a successful command.

        Consecutive calls of the same tool count as one.
        """
        if act.kind == "user":
            self.run.clear()
            return
        label = _recipe_label(act)
        if not label:
            return
        if not self.run or self.run[-1] != label:
            self.run.append(label)
        if act.ok is not True or act.action not in ("run", "test"):
            return
        labels = tuple(self.run)
        for length in range(SHORTEST, len(labels) + 1):
            key = labels[-length:]
            if len(set(key)) < length or sum(one.startswith(("run:", "test")) for one in key) < SHORTEST - 1:
                continue
            entry: list[Any] | None = self.counts.get(key)
            if entry is None:
                entry = self.counts.add(key, [0, [], {}])
            entry[0] += 1
            if len(entry[1]) < _FEW:
                entry[1].append((act.n, act.step))
            if len(entry[2]) < LONGEST and act.command:
                entry[2][act.command] = None

    def findings(self, pad: Scratchpad) -> Iterator[Finding]:
        """Yield the longest recurring sequences of tools, at most three.

        A sequence inside a longer one of about the same frequency is left out. A rotation of a sequence that was already yielded is left
        out too: (b, a) after (a, b).
        """
        found = [(key, entry) for key, entry in self.counts.items() if entry[0] >= RECURS]
        found.sort(key=lambda one: (-len(one[0]), -one[1][0], one[0]))
        told: list[tuple[tuple[str, ...], int]] = []
        turns: set[tuple[str, ...]] = set()
        for key, (times, marks, commands) in found:
            if any(_inside(key, other) and times <= count + 1 for other, count in told) or _turned(key) in turns:
                continue
            told.append((key, times))
            turns.add(_turned(key))
            facts = {"sequence": list(key), "times": times, "commands": list(commands), "module": pad.module()}
            yield pad.finding(self.signal, ">".join(key), facts, (), marks)
            if len(told) >= 3:
                return


class TimeAnomaly(Detector):
    """Detects commands that are much slower than usual.

    Each slow command is a finding. The function `with_others` later drops the finding if the session has no finding of another kind that
    names the same file or is only a few steps away. The signal (kind of finding) is number 8 of the 17 in `observe.signals`.
    """

    signal: ClassVar = "time_anomaly"
    wants: ClassVar = frozenset({"read", "edit", "search", "list", "run", "test", "web"})

    def __init__(self, pad: Scratchpad) -> None:
        self.usual = pad.table(self.signal, 500, lambda entry: float(len(entry)), 2_000)  # label -> seconds of the last runs
        self.slow: list[tuple[str, Mark, float, float, tuple[str, ...]]] = []

    def see(self, act: Act, pad: Scratchpad) -> None:
        """Compare a command's duration with the median of its earlier runs.

        The first few runs only set the baseline.
        """
        if act.seconds < 0:
            return
        usual = self.usual.get(act.label)
        if usual is None:
            usual = self.usual.add(act.label, deque(maxlen=32))
        if act.seconds >= SLOW_S and len(usual) >= SLOW_SAMPLES and len(self.slow) < 50:
            from statistics import median

            middle = median(usual)
            if act.seconds > SLOW * middle:
                self.slow.append((act.label, (act.n, act.step), act.seconds, middle, act.paths))
        usual.append(act.seconds)

    def findings(self, pad: Scratchpad) -> Iterator[Finding]:
        """Yield a finding for each slow command.

        `with_others` later keeps only those findings that are near a finding of another signal (kind of pattern).
        """
        for label, mark, seconds, usual, paths in self.slow:
            facts = {"what": label, "seconds": round(seconds, 1), "usual_s": round(usual, 1)}
            yield pad.finding(self.signal, label, facts, paths, [mark])


def with_others(findings: Sequence[Finding]) -> list[Finding]:
    """Drop findings of slow commands that have no other finding near them.

    The other finding must belong to another signal (kind of pattern). Two findings are near if they name the same file, or if their steps
    are at most NEAR_STEPS apart. For each slow command, at most one finding is kept. The kept finding stores the key of the near finding in
    `facts["with"]`. Findings of the other signals are returned unchanged.
    """
    kept: list[Finding] = []
    others = [one for one in findings if one.signal != TimeAnomaly.signal]
    told: set[str] = set()
    for one in findings:
        if one.signal == TimeAnomaly.signal:
            beside = next((other for other in others if _near(one, other)), None)
            if beside is None or one.key in told:
                continue
            told.add(one.key)
            one = one._replace(facts={**one.facts, "with": beside.key}, files=tuple(sorted({*one.files, *beside.files})))
        kept.append(one)
    return kept


class TestOrder(Detector):
    """Detects a fixed order in which tests are run.

    The tests always run in the same order, or always before an edit. This pattern is signal 13 of the 17 in `observe.signals`.
    """

    __test__ = False  # not a test class, although its name matches pytest's pattern
    signal: ClassVar = "test_order"
    wants: ClassVar = frozenset({"test", "edit"})

    def __init__(self, pad: Scratchpad) -> None:
        self.round: list[str] = []
        self.orders: Counter[tuple[str, ...]] = Counter()
        self.marks: list[Mark] = []
        self.tested = False
        self.stretches = self.tested_first = 0
        self.editing = False
        self.first_marks: list[Mark] = []

    def see(self, act: Act, pad: Scratchpad) -> None:
        """Collect the tests of the current round; an edit ends the round.

        A round is the time between two series of edits. When a round ends, one more occurrence of its order of tests is counted.
        """
        if act.action == "test":
            name = act.command or act.label
            if name not in self.round and len(self.round) < 8:
                self.round.append(name)
            if len(self.marks) < _FEW:
                self.marks.append((act.n, act.step))
            self.tested, self.editing = True, False
            return
        if act.ok is False:
            return
        if not self.editing:
            self.stretches += 1
            self.tested_first += self.tested
            if self.tested and len(self.first_marks) < _FEW:
                self.first_marks.append((act.n, act.step))
            if len(self.round) > 1 and (len(self.orders) < 50 or tuple(self.round) in self.orders):
                self.orders[tuple(self.round)] += 1
            self.round, self.tested, self.editing = [], False, True

    def findings(self, pad: Scratchpad) -> Iterator[Finding]:
        """Yield the rules about the order of tests that held in the whole session.

        One rule is "test a runs before test b". It must hold in several rounds of tests, and no round may contradict it. The other rule is
        "tests run before each series of edits".
        """
        orders = Counter(self.orders)
        if len(self.round) > 1:
            orders[tuple(self.round)] += 1
        module = pad.module()
        for order, times in sorted(orders.items()):
            others = [other for other in orders if other != order and set(other) & set(order) and len(set(other) & set(order)) > 1]
            if times >= ROUNDS and not any(_contrary(order, other) for other in others):
                yield pad.finding(self.signal, " > ".join(order), {"order": list(order), "rounds": times, "module": module}, (), self.marks)
        if self.stretches >= TESTED_FIRST and self.tested_first == self.stretches:
            facts = {"order": ["test", "edit"], "rounds": self.tested_first, "module": module}
            yield pad.finding(self.signal, f"before_edit|{module}", facts, (), self.first_marks)


class StepOverrun(Detector):
    """Detects tasks that took far more steps than planned.

    The current task counts too, even though it has not ended. This pattern is signal 15 of the 17 in `observe.signals`.
    """

    signal: ClassVar = "step_overrun"
    wants: ClassVar = frozenset()  # none: the scratchpad counts the steps

    def findings(self, pad: Scratchpad) -> Iterator[Finding]:
        """Yield one finding that sums up all tasks that took too many steps.

        The finding names the main module of the session (the folder with most edited files).
        """
        over = [
            (unit.steps, unit.planned, (0, unit.last_step)) for unit in pad.units if unit.planned and _overran(unit.steps, unit.planned)
        ]
        planned = pad.info.planned_steps
        if planned and _overran(pad.unit_steps(), planned):
            over.append((pad.unit_steps(), planned, (0, pad.last_step)))
        if not over:
            return
        actual, plan = sum(one[0] for one in over), sum(one[1] or 0 for one in over)
        module = pad.module()
        facts = {
            "module": module,
            "methodology": pad.info.methodology,
            "actual": actual,
            "planned": plan,
            "ratio": round(actual / plan, 2),
            "units": len(over),
        }
        yield pad.finding(self.signal, module, facts, (), [one[2] for one in over])


def _overran(steps: int, planned: int) -> bool:
    return steps >= OVERRUN * planned and steps - planned >= OVERRUN_STEPS


def _recipe_label(act: Act) -> str:
    """Return the name of an act in a sequence of tools, such as `test:pytest`.

    An act is a complete action of the agent. The result is "" for an act that only reads or searches.
    """
    if act.action == "edit":
        return "edit"
    if act.action in ("run", "test"):
        name = act.label if act.action == "run" else f"test:{act.command.split(' ')[0]}" if act.command else "test"
        return name[:60]
    return ""


def _turned(key: tuple[str, ...]) -> tuple[str, ...]:
    """Return the rotation of a sequence of tools that sorts first.

    `key` is the sequence. All its rotations, such as (edit, test) and (test, edit), give the same result. So two sequences can be compared
    without regard to where they begin.
    """
    turns = [key[i:] + key[:i] for i in range(len(key))]
    return min(turns)


def _inside(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    return any(long[i : i + len(short)] == short for i in range(len(long) - len(short) + 1))


def _contrary(order: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether two orders of tests disagree about any two tests.

    `order` and `other` are sequences of test names. For example, the result is True for `a, b` and `b, a`. It is False for `a, b` and `a,
    c, b`.
    """
    shared = [one for one in order if one in other]
    return shared != sorted(shared, key=list(other).index)


def _near(one: Finding, other: Finding) -> bool:
    if set(one.files) & set(other.files):
        return True
    return any(abs(a - b) <= NEAR_STEPS for a in one.steps for b in _ends(other.steps))


def _ends(steps: Sequence[int]) -> Iterable[int]:
    return steps[:_FEW]
