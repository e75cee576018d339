"""Detectors about words: corrections, documents, dead ends, conflicts.

A correction is made by the agent itself or by a person. A document is external text read before an edit. A dead end is an abandoned
approach. A conflict is a concurrent edit by several agents. Requests to remember are found too.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator
from typing import Any, ClassVar, Final

from graphmem.memory.texts.text import fingerprint
from graphmem.memory.texts.types import UNTYPED, classify
from graphmem.observe.commands.places import module_of
from graphmem.observe.counts.acts import Act
from graphmem.observe.counts.scratchpad import MAX_LIST, Scratchpad, moment
from graphmem.observe.counts.tables import Mark
from graphmem.observe.detectors.detect import Detector
from graphmem.observe.model import DeadEnd, Finding
from graphmem.observe.texts.words import Claim, claims, given_up

ABOUT_ACTS: Final = 6  # acts before a correction: the files they touched are its subject
CONSULTED_ACTS: Final = 25  # acts after a document was read: files edited in them are its subject
REVERT_ACTS: Final = 40  # acts after an approach was abandoned, in which its edits are undone
MOST_CORRECTIONS: Final = 50


class SelfCorrection(Detector):
    """Detects where the agent corrects itself.

    The agent says that it was wrong, and states what is right. This pattern is signal 9 of the 17 in `observe.signals`.
    """

    signal: ClassVar = "self_correction"
    wants: ClassVar = frozenset({"say", "read", "edit", "test", "run"})

    def __init__(self, pad: Scratchpad) -> None:
        self.recent: deque[tuple[int, tuple[str, ...]]] = deque(maxlen=ABOUT_ACTS)
        self.found: dict[str, tuple[Claim, tuple[str, ...], list[Mark]]] = {}

    def see(self, act: Act, pad: Scratchpad) -> None:
        """Collect sentences in which the agent corrects itself.

        With each sentence, the files that the agent used just before are stored.
        """
        if act.kind != "say":
            if act.paths:
                self.recent.append((act.n, act.paths))
            return
        for claim in claims(act.text) if act.text else ():
            pad.corrections += 1
            key = hashlib.blake2b(fingerprint(claim.right or claim.wrong).encode(), digest_size=6).hexdigest()
            if key in self.found:
                self.found[key][2].append((act.n, act.step))
            elif len(self.found) < MOST_CORRECTIONS:
                about = dict.fromkeys(path for n, paths in self.recent if act.n - n <= ABOUT_ACTS for path in paths[:3])
                self.found[key] = (claim, tuple(about), [(act.n, act.step)])

    def findings(self, pad: Scratchpad) -> Iterator[Finding]:
        """Yield one finding for each correction; one session is enough evidence."""
        for key, (claim, files, marks) in self.found.items():
            facts = {"sentence": claim.sentence, "wrong": claim.wrong, "right": claim.right, "module": pad.module()}
            kind = "gotcha" if claim.wrong or not files else "module_insight"
            yield pad.finding(self.signal, key, facts, files, marks, memory_type=kind, early=True)


class Corrected(Detector):
    """Detects statements with which a person corrects the agent."""

    signal: ClassVar = "corrected"
    wants: ClassVar = frozenset({"user", "read", "edit", "test", "run"})

    def __init__(self, pad: Scratchpad) -> None:
        self.recent: deque[tuple[int, tuple[str, ...]]] = deque(maxlen=ABOUT_ACTS)
        self.found: dict[str, tuple[str, tuple[str, ...], list[Mark]]] = {}

    def see(self, act: Act, pad: Scratchpad) -> None:
        """Store the statement with which a person corrects the agent, if any.

        `observe.texts.prompts` has found the statement in the person's prompt (`act.claim`). The files that the agent used just before are
        stored with the statement.
        """
        if act.kind != "user":
            if act.paths:
                self.recent.append((act.n, act.paths))
            return
        if not act.claim:
            return
        key = wish_key(act.claim)
        if key in self.found:
            self.found[key][2].append((act.n, act.step))
        elif len(self.found) < MOST_CORRECTIONS:
            about = dict.fromkeys(path for n, paths in self.recent if act.n - n <= ABOUT_ACTS for path in paths[:3])
            self.found[key] = (act.claim, tuple(about), [(act.n, act.step)])

    def findings(self, pad: Scratchpad) -> Iterator[Finding]:
        """Yield a finding for each correction that a person stated.

        One session is enough evidence for such a finding.
        """
        for key, (claim, files, marks) in self.found.items():
            facts = {"sentence": claim, "wrong": "", "right": claim, "module": pad.module()}
            yield pad.finding(self.signal, key, facts, files, marks, memory_type="correction", early=True)


class Asked(Detector):
    """Detects requests of a person that the agent remember something."""

    signal: ClassVar = "remember"
    wants: ClassVar = frozenset({"user"})

    def __init__(self, pad: Scratchpad) -> None:
        self.found: dict[str, tuple[Act, list[Mark]]] = {}

    def see(self, act: Act, pad: Scratchpad) -> None:
        """Store the request that `texts.prompts` found in a person's prompt."""
        if not act.wish:
            return
        key = wish_key(act.wish)
        if key in self.found:
            self.found[key][1].append((act.n, act.step))
        elif len(self.found) < MOST_CORRECTIONS:
            self.found[key] = (act, [(act.n, act.step)])

    def findings(self, pad: Scratchpad) -> Iterator[Finding]:
        """Yield one finding for each request to remember.

        A request that the person typed is trusted, even if the agent read an external page before. A request that may have been pasted
        counts as external text.
        """
        for key, (act, marks) in self.found.items():
            one = pad.finding(self.signal, key, {"statement": act.wish}, (), marks, memory_type=wish_type(act.wish, corrects=act.corrects))
            sources = (act.stranger,) if act.doubtful else ()
            yield one._replace(contaminated=act.doubtful, sources=sources, failed_approach=False)


