"""Detectors of patterns in how a session uses files.

They find files opened first, pairs of files, reads without use, and costly reads. They also find listed folders that are never opened,
chains of imports, and config files edited with sources.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final

from graphmem.observe.commands.places import is_config, module_of
from graphmem.observe.counts.acts import Act
from graphmem.observe.counts.scratchpad import Scratchpad, moment
from graphmem.observe.counts.tables import Mark
from graphmem.observe.detectors.detect import Detector
from graphmem.observe.model import CoAccess, Finding
from graphmem.observe.signals import EARLY_EDITS

EARLY_FILES: Final = 5  # first opened files of a session
FEWEST_FILES: Final = 3  # sessions with fewer files have no findings of this kind
WINDOW_FILES: Final = 8  # distinct files before this one
WINDOW_S: Final = 600.0
TOGETHER: Final = 3  # shared windows that make two files a finding without edits of both
MOST_PAIRS: Final = 20  # findings of one session
MOST_CO_ACCESSES: Final = 3_000  # pairs in one record
BULK: Final = 30  # edited files: more is a script's work, whose pairs mean nothing
MOST_ABANDONED: Final = 10
LAST_SHARE: Final = 0.8  # of the acts: a file read later had no chance to be used
LISTINGS: Final = 2
LISTED_FILES: Final = 3  # of a folder, in one listing
CHAIN: Final = 4  # files, including the first and the last
AROUND: Final = 60  # edits, or acts, between a config file and a source that belong together
SPIKE: Final = 5.0  # times the usual cost of a read
SPIKE_TOKENS: Final = 4_000
USUAL_READS: Final = 8  # reads before a usual cost is known
_SAMPLES: Final = 256


class FileAccess(Detector):
    """Detects the files that a session opens first.

    The finding names the session's main module: the folder in which the session works most. This pattern is signal 1 of the 17 in
    `observe.signals`.
    """

    signal: ClassVar = "file_access"
    wants: ClassVar = frozenset({"read"})

    def __init__(self, pad: Scratchpad) -> None:
        self.first: dict[str, Mark] = {}

    def see(self, act: Act, pad: Scratchpad) -> None:
        """Record the first few files that the session opens."""
        if act.ok is not False and len(self.first) < EARLY_FILES:
            for path in act.paths[: EARLY_FILES - len(self.first)]:
                self.first.setdefault(path, (act.n, act.step))

    def findings(self, pad: Scratchpad) -> Iterator[Finding]:
        """Yield one finding for each of the files that the session opened first.

        A session yields none if it edited no file or used too few files.
        """
        module = pad.module()
        used = sum(1 for use in pad.files.values() if use.first_n)
        if not module or used < FEWEST_FILES or not pad.edited_files:
            return
        for rank, (path, mark) in enumerate(self.first.items(), 1):
            yield pad.finding(
                self.signal, f"{module}|{path}", {"module": module, "file": path, "rank": rank, "files": used}, (path,), [mark]
            )


class CoAccessed(Detector):
    """Detects pairs of files that are used close together.

    Close means within a few minutes (WINDOW_S) and a few files (WINDOW_FILES). This pattern is signal 2 of the 17 in `observe.signals`.
    """

    signal: ClassVar = "co_access"
    wants: ClassVar = frozenset({"read", "edit"})

    def __init__(self, pad: Scratchpad) -> None:
        # pair -> [windows, both edited, a first, seconds between, last time, first mark, last mark]
        self.pairs = pad.table(self.signal, 50_000, lambda pair: float(pair[0] + 2 * pair[1]), 450)
        self.recent: deque[tuple[str, float, bool, int, int]] = deque(maxlen=WINDOW_FILES)

    def see(self, act: Act, pad: Scratchpad) -> None:
        """Pair each file that an act uses with the files used just before.

        A file that is itself among the files used just before is not counted again. But if the act is the first edit of this file, the
        file's pairs with recently edited files are marked as edited together.
        """
        if act.ok is False or len(act.paths) > BULK:
            return
        edited = act.action == "edit"
        for path in act.paths:
            inside = next((one for one in self.recent if one[0] == path), None)
            if inside is not None and (inside[2] or not edited):
                continue
            for other, at, other_edited, n, step in self.recent:
                if other == path or act.at - at > WINDOW_S:
                    continue
                ordered = other < path
                key = (other, path) if ordered else (path, other)
                pair: list[Any] | None = self.pairs.get(key)
                both = edited and other_edited
                if pair is None:
                    self.pairs.add(key, [1, int(both), int(ordered), max(0.0, act.at - at), act.at, (n, step), (act.n, act.step)])
                    continue
                if inside is None:
                    pair[0] += 1
                    pair[2] += ordered
                    pair[3] += max(0.0, act.at - at)
                pair[1] += both
                pair[4], pair[6] = act.at, (act.n, act.step)
            if inside is not None:
                self.recent.remove(inside)
            self.recent.append((path, act.at, edited, act.n, act.step))

    def findings(self, pad: Scratchpad) -> Iterator[Finding]:
        """Yield pairs of files that were edited together or often used together.

        The pairs that were edited together most often come first. A session with more than BULK edited files yields none.
        """
        if len(pad.edited_files) > BULK:
            return
        strong = [(pair[1], pair[0], key) for key, pair in self.pairs.items() if pair[1] or pair[0] >= TOGETHER]
        strong.sort(key=lambda one: (-one[0], -one[1], one[2]))
        for edited, windows, (a, b) in strong[:MOST_PAIRS]:
            pair = self.pairs[a, b]
            facts = {"a": a, "b": b, "windows": windows, "edited": edited, "a_first": pair[2], "delta_s": round(pair[3] / windows, 1)}
            kind = "causal_dependency" if edited else "prefetch_pattern"
            yield pad.finding(self.signal, f"{a}|{b}", facts, (a, b), [pair[5], pair[6]], memory_type=kind)

    def co_accesses(self) -> Iterator[CoAccess]:
        """Yield the pairs of files that were used together, sorted by path.

        If there are more than MOST_CO_ACCESSES pairs, at most this many are yielded. In this case, pairs that were used together only once
        and never edited together are left out. Of the rest, the pairs that were most often edited together are yielded, then those most
        often used.
        """
        kept: Iterable[tuple[str, str]] = self.pairs
        if len(self.pairs) > MOST_CO_ACCESSES:
            strong = [(-pair[1], -pair[0], key) for key, pair in self.pairs.items() if pair[1] or pair[0] > 1]
            kept = [key for _, _, key in sorted(strong)[:MOST_CO_ACCESSES]]
        for a, b in sorted(kept):
            windows, edited, first, seconds, at, _, _ = self.pairs[a, b]
            yield CoAccess(a, b, windows, edited, first, round(seconds / windows, 3), moment(at))


class ReadAbandon(Detector):
    """Detects files that were read once and not used afterwards.

    After the read, the session does not edit the file, read it again or mention it. This pattern is signal 5 of the 17 in
    `observe.signals`.
    """

    signal: ClassVar = "read_abandon"
    wants: ClassVar = frozenset({"read"})

    def __init__(self, pad: Scratchpad) -> None:
        self.read = pad.table(self.signal, 5_000, bytes_each=200)  # path -> mark, tokens

    def see(self, act: Act, pad: Scratchpad) -> None:
        """Record the first read of each file."""
        if act.ok is not False and len(act.paths) == 1 and act.paths[0] not in self.read:
            self.read.add(act.paths[0], ((act.n, act.step), act.tokens))

    def findings(self, pad: Scratchpad) -> Iterator[Finding]:
        """Yield files that were read but not used afterwards.

        Files with more tokens come first; at most MOST_ABANDONED files are yielded. A session without edits yields none, because its task
        may have been to read.
        """
        if not pad.edited_files:
            return
        last = max((mark.n for mark in pad.recent_edits), default=0)
        idle = [
            (tokens, path, mark)
            for path, (mark, tokens) in self.read.items()
            if (use := pad.files.get(path)) is not None
            and use.reads == 1
            and not use.edits
            and pad.mentions.get(path.rpartition("/")[2], 0) <= mark[0]
            and mark[0] < LAST_SHARE * pad.acts
            and mark[0] < last
        ]
        idle.sort(key=lambda one: (-one[0], one[1]))
        for tokens, path, mark in idle[:MOST_ABANDONED]:
            yield pad.finding(self.signal, path, {"file": path, "module": pad.module(), "tokens": tokens}, (path,), [mark])


class GlobIgnore(Detector):
    """Detects listed folders of which no file is ever opened.

    A listing is a list of file names that a tool returned. A folder counts only if the session opened a file of another folder in the same
    listing. This pattern is signal 11 of the 17 in `observe.signals`.
    """

    signal: ClassVar = "glob_ignore"
    wants: ClassVar = frozenset({"list", "search"})

    def __init__(self, pad: Scratchpad) -> None:
        self.folders = pad.table(self.signal, 5_000, lambda seen: float(seen[0]), 800)  # folder -> [listings, files, marks, beside]

    def see(self, act: Act, pad: Scratchpad) -> None:
        """Count each folder of which a listing shows several files.

        A listing is a list of file names that a tool returned. A listing with files of only one folder is ignored.
        """
        if len(act.listed) < LISTED_FILES or act.later_page:
            return
        counts: dict[str, int] = {}
        for path in act.listed:
            folder = path.rpartition("/")[0]
            counts[folder] = counts.get(folder, 0) + 1
        if len(counts) < 2:
            return
        for folder, files in counts.items():
            if files < LISTED_FILES or not folder:
                continue
            seen: list[Any] | None = self.folders.get(folder)
            if seen is None:
                seen = self.folders.add(folder, [0, 0, [], sorted(counts)[:20]])
            seen[0] += 1
            seen[1] = max(seen[1], files)
            if len(seen[2]) < 10:
                seen[2].append((act.n, act.step))

    def findings(self, pad: Scratchpad) -> Iterator[Finding]:
        """Yield folders that appeared in several listings but were never used.

        A folder is used if the session opened a file in it. A folder is yielded only if the session used another folder of the same
        listing.
        """
        if not self.folders:
            return
        opened = {path.rpartition("/")[0] for path, use in pad.files.items() if use.first_n}
        inside = {"/".join(parts[:depth]) for folder in opened for parts in [folder.split("/")] for depth in range(1, len(parts) + 1)}
        for folder in sorted(self.folders):
            listings, files, marks, beside = self.folders[folder]
            if listings >= LISTINGS and folder not in inside and any(other in opened for other in beside):
                yield pad.finding(self.signal, folder, {"folder": folder, "listings": listings, "files": files}, (), marks)


class ImportChase(Detector):
    """Detects chains of read files in which each file imports the next one.

    The chain ends in an edit of its last file, or in a message of the agent. This pattern is signal 12 of the 17 in `observe.signals`.
    """

    signal: ClassVar = "import_chase"
    wants: ClassVar = frozenset({"read", "edit", "say"})

    def __init__(self, pad: Scratchpad) -> None:
        self.chain: list[tuple[str, Mark]] = []
        self.imports: tuple[str, ...] = ()
        self.found = pad.table(self.signal, 200)  # (first, last) -> chain, marks

    def see(self, act: Act, pad: Scratchpad) -> None:
        """Extend the chain of imports by a file that was read, or end the chain.

        A file extends the chain if the previous file imports it; otherwise it begins a new chain. A message or an edit of the agent ends
        the chain. The chain is then kept if it has at least CHAIN files, and if the agent sent a message or edited the last file of the
        chain.
        """
        if act.action == "read" and act.kind == "tool":
            if act.ok is False or len(act.paths) != 1:
                return
            path = act.paths[0]
            if self.chain and path == self.chain[-1][0]:
                self.imports = tuple(dict.fromkeys(self.imports + act.imports))
                return
            if self.chain and (_stem(path) in self.imports or path.rpartition("/")[0].rpartition("/")[2] in self.imports):
                self.chain.append((path, (act.n, act.step)))
            else:
                self.chain = [(path, (act.n, act.step))]
            self.imports = act.imports
            return
        answered = act.kind == "say" and act.action == "message"
        edited = act.action == "edit" and bool(self.chain) and self.chain[-1][0] in act.paths
        if len(self.chain) >= CHAIN and (answered or edited):
            ends = (self.chain[0][0], self.chain[-1][0])
            if ends not in self.found:
                self.found.add(ends, list(self.chain))
        if answered or act.action == "edit":
            self.chain = []

    def findings(self, pad: Scratchpad) -> Iterator[Finding]:
        """Yield one finding for each chain of imports: all its files in order.

        Of several chains with the same first and last file, only the first is yielded.
        """
        for (first, last), chain in self.found.items():
            facts = {"from": first, "to": last, "chain": [path for path, _ in chain]}
            yield pad.finding(self.signal, f"{first}|{last}", facts, (path for path, _ in chain), [mark for _, mark in chain])


class ConfigTouch(Detector):
    """Detects config files that are edited with source files.

    This pattern is signal 14 of the 17 in `observe.signals`.
    """

    signal: ClassVar = "config_touch"
    wants: ClassVar = frozenset({"edit"})

    def __init__(self, pad: Scratchpad) -> None:
        self.edits: deque[tuple[str, Mark]] = deque(maxlen=AROUND)
        self.found = pad.table(self.signal, 200)  # config -> {source: mark}, own marks

    def see(self, act: Act, pad: Scratchpad) -> None:
        """Pair each edited config file with sources edited just before or after."""
        if act.ok is False or len(act.paths) > BULK:
            return
        mark = (act.n, act.step)
        for path in act.paths:
            if is_config(path):
                entry = self.found.get(path)
                if entry is None:
                    entry = self.found.add(path, ({}, []))
                entry[1].append(mark) if len(entry[1]) < 20 else None
                for other, at in self.edits:
                    if not is_config(other) and len(entry[0]) < 20:
                        entry[0].setdefault(other, at)
            else:
                for sources, own in self.found.values():
                    if own and act.n - own[-1][0] <= AROUND and len(sources) < 20:
                        sources.setdefault(path, mark)
            self.edits.append((path, mark))

    def findings(self, pad: Scratchpad) -> Iterator[Finding]:
        """Yield config files edited along with at least two source files.

        One session is enough evidence.
        """
        if len(pad.edited_files) > BULK:
            return
        for config, (sources, own) in self.found.items():
            if len(sources) < EARLY_EDITS:
                continue
            modules = sorted({module_of(path) for path in sources})
            facts = {"config": config, "sources": sorted(sources), "modules": modules}
            yield pad.finding(self.signal, f"{config}|{modules[0]}", facts, [config, *sources], [*own, *sources.values()], early=True)


class ContextTokenSpike(Detector):
    """Detects files that cost many times the usual tokens.

    The usual cost is the median of this session's reads. This pattern is signal 17 of the 17 in `observe.signals`.
    """

    signal: ClassVar = "context_token_spike"
    wants: ClassVar = frozenset({"read"})

    def __init__(self, pad: Scratchpad) -> None:
        self.costs: deque[int] = deque(maxlen=_SAMPLES)
        self.large = pad.table(self.signal, 200, lambda seen: float(seen[0]))  # path -> tokens, mark

    def see(self, act: Act, pad: Scratchpad) -> None:
        """Record the tokens of each file read, and which reads were large.

        `findings` later compares the large reads with the session's median.
        """
        if act.ok is False or len(act.paths) != 1 or not act.tokens:
            return
        self.costs.append(act.tokens)
        path = act.paths[0]
        if act.tokens >= SPIKE_TOKENS and act.tokens > self.large.get(path, (0,))[0]:
            entry = (act.tokens, (act.n, act.step))
            if path in self.large:
                self.large[path] = entry
            else:
                self.large.add(path, entry)

    def findings(self, pad: Scratchpad) -> Iterator[Finding]:
        """Yield reads of files far above the usual tokens, most expensive first."""
        if len(self.costs) < USUAL_READS:
            return
        from statistics import median

        usual = int(median(self.costs))
        for path, (tokens, mark) in sorted(self.large.items(), key=lambda one: (-one[1][0], one[0])):
            if tokens > SPIKE * usual:
                facts = {"file": path, "module": module_of(path), "tokens": tokens, "usual": usual}
                yield pad.finding(self.signal, path, facts, (path,), [mark])


def _stem(path: str) -> str:
    return path.rpartition("/")[2].split(".")[0]
