"""Answers about entry points, flows, hotspots, dead code and duplicates."""

from __future__ import annotations

from typing import Annotated

from graphmem.answers.code import IndexState, PathStep, SymbolInfo
from graphmem.answers.marks import Doc, Size
from graphmem.answers.plain import answer
from graphmem.answers.vocabulary import EntryKind, HotspotLevel


@answer
class FrameworkName:
    """The name by which a framework knows a function, such as a route's path."""

    kind: Annotated[str, Doc("kind of the name by which a framework calls the function: route, event, command or task")]
    name: Annotated[
        str, Doc("the name by which a framework calls the function, as written in the code; for an event the variable that holds it")
    ]
    framework: Annotated[str, Doc("name of the framework that calls the function; empty when the framework is unknown")]
    confidence: float
    rule: str
    line: Annotated[
        int, Doc("number of the line that registers the function with a framework; 0 when it is in another file than the function")
    ]


@answer
class EntryPoint:
    """An entry point, where callers outside the code start execution."""

    symbol: SymbolInfo
    kind: EntryKind
    module: Annotated[str, Doc("name of the module that contains the entry point")]
    reach: Annotated[int, Doc("number of symbols that the entry point reaches by at most eight calls in a row, of high confidence only")]
    names: Annotated[list[FrameworkName], Doc("routes, events, commands and tasks that lead to the function, sorted by kind and name")]
    beside: Annotated[
        bool, Doc("true when the file of the entry point is an example, a script, a test, documentation, or generated or vendored code")
    ] = False


@answer
class EntryPointPage:
    """Entry points: commands first, examples and scripts last."""

    entry_points: list[EntryPoint]
    total: int
    by_kind: Annotated[dict[str, int], Doc("Total number of entry points of each kind, regardless of the filter"), Size(6)]
    state: IndexState


@answer
class Flow:
    """A call flow: a chain of calls that starts at an entry point."""

    id: str
    name: str
    kind: Annotated[EntryKind, Doc("kind of the entry point where the call flow starts")]
    entry: SymbolInfo
    steps: Annotated[list[PathStep], Doc("calls of the call flow (a chain of calls from an entry point), in order, at most 8"), Size(6)]
    modules: Annotated[list[str], Doc("names of the modules that the call flow passes through, in order")]
    confidence: Annotated[float, Doc("product of the confidences of all calls in the call flow")]
    variants: Annotated[list[str], Doc("other entry points whose call flows are equal from the second call on, at most 10")]
    variant_count: int
    paragraph: Annotated[str, Doc("description of the call flow by a language model; empty until a model has written one")] = ""


@answer
class FlowPage:
    """A page of call flows; those through the most modules come first."""

    flows: list[Flow]
    total: int
    state: IndexState


@answer
class Hotspot:
    """Code that changes often, is complex and has many dependents."""

    symbol: Annotated[SymbolInfo, Doc("the risky symbol, or the risky file if the risk is computed for files")]
    churn: Annotated[float, Doc("number of commits to the file, in which older commits count less; 0 without a commit history")]
    complexity: Annotated[int, Doc("1 + the number of branches in the symbol; the sum over all symbols for a file")]
    dependents: Annotated[int, Doc("number of symbols (or files, for a risky file) that depend directly on the risky place")]
    score: Annotated[float, Doc("risk of a change at this place, 0 to 100")]


@answer
class HotspotPage:
    """Hot spots: complex, often changed code that much other code uses."""

    level: HotspotLevel
    hotspots: list[Hotspot]
    total: Annotated[int, Doc("number of risky places (hot spots) with a risk above 0")]
    churn_known: bool
    notes: list[str]
    state: IndexState


@answer
class CentralSymbol:
    """A symbol that much other code depends on."""

    symbol: SymbolInfo
    rank: Annotated[float, Doc("PageRank of the symbol, divided by the average PageRank of all symbols")]
    dependents: Annotated[int, Doc("number of direct dependents of the symbol")]


@answer
class CentralPage:
    """The symbols on which the most other code depends, most central first."""

    symbols: list[CentralSymbol]
    state: IndexState


@answer
class DeadSymbol:
    """A definition that appears to be unused."""

    symbol: SymbolInfo
    reason: Annotated[
        str,
        Doc(
            "why the definition appears unused: unreferenced, or used only by itself (only_itself), by dead code (only_dead) "
            "or by tests (only_tests)"
        ),
    ]
    confidence: Annotated[float, Doc("confidence that the definition can be removed, in (0, 1]")]
    lines: int
    why: Annotated[list[str], Doc("sentences with the evidence that the definition is unused")]


@answer
class DeadCodePage:
    """Definitions that appear to be unused, most certain first, then largest."""

    symbols: list[DeadSymbol]
    total: Annotated[int, Doc("number of unused definitions whose confidence is at least the requested one")]
    lines: Annotated[int, Doc("total number of lines of all unused definitions")]
    notes: Annotated[list[str], Doc("sentences that say how many unused definitions were omitted from the list, and why")]
    state: IndexState


@answer
class Duplicate:
    """One copy of a duplicated piece of code."""

    path: str
    start_line: int
    end_line: int
    qualname: Annotated[str, Doc("qualified name of the definition that contains the duplicate code; empty if there is none")]


@answer
class DuplicateGroup:
    """A group of duplicate pieces of code."""

    kind: Annotated[
        str, Doc("how alike the copies are: exact (the same tokens), renamed (only names or values differ) or near (some lines differ)")
    ]
    similarity: Annotated[float, Doc("lowest similarity of a copy to the first copy of the code, 0 to 1; 1 if all are identical")]
    lines: Annotated[int, Doc("number of lines that would be saved if only one copy were kept")]
    places: Annotated[list[Duplicate], Doc("the copies, sorted by path and line"), Size(4)]


@answer
class DuplicatePage:
    """Duplicates; those whose removal saves the most lines come first."""

    groups: list[DuplicateGroup]
    total: int
    lines: Annotated[int, Doc("number of lines that would be saved in all groups if one copy of each were kept")]
    state: IndexState
