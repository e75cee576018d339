"""The tools that agents call: names, descriptions, and their operations.

The schemas of arguments are derived from the operations. Descriptions are handwritten, because agents need different texts than people.

A model reads the whole table before each conversation, which costs tokens each time. `tests/mcp_server` limits the table to 4 KB, 1,500
tokens and eight tools.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphmem.errors import (
    AmbiguousMemoryError,
    AmbiguousSymbolError,
    BadInputError,
    GraphMemError,
    MemoryNotFoundError,
    StaleFileError,
    SymbolNotFoundError,
)
from graphmem.mcp_server import impact_text, text
from graphmem.mcp_server.schema import parameters, schema_of, shortened
from graphmem.runtime.texts.safe_text import inert

if TYPE_CHECKING:
    from graphmem.answers import MemoryInfo, SymbolDetail
    from graphmem.answers.projects import ProjectsImpact
    from graphmem.client.connecting import Service

Arguments = Mapping[str, Any]
REOPENED: Final = timedelta(minutes=10)  # in which opening a memory again is no further use
_log = logging.getLogger(__name__)

MIN_BUDGET: Final = 100
MAX_BUDGET: Final = 20_000
PROJECTS_DEPTH: Final = 3  # default number of steps inside each project, as in `impact_projects`
MEMORY_SIGN: Final = "#"
_MEMORY_ID: Final = re.compile(r"[0-9a-f][0-9a-f-]{2,35}", re.IGNORECASE)  # a short or full id, with an optional sign
ACTOR: Final = "mcp"
_OF_ONE: Final = (SymbolNotFoundError, AmbiguousSymbolError, MemoryNotFoundError, AmbiguousMemoryError, BadInputError, StaleFileError)
_BUDGET: Final = {"type": "integer", "minimum": MIN_BUDGET, "maximum": MAX_BUDGET}

INSTRUCTIONS: Final = (
    "Before you change a function ask `impact`; to find code "
    "ask `search`, then `get` the few you need. A symbol is path:Class.name, Class.name or path:line. "
    "Keep what you learnt the hard way with `remember`."
)
BRANCH: Final = "branch"  # an argument of every tool, which only servers of several projects have; so no schema costs tokens for it
OF_BRANCHES: Final = f" All take a pushed `{BRANCH}`."
"""Added to the instructions by servers that keep branches."""


RENAMED: Final = {"k": "limit"}  # earlier name of an argument -> current name; both are accepted


class Tool(NamedTuple):
    """A tool for agents, which calls one or several operations of graphmem.

    The arguments of the tool are parameters of these operations. Arguments that no operation has are in `own`.
    """

    description: str
    asks: tuple[str, ...]
    takes: tuple[str, ...]  # parameters of those operations
    budget: int  # default maximum of tokens of an answer
    answer: Callable[[Service, Arguments, int], str]
    own: Mapping[str, dict[str, Any]] = MappingProxyType({})  # arguments that no operation has, and descriptions for models
    is_sized: bool = True  # the agent may set the budget; otherwise the answer has one or two lines

    @property
    def checked(self) -> dict[str, Any]:
        """The JSON schema against which the arguments of a call are validated."""
        known = {name: one for operation in reversed(self.asks) for name, one in parameters(operation).items()}
        required = [name for name in self.takes if (known[name].is_required if name in known else "minItems" in self.own[name])]
        if len(self.asks) > 1:  # the given arguments decide which operation is called
            required = [name for name in required if name in self.own]
        properties: dict[str, Any] = {
            name: {**(schema_of(known[name], is_required=name in required) if name in known else {}), **self.own.get(name, {})}
            for name in self.takes
        }
        if self.is_sized:
            properties["budget"] = _BUDGET
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments that the model reads.

        The schema omits limits of values to save tokens. If a limit is exceeded, the error names it.
        """
        read: dict[str, Any] = shortened(self.checked)
        return read


def _impact(service: Service, given: Arguments, budget: int) -> str:
    bounds = {name: given[name] for name in ("max_depth", "min_confidence") if name in given}
    ways = [name for name in ("targets", "diff", "base") if given.get(name)]
    if len(ways) != 1:
        raise BadInputError(
            "the change to examine is missing, or was given twice; give exactly one of `targets`, a unified "
            "`diff`, or a git revision as `base`",
            argument="targets",
        )
    if ways == ["targets"]:
        report = service.impact(given["targets"], direction=given.get("direction", "dependents"), **bounds)
        across = _across(service, given, bounds.get("max_depth")) if report.direction == "dependents" else []
        return impact_text.impact(report, budget, across)
    if given.get("direction", "dependents") != "dependents":
        raise BadInputError("`direction` applies to `targets` only; omit it, or name symbols as `targets`", argument="direction")
    found = service.impact_of_diff(given.get("diff"), base=given.get("base"), **bounds)
    return impact_text.diff_impact(found, budget)


def _across(service: Service, given: Arguments, max_depth: int | None) -> list[ProjectsImpact]:
    """Return code in other projects that may break if the targets change.

    The targets are in `given["targets"]`, and `max_depth` is the maximum number of steps to the code. The result is empty on a server of
    one project. A target that is unknown or ambiguous is skipped, because the answer on its own project reports it.
    """
    if len(service.projects().projects) < 2:
        return []
    depth = PROJECTS_DEPTH if max_depth is None else max_depth
    found: list[ProjectsImpact] = []
    for target in given["targets"]:
        try:
            found.append(service.impact_projects(target, max_depth=depth))
        except _OF_ONE:  # the report says which targets are left out, and why
            continue
    return found


