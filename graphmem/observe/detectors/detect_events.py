"""Detectors for statements and browser observations in a session.

They find what a browser showed, decisions and conventions stated in words, and requirements of a person. One session is enough evidence for
each of these findings.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator
from typing import Any, ClassVar, Final

from graphmem.memory.texts.text import fingerprint
from graphmem.observe import browser
from graphmem.observe.counts.acts import Act
from graphmem.observe.counts.scratchpad import Scratchpad
from graphmem.observe.counts.tables import Mark
from graphmem.observe.detectors.detect import Detector
from graphmem.observe.model import Finding
from graphmem.observe.texts.statements import Statement, requirements, statements

MOST: Final = 50  # statements, and observations, of one session
BETWEEN: Final = 4  # uses of a browser between a failure and its success that are named
ABOUT_ACTS: Final = 6  # acts before a statement: the files they touched are its subject


class BrowserSeen(Detector):
    """Detects observations of the user interface in browser tools or tests."""

    signal: ClassVar = "browser"
    wants: ClassVar = frozenset({"web", "other", "test", "run", "edit"})

    def __init__(self, pad: Scratchpad) -> None:
        self.found: dict[str, tuple[dict[str, Any], list[Mark]]] = {}
        self.failing: dict[tuple[str, str], tuple[str, Mark, list[str]]] = {}  # (what, page) -> finding, its place, uses since
        self.edited: tuple[str, ...] = ()

    def see(self, act: Act, pad: Scratchpad) -> None:
        """Record what a browser tool showed, and which calls repaired a failure.

        If an action in the browser fails and later succeeds, the successful browser calls in between are the repair. The last edited files
        are stored with each observation.
        """
        if act.action == "edit":
            self.edited = tuple(dict.fromkeys([*act.paths, *self.edited]))[:3]
            return
        info = act.info
        if not info.get("ui"):
            return
        what, page, kind = str(info["ui"]), str(info["ui_page"]), str(info["ui_kind"])
        mark = (act.n, act.step)
        for _, _, since in self.failing.values():
            if info["ui_ok"] and len(since) <= BETWEEN:
                since.append(what)
        if info["ui_ok"] and (before := self.failing.pop((what, page), None)) is not None:
            key, first, since = before
            helped = list(
                dict.fromkeys(one for one in since if one != what and not one.startswith(("snapshot", "take screenshot", "take snapshot")))
            )
            if 0 < len(helped) <= BETWEEN:
                self.found.pop(key, None)
                self._note(browser.SEQUENCE, {"what": what, "page": page, "said": ", ".join(helped)}, first, mark)
        if kind:
            found = self._note(kind, {"what": what, "page": page, "said": str(info["ui_said"])}, mark)
            if not info["ui_ok"] and found:
                self.failing[what, page] = (found, mark, [])
                while len(self.failing) > MOST:
                    del self.failing[next(iter(self.failing))]

    def _note(self, kind: str, facts: dict[str, object], *marks: Mark) -> str:
        said = f"{kind}|{facts['page']}|{facts['what']}" if kind == browser.SEQUENCE else f"{kind}|{facts['page']}|{facts['said']}"
        key = hashlib.blake2b(fingerprint(said).encode(), digest_size=6).hexdigest()
        if key in self.found:
            self.found[key][1].extend(marks)
        elif len(self.found) < MOST:
            self.found[key] = ({"kind": kind, **facts}, list(marks))
        return key if key in self.found else ""

    def findings(self, pad: Scratchpad) -> Iterator[Finding]:
        """Yield a finding for each problem that was observed in a browser.

        Misbehaviour of an element is a finding only if it was observed at least twice, because an unfinished interface is often broken
        for a short time.
        """
        for key, (facts, marks) in self.found.items():
            if facts["kind"] == browser.BEHAVIOUR and len(marks) < 2:
                continue
            yield pad.finding(self.signal, key, {**facts, "module": pad.module()}, self.edited, marks, early=True)


class Stated(Detector):
    """Detects decisions and conventions that a person or the agent states.

    An example is "we decided to use SQLite".
    """

    signal: ClassVar = "stated"
    wants: ClassVar = frozenset({"say", "user", "read", "edit", "test", "run"})

    def __init__(self, pad: Scratchpad) -> None:
        self.recent: deque[tuple[int, tuple[str, ...]]] = deque(maxlen=ABOUT_ACTS)
        self.found: dict[str, tuple[Statement, tuple[str, ...], list[Mark]]] = {}

    def see(self, act: Act, pad: Scratchpad) -> None:
        """Collect decisions and conventions from a message.

        Requests to remember, corrections and messages with pasted text are ignored.
        """
        if act.kind not in ("say", "user"):
            if act.paths:
                self.recent.append((act.n, act.paths))
            return
        if act.web or act.wish or act.claim or not act.text:
            return
        own = act.kind == "user"
        for one in [*statements(act.text, person=own), *(requirements(act.text) if own else ())]:
            key = f"{one.type}|{hashlib.blake2b(fingerprint(one.sentence).encode(), digest_size=6).hexdigest()}"
            if key in self.found:
                self.found[key][2].append((act.n, act.step))
            elif len(self.found) < MOST:
                about = dict.fromkeys(path for n, paths in self.recent if act.n - n <= ABOUT_ACTS for path in paths[:3])
                self.found[key] = (one, tuple(about), [(act.n, act.step)])

    def findings(self, pad: Scratchpad) -> Iterator[Finding]:
        """Yield one possible memory for each stated decision or convention."""
        for key, (one, files, marks) in self.found.items():
            facts = {"sentence": one.sentence, "why": one.why, "instead": one.instead, "module": pad.module()}
            yield pad.finding(self.signal, key, facts, () if one.type == "requirement" else files, marks, memory_type=one.type, early=True)
