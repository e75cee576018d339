"""Detect which shown memories an agent used, and which it said are wrong.

A session counts as at most one use of a memory, however often it uses the memory. A use is one of these:

* The agent cites the memory's `#id` in its words, in a command or in text that it writes.
* The agent follows the memory in an edit of a file that the memory is about. The edit adds a name that the memory recommends, or removes a
  name that the memory rejects. The use counts when tests pass after the edit. If no tests run after the edit, it counts at the end of the
  session, unless the last tests failed.

A doubt is reported if the agent cites a memory and calls it wrong in the same sentence. A doubt is also reported if an edit followed a
memory, tests failed, and the edit was undone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Final, NamedTuple

from graphmem.injection.consequences import Edit
from graphmem.injection.recent_sessions import RecentSessions

_SHOWN: Final = 500  # memories of one session
CITED: Final = re.compile(r"#([0-9a-f]{4,64})\b")
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|\n+")
_WRONG: Final = re.compile(
    r"(?<!not )(?<!n't )\b(?:wrong|incorrect|outdated|out of date|obsolete|untrue|false|mistaken|misleading|stale"
    r"|not (?:true|correct|right|accurate)|no longer (?:true|correct|holds?|applies|valid|the case)"
    r"|(?:does not|doesn't) (?:hold|apply|match))\b",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(r"[.;:,!?](?=\s|$)|\n| (?:but|because|since|so) ")
_REJECTS: Final = re.compile(
    r"\b(?:never|not|no|avoid|don't|doesn't|cannot|can't|instead of|rather than|without|wrong|fails?|breaks?|raises?)\b", re.IGNORECASE
)
_TURN: Final = re.compile(r"\b(?:instead of|rather than)\b", re.IGNORECASE)
# A name of code: with an underscore, a capital inside, a dot, a call, or in backticks.
_NAME: Final = re.compile(r"`([^`\s]{2,80})`|\b([A-Za-z_]\w*(?:_\w+|\.\w+)+|[a-z]\w*[A-Z]\w*|[A-Z]\w*[a-z]\w*[A-Z]\w*|\w{3,}(?=\(\)))")
_WORD: Final = re.compile(r"[A-Za-z_]\w{2,}")


class Known(NamedTuple):
    """Id, text and files of one memory, to recognise its use."""

    id: str
    short_id: str
    content: str
    files: tuple[str, ...]  # that it is about


class Doubt(NamedTuple):
    """A memory that is wrong according to an agent, and the agent's sentence."""

    id: str
    why: str


class Said(NamedTuple):
    """The memories that an agent's message cites, and those it calls wrong."""

    used: list[str]
    doubts: list[Doubt]


class Followed(NamedTuple):
    """The names by which an edit followed a memory.

    The edit added names that the memory recommends, or removed names that it rejects.
    """

    added: frozenset[str]
    removed: frozenset[str]
    failed: bool = False  # a test failed since

    def is_undone(self, old: set[str], new: set[str]) -> bool:
        """Whether a later edit undoes this edit.

        `old` has the words that the later edit replaces, `new` the words that it writes.
        """
        return bool(self.added & (old - new) or self.removed & (new - old))


@dataclass(slots=True)
class _Session:
    shown: dict[str, Known] = field(default_factory=dict)  # by id
    counted: set[str] = field(default_factory=set)  # ids whose use was counted
    doubted: set[str] = field(default_factory=set)
    followed: dict[str, Followed] = field(default_factory=dict)  # by id, since the last test that passed
    failed: bool = False  # the last test failed


