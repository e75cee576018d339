"""Convert events of agents to acts: one act for a call and its result."""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphmem.memory.texts.redact import redact
from graphmem.observe import browser
from graphmem.observe.commands.shell import ALL_FILES
from graphmem.observe.commands.strangers import Judge
from graphmem.observe.commands.tools import Call, Change, call_of, changes_of_diff
from graphmem.observe.counts.acts import NOTHING, PATH_CHARACTERS, Act, Paths, clean
from graphmem.observe.texts.words import MESSAGE_CHARACTERS, error_line, file_names, imported, outcome, spoken

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from graphmem.observe.model import Event

PENDING: Final = 8  # calls that may wait for their results
LISTED: Final = 50  # files of one listing that are examined; the first ones show which names are skipped
IMPORTS: Final = 40
PATTERN_CHARACTERS: Final = 120
COMMAND_CHARACTERS: Final = 200

URL_CHARACTERS: Final = 300
AGENT_ROLES: Final = frozenset({None, "", "assistant", "agent", "model", "ai"})  # roles of the agent's messages; others are ignored


# Fields that a session, a step or an approval may report about itself.
INFO_KEYS: Final = frozenset(
    {
        "agent", "approved", "branch", "commit_sha", "during", "group", "injected", "kind", "methodology", "outcome", "parent", "phase",
        "injected_tokens", "planned_steps", "title", "used", "work_unit",
        "spec", "spec_number", "subtask", "subtask_id", "task", "feature", "test", "behaviour", "behavior", "epic", "story",
    }
)  # fmt: skip


class _Pending(NamedTuple):
    event: Event
    call: Call


