"""Advise an agent about an edit: dependents, tests, memories.

The project computes the `Consequences` of an edit. For each session, `EditBook` records which advice was given, so that advice is given
once. `EditBook` also records which files were opened. After an edit, `EditBook` names dependents (code that uses the edited code) in
unopened files. When the agent stops, `EditBook` names forgotten files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from threading import Lock
from typing import Final, NamedTuple

from graphmem.injection.items import Item, clean, plain_path
from graphmem.injection.recent_sessions import MOST_WINDOWS, RecentSessions

MAX_TOKENS: Final = 300  # of the advice about one edit
MAX_TRAPS: Final = 3
NAMED: Final = 5  # dependents, tests or files that a sentence names
MOST_TEST_FILES: Final = 10  # that reach an edit; of more, none is closer to it than the others
TEST_FILES: Final = 3  # files of tests in a command that runs whole files
MAX_DEPENDENTS: Final = 300  # characters of listed dependents, so that a trap beside them has room
MAX_COMMAND: Final = 160  # characters of a command that runs single tests
MOVES_SHARE: Final = 0.3  # least share of the small changes of the edited file that touched another file as well
MOVES_CHANCE: Final = 0.4  # least chance that such a file changes this time, too, for a note before the edit
LIKELY_CHANCE: Final = 0.6  # the same, for a reminder at the stop, which costs a turn; `benchmarks/forgotten.py` measures both
UNTESTED: Final = 2  # files of tests that an agent is reminded of
AT_STOP: Final = 5  # files that an agent is reminded of in all
REMOVED: Final = " (removed)"  # after the path of a file that is deleted or moved, in `Consequences.targets`
BROKEN: Final = " (signature)"  # after a target of which a window was told that uses of its old signature fail
DOCUMENTED: Final = " (documentation)"  # after the id of code of which only comments or docstrings change


class Edit(NamedTuple):
    """One replacement of text in a file, before it is made."""

    path: str  # from the root
    old: str | None  # None: the whole file is written
    new: str
    is_removal: bool = False  # the file is deleted or moved
    at: int = -1  # place of the old text in the file, in characters; -1: where it occurs first
    cell: str = ""  # id or place of the cell of a notebook that is replaced, or after which a cell is inserted
    is_insertion: bool = False  # of a new cell


class Dependent(NamedTuple):
    """Code that uses edited code: its file, line and name."""

    path: str
    line: int  # of the use, 1-based
    name: str
    code: str = ""  # the line of the use, if a signature changes
    uses: str = ""  # name of the edited code that it uses
    begins: int = 0  # first line of its definition in the index; 0: unknown
    breaks: bool = False  # it uses an old signature that the edit breaks, or code that it removes


class TestCase(NamedTuple):
    """A test that runs edited code."""

    path: str
    name: str  # qualified, such as "TestCart.test_total"; "" for all tests of the file
    line: int
    is_method: bool

    @property
    def shown(self) -> str:
        """The file and the name of the test: `tests/test_cart.py::test_total`."""
        return "::".join([self.path, *filter(None, self.name.split("."))])


class Consequences(NamedTuple):
    """The effects of an edit: dependents, tests, other files, memories.

    Dependents are code that uses the edited code.
    """

    targets: tuple[str, ...]  # references of the edited symbols, or the file
    dependents: tuple[Dependent, ...] = ()  # direct ones outside tests, most confident first
    tests: tuple[TestCase, ...] = ()  # best first
    moves: tuple[tuple[str, float], ...] = ()  # files that change with it, and their share of its changes
    likely: tuple[tuple[str, float], ...] = ()  # those that change most probably, with their chance
    memories: tuple[str, ...] = ()  # ids, best first
    breaks: bool = False  # uses of an old signature fail, or a definition is removed
    named: tuple[str, ...] = ()  # test files that are named after the edited files
    are_tests_told: bool = False  # whether earlier advice named all files of `tests`
    outside: tuple[str, ...] = ()  # code of other projects that uses a contract of the targets, such as "web: shop.py:12 (GET /product/{})"
    alike: tuple[str, ...] = ()  # methods that must keep the same signature, as "shop.py:12 Cart.add"


Advise = Callable[[Sequence[Edit]], Consequences | None]
TestCommand = Callable[[Sequence[TestCase]], str]  # the command line that runs tests; "" if their runner is unknown


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
    late: list[tuple[str, Consequences]] = field(default_factory=list)  # (context window, advice that missed its deadline)
    edited: bool = False
    tested: bool = False
    reminder: str = ""  # given when the agent stopped


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
        the session wrote its line, because the line fits the new signature. The result is None if no target is left.
        """
        with self._lock:
            state = self._sessions.use(session)
            told = state.told.get(window, ())
            fresh = tuple(one for one in found.targets if _key(one, found) not in told)
            if not fresh:
                return None
            moves = tuple(one for one in found.moves if one[0] not in told and one[0] not in state.touched)
            named = tuple(one for one in found.named if one not in told)
            users = tuple(one for one in found.dependents if not (one.breaks and one.code in state.written.get(one.path, ())))
            are_told = all(one.path in told for one in found.tests)
            return found._replace(targets=fresh, dependents=users, moves=moves, named=named, are_tests_told=are_told)

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
            if edited:
                state.edited, state.tested = True, False

    def write(self, session: str, edits: Iterable[Edit]) -> None:
        """Record the lines that edits of a session wrote."""
        with self._lock:
            written = self._sessions.use(session).written
            for one in edits:
                old = {line.strip() for line in (one.old or "").split("\n")}
                fresh = {line.strip() for line in one.new.split("\n")} - old - {""}
                written.setdefault(one.path, set()).update(fresh)

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
        edit, the result is the code in the other files, if these are at most `NAMED`. Otherwise the list is empty.
        """
        with self._lock:
            state = self._sessions.use(session)
            left = self._left(state)
            went_on, state.left = bool(state.left - left.keys()), frozenset(left)
            shown = state.users.setdefault(window, set())
            fresh = [own[0] for path, own in left.items() if path not in shown]
            shown.update(one.path for one in fresh)
            return fresh or ([own[0] for own in left.values()] if went_on and len(left) <= NAMED else [])

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
            files = {one.path: None for one in state.tests}
            is_tested = state.tested or not state.touched.isdisjoint(files)
            room = max(0, AT_STOP - len(left))
            named = {*left, *moves[:room]}
            own = [path for path in state.named if state.edited and not state.tested and path not in state.touched | named]
            own = own[: max(0, min(UNTESTED, AT_STOP - len(named)))]
            is_untested = bool(files) and state.edited and not is_tested
            if not left and not moves[:room] and not own and not is_untested:
                return ""
            said = []
            if left:
                users = [one for own in left.values() for one in own]
                said.append(
                    f"Not opened, though they use a signature or file that you changed or removed: {_dependents(users, with_code=False)}."
                )
            if moves[:room]:
                along = ", ".join(map(plain_path, moves[:room])) + _more(len(moves), room)
                said.append(f"Not opened, though they often change with files that you edited: {along}.")
            if own:
                said.append(f"Not opened, though they are named after files that you edited: {_named(map(plain_path, own))}.")
            to_run = self._to_run(state)
            if not state.tested and (state.tests or self.command(to_run)):
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
        state.tests.update(dict.fromkeys(found.tests))
        state.likely.update(found.likely)
        state.named.update(dict.fromkeys(found.named))
        if found.breaks:
            state.users.setdefault(window, set()).update(one.path for one in _listed(found.dependents, with_code=True))
            for one in (one for one in found.dependents if one.breaks):
                state.waiting.setdefault(one.path, []).append(one)

    def _to_run(self, state: _Session) -> list[TestCase]:
        """Return the tests of a session's edits, those named after a file first.

        If many files of tests reach the edits, only those that are named after an edited file are returned, or all if none is.
        """
        reaching = {one.path for one in state.tests}
        named = [TestCase(path, "", 0, is_method=False) for path in state.named if path not in reaching]
        named += [one for one in state.tests if one.path in state.named]
        if named and len(reaching) > MOST_TEST_FILES:
            return named
        return [*named, *(one for one in state.tests if one.path not in state.named)]

    def _left(self, state: _Session) -> dict[str, list[Dependent]]:
        return {path: own for path, own in state.waiting.items() if path not in state.touched}


def _key(target: str, found: Consequences) -> str:
    """Return the name under which advice about an edited target is recorded.

    An edit that breaks uses of the target has a name of its own, so that it is reported even after other advice about the target.
    """
    return f"{target}{BROKEN}" if found.breaks else target


def notes(found: Consequences, command: TestCommand) -> list[Item]:
    """Return the advice about an edit as sentences, most important first.

    `found` has the effects of the edit, and `command` returns the command line that runs given tests. The sentences name code that uses the
    edited code, also in other projects. Other sentences name files that often change with the edited file, and tests.
    """
    inside = tuple(f"{one}." for one in found.targets)
    names = _named(plain_path(one) for one in found.targets if not one.startswith(inside))
    said = []
    if found.dependents:
        files = len({one.path for one in found.dependents})
        is_removal = any(one.endswith(REMOVED) for one in found.targets)
        broken = sum(one.breaks for one in found.dependents)
        some = f"{broken} of them, named first, {'use' if broken > 1 else 'uses'} the old signature"
        how = "they use it" if is_removal or not broken else "they use the old signature" if broken == len(found.dependents) else some
        count = f"{_count(len(found.dependents), 'dependent')} in {_count(files, 'file')}"
        said.append(f"Edit of {names}: {count} ({how}): {_dependents(found.dependents)}.")
    if found.alike:
        said.append(f"Must keep the same signature (override or implementation): {_named(map(plain_path, found.alike))}.")
    if found.outside:
        said.append(f"Other projects use {names} over the network: {_named(map(plain_path, found.outside))}.")
    moving = {path for path, _ in found.moves}
    often = sorted((one for one in found.moves if one[1] >= MOVES_SHARE), key=lambda one: -one[1])
    if often:
        said.append(f"Often changed together with it, with the share of its changes: {_shares(often)}.")
    if seldom := [one for one in found.moves if one[1] < MOVES_SHARE]:
        said.append(f"Tests that changed with it, with the share of its changes: {_shares(seldom)}.")
    own = [path for path in found.named if path not in moving]
    if own and not {one.path for one in found.tests[:NAMED]}.issuperset(own):
        said.append(f"Tests named after it: {_named(map(plain_path, own))}.")
    is_few = len({one.path for one in found.tests}) <= MOST_TEST_FILES
    near = [one for one in found.tests if is_few or one.path in found.named]
    if near and not found.are_tests_told and (said or found.breaks):
        said.append(f"Tests that reach it: {named_tests(near, command)}.")
    return [Item("editor", "note", f"edit:{place}", text, score=-place) for place, text in enumerate(said, 1)]


def reminder(left: Sequence[Dependent]) -> Item:
    """Return a note that names the code `left` to be checked after an edit.

    The code uses a signature that was changed, and its file was not opened since.
    """
    return Item("editor", "note", "edit:left", f"Not opened yet, though they use the changed signature: {_dependents(left)}.")


def named_tests(tests: Sequence[TestCase], command: TestCommand) -> str:
    """Return the command line that runs the best tests, such as `go test .`.

    If there are more than NAMED tests, or the command would be long, the command runs whole files instead: the first TEST_FILES of them.
    The number of other files is appended, as in "and 3 more files". Without a known test runner, names are returned instead of a command.
    """
    line = command(tests) if len(tests) <= NAMED else ""
    if line and len(line) <= MAX_COMMAND:
        return f"`{plain_path(line)}`"
    files = [TestCase(path, "", 0, is_method=False) for path in dict.fromkeys(one.path for one in tests)]
    line = command(files[:TEST_FILES])
    chosen = files[:TEST_FILES] if line or len(tests) > NAMED else tests
    more = max(0, len(files) - TEST_FILES)
    named = f"`{plain_path(line)}`" if line else ", ".join(plain_path(one.shown) for one in chosen)
    return named + (f" and {_count(more, 'more file')}" if more else "")


def _dependents(found: Sequence[Dependent], *, with_code: bool = True) -> str:
    named = _listed(found, with_code=with_code)
    said = ", ".join(_dependent_text(one, with_code=with_code) for one in named)
    return said + (f" and {len(found) - len(named)} more" if len(found) > len(named) else "")


def _listed(found: Sequence[Dependent], *, with_code: bool) -> Sequence[Dependent]:
    """Return the first dependents, as many as one sentence has room for.

    With `with_code`, the sentence shows the line of code of each dependent, which takes more room.
    """
    lengths = list(accumulate(len(_dependent_text(one, with_code=with_code)) for one in found[:NAMED]))
    return found[: max(1, sum(length <= MAX_DEPENDENTS for length in lengths))]


def _dependent_text(one: Dependent, *, with_code: bool) -> str:
    return " ".join(filter(None, (f"{plain_path(one.path)}:{one.line}", plain_path(one.name), _code(one) if with_code else "")))


def _code(one: Dependent) -> str:
    code = " ".join(clean(one.code).split()).replace("[^", "(^")  # "[^" begins a citation
    return f"`{code}`" if code else ""


def _open_window(windows: dict[str, set[str]], window: str, *, inherits: bool) -> None:
    """Add a context window to a record of the advice that each window got.

    If `inherits` is true, the new window has the advice that the main agent got.
    """
    windows.pop(window, None)
    while len(windows) > MOST_WINDOWS:
        windows.pop(next(one for one in windows if one))
    if inherits:
        windows[window] = set(windows.get("", ()))


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _shares(files: Iterable[tuple[str, float]]) -> str:
    return _named(f"{plain_path(path)} ({share:.0%})" for path, share in files)


def _named(names: Iterable[str]) -> str:
    every = list(names)
    return ", ".join(every[:NAMED]) + _more(len(every), NAMED)


def _more(count: int, named: int) -> str:
    return f" and {count - named} more" if count > named else ""