class UseBook:
    """Finds uses of shown memories in the running sessions. Thread-safe.

    Args:
        known: looks up memories by id.
    """

    def __init__(self, known: Callable[[Sequence[str]], Iterable[Known]]) -> None:
        self._known = known
        self._lock = Lock()
        self._sessions = RecentSessions(_Session)

    def shown(self, session: str, ids: Sequence[str]) -> None:
        """Record memories that a session was shown, to recognise their use."""
        found = list(self._known(ids))
        with self._lock:
            state = self._sessions.use(session)
            for one in found:
                if len(state.shown) < _SHOWN:
                    state.shown[one.id] = one

    def cited_in(self, session: str, text: str) -> Said:
        """Return the memories that an agent's message cites or calls wrong."""
        with self._lock:
            state = self._sessions.get(session)
            if state is None or not state.shown or "#" not in text:
                return Said([], [])
            by_short = {one.short_id: one.id for one in state.shown.values()}
            cited: dict[str, None] = {}
            doubts: dict[str, str] = {}
            for sentence in _SENTENCE.split(text):
                ids = [by_short[short] for short in CITED.findall(sentence) if short in by_short]
                if _WRONG.search(sentence):
                    doubts.update((one, " ".join(sentence.split())) for one in ids if one not in state.doubted)
                else:
                    cited.update(dict.fromkeys(ids))
            state.doubted.update(doubts)
            for one in doubts:
                state.followed.pop(one, None)
            return Said(self._count(state, [one for one in cited if one not in doubts]), [Doubt(*one) for one in doubts.items()])

    def edited(self, session: str, edits: Sequence[Edit]) -> Said:
        """Record edits; return memories that the edits cite or prove wrong.

        A memory is proved wrong (a doubt) if an edit followed it, tests failed, and another edit undid the first edit.
        """
        cited = self.cited_in(session, "\n".join(one.new for one in edits)).used
        doubts: list[Doubt] = []
        with self._lock:
            state = self._sessions.get(session)
            if state is None:
                return Said(cited, [])
            for edit in edits:
                before, after = set(_WORD.findall(edit.old or "")), set(_WORD.findall(edit.new))
                for one in state.shown.values():
                    if edit.path not in one.files:
                        continue
                    known = state.followed.get(one.id)
                    if known is not None and known.is_undone(before, after):
                        del state.followed[one.id]
                        if known.failed and one.id not in state.doubted:
                            state.doubted.add(one.id)
                            doubts.append(Doubt(one.id, f"an edit of {edit.path} followed it, tests failed, and the edit was undone"))
                    elif (found := follows(one.content, before, after)) is not None:
                        state.followed[one.id] = found
        return Said(cited, doubts)

    def tested(self, session: str, ok: bool | None) -> list[str]:
        """Record whether a session's tests passed.

        If `ok` is True, the edits since the last passed tests are confirmed. The result then has the ids of the memories whose advice these
        edits followed. These memories count as used. Each memory is returned only once in a session. Otherwise the result is empty.
        """
        with self._lock:
            state = self._sessions.get(session)
            if state is None or ok is None:
                return []
            state.failed = not ok
            if not ok:
                state.followed = {one: known._replace(failed=True) for one, known in state.followed.items()}
                return []
            followed, state.followed = state.followed, {}
            return self._count(state, followed)

    def end(self, session: str) -> list[str]:
        """Forget a session; return memories that an edit of the session followed.

        An edit follows a memory if it does what the memory says. Memories whose use was already counted are left out. The result is empty
        if the last tests of the session failed.
        """
        with self._lock:
            state = self._sessions.pop(session, None)
            return self._count(state, state.followed) if state is not None and not state.failed else []

    @staticmethod
    def _count(state: _Session, ids: Iterable[str]) -> list[str]:
        fresh = [one for one in ids if one not in state.counted and one not in state.doubted]
        state.counted.update(fresh)
        return fresh


def follows(content: str, before: set[str], after: set[str]) -> Followed | None:
    """Return how an edit follows a memory, or None if it does not.

    An edit follows a memory if it adds a recommended name or removes a rejected name. The memory's text recommends and rejects names. The
    result has the added and the removed names.

    Args:
        content: the memory's text.
        before: words that the edit replaces.
        after: words that the edit writes.
    """
    wanted, rejected = _names(content)
    added, removed = frozenset(wanted & (after - before)), frozenset(rejected & (before - after))
    return Followed(added, removed) if added or removed else None


def _names(content: str) -> tuple[set[str], set[str]]:
    """Return (names in code that a memory recommends, names that it rejects).

    For "use `load()` instead of `read()`", the result is ({"load"}, {"read"}).
    """
    wanted: set[str] = set()
    rejected: set[str] = set()
    for clause in _CLAUSE.split(content):
        head, turn, tail = clause, "", ""
        if found := _TURN.search(clause):  # "use a() instead of b()": what stands before it is recommended
            head, turn, tail = clause[: found.start()], found[0], clause[found.end() :]
        (rejected if _REJECTS.search(head) else wanted).update(_names_in(head))
        if turn:
            rejected.update(_names_in(tail))
    return wanted - rejected, rejected


def _names_in(text: str) -> set[str]:
    return {word for found in _NAME.finditer(text) for word in _WORD.findall(found[1] or found[2])[-1:]}
