"""Find the calls that run the constructor of a base class.

Code calls an inherited constructor by the name of the subclass. A subclass with a constructor of its own calls that of the base with
`super().__init__(…)` or `Base.__init__(self, …)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from graphmem.resolution.language import rules_of

if TYPE_CHECKING:
    from graphmem.resolution.file_entry import CallSite
    from graphmem.resolution.inference import Inference
    from graphmem.resolution.symbol import Symbol

MAX_INHERITING: Final = 40
"""Most subclasses of a class whose calls are read for the parameters of its constructor."""

Found = tuple[str, "CallSite", bool]
"""The key of the index of calls, a call, and whether calls in tests count."""


def calls_below(inference: Inference, symbol: Symbol, owner: Symbol, in_few: int) -> Iterator[Found]:
    """Yield the calls by which subclasses run a constructor.

    `symbol` is the constructor and `owner` its class. Calls in tests count for a subclass that tests call at most `in_few` times. Nothing
    is yielded for more than `MAX_INHERITING` subclasses, and in languages that declare the types of parameters.
    """
    project = inference.project
    if not rules_of(project.files[symbol.path]).siblings_are_inferred:
        return
    below = inference.below(owner)
    for child in below if len(below) <= MAX_INHERITING else ():
        if child.index < 0:
            continue
        if inference.owner(child, symbol.name) is owner:
            sites, are_all = project.call_sites(child.name, child.path)
            yield from ((child.name, site, are_all and len(sites) <= in_few) for site in sites if site.decorated < 0)
            continue
        for method in inference.functions(child, symbol.name):
            entry = project.files[method.path]
            project.touch("passed", method.path, method.qualname, symbol.name)
            yield from ((symbol.name, site, True) for site in entry.call_sites(symbol.name) if site.scope == method.index)
