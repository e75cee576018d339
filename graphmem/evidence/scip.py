"""Read SCIP indexes, in which a type checker has resolved each name.

An index has the definitions and occurrences of symbols, by line and column. These positions must match the text. So the index is used only
for files that have not changed since the index was made. An occurrence becomes an edge if parsing found a use of the name at the same
position. Parsing distinguishes calls from reads and gives the caller; the indexer gives the target. An index consists of one document for
each source file. Documents are read one at a time, twice: first for definitions, then for uses.
"""

from __future__ import annotations

import json
import posixpath
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

from graphmem.errors import EvidenceError
from graphmem.evidence.observations import Observation, Reading
from graphmem.evidence.scip_definitions import Definitions
from graphmem.evidence.scip_document import Document
from graphmem.evidence.scip_format import MAX_DOCUMENT_BYTES, Frame, ScipFile
from graphmem.parsing.discovery import content_hash
from graphmem.parsing.sources import source_of
from graphmem.runtime.process.faults import fault

if TYPE_CHECKING:
    from graphmem.parsing.facts import FileFacts
    from graphmem.resolution.resolver import Resolver

SUFFIX: Final = ".scip"
TOOL: Final = "tool:"  # prefix of the name of an indexer in the keys of `Reading.origin`
NAMED_TOOL: Final = 60  # maximum characters of its name and of its version
SAMPLED: Final = 200  # documents whose paths tell the part of the tree that an index covers
NAMED: Final = 5  # files of the index outside the tree that a note lists


def parse(path: Path) -> ScipFile:
    """Open the SCIP index in a file.

    Raises:
        EvidenceError: the file cannot be read, is truncated or damaged, or is not an index.
    """
    return ScipFile(path)


def read(path: Path, resolver: Resolver, root: Path) -> Reading:
    """Return the edges in a SCIP index, for the files that have not changed.

    Raises:
        EvidenceError: see `parse`; or all files of the index are missing from the tree or have changed.
    """
    return _Index(parse(path), resolver, root).reading()


