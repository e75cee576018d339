"""Operations on contracts between programs of one or several projects.

A contract is a route, procedure, topic or field that one program offers to others.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphmem.answers.contracts import Contract, ContractPlace, ContractsAnswer, OutsideUse
from graphmem.contracts import asking, projects, rows
from graphmem.contracts.linking import link
from graphmem.contracts.rows import ContractRow
from graphmem.contracts.services import BETWEEN
from graphmem.errors import GitError
from graphmem.indexing import git
from graphmem.indexing.contracts import is_schema, rows_of
from graphmem.parsing.contents import language_of
from graphmem.parsing.facts import FileFacts
from graphmem.parsing.language import language_of_path, languages
from graphmem.parsing.sources import source_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graphmem.contracts.asking import Found
    from graphmem.contracts.links import Link
    from graphmem.contracts.rows import Published
    from graphmem.project.graph.graph_source import GraphSource

_PARAMETER: Final = re.compile(r"\{[^{}]*\}|<[^<>]*>|(?<=/):\w+")
"""A variable segment of a path, as a framework writes it; names of contracts have `{}`."""


@dataclass(eq=False, repr=False)
class ContractQuestions:
    """Finds contracts between programs, such as a route and its clients.

    The class also finds contracts that a change of the code breaks.
    """

    graph: GraphSource
    data_dir: Path
    _links: tuple[Sequence[Published | None], list[Link]] | None = field(default=None, init=False)  # of the last `outside`

    def contracts(self, name: str = "", *, base: str = "", limit: int = 50) -> ContractsAnswer:
        """List contracts between programs, with the code on both sides.

        A contract is, for example, a route and the code that calls it. See `SemanticOperations.contracts`.

        Raises:
            NotIndexedError: nothing was indexed yet.
            GitError: git is missing, or does not know the revision.
        """
        self.graph.view()
        joined = self._joined()
        if base:
            base = git.revision(joined.root, base)  # never an option of git, such as --output
            changed = git.run(joined.root, "diff", "--name-only", "--no-renames", "--relative", "-z", base, "--")
            paths = [path for path in changed.decode("utf-8", "surrogateescape").split("\0") if path]
            found = joined.broken(base, paths)
        else:
            found = asking.contracts(joined.rows, joined.read)
        wanted, known = _PARAMETER.sub("{}", name.lower()), len(found)
        found = [one for one in found if not wanted or wanted in one.name.lower() or fnmatchcase(one.name.lower(), wanted)]
        if known and not found:
            joined.notes.append(f"no contract's name contains {name!r}; without a name, all {known} are listed")
        shown = [joined.contract(one) for one in found[:limit]]
        return ContractsAnswer(shown, len(found), [str(one) for one in joined.others], joined.notes)

    def broken(self, base: str, paths: Sequence[str]) -> list[Contract]:
        """Return contracts that were broken by changes of files since a revision.

        `base` is the revision, `paths` are the changed files. A contract (such as a route) is broken if the changes removed or changed it.
        """
        joined = self._joined()
        return [joined.contract(one) for one in joined.broken(base, paths)]

    def outside(self, reached: Mapping[str, float], *, dependents: bool = True) -> list[OutsideUse]:
        """Return code of other projects that shares contracts with given symbols.

        A contract is a route, procedure, topic or field that one program offers to others. For example, if one of the symbols handles a
        route, the result has the clients of the route.

        Args:
            reached: maps the id of each symbol to a confidence. A symbol is found along a path of edges; the confidence is that of this
                path.
            dependents: True for code that uses contracts of the symbols; False for code whose contracts the symbols use.

        Returns:
            The uses, most confident first. Empty if the organisation's list of projects does not include this project.
        """
        near = projects.neighbours(self.graph.root())
        if not near:
            return []
        joined = self._joined()
        if self._links is None or self._links[0] != joined.published:
            self._links = joined.published, link(joined.rows)
        found: dict[tuple[str, str, str, int], OutsideUse] = {}
        for one in self._links[1]:
            own, other = (one.offers, one.asks) if dependents else (one.asks, one.offers)
            place = joined.place(other, one.confidence)
            project, _, symbol = own.symbol.partition(BETWEEN)
            if not place.project or project != joined.name or symbol not in reached:
                continue
            use = OutsideUse(
                one.offers.kind if one.rule != "rpc" else "grpc",
                one.offers.name,
                symbol,
                dataclasses.replace(place, confidence=round(one.confidence * reached[symbol], 4)),
            )
            key = (use.name, place.project, place.path, place.line)
            if key not in found or found[key].place.confidence < use.place.confidence:
                found[key] = use
        return sorted(found.values(), key=lambda use: (-use.place.confidence, *_order(use.place)))

    def _joined(self) -> _Joined:
        root = self.graph.root()
        published = rows.read(self.data_dir)
        notes = [] if published is not None else ["the contracts of this project are not known; `graphmem index` collects them"]
        mine = [row for some in published.rows.values() for row in some] if published is not None else []
        near = projects.neighbours(root)
        names = projects.names([root, *(one.root for one in near)])
        every = asking.named(names[root], mine) if near else mine
        for one in near:
            if one.published is None:
                notes.append(f"{one.root} has no contracts; run `graphmem index` there")
            else:
                every += asking.named(names[one.root], (row for some in one.published.rows.values() for row in some))
        return _Joined(root, every, names, notes, (published, *(one.published for one in near)))


class _Joined:
    """The contracts of this project, together with those of other projects.

    A contract is, for example, a route and the code that calls it. The organisation's list of projects names the other projects.
    """

    def __init__(
        self, root: Path, every: list[ContractRow], names: Mapping[Path, str], notes: list[str], published: Sequence[Published | None]
    ) -> None:
        self.root = root
        self.rows = every
        self.others = [one for one in names if one != root]
        self.notes = notes
        self.published = published  # of this project, then of the others
        self.name = names[root]
        self._roots = {name: one for one, name in names.items()}
        self._texts: dict[str, str] = {}

    def broken(self, base: str, paths: Sequence[str]) -> list[Found]:
        """Return routes and other contracts that changes of files broke.

        `base` is the revision before the changes, and `paths` are the changed files.
        """
        before = [row for path in paths for row in _rows_at(self.root, base, path)]
        if not before:
            return []
        changed = set(paths)
        if self.others:
            before = asking.named(self.name, before)
            changed = {f"{self.name}{BETWEEN}/{path}" for path in paths}
        return asking.broken(self.rows, before, changed, self.read)

    def read(self, path: str) -> str:
        """Return the text of a file that has one side of a contract.

        A contract is, for example, a route and the code that calls it. `path` starts at the root of the project. For a file in another
        project, the name of that project precedes the path. The result is "" if the file is missing.
        """
        if path not in self._texts:
            project, mark, inner = path.partition(BETWEEN + "/")
            place = self._roots[project] / inner if mark else self.root / path
            try:
                self._texts[path] = place.read_text(encoding="utf-8", errors="replace")
            except OSError:
                self._texts[path] = ""  # gone since it was indexed: it names nothing any more
        return self._texts[path]

    def contract(self, found: Found) -> Contract:
        """Convert a contract, such as a route, to the class that answers use."""
        asked = sorted((self.place(row, confidence) for row, confidence in found.asked), key=_order)
        offered = sorted((self.place(row, 1.0) for row in found.offered), key=_order)
        return Contract(found.kind, found.name, found.change, offered, asked)

    def place(self, row: ContractRow, confidence: float) -> ContractPlace:
        """Return the project, file and line of one side of a contract.

        A contract is, for example, an HTTP route. `row` is the code that offers or uses the contract, with the probability `confidence`.
        """
        project, mark, inner = row.path.partition(BETWEEN + "/")
        qualname = "" if row.qualname == "<module>" else row.qualname
        return ContractPlace(project if mark and project != self.name else "", inner if mark else row.path, row.line, qualname, confidence)


def _order(place: ContractPlace) -> tuple[str, str, int]:
    return place.project, place.path, place.line


def _rows_at(root: Path, revision: str, path: str) -> list[ContractRow]:
    """Return the contracts, such as routes, that a file offers or uses.

    `revision` selects the version of the file. The list is empty if the file does not exist at that revision.
    """
    if language_of_path(path) not in languages() and not is_schema(path):
        return []
    try:
        source = git.run(root, "show", f"{revision}:./{path}")
    except GitError:
        return []  # the change adds the file
    language = language_of(path, source)
    source = source_of(path, source, language).text
    if language not in languages():
        facts = FileFacts(path, "text", "", 0, 0, "", [], [], [], [], [], None, 0, (), "")
    else:
        from graphmem.parsing.extract import extract

        facts = extract(path, source, language, "")
    from graphmem.parsing.contracts.ends import ends_of

    names = [one.qualname for one in facts.definitions]
    found = rows_of(path, ends_of(facts, source), None)
    return [row._replace(qualname=names[row.scope] if row.scope < len(names) else "", symbol=f"before:{path}:{row.scope}") for row in found]