class Interpreter:
    """Converts the events of one agent's session to acts, such as edits.

    An event is one report of the agent. An act joins a call of a tool and its result. Not thread-safe.
    """

    def __init__(self, paths: Paths, count: int = 0) -> None:
        self.paths = paths
        self.judge = Judge(paths.of, paths.roots)
        self.count = count  # acts made
        self._pending: list[_Pending] = []
        self._page = ""  # address that the session's browser shows
        self._unanswered: deque[tuple[object, ...]] = deque(maxlen=2 * PENDING)  # subjects of acts without a result
        self._answered = False  # whether results arrive at all

    def take(self, event: Event) -> list[Act]:
        """Process an event, such as a tool's result; return the acts it completes.

        The acts are in the order of their events. A tool call completes no act until its result arrives. If too many calls wait, or a step
        or the session ends, calls are completed without a result.
        """
        kind = event.kind
        if kind == "tool_call":
            self._pending.append(_Pending(event, call_of(event.tool, event.args)))
            if not self._answered and len(self._pending) > PENDING:
                return self.flush()
            if len(self._pending) <= PENDING:
                return []
            act = self._tool(*self._pending.pop(0), None)
            self.note(act)
            return [act]
        if kind == "tool_result":
            self._answered = True
            waiting = self._waiting(event)
            if waiting is None:
                act = self._tool(event, call_of(event.tool, event.args), event)
                if (known := _about(act)) in self._unanswered:
                    self._unanswered.remove(known)
                    return [act._replace(kind="result")]
                return [act]
            return [self._tool(*waiting, event)]
        if kind in ("step_complete", "session_end", "approval"):
            return [*self.flush(), self._other_act(event)]
        return [self._other_act(event)]

    def flush(self) -> list[Act]:
        """Return one act for each tool call that still waits for its result.

        These acts have no result. A result that arrives later completes its act, instead of counting as a second act.
        """
        left, self._pending = self._pending, []
        acts = [self._tool(one.event, one.call, None) for one in left]
        for act in acts:
            self.note(act)
        return acts

    def note(self, act: Act) -> None:
        """Register `act` if it is a tool call without a result.

        Any other act is ignored. A result that arrives later completes `act` instead of counting as a second act.
        """
        if act.kind == "tool" and act.ok is None and act.seconds < 0:
            self._unanswered.append(_about(act))

    def awaited(self) -> str:
        """Return the external source that a waiting call reads; "" without one.

        A tool call waits until its result arrives. An external source is a page, tool or file whose text is not from the project. If
        several waiting calls read external sources, the source of the oldest call is returned.
        """
        return next((why for one in self._pending if (why := self._stranger(one.event, one.call, ()))), "")

    def _stranger(self, event: Event, call: Call, listed: Sequence[str]) -> str:
        if self._page and browser.is_browser(event.tool) and browser.is_local(browser.page_of(event.args, "") or self._page):
            return ""  # the project's own pages
        return clean(self.judge.of_call(event.tool, event.args, call, listed), URL_CHARACTERS)

    def passed(self) -> int:
        """Return the next action number, for an action that graphmem itself adds.

        The agent sends no event for such an action. All actions of a session, with or without an event, are numbered from 1 in one
        sequence.
        """
        self.count += 1
        return self.count

    def drop_pending(self) -> None:
        """Drop tool calls that have no result yet.

        A fork (a session that begins as a copy of another) calls this. The results will arrive in the session that was copied.
        """
        self._pending = []
        self._unanswered.clear()

    def _waiting(self, result: Event) -> _Pending | None:
        """Remove and return the waiting tool call to which `result` belongs.

        The first choice is the call with the same id. If the result or the calls have no id, the oldest call with the same tool and
        arguments is chosen, or else the oldest call of the same tool. The result is None if no call matches.
        """
        one_id = _call_id(result)
        best: int | None = None
        for i, waiting in enumerate(self._pending):
            if one_id and _call_id(waiting.event) == one_id:
                best = i
                break
            if waiting.event.tool == result.tool and not (one_id and _call_id(waiting.event)):
                if result.args and waiting.event.args == result.args:
                    best = i
                    break
                best = i if best is None else best
        return self._pending.pop(best) if best is not None else None

    def _tool(self, event: Event, call: Call, result: Event | None) -> Act:
        self.count += 1
        paths = self._project_paths(call.paths)
        text = result.text if result is not None else ""
        ok, exit_code = _ending(call, event, result, text)
        error = ""
        if ok is False:
            error = clean(error_line(text), MESSAGE_CHARACTERS)
        tokens = (event.tokens or 0) + ((result.tokens or 0) if result is not None and result is not event else 0)
        info = self._browser_fields(event, call, text, ok)
        if info.get("ui"):
            ok = bool(info["ui_ok"])
        named = file_names(text, LISTED) if text and call.action in ("search", "list") and ok is not False else ()
        stranger = self._stranger(event, call, named)
        added = removed = 0
        before = after = ""
        if call.changes and ok is not False:
            added, removed = _lines(call.changes)
            before, after = _hashes(call.changes)
        return Act(
            self.count,
            max(event.step, 0),
            event.at.timestamp(),
            "tool",
            call.action,
            clean(call.label, 80),
            paths,
            clean(" ".join(call.pattern.split()), PATTERN_CHARACTERS) if call.pattern else "",
            clean(call.command, COMMAND_CHARACTERS) if call.command else "",
            tuple(clean(url.split("#")[0], URL_CHARACTERS) for url in call.urls),
            ok,
            exit_code,
            error,
            max(0.0, (result.at - event.at).total_seconds()) if result is not None and result is not event else _told_seconds(result),
            tokens or (len(text) // 4 if call.action == "read" else 0),
            added,
            removed,
            before,
            after,
            tuple(ALL_FILES if one == ALL_FILES else own for one in call.reverted if one == ALL_FILES or (own := self.paths.of(one))),
            self._project_paths(named),
            imported(text, IMPORTS) if text and call.action == "read" and ok is not False else (),
            web=bool(stranger),
            stranger=stranger,
            later_page=call.later_page,
            info=info,
        )

    def _browser_fields(self, event: Event, call: Call, text: str, ok: bool | None) -> Mapping[str, object]:
        """Return the fields of an `Act` about the browser: element, page, outcome.

        `ok` tells whether the call succeeded; None if unknown. The mapping is filled for a call of a browser tool, and for a failed run of
        browser tests. It is empty for any other call.
        """
        if browser.is_browser(event.tool):
            self._page = browser.page_of(event.args, text) or self._page
            seen = browser.interpret(event.tool, event.args, text, ok, self._page)
        elif call.action == "test" and ok is False and browser.is_end_to_end(call.command):
            seen = browser.test_seen(clean(call.command, COMMAND_CHARACTERS), text)
        else:
            return NOTHING
        what, page, said = (clean(one, PATH_CHARACTERS) for one in (seen.what, seen.page, seen.said))
        return {"ui": what, "ui_page": page, "ui_ok": seen.ok, "ui_kind": seen.kind, "ui_said": said}

    def _other_act(self, event: Event) -> Act:
        self.count += 1
        n, step, at = self.count, max(event.step, 0), event.at.timestamp()
        kind, args = event.kind, event.args
        if kind in ("reasoning", "message"):
            return self._message_act(event, n)
        if kind == "failure":
            error = clean(error_line(event.text))
            own = self._project_paths((str(args["path"]),)) if isinstance(args.get("path"), str) else ()
            return Act(n, step, at, "failure", label=event.tool, paths=own, ok=False, error=error, tokens=event.tokens or 0)
        if kind == "diff_applied":
            diff = event.text or next((args[key] for key in ("diff", "patch") if isinstance(args.get(key), str)), "")
            changes = changes_of_diff(diff)
            paths = self._project_paths(
                [change.path for change in changes] or [str(args[key]) for key in ("path", "file_path") if args.get(key)]
            )
            added, removed = _lines(changes)
            before, after = _hashes(changes) if len(changes) == 1 else ("", "")
            return Act(n, step, at, "diff", "edit", "edit", paths, ok=True, added=added, removed=removed, before=before, after=after)
        if kind == "approval":
            approved = event.ok if event.ok is not None else args.get("approved") is not False
            return Act(n, step, at, "approval", ok=approved, text=clean(event.text, COMMAND_CHARACTERS), info=_info(args))
        names = {"step_complete": "step", "session_start": "start", "session_end": "end"}
        if kind == "session_start" and isinstance(args.get("cwd"), str):
            self.paths.add_root(args["cwd"])
        return Act(n, step, at, names[kind], ok=event.ok, text=clean(event.text), tokens=event.tokens or 0, info=_info(args))

    def _message_act(self, event: Event, n: int) -> Act:
        """Convert an agent's report of a message to the act with number `n`.

        A message of a person is searched for requests to remember and for corrections. A message counts as external text if its role is
        neither that of a person nor that of the agent.
        """
        role = event.args.get("role")
        text = redact(spoken(event.text))[0] if event.text else ""
        act = Act(
            n, max(event.step, 0), event.at.timestamp(), "say", event.kind, text=text, tokens=event.tokens or 0, info=_info(event.args)
        )
        if role in ("user", "human"):
            from graphmem.observe.texts.prompts import request_in  # its expressions take 0.03 s to compile, and only prompts need them

            heard = request_in(event.text)
            why = f"prompt: {heard.pasted}" if heard.pasted else ""
            wish = redact(heard.wish)[0]
            claim = redact(heard.claim)[0]
            told = act._replace(kind="user", web=bool(why), stranger=why, wish=wish, corrects=heard.corrects, doubtful=heard.is_doubtful)
            return told._replace(claim=claim)
        if role in AGENT_ROLES:
            return act
        return act._replace(web=True, stranger=clean(f"message of {role}", COMMAND_CHARACTERS))

    def _project_paths(self, names: Iterable[str]) -> tuple[str, ...]:
        found: dict[str, None] = {}
        of = self.paths.of
        for name in names:
            own = of(name)
            if own:
                found[own] = None
        return tuple(found)


def _about(act: Act) -> tuple[object, ...]:
    return act.label, act.paths, act.pattern, act.command, act.urls


def _ending(call: Call, event: Event, result: Event | None, text: str) -> tuple[bool | None, int | None]:
    """Return the success of a tool call, and its exit code.

    `event` is the call, and `result` the event with its result. Both values are read from the fields of these events; a value is None if
    unknown.

    If a command has no exit code in these fields, its output `text` is searched. In this case, a failure in `text` overrides a reported
    success.
    """
    code: int | None = None
    for source in (result, event):
        if source is not None:
            told = next(
                (source.args[key] for key in ("exit_code", "exitCode", "returncode", "status") if isinstance(source.args.get(key), int)),
                None,
            )
            code = int(told) if told is not None and code is None else code
    ok = result.ok if result is not None else event.ok
    if code is None and call.action in ("run", "test") and text:
        said, code = outcome(text, test=call.action == "test")
        ok = said if ok is None or (ok and said is False) else ok
    if ok is None and code is not None:
        ok = code == 0
    return ok, code


def _told_seconds(event: Event | None) -> float:
    if event is not None:
        for key, factor in (("duration_ms", 0.001), ("durationMs", 0.001), ("seconds", 1.0)):
            value = event.args.get(key)
            if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0:
                return float(value) * factor
    return -1.0


def _call_id(event: Event) -> str:
    value = event.args.get("tool_use_id") or event.args.get("call_id")
    return value if isinstance(value, str) else ""


def _info(args: Mapping[str, object]) -> Mapping[str, Any]:
    if not args:
        return NOTHING
    found: dict[str, Any] = {}
    for name, value in args.items():
        if name in INFO_KEYS:
            if isinstance(value, str):
                found[name] = clean(" ".join(value.split()), COMMAND_CHARACTERS)
            elif isinstance(value, (bool, int, float)):
                found[name] = value
            elif name in ("injected", "used") and isinstance(value, (list, tuple)):
                found[name] = [str(one)[:100] for one in value[:100]]
    return found


def _lines(changes: Sequence[Change]) -> tuple[int, int]:
    """Count the lines that the replacements in `changes` add and remove.

    The result is (added, removed). A line that is in both the old and the new text of one replacement counts as neither.
    """
    added = removed = 0
    for change in changes:
        new = change.new.splitlines()
        old = (change.old or "").splitlines()
        if not old:
            added += len(new)
            continue
        came, went = Counter(new), Counter(old)
        added += (came - went).total()
        removed += (went - came).total()
    return added, removed


def _hashes(changes: Sequence[Change]) -> tuple[str, str]:
    old = "" if any(change.old is None for change in changes) else _hash("\x1f".join(change.old or "" for change in changes))
    return old, _hash("\x1f".join(change.new for change in changes))


def _hash(text: str) -> str:
    return hashlib.blake2b(text.strip().encode("utf-8", "replace"), digest_size=8).hexdigest()
