"""The scratchpad: all counts of one running session, bounded in size.

Each act, such as an edit, changes the counts in constant time. A fork (a session that begins as a copy of another) gets a copy of the
scratchpad. Evidence for findings is kept in tables with an estimated size. If the tables exceed the limit of a session, they are halved,
starting with the least valuable kinds of findings. A table drops its least significant entries first. The session's record counts the
removed entries.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from graphmem.observe.commands.places import is_config, module_of
from graphmem.observe.commands.shell import ALL_FILES
from graphmem.observe.counts.acts import Act
from graphmem.observe.counts.tables import ENTRY_BYTES, CommandUse, EditMark, ErrorUse, FileUse, Mark, Table
from graphmem.observe.model import PHASES, DeadEnd, Decision, Finding, SessionInfo, UnitDone
from graphmem.observe.signals import BY_VALUE, row_of
from graphmem.observe.texts.words import file_names, fingerprint, same_error

MAX_BYTES: Final = 50 << 20  # of a session, estimated
_ENOUGH: Final = 0.7  # share of MAX_BYTES that remains after evidence was dropped
RECENT_TOOLS: Final = 8
RECENT_EDITS: Final = 200
UNDONE_WITHIN: Final = 30  # acts: an edit undone later than that was not a slip
MAX_INJECTED: Final = 1_000_000  # tokens of one event
MAX_LIST: Final = 500  # decisions, units, dead ends, pages
LONGEST_GAP_S: Final = 3_600.0  # between two events of one stretch of work


class Scratchpad:
    """The counts of one session; each act, such as an edit, updates them.

    Acts are counted in the order of arrival.

    Args:
        info: information about the session.
    """

    def __init__(self, info: SessionInfo) -> None:
        self.info = info
        self.files: Table[str, FileUse] = Table(20_000, lambda use: use.edits * 4 + use.reads * 2 + (1 if use.first_n else 0), 400)
        self.commands: Table[str, CommandUse] = Table(3_000, lambda use: use.runs, 500)
        self.errors: Table[str, ErrorUse] = Table(1_000, lambda use: use.times + (2 if use.fixed_at else 0), 1_500)
        self.searches: Table[str, int] = Table(3_000, lambda times: times, 150)
        self.listed: Table[str, int] = Table(20_000, float, 150)  # occurrences of a file in listings
        self.mentions: Table[str, int] = Table(5_000, float, 120)  # names of files in words and commands -> the last act
        self.tools: Counter[str] = Counter()
        self.modules: Table[str, int] = Table(2_000, lambda times: times, 100)
        self.recent_tools: deque[str] = deque(maxlen=RECENT_TOOLS)
        self.recent_edits: deque[EditMark] = deque(maxlen=RECENT_EDITS)
        self.undone: list[EditMark] = []
        self.rivals: dict[str, list[tuple[str, float, Mark]]] = {}  # file -> other sessions that edited it at the same time
        self.dead_ends: list[DeadEnd] = []
        self.config_files: dict[str, None] = {}
        self.decisions: list[Decision] = []
        self.units: list[UnitDone] = []
        self.failed: list[tuple[int, int]] = []  # first and last act of each abandoned approach
        self.edited_files: dict[str, None] = {}
        self.edits = 0
        self.corrections = 0
        self.tokens = 0
        self.messages = 0
        self.acts = 0
        self.steps = 0
        self.last_step = -1
        self.first_at = self.last_at = 0.0
        self.duration_s = 0.0
        self.forked_n = 0  # last act of the parent
        self.web_n = 0  # first act with external text; 0: none
        self.web_sources: dict[str, None] = {}
        self.injected_tokens = 0
        self.injected: dict[str, str] = {}  # shown memories -> the phase of work at that time, or ""
        self.first_phase = ""  # of the session; also of memories shown before it
        self.used: dict[str, None] = {}  # memories that were opened, cited, followed or agreed with
        self.first_message = ""
        self.last_message = ""
        self.ignored: Counter[str] = Counter()
        self.tables: dict[str, list[Table[Any, Any]]] = {}  # evidence by signal
        self._edited_in: Table[str, int] = Table(2_000, float, 100)  # module -> files edited
        self._most = ("", 0, 0)  # the module with most edited files, then most uses: name, edited, uses
        self._spans: list[tuple[int, int, str, str]] = []  # acts of each finished unit of work: first, last, label, phase
        self._unit_from = 0  # steps at the start of the current unit
        self._unit_step = 0
        self._unit_n = 1

    def table(self, signal: str, limit: int, rank: Callable[[Any], float] | None = None, bytes_each: int = ENTRY_BYTES) -> Table[Any, Any]:
        """Create a bounded table for the evidence of the signal `signal`.

        A signal is a kind of finding. `limit`, `rank` and `bytes_each` are as in `Table`. The table counts towards the size limit of the
        scratchpad.
        """
        made: Table[Any, Any] = Table(limit, rank, bytes_each)
        self.tables.setdefault(signal, []).append(made)
        return made

    # ---- counting

    def take(self, act: Act) -> None:
        """Count one act of the session, such as an edit or a test run."""
        self.acts += 1
        if act.step > self.last_step:
            self.last_step = act.step
            self.steps += 1
        if not self.first_at:
            self.first_at = self.last_at = act.at
        gap = act.at - self.last_at
        if gap > 0:
            self.duration_s += gap if gap <= LONGEST_GAP_S else 0.0
            self.last_at = act.at
        self.tokens += act.tokens
        if act.web:
            self.taint(act.n, act.urls or (act.stranger or act.label,))
        if act.kind in ("tool", "diff"):
            self._tool(act)
        elif act.kind == "result":
            self._result(act)
        elif act.kind in ("say", "user"):
            self.messages += 1
            if act.text:
                self._named(act.text, act.n)
                if act.kind == "say":
                    self.last_message = act.text
                elif not self.first_message and not self.web_n:
                    self.first_message = act.text
        elif act.kind == "failure":
            if act.error:
                self._failed(act)
        elif act.kind == "approval":
            if len(self.decisions) < MAX_LIST:
                self.decisions.append(Decision(act.text, act.ok is not False, act.step, moment(act.at)))
        else:
            self._apply_report(act)
        if act.info:
            self._memories(act.info)
        if act.n % 256 == 0:
            self.keep_bounds()

    def taint(self, n: int, sources: Iterable[str]) -> None:
        """Record that the session read external text in action number `n`.

        `sources` name the text, such as the address of a page. Everything after this action may be influenced by the text.
        """
        self.web_n = self.web_n or n
        for source in sources:
            if len(self.web_sources) < MAX_LIST:
                self.web_sources[source] = None

    def _memories(self, info: Mapping[str, object]) -> None:
        """Record which memories the session was shown, and which it used.

        `info` has ids of memories in the lists "injected" (shown) and "used". For each shown memory, the phase of work in which it was
        first shown is recorded too. A memory that is shown before the session has a phase counts in its first phase.
        """
        during = info.get("during")
        phase = during if during in PHASES else self.info.phase
        self.first_phase = self.first_phase or str(phase)
        tokens = info.get("injected_tokens")
        if isinstance(tokens, int) and not isinstance(tokens, bool) and 0 < tokens <= MAX_INJECTED:
            self.injected_tokens += tokens
        for one in _listed(info, "injected"):
            if one in self.injected or len(self.injected) < MAX_LIST:
                self.injected[one] = self.injected.get(one) or phase
        for one in _listed(info, "used"):
            if len(self.used) < MAX_LIST:
                self.used[one] = None

    def _tool(self, act: Act) -> None:
        if act.kind == "tool":
            self.tools[act.action] += 1
            self.recent_tools.append(act.label)
        if act.ok is False and act.error:
            self._failed(act)
        elif act.ok is not False:
            self._succeeded(act)
        if act.command:
            self._command(act)
        if act.action in ("read", "edit") and act.ok is not False:
            for path in act.paths:
                self._used(act, path)
        if act.reverted:
            self._reverted(act)
        for path in act.listed:
            times = self.listed.get(path)
            if times is None:
                self.listed.add(path, 1)
            else:
                self.listed[path] = times + 1
        if act.pattern and act.action == "search" and not act.later_page:
            times = self.searches.get(act.pattern)
            if times is None:
                self.searches.add(act.pattern, 1)
            else:
                self.searches[act.pattern] = times + 1

    def _result(self, act: Act) -> None:
        """Count the result of a tool call that arrived after the call was counted."""
        if act.ok is False and act.error:
            self._failed(act)
        elif act.ok:
            self._succeeded(act)
        use = self.commands.get(act.command)
        if use is not None:
            use.failures += act.ok is False
            use.last_exit = act.exit_code if act.exit_code is not None else use.last_exit
            use.seconds += max(0.0, act.seconds)
        for path in act.paths:
            seen = self.files.get(path)
            if seen is not None and act.action == "read":
                seen.tokens += act.tokens // len(act.paths)

    def _used(self, act: Act, path: str) -> None:
        use = self.files.get(path)
        if use is None:
            use = self.files.add(path, FileUse(act))
        # A diff that is reported after its edit is not a second edit.
        again = act.kind == "diff" and any(mark.path == path and act.n - mark.n <= RECENT_TOOLS for mark in self.recent_edits)
        use.used(act)
        if again:
            return
        module = module_of(path)
        if module in self.modules:
            self.modules[module] += 1
        else:
            self.modules.add(module, 1)
        if act.action == "edit" and path not in self.edited_files:
            if module in self._edited_in:
                self._edited_in[module] += 1
            else:
                self._edited_in.add(module, 1)
        self._lead(module)
        share = len(act.paths)
        if act.action == "read":
            use.reads += 1
            use.tokens += act.tokens // share
            return
        use.edits += 1
        use.added += act.added // share if share > 1 else act.added
        use.removed += act.removed // share if share > 1 else act.removed
        self.edits += 1
        if len(self.edited_files) < MAX_LIST * 20:
            self.edited_files[path] = None
        if is_config(path):
            self.config_files[path] = None
        if share == 1:
            self._undoing(act, path)
        self.recent_edits.append(EditMark(act, path))

    def _lead(self, module: str) -> None:
        """Update the session's main module after the counts of `module` changed.

        The main module has the most edited files. Ties are decided by the number of uses, then by name.
        """
        own = (module, self._edited_in.get(module, 0), self.modules[module])
        if own[0] == self._most[0] or (-own[1], -own[2], own[0]) < (-self._most[1], -self._most[2], self._most[0]):
            self._most = own

    def _undoing(self, act: Act, path: str) -> None:
        """Detect an edit of `path` that restores text replaced by an earlier edit."""
        if not act.before or not act.after:
            return
        for mark in reversed(self.recent_edits):
            if act.n - mark.n > UNDONE_WITHIN:
                return
            if mark.path == path and mark.undone is None and mark.before == act.after and mark.after == act.before:
                self._undo(mark, act)
                return

    def _reverted(self, act: Act) -> None:
        everything = ALL_FILES in act.reverted
        for mark in self.recent_edits:
            if mark.undone is None and act.n - mark.n <= UNDONE_WITHIN and (everything or mark.path in act.reverted):
                self._undo(mark, act)

    def _undo(self, mark: EditMark, act: Act) -> None:
        mark.undone = (act.n, act.step)
        if len(self.undone) < MAX_LIST:
            self.undone.append(mark)
        use = self.files.get(mark.path)
        if use is not None:
            use.reverted += 1

    def _named(self, text: str, n: int) -> None:
        for name in file_names(text):
            base = name.rpartition("/")[2]
            if base in self.mentions:
                self.mentions[base] = n
            else:
                self.mentions.add(base, n)

    def _command(self, act: Act) -> None:
        if act.action not in ("read", "search", "list"):
            self._named(act.command, act.n)
        use = self.commands.get(act.command)
        if use is None:
            use = self.commands.add(act.command, CommandUse(act))
        use.runs += 1
        use.failures += act.ok is False
        use.last_exit = act.exit_code if act.exit_code is not None else (1 if act.ok is False else 0 if act.ok else None)
        use.last_step = act.step
        use.seconds += max(0.0, act.seconds)

    def checks_passed(self) -> bool:
        """Whether the last test command succeeded."""
        tests = [use for _, use in self.commands.items() if use.action == "test"]
        return bool(tests) and max(tests, key=lambda use: use.last_step).last_exit == 0

    def _failed(self, act: Act) -> None:
        key = fingerprint(act.error)
        use = self.errors.get(key)
        if use is None and (known := next((one for one, _ in self.errors.items() if same_error(one, key)), None)) is not None:
            key, use = known, self.errors.get(known)
        if use is None:
            use = self.errors.add(key, ErrorUse(act))
        use.times += 1
        use.message = act.error
        use.fixed_at, use.edits_at = None, self.edits
        if len(use.marks) < 20:
            use.marks.append((act.n, act.step))

    def _succeeded(self, act: Act) -> None:
        """Mark earlier errors of a command or tool as fixed when it succeeds.

        An error counts as fixed only if a file was changed after it.
        """
        if not self.errors or act.action not in ("run", "test", "other", "web"):
            return
        for use in self.errors.values():
            if use.fixed_at is None and self.edits > use.edits_at and (use.command or use.label) == (act.command or act.label) and act.ok:
                use.fixed_at = (act.n, act.step)
                since = use.marks[-1][0] if use.marks else 0
                use.fix_files = tuple(sorted({mark.path for mark in self.recent_edits if mark.n > since and mark.undone is None}))[:20]

    def _apply_report(self, act: Act) -> None:
        """Apply what an agent reports at the start or end of a session or step."""
        info = act.info
        told = {
            name: info[name] for name in ("branch", "commit_sha", "title", "agent", "group", "parent") if isinstance(info.get(name), str)
        }
        if told:
            self.info = self.info._replace(**told)
        if act.kind == "step" and info.get("outcome"):
            self.end_unit(str(info["outcome"]), act)

    def begin_unit(self, label: str, phase: str, planned: int | None, act: Act) -> None:
        """Begin another unit of work: the next task of the session.

        If `label` differs from the label of the current task, that task ends first. An empty `label` or `phase`, and None for `planned`
        (the planned number of steps), keep the current value.
        """
        if label != self.info.work_unit and self.info.work_unit:
            self.end_unit("", act)
        self.info = self.info._replace(work_unit=label or self.info.work_unit, phase=phase or self.info.phase)
        self.first_phase = self.first_phase or self.info.phase
        if planned is not None:
            self.info = self.info._replace(planned_steps=planned)

    def end_unit(self, outcome: str, act: Act) -> None:
        """End the current task (unit of work), and record it with `outcome`.

        Nothing is recorded if the task has no step, or if it has neither a label nor an outcome.
        """
        steps = self.steps - self._unit_from
        if steps <= 0 or len(self.units) >= MAX_LIST or not (self.info.work_unit or outcome):
            return
        planned = self.info.planned_steps
        self.units.append(UnitDone(self.info.work_unit, self.info.phase, outcome, self._unit_step, act.step, steps, planned))
        if outcome == "failed":
            self.failed.append((self._unit_n, act.n))
        self._spans.append((self._unit_n, act.n, self.info.work_unit, self.info.phase))
        self._unit_from, self._unit_step, self._unit_n = self.steps, act.step + 1, act.n + 1
        self.info = self.info._replace(work_unit="", planned_steps=None)

    def unit_steps(self) -> int:
        """Count the agent's steps so far in the current unit of work (task)."""
        return self.steps - self._unit_from

    # ---- bounds

    def cost(self) -> int:
        """Estimated size of the session's counts, in bytes."""
        return sum(table.cost for table in self._tables())

    def _tables(self) -> list[Table[Any, Any]]:
        own: list[Table[Any, Any]] = [self.files, self.commands, self.errors, self.searches, self.modules, self.mentions, self.listed]
        return own + [table for tables in self.tables.values() for table in tables]

    def keep_bounds(self, most: int = MAX_BYTES) -> None:
        """Remove entries until the scratchpad has at most about `most` bytes.

        Tables are halved one after the other until the size is small enough; each keeps at least one entry. Tables of evidence are halved
        first, beginning with the least valuable kinds of findings. The tables of listings, words, searches, modules, commands, errors and
        files follow, in this order.
        """
        if self.cost() <= most:
            return
        order = [table for signal in BY_VALUE for table in self.tables.get(signal, ())]
        order += [self.listed, self.mentions, self.searches, self.modules, self.commands, self.errors, self.files]
        for table in order:
            while len(table) > 1 and self.cost() > most * _ENOUGH:
                table.halve()
            if self.cost() <= most * _ENOUGH:
                return

    def dropped(self) -> int:
        """Number of entries of evidence that were removed to save memory."""
        return sum(table.dropped for table in self._tables())

    # ---- parts of findings

    def module(self) -> str:
        """Return the session's main module: the folder with most edited files.

        If no file was edited, the main module is the folder with most uses; "" if no file was used.
        """
        return self._most[0]

    def finding(
        self,
        signal: str,
        key: str,
        facts: Mapping[str, object],
        files: Iterable[str] = (),
        marks: Iterable[Mark] = (),
        *,
        memory_type: str = "",
        early: bool = False,
        sources: Sequence[str] = (),
        priority: float | None = None,
        tainted: bool = False,
    ) -> Finding:
        """Make a finding: a pattern found in the session, with its evidence.

        Three fields of the finding depend on `marks`: its steps, whether external text may have influenced it, and whether its approach
        failed.

        Args:
            signal: the kind of pattern.
            key: with `signal`, identifies the pattern in all sessions.
            facts: values by name, from which the sentence of a memory is made.
            files: the files that the pattern is about.
            marks: the evidence, as (number of the act, step) of each act.
            memory_type: type of the memory that it may become; "" for the usual type of the signal.
            early: whether one session is enough evidence, if the signal allows it.
            sources: sources of external text; () for those that the session has read.
            priority: urgency of the finding; None for that of the signal.
            tainted: whether external text influenced it, whatever `marks` says.
        """
        row = row_of(signal)
        places = sorted(set(marks))
        contaminated = tainted or bool(self.web_n and places and max(n for n, _ in places) >= self.web_n)
        inherited = bool(self.forked_n and places and max(n for n, _ in places) <= self.forked_n)
        unit, phase = self._unit_at(max(n for n, _ in places)) if places else (self.info.work_unit, self.info.phase)
        failed = bool(places) and any(all(low <= n <= high for n, _ in places) for low, high in self.failed)
        urgent = row.early is not None and early
        return Finding(
            signal,
            f"{signal}:{key}",
            row.value,
            memory_type or row.becomes[0],
            facts,
            tuple(sorted(set(files))),
            tuple(sorted({step for _, step in places})),
            priority if priority is not None else (row.early or row.value) if urgent else row.value,
            urgent,
            1 if urgent else row.min_sessions,
            contaminated,
            tuple(sources) if sources else tuple(self.web_sources) if contaminated else (),
            failed,
            False,
            (self.info.parent if inherited else self.info.id,),
            unit,
            phase,
        )

    def _unit_at(self, n: int) -> tuple[str, str]:
        """Return (label, phase) of the task to which action number `n` belongs."""
        for first, last, label, phase in reversed(self._spans):
            if first <= n <= last:
                return label, phase
        return self.info.work_unit, self.info.phase


def _listed(info: Mapping[str, object], name: str) -> Sequence[str]:
    """Return the list of ids in the field `name` of an agent's report.

    `info` has the fields of the report. The result is empty if the field is not a list.
    """
    told = info.get(name, ())
    return told if isinstance(told, (list, tuple)) else ()


def moment(at: float) -> datetime:
    """Convert `at`, seconds since 1970, to a time with a time zone (UTC)."""
    return datetime.fromtimestamp(at, UTC)