def wish_key(statement: str) -> str:
    """Return a short hash of a person's statement, to recognise a repetition.

    The statement is a request to remember or a correction. Statements with the same words have the same hash; case and spacing are ignored.
    """
    return hashlib.blake2b(fingerprint(statement).encode(), digest_size=6).hexdigest()


def wish_type(statement: str, *, corrects: bool) -> str:
    """Return the type of the memory that a request to remember becomes.

    The type is "correction" if `corrects` is true, which means that the request corrects the agent. Otherwise the words of `statement`
    decide; the default is "fact".
    """
    said = classify(statement)
    return "correction" if corrects else "fact" if said == UNTYPED else said


class ExternalReference(Detector):
    """Detects documents read before a module was edited.

    The documents are outside the project, such as pages of the web. This pattern is signal 10 of the 17 in `observe.signals`.
    """

    signal: ClassVar = "external_reference"
    wants: ClassVar = frozenset({"web", "run", "edit"})

    def __init__(self, pad: Scratchpad) -> None:
        self.open: deque[tuple[str, Mark]] = deque(maxlen=20)
        self.found = pad.table(self.signal, 500, lambda marks: float(len(marks)))  # (module, url) -> marks

    def see(self, act: Act, pad: Scratchpad) -> None:
        """Note which module is edited next after an external document was read.

        A module is a folder. A document that was read too long before the edit is dropped.
        """
        if act.urls and act.ok is not False:
            for url in act.urls[:5]:
                self.open.append((url.partition("?")[0].rstrip("/"), (act.n, act.step)))
        elif act.action == "edit" and act.paths and act.ok is not False:
            while self.open:
                url, mark = self.open.popleft()
                if act.n - mark[0] > CONSULTED_ACTS:
                    continue
                key = (module_of(act.paths[0]), url)
                marks: list[Mark] | None = self.found.get(key)
                if marks is None:
                    marks = self.found.add(key, [])
                marks += [mark, (act.n, act.step)]

    def findings(self, pad: Scratchpad) -> Iterator[Finding]:
        """Yield one finding for each pair of a module and an external document.

        The findings are marked as contaminated (influenced by external text), because the document is external.
        """
        for module, url in sorted(self.found):
            marks = self.found[module, url][:20]
            facts = {"module": module, "url": url, "times": len(self.found[module, url]) // 2}
            yield pad.finding(self.signal, f"{module}|{url}", facts, (), marks, sources=(url,), tainted=True)


class ParallelConflict(Detector):
    """Detects files edited by two sessions at about the same time.

    The observer, which knows all sessions, stores the conflicts in the scratchpad (all counts of the session). So this detector needs no
    acts. This pattern is signal 16 of the 17 in `observe.signals`.
    """

    signal: ClassVar = "parallel_conflict"
    wants: ClassVar = frozenset()

    def findings(self, pad: Scratchpad) -> Iterator[Finding]:
        """Yield a finding for each file that this and another session edited."""
        for path in sorted(pad.rivals):
            seen = pad.rivals[path]
            facts: dict[str, Any] = {
                "file": path,
                "sessions": sorted({pad.info.id, *(other for other, _, _ in seen)}),
                "seconds_apart": round(min(apart for _, apart, _ in seen), 1),
                "edits": len(seen),
            }
            yield pad.finding(self.signal, path, facts, (path,), (mark for _, _, mark in seen))


class DeadEnds(Detector):
    """Detects approaches that the agent says it abandons, called dead ends.

    An example is "this won't work". A dead end is stored in the session's record, with the edits that were undone. Dead ends are not one of
    the seventeen signals.
    """

    signal: ClassVar = "backtrack"  # its evidence is dropped with that of this signal
    wants: ClassVar = frozenset({"say", "user", "step", "test", "edit", "run"})

    def __init__(self, pad: Scratchpad) -> None:
        self.since = 0  # act before the first of the current approach
        self.open: tuple[int, int, int] | None = None  # index in pad.dead_ends, its first act, the act that abandoned it

    def see(self, act: Act, pad: Scratchpad) -> None:
        """Record what the agent tries, and detect when it gives the attempt up.

        An approach is the work since the last turning point. Turning points are a user message, the end of a task, passed tests and an
        abandoned approach.
        """
        if self.open is not None:
            self._look_back(act, pad)
        if act.kind == "say":
            told = given_up(act.text) if act.text else None
            if told is None or len(pad.dead_ends) >= MAX_LIST:
                return
            mine = [mark for mark in pad.recent_edits if self.since < mark.n < act.n]
            edits = tuple(sorted({mark.path for mark in mine}))
            if pad.dead_ends and pad.dead_ends[-1].step >= act.step - 1 and not edits:
                return  # the same thought in other words
            if not told.why and not edits:
                return  # "let me try another way" without a known subject
            reverted = tuple(sorted({mark.path for mark in mine if mark.undone is not None}))
            pad.dead_ends.append(DeadEnd(told.approach, told.why, act.step, moment(act.at), reverted, edits))
            self.open = (len(pad.dead_ends) - 1, self.since + 1, act.n)
            self.since = act.n
            self._fail(pad)
        elif act.kind == "user" or (act.kind == "step" and act.info.get("outcome")) or (act.action == "test" and act.ok):
            self.since = act.n

    def _look_back(self, act: Act, pad: Scratchpad) -> None:
        place, first, end = self.open or (0, 0, 0)
        if act.n - end > REVERT_ACTS:
            self.open = None
            return
        reverted = tuple(sorted({mark.path for mark in pad.recent_edits if first <= mark.n <= end and mark.undone is not None}))
        if reverted != pad.dead_ends[place].reverted:
            pad.dead_ends[place] = pad.dead_ends[place]._replace(reverted=reverted)
            self._fail(pad)

    def _fail(self, pad: Scratchpad) -> None:
        """Mark the acts of the last abandoned approach as failed.

        Nothing is marked if no edit of the approach was undone.
        """
        if self.open is None:
            return
        place, first, end = self.open
        if pad.dead_ends[place].reverted and (first, end) not in pad.failed:
            pad.failed.append((first, end))

    def findings(self, pad: Scratchpad) -> Iterator[Finding]:
        """Return nothing, because `Scratchpad.dead_ends` has abandoned approaches."""
        return iter(())