class _Index:
    """One SCIP index while it is matched with the project's parsed files."""

    def __init__(self, file: ScipFile, resolver: Resolver, root: Path) -> None:
        self._file = file
        self._resolver = resolver
        self._root = root
        self._folder = _folder(file.metadata.project_root, root) or self._folder_elsewhere()
        self._definitions = Definitions()
        self._told: dict[Frame, str] = {}  # documents that fit -> their paths
        self._observations: list[Observation] = []
        self._notes: dict[tuple[str, str], None] = {}
        self._outside: dict[str, None] = {}  # paths that are not in the graph
        self._damaged = 0

    def reading(self) -> Reading:
        self._each([one for one in self._file.frames if one.length <= MAX_DOCUMENT_BYTES], self._define)
        if not self._told:
            raise self._refusal()
        self._each(list(self._told), self._observe)
        self._say_what_is_left_out()
        tool = self._file.metadata.tool_info
        told = {
            "version": tool.version[:NAMED_TOOL],
            "files": len(set(self._told.values())),
            "left_out": len({path for path, _ in self._notes if path}) + len(self._outside),
        }
        origin = {TOOL + (tool.name[:NAMED_TOOL] or "an unnamed indexer"): json.dumps(told)}
        return Reading(self._observations, frozenset(self._told.values()), origin, list(self._notes))

    def _folder_elsewhere(self) -> str:
        """Return the project directory to which the paths in a SCIP index relate.

        The function is for an index from another machine, which may cover only a part of the project. The directory is found by comparing
        paths. If the index has `src/a.py`, and the project has `web/src/a.py`, the directory is `web/`. The result ends with "/". The
        result is "" for the root, and if several directories fit equally well.
        """
        read = self._file.documents([one for one in self._file.frames[:SAMPLED] if one.length <= MAX_DOCUMENT_BYTES])
        names = {posixpath.normpath(raw.relative_path) for _, raw in read if raw is not None}
        if any(self._resolver.facts(name) is not None for name in names):
            return ""
        ending: dict[str, list[str]] = {}
        for name in names:
            ending.setdefault(posixpath.basename(name), []).append(name)
        found = Counter(
            path[: -len(name)]
            for path in self._resolver.paths()
            for name in ending.get(posixpath.basename(path), ())
            if path.endswith(f"/{name}")
        )
        most = found.most_common(2)
        is_one = len(most) == 1 or (len(most) == 2 and most[0][1] > most[1][1])
        return most[0][0] if is_one else ""

    def _each(self, frames: list[Frame], work: Callable[[Frame, Document], None]) -> None:
        """Call `work` for each SCIP document whose file has not changed.

        A document is the part of the index about one source file. `frames` are the positions of the documents in the index.
        """
        for frame, raw in self._file.documents(frames):
            if raw is None:
                self._damaged += 1
                continue
            name = posixpath.normpath(self._folder + raw.relative_path)
            facts = self._resolver.facts(name)
            if facts is None:
                self._outside[name] = None
                continue
            try:
                lines = _text(self._root / name, facts)
                if lines is None:
                    self._note(name, "it has changed since it was parsed, so its SCIP document is skipped; index again")
                else:
                    work(frame, Document(raw, name, facts, lines))
            except Exception as error:  # noqa: BLE001 - an error affects one document only
                self._note(name, fault(error, "reading its SCIP document", name))

    def _define(self, frame: Frame, document: Document) -> None:
        fit = document.fit
        if fit.is_good:
            document.define(self._definitions, self._resolver.module_name(document.path))
            self._told[frame] = document.path
            return
        places = f"{fit.wrong:,} of {fit.right + fit.wrong:,} places do not fit ({fit.example})"
        self._note(document.path, f"it differs from the source of the SCIP index: {places}; run the indexer again")

    def _observe(self, _: Frame, document: Document) -> None:
        self._observations += document.observations(self._definitions)

    def _note(self, path: str, sentence: str) -> None:
        self._notes[path, sentence] = None

    def _say_what_is_left_out(self) -> None:
        if self._outside:
            named = ", ".join(sorted(self._outside)[:NAMED]) + (", …" if len(self._outside) > NAMED else "")
            self._note("", f"{len(self._outside):,} files of the SCIP index are not in the graph: {named}")
        if self._damaged:
            self._note("", f"{self._damaged:,} documents of the SCIP index are damaged; run the indexer again")
        large = sum(one.length > MAX_DOCUMENT_BYTES for one in self._file.frames)
        if large:
            self._note("", f"{large:,} documents of the SCIP index have more than {MAX_DOCUMENT_BYTES >> 20:,} MB and are skipped")

    def _refusal(self) -> EvidenceError:
        """Return the error for a SCIP index of which no document is usable."""
        path, count = self._file.path, len(self._file.frames)
        if self._damaged == count:
            return EvidenceError(
                f"{path} is damaged in each of its {count:,} documents; run the indexer again", path=str(path), reason="damaged"
            )
        first = next((f" ({name}: {sentence})" for name, sentence in self._notes), "")
        return EvidenceError(
            f"{path} is of another project or of older files: none of its {count:,} files is unchanged in this tree{first[:500]}; "
            "run the indexer again in this tree",
            path=str(path),
            reason="other project",
        )


def _folder(project_root: str, root: Path) -> str:
    """Return the directory in which a SCIP index was made, below `root`.

    `project_root` is the URL of this directory, as the index has it. The result is relative to `root` and ends with "/". The result is ""
    for the root itself and for directories outside the project.
    """
    try:
        made_in = Path(unquote(urlsplit(project_root).path) or "/")
    except ValueError:  # a malformed URL
        return ""
    resolved = root.resolve()
    if made_in == resolved or resolved not in made_in.parents:
        return ""
    return made_in.relative_to(resolved).as_posix() + "/"


def _text(path: Path, facts: FileFacts) -> list[str] | None:
    """Return the lines of a file; None if it has changed since it was parsed."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if content_hash(data) != facts.content_hash:
        return None
    return source_of(facts.path, data, facts.language).text.decode("utf-8").split("\n")
