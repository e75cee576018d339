"""A declaration is the contract: what implements it has the same parameters, and every operation is implemented once."""

from __future__ import annotations

import inspect

import pytest

from graphmem.errors import BadInputError
from graphmem.operations.declare import held_to, operations_of
from graphmem.operations.history import HistoryOperations
from graphmem.operations.registry import DECLARED, implementations, registry
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    with GraphMem.open(tmp_path_factory.mktemp("implementations") / "index", settings=Settings(embedder="none")) as memory:
        yield memory


def implementing(memory: GraphMem, name: str) -> object:
    (method,) = [getattr(part, name) for part in memory.parts.operations if name in vars(type(part))]
    return method


@pytest.mark.parametrize("name", list(registry()))
def test_an_implementation_has_the_declared_signature(opened, name):
    declared = list(registry()[name].signature.parameters.values())[1:]
    there = list(inspect.signature(implementing(opened, name)).parameters.values())
    assert [(one.name, one.kind, one.default) for one in there] == [(one.name, one.kind, one.default) for one in declared]


@pytest.mark.parametrize("name", list(registry()))
def test_an_implementation_answers_with_the_declared_type(opened, name):
    answer = registry()[name].answer
    if isinstance(answer, type):
        there = inspect.signature(implementing(opened, name)).return_annotation
        assert there.partition("[")[0] == answer.__name__


@pytest.mark.parametrize("name", list(registry()))
def test_an_operation_of_the_project_is_bound_to_its_implementation(opened, name):
    bound, method = inspect.unwrap(getattr(opened, name)), implementing(opened, name)
    assert (bound.__self__, bound.__func__) == (method.__self__, method.__func__)


def test_what_is_not_implemented_is_refused(opened):
    first, *rest = opened.parts.operations
    with pytest.raises(LookupError, match="no part of the project implements the operations project, state"):
        implementations(rest)
    with pytest.raises(LookupError, match="two parts of the project implement"):
        implementations([first, first, *rest])


def test_the_bounds_of_an_operation_are_read_at_its_first_call():
    """Every command that opens an index would read the declarations of all operations otherwise."""
    declared = operations_of(*DECLARED)["search"]
    call = held_to(declared, lambda query, limit=10: limit)
    assert "parameters" not in vars(declared)
    assert call("cart", limit=3) == 3
    with pytest.raises(BadInputError, match="limit is 0; use a number from 1 to "):
        call("cart", limit=0)


def test_the_contract_is_what_an_editor_sees():
    assert all(getattr(GraphMem, name) is one.function for name, one in operations_of(*DECLARED).items())
    assert inspect.getdoc(GraphMem.reviewers) == inspect.getdoc(HistoryOperations.reviewers)