def _search(service: Service, given: Arguments, budget: int) -> str:
    if given.get("everywhere"):
        idle = [name for name in ("files", "kinds", "phase", "full") if given.get(name)]
        if idle:
            names = ", ".join(idle)
            raise BadInputError(f"`everywhere` cannot be combined with {names}; omit {names}", argument=idle[0])
        return text.search_projects(service.search_projects(given["query"], limit=given.get("limit", 10)), budget)
    rest = {name: given[name] for name in ("limit", "files", "kinds", "phase") if name in given}
    if given.get("full"):
        return text.packed(service.search(given["query"], explain=False, budget_tokens=budget, **rest))
    return text.search(service.search(given["query"], explain=False, **rest), budget)


def _get(service: Service, given: Arguments, budget: int) -> str:
    refs: list[str] = given["refs"]
    share = budget // max(1, len(refs))

    def of_memory(ref: str) -> str:
        found = service.memory(ref.removeprefix(MEMORY_SIGN))
        _count_opened(service, found)
        return text.memory(found, share)

    def one(ref: str) -> str:
        if ref.startswith(MEMORY_SIGN):
            return of_memory(ref)
        try:
            return text.symbol(_with_outline(service, service.symbol(ref, source=given.get("source", True))), share)
        except SymbolNotFoundError:
            if not _MEMORY_ID.fullmatch(ref):
                raise
            return of_memory(ref)

    answers: list[str] = []
    failed = 0
    for ref in refs:
        try:
            answers.append(one(ref))
        except _OF_ONE as error:
            if len(refs) == 1:
                raise
            failed += 1
            answers.append(f"{inert(ref)}: {text.refusal(error)}")
    if failed == len(refs):
        raise BadInputError("\n\n".join(answers), argument="refs", refusals=answers)
    return "\n\n".join(answers)


def _with_outline(service: Service, found: SymbolDetail) -> SymbolDetail:
    """Return a file with its definitions as members, not its module alone.

    Any other symbol is returned unchanged.
    """
    if found.symbol.kind != "file":
        return found
    return replace(found, members=[one for module in found.members for one in service.symbol(module.id).members])


def _count_opened(service: Service, found: MemoryInfo) -> None:
    """Record that an agent opened a memory, which counts as a use of it.

    A further call within a few minutes is not counted. A token that may only read cannot record anything.
    """
    last = found.last_accessed_at
    if last and datetime.now(UTC) - datetime.fromisoformat(last) < REOPENED:
        return
    try:
        service.note_use([found.id], "used")
    except GraphMemError as error:
        _log.info("a use of #%s was not counted: %s", found.short_id, error)


def _path(service: Service, given: Arguments, budget: int) -> str:
    return text.path(service.path(given["source"], given["target"]), budget)


def _co_access(service: Service, given: Arguments, budget: int) -> str:
    rest = {name: given[name] for name in ("depth", "min_sessions") if name in given}
    return text.co_access(service.co_access(given["files"], given.get("limit", 10), **rest), budget)


def _remember(service: Service, given: Arguments, budget: int) -> str:
    rest = {name: given[name] for name in ("type", "files", "tags", "confidence") if name in given}
    answer = service.remember(given["content"], actor=ACTOR, **rest)
    return text.remembered(answer, budget)


def _forget(service: Service, given: Arguments, budget: int) -> str:
    answer = service.forget(given["id"].removeprefix(MEMORY_SIGN), actor=ACTOR)
    return f"removed from search: {', '.join(MEMORY_SIGN + one for one in answer.ids)}"


def _timeline(service: Service, given: Arguments, budget: int) -> str:
    return text.timeline(service.timeline(given["id"].removeprefix(MEMORY_SIGN), given.get("n", 5)), budget)


TOOLS: Final[dict[str, Tool]] = {
    "impact": Tool(
        "What breaks if these symbols, files or this diff change: dependents with confidence and evidence, tests to run, risk. "
        "`base`: git revision to compare with.",
        ("impact", "impact_of_diff"),
        ("targets", "diff", "base", "direction", "max_depth", "min_confidence"),
        800,
        _impact,
    ),
    "search": Tool(
        "Find code, docs and memories by words or meaning; read hits with `get`. `full`: with text. "
        "`files`: files you work on. `everywhere`: all projects.",
        ("search",),
        ("query", "limit", "files", "kinds", "phase", "full", "everywhere"),
        600,
        _search,
        {"full": {"type": "boolean"}, "everywhere": {"type": "boolean"}},
    ),
    "get": Tool(
        "A symbol's source, callers, callees and tests, or a memory by #id.",
        ("symbol", "memory"),
        ("refs", "source"),
        1500,
        _get,
        {"refs": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 10}},
    ),
    "path": Tool("How `source` depends on `target`: the chain of uses.", ("path",), ("source", "target"), 400, _path),
    "co_access": Tool(
        "Files that often change together with these, even without a code dependency.",
        ("co_access",),
        ("files", "limit", "depth", "min_sessions"),
        400,
        _co_access,
    ),
    "remember": Tool(
        "Store what the next person must know: a trap, a decision and why, a fix, a convention. One fact, 1 to 3 sentences.",
        ("remember",),
        ("content", "type", "files", "tags", "confidence"),
        200,
        _remember,
        {"type": {"description": "gotcha, decision, pattern, error_pattern, dead_end, preference, requirement, fact, …"}},
        is_sized=False,
    ),
    "forget": Tool("Remove a wrong memory from search.", ("forget",), ("id",), 100, _forget, is_sized=False),
    "timeline": Tool("Memories made before and after a memory.", ("timeline",), ("id", "n"), 800, _timeline),
}
"""The tools in the order that clients show."""
