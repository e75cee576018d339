"""Name the reasons why an impact answer may be incomplete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.answers import Cause
from graphmem.projection.graph.arrays import distinct

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from graphmem.analysis.completeness import Unsure
    from graphmem.analysis.impact_question import Question
    from graphmem.analysis.walk import IntArray
    from graphmem.answers import IndexState
    from graphmem.projection.graph.view import GraphView

EXAMPLES: Final = 5  # of a cause


def causes(
    view: GraphView,
    found: IntArray,
    unsure: Unsure,
    state: IndexState,
    question: Question,
    further: int,
    beyond_limit: int,
) -> list[Cause]:
    """Return reasons why an answer may be incomplete, most important first.

    Args:
        view: the graph.
        found: nodes that the answer lists.
        unsure: known gaps of the answer.
        state: state of the index.
        question: the limits of steps and of confidence.
        further: number of dependents that are more than `question.max_depth` steps away.
        beyond_limit: number of dependents that are counted but not listed.
    """
    made = [
        *_of_tests(view, unsure),
        *_faint(view, unsure.faint, question.min_confidence),
        *_of_overloads(view, unsure.of_overloads),
        *_unresolved(unsure),
        *_failed(unsure.failed),
        *_stale(view, found, state),
    ]
    if further:
        depth = question.max_depth
        made.append(Cause("depth", f"more than {depth} step{'s' * (depth > 1)} away and left out; a greater depth shows them", further))
    if beyond_limit > 0:
        made.append(Cause("budget", "more are counted and not listed; totals are exact", beyond_limit))
    return made


def _of_nodes(view: GraphView, kind: str, nodes: Sequence[int], one: str, several: str, message: str) -> Iterator[Cause]:
    """Yield one reason for incompleteness that some nodes cause, if any do.

    The sentence of the reason begins with `one` if there is a single node, and with `several` otherwise. `message` is the rest of the
    sentence.
    """
    if nodes:
        subject = one if len(nodes) == 1 else several
        yield Cause(kind, f"{subject} {message}", len(nodes), [view.info(node).ref for node in nodes[:EXAMPLES]])


def _of_tests(view: GraphView, unsure: Unsure) -> Iterator[Cause]:
    """Yield the reasons for incompleteness that concern tests."""
    excluded = "left out: the source leads to a target, but the recorded run did not run it, and no code that ran has changed since"
    yield from _of_nodes(view, "not_run", unsure.not_run, "test is", "tests are", excluded)
    unjudged = "may run a target, but no complete run of them is recorded since the last change; run all tests with `pytest --graphmem`"
    yield from _of_nodes(view, "unjudged_tests", unsure.unjudged, "test outside this list", "tests outside this list", unjudged)
    message = "other processes, whose code was not recorded, so they may run a target there"
    starts, start = "test outside this list starts", "tests outside this list start"
    yield from _of_nodes(view, "other_processes", unsure.with_process, starts, start, message)


def _faint(view: GraphView, nodes: Sequence[int], floor: float) -> Iterator[Cause]:
    message = f"to a target with less confidence than {floor:g}; a lower minimum shows them"
    return _of_nodes(view, "low_confidence", nodes, "symbol leads", "symbols lead", message)


def _of_overloads(view: GraphView, nodes: Sequence[int]) -> Iterator[Cause]:
    """Yield the reason that code calls another definition of the same name.

    The definition is an overload of a target, or the setter of a property. `nodes` are the callers.
    """
    message = "another definition of a target's name, such as an overload or a setter; the name without a line or number means all of them"
    return _of_nodes(view, "overloads", nodes, "symbol calls", "symbols call", message)


def _unresolved(unsure: Unsure) -> Iterator[Cause]:
    if unsure.possible_count:
        uses = "call site uses" if unsure.possible_count == 1 else "call sites use"
        examples = [f"{one.caller.path}:{one.line}" for one in unsure.possible[:EXAMPLES]]
        yield Cause("unresolved_calls", f"{uses} a target's name on a receiver of unknown type", unsure.possible_count, examples)


def _failed(paths: Sequence[str]) -> Iterator[Cause]:
    if paths:
        files = "file" if len(paths) == 1 else "files"
        yield Cause("failed_files", f"{files} could not be read in full", len(paths), list(paths[:EXAMPLES]))


def _stale(view: GraphView, found: IntArray, state: IndexState) -> Iterator[Cause]:
    """Yield the reason that files have changed since the index run.

    Files in which the answer lists nodes are named first.
    """
    if state.stale_files:
        rests_on = {view.paths[number] for number in distinct(view.path_index[found]).tolist() if number >= 0}
        examples = sorted(state.stale, key=lambda path: (path not in rests_on, path))[:EXAMPLES]
        have = "file has" if state.stale_files == 1 else "files have"
        yield Cause("stale", f"{have} changed since the index was made", state.stale_files, examples)
