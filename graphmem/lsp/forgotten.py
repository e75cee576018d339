"""Editor warnings for users of a definition whose signature changed.

A new signature may break code that uses the definition. A warning lists the users that did not change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp

from graphmem.errors import GitError
from graphmem.lsp.editor import SOURCE
from graphmem.lsp.places import last

if TYPE_CHECKING:
    from graphmem.answers import DiffImpact, SymbolInfo
    from graphmem.answers.impact import ImpactHit
    from graphmem.client.connecting import Service
    from graphmem.lsp.places import Texts

LEAST: Final = 0.5  # confidence that the dependent uses the changed definition
NAMED: Final = 10  # dependents of one definition that a diagnostic lists


def change(service: Service) -> DiffImpact | None:
    """Return the code that changed since HEAD, and its direct dependents.

    It is the impact of the diff from HEAD to the working tree, one step deep. The result is None if the project has no Git repository, or
    no commit yet.
    """
    try:
        return service.impact_of_diff(base="HEAD", max_depth=1, min_confidence=LEAST)
    except GitError:
        return None


def forgotten(texts: Texts, path: str, found: DiffImpact) -> list[lsp.Diagnostic]:
    """Return warnings about changed signatures whose users did not change.

    Only definitions in the document `path` are considered. Each warning is about one definition, and lists the code that uses the
    definition directly and did not change. Tests are not listed. A definition without such code has no warning.

    Args:
        texts: the files as the editor shows them.
        path: path of the document.
        found: the changed definitions and their dependents.
    """
    touched = {one.symbol.id for one in found.changed}
    left: dict[str, list[ImpactHit]] = {}
    for hit in found.impact.hits:
        if hit.symbol.id not in touched and hit.path:
            left.setdefault(hit.target, []).append(hit)
    renewed = [one.symbol for one in found.changed if one.change == "signature"]
    at_least = "at least " if found.impact.truncated or len(renewed) > 1 else ""  # a dependent of several is listed for one of them
    return [_diagnostic(texts, one, left[one.id], at_least) for one in renewed if one.path == path and one.id in left]


def _diagnostic(texts: Texts, changed: SymbolInfo, left: list[ImpactHit], at_least: str) -> lsp.Diagnostic:
    users = "1 dependent" if len(left) == 1 else f"{len(left)} dependents"
    return lsp.Diagnostic(
        range=texts.of_symbol(changed).range,
        message=f"the signature of {changed.name} changed since HEAD; {at_least}{users} did not change: check them",
        severity=lsp.DiagnosticSeverity.Information,
        source=SOURCE,
        code="forgotten-dependents",
        related_information=[
            lsp.DiagnosticRelatedInformation(_site(texts, hit, changed), f"{hit.symbol.qualname} uses {changed.name}")
            for hit in left[:NAMED]
        ],
    )


def _site(texts: Texts, hit: ImpactHit, changed: SymbolInfo) -> lsp.Location:
    """Return the place where unchanged code (`hit`) uses a changed definition."""
    path = hit.symbol.path
    return lsp.Location(texts.uri(path), texts.name_range(path, hit.path[0].line or hit.symbol.start_line, last(changed.name)))
