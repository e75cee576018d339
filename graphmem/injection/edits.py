"""Record the advice and the opened files of each session.

The project computes the `Consequences` of an edit. For each session, `EditBook` records which advice was given, so that advice is given
once. `EditBook` also records which files were opened. After an edit, `EditBook` names dependents (code that uses the edited code) in
unopened files. When the agent stops, `EditBook` names forgotten files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Final

from graphmem.injection.consequences import BROKEN, NAMED, REMOVED, TestCase
from graphmem.injection.edit_notes import MOST_TEST_FILES, dependents_text, listed, more_text, named_tests, names_text
from graphmem.injection.items import plain_path
from graphmem.injection.recent_sessions import MOST_WINDOWS, RecentSessions

if TYPE_CHECKING:
    from graphmem.injection.consequences import Consequences, Dependent, Edit, TestCommand

MAX_TOKENS: Final = 300  # of the advice about one edit
MAX_TRAPS: Final = 3
_WORD: Final = re.compile(r"\w+")
UNTESTED: Final = 2  # files of tests that an agent is reminded of
AT_STOP: Final = 5  # files that an agent is reminded of in all


@dataclass(slots=True)
class _Session:
    told: dict[str, set[str]] = field(default_factory=dict)  # context window -> targets and files of which advice was given
    touched: set[str] = field(default_factory=set)  # files that were read or edited
    written: dict[str, set[str]] = field(default_factory=dict)  # file -> lines that edits of the session wrote, without indents
    waiting: dict[str, list[Dependent]] = field(default_factory=dict)  # dependents of changed signatures, by file
    likely: dict[str, float] = field(default_factory=dict)  # files that most probably change with edited ones
    tests: dict[TestCase, None] = field(default_factory=dict)
    named: dict[str, None] = field(default_factory=dict)  # test files named after edited files
    users: dict[str, set[str]] = field(default_factory=dict)  # context window -> files of dependents that it was shown
    left: frozenset[str] = frozenset()  # unopened files of `waiting` after the last edit
    news: set[str] = field(default_factory=set)  # files of dependents that were named since the last edit
    late: list[tuple[str, Consequences]] = field(default_factory=list)  # (context window, advice that missed its deadline)
    erased: dict[str, set[str]] = field(default_factory=dict)  # file -> words of lines that edits of the session removed
    removed: set[str] = field(default_factory=set)  # files that the session removed
    edited: bool = False
    tested: bool = False
    reminder: str = ""  # given when the agent stopped

    def has_adapted(self, one: Dependent) -> bool:
        """Whether the session wrote a line of a use, or removed the use."""
        written = self.written.get(one.path, set())
        if one.code in written or not written.isdisjoint(one.marks):
            return True
        return not self.erased.get(one.path, set()).isdisjoint(one.uses) and set(_WORD.findall(one.code)).isdisjoint(one.uses)

    def has_open(self, path: str, found: Consequences) -> bool:
        """Whether the session opened `path`, one of the edited files."""
        return path in self.touched and any(one.startswith(f"{path}:") for one in found.targets)


class EditBook:
    """Stores, for each session, the advice it got and the files it opened.

    The main agent and each subagent of a session have a context window of their own. Advice is recorded for the window that got it. The
    opened files, the edits and the tests are those of the whole session. Thread-safe.

    Args:
        command: returns the command line that runs given tests.
    """

    def __init__(self, command: TestCommand = lambda tests: "") -> None:
        self.command = command
        self._lock = Lock()
        self._sessions = RecentSessions(_Session)

    def unseen(self, session: str, found: Consequences, window: str = "") -> Consequences | None:
        """Return the advice about an edit that a context window lacks, or None.

        A window is the context of the main agent or of a subagent. `found` is the advice: the effects of an edit. `found.targets` are the
        edited symbols and files. Targets about which the window already got advice are removed, unless this edit breaks uses of them and
        the earlier edits did not. `found.moves` are files that often change along; those that the window knows or the session has opened
        are removed. Named test files that the window knows are removed, too. In `found.dependents`, a use of an old signature is removed if
        the session wrote or removed its line, because the code fits the new signature. If nothing breaks, dependents in an edited file are
        removed if the session has it open, and all dependents if the window knows them and their files are open. The result is None if no
        target is left.
        """
        with self._lock:
            state = self._sessions.use(session)
            told = state.told.get(window, ())
            fresh = tuple(one for one in found.targets if _key(one, found) not in told)
            if not fresh:
                return None
            moves = tuple(one for one in found.moves if one[0] not in told and one[0] not in state.touched)
            named = tuple(one for one in found.named if one not in told)
            valid = [one for one in found.dependents if not (one.breaks and state.has_adapted(one))]
            users = [one for one in valid if one.breaks or not state.has_open(one.path, found)]
            if all(not one.breaks and _user_key(one) in told and one.path in state.touched for one in users):
                users = []
            are_told = all(one.path in told for one in found.tests)
            return found._replace(
                targets=fresh,
                dependents=tuple(users),
                moves=moves,
                named=named,
                are_tests_told=are_told,
                is_used=len(users) < len(valid),
            )

    def open_window(self, session: str, window: str, *, inherits: bool) -> None:
        """Begin the context window of a subagent.

        If `inherits` is true, the subagent has the conversation of the main agent, and with it the advice that the main agent got.
        """
        with self._lock:
            state = self._sessions.use(session)
            for windows in (state.told, state.users):
                _open_window(windows, window, inherits=inherits)

    def tell(self, session: str, found: Consequences, window: str = "") -> None:
        """Record that a context window got the advice `found` about an edit."""
        with self._lock:
            self._tell(self._sessions.use(session), window, found)

    def postpone(self, session: str, found: Consequences, window: str = "") -> None:
        """Keep advice about an edit, to show it in a window after a later edit.

        The advice was ready too late to be shown after its own edit.
        """
        with self._lock:
            self._sessions.use(session).late.append((window, found))

    def postponed(self, session: str, window: str = "") -> Consequences | None:
        """Remove and return a window's oldest advice that missed its deadline.

        Parts that the window has received in the meantime are left out. The result is None if no advice remains.
        """
        with self._lock:
            state = self._sessions.get(session)
            late = next((one for one in state.late if one[0] == window), None) if state is not None else None
            if state is None or late is None:
                return None
            state.late.remove(late)
        return self.unseen(session, late[1], window)

    def touch(self, session: str, paths: Iterable[str], *, edited: bool) -> None:
        """Record that a session read or edited files."""
        with self._lock:
            state = self._sessions.use(session)
            state.touched.update(paths)
            state.removed.difference_update(paths)
            if edited:
                state.edited, state.tested = True, False

    def write(self, session: str, edits: Iterable[Edit]) -> None:
        """Record the lines that edits of a session wrote and removed."""
        with self._lock:
            state = self._sessions.use(session)
            for one in edits:
                old, new = ({line.strip() for line in (text or "").split("\n")} for text in (one.old, one.new))
                state.written.setdefault(one.path, set()).update(new - old - {""})
                state.erased.setdefault(one.path, set()).update(_WORD.findall("\n".join(old - new)))

    def ran_tests(self, session: str) -> None:
        """Record that a session ran tests.

        The record holds until the session's next edit. Until then, `at_stop` does not name tests to run.
        """
        with self._lock:
            self._sessions.use(session).tested = True

    def unopened(self, session: str, window: str = "") -> list[Dependent]:
        """Return code that uses a changed signature, in files not yet opened.

        Call this after an edit. `window` is the context window that gets the result. The first such code of each file is returned, once
        after the edit that changed the signature, if no advice named the file. Later, if the session has opened such a file since its last
        edit, the result is the code in the other files, if these are at most `NAMED`. Files that advice named since that edit are left
        out. Otherwise the list is empty.
        """
        with self._lock:
            state = self._sessions.use(session)
            left = self._left(state)
            went_on, state.left = bool(state.left - left.keys()), frozenset(left)
            news, state.news = state.news, set()
            shown = state.users.setdefault(window, set())
            fresh = [own[0] for path, own in left.items() if path not in shown]
            shown.update(one.path for one in fresh)
            if fresh or not went_on or len(left) > NAMED:
                return fresh
            return [own[0] for path, own in left.items() if path not in news]

    def at_stop(self, session: str) -> str:
        """Return a reminder of forgotten files when an agent stops; "" for none.

        A session gets the reminder once. A forgotten file was not opened, although the edits concern it. For example, it uses a
        changed signature, or most probably changes together with an edited file. Tests that did not run are named, too. About
        `AT_STOP` files are named, the likeliest first. Further users of a changed signature, and further files that change with edited
        ones, are only counted.
        """
        with self._lock:
            state = self._sessions.get(session)
            if state is None or state.reminder:
                return ""
            while state.late:
                self._tell(state, *state.late.pop())
            left = self._left(state)
            moves = [path for path in sorted(state.likely, key=lambda one: -state.likely[one]) if path not in state.touched | left.keys()]
            files = {one.path: None for one in state.tests if one.path not in state.removed}
            is_tested = state.tested or not state.touched.isdisjoint(files)
            room = max(0, AT_STOP - len(left))
            named = {*left, *moves[:room]}
            known = state.touched | state.removed | named
            own = [path for path in state.named if state.edited and not state.tested and path not in known]
            own = own[: max(0, min(UNTESTED, AT_STOP - len(named)))]
            is_untested = bool(files) and state.edited and not is_tested
            if not left and not moves[:room] and not own and not is_untested:
                return ""
            said = []
            if left:
                users = [one for own in left.values() for one in own]
                texts = dependents_text(users, with_code=False)
                said.append(f"Not opened, though they use a signature or file that you changed or removed: {texts}.")
            if moves[:room]:
                along = ", ".join(map(plain_path, moves[:room])) + more_text(len(moves), room)
                said.append(f"Not opened, though they often change with files that you edited: {along}.")
            if own:
                said.append(f"Not opened, though they are named after files that you edited: {names_text(map(plain_path, own))}.")
            to_run = self._to_run(state)
            if not state.tested and (files or self.command(to_run)):
                said.append(f"No test ran after your last edit. Tests to run: {named_tests(to_run, self.command)}.")
            state.reminder = " ".join([*said, "Check them, or say why they need no change, then finish."])
            return state.reminder

    def is_reminder(self, session: str, text: str) -> bool:
        """Whether `text` is the reminder that `at_stop` gave to a session."""
        with self._lock:
            state = self._sessions.get(session)
            return state is not None and state.reminder != "" and text.strip() == state.reminder

    def forget(self, session: str) -> None:
        """Forget the advice and the opened files of a session.

        Call this if the session ended or restarted.
        """
        with self._lock:
            self._sessions.pop(session, None)

    def _tell(self, state: _Session, window: str, found: Consequences) -> None:
        told = state.told.setdefault(window, set())
        told.update(found.targets)
        told.update(_key(one, found) for one in found.targets)
        told.update(path for path, _ in found.moves)
        told.update([*found.named, *(one.path for one in found.tests)])
        told.update(_user_key(one) for one in listed(found.dependents, with_code=found.breaks))
        state.removed.update(one.removesuffix(REMOVED) for one in found.targets if one.endswith(REMOVED))
        state.tests.update(dict.fromkeys(found.tests))
        state.likely.update(found.likely)
        state.named.update(dict.fromkeys(found.named))
        if found.breaks:
            shown = {one.path for one in listed(found.dependents, with_code=True)}
            state.users.setdefault(window, set()).update(shown)
            state.news.update(shown)
            for one in (one for one in found.dependents if one.breaks):
                state.waiting.setdefault(one.path, []).append(one)

    def _to_run(self, state: _Session) -> list[TestCase]:
        """Return the tests of a session's edits, those named after a file first.

        If many files of tests reach the edits, only those that are named after an edited file are returned, or all if none is. Files that
        the session removed are left out.
        """
        tests = [one for one in state.tests if one.path not in state.removed]
        reaching = {one.path for one in tests}
        own = [path for path in state.named if path not in state.removed]
        named = [TestCase(path, "", 0, is_method=False) for path in own if path not in reaching]
        named += [one for one in tests if one.path in own]
        if named and len(reaching) > MOST_TEST_FILES:
            return named
        return [*named, *(one for one in tests if one.path not in own)]

    def _left(self, state: _Session) -> dict[str, list[Dependent]]:
        return {path: own for path, own in state.waiting.items() if path not in state.touched}


def _user_key(one: Dependent) -> str:
    """Return the name under which a window is recorded to know a dependent."""
    return f"{one.path}:{one.name} (dependent)"


def _key(target: str, found: Consequences) -> str:
    """Return the name under which advice about an edited target is recorded.

    An edit that breaks uses of the target has a name of its own, so that it is reported even after other advice about the target.
    """
    return f"{target}{BROKEN}" if found.breaks else target


def _open_window(windows: dict[str, set[str]], window: str, *, inherits: bool) -> None:
    """Add a context window to a record of the advice that each window got.

    If `inherits` is true, the new window has the advice that the main agent got.
    """
    windows.pop(window, None)
    while len(windows) > MOST_WINDOWS:
        windows.pop(next(one for one in windows if one))
    if inherits:
        windows[window] = set(windows.get("", ()))
