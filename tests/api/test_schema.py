"""The committed schema, the ready-made operations and the answers of the service stay in step."""

from __future__ import annotations

import pytest
from graphql import GraphQLSchema, parse, specified_rules, validate

from graphmem.api.execution.persisted import PersistedOperations, load_operations, read_operation
from graphmem.api.execution.rules import shape_rules
from graphmem.api.requests.complexity import ComplexityMeter
from graphmem.api.requests.limits import ServerLimits
from graphmem.api.schema import build_schema
from graphmem.api.sdl import sdl, write_documents
from graphmem.errors import QueryFileError
from graphmem.runtime.data.resources import data_root

NAMES = load_operations(GraphQLSchema()).names  # names need no types, which take a tenth of the time of collecting all tests


@pytest.fixture(scope="module")
def schema() -> GraphQLSchema:
    return build_schema(ServerLimits()).graphql


@pytest.fixture(scope="module")
def operations(schema: GraphQLSchema) -> PersistedOperations:
    return load_operations(schema)


def test_the_committed_schema_is_the_one_that_is_served() -> None:
    committed = (data_root() / "queries" / "schema.graphql").read_text(encoding="utf-8")
    assert committed == sdl(), "write it again: python -m graphmem.api.sdl > queries/schema.graphql"


@pytest.mark.parametrize("name", NAMES)
def test_every_ready_made_operation_is_valid_and_within_the_default_limits(
    name: str, schema: GraphQLSchema, operations: PersistedOperations
) -> None:
    limits = ServerLimits()
    document = parse(operations.find({"operationName": name}).text, max_tokens=limits.tokens)
    assert validate(schema, document, [*specified_rules, *shape_rules(limits.depth, limits.aliases)]) == []
    assert ComplexityMeter(schema).measure(document, name, {}) <= limits.complexity


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("query A { project { name } } query B { project { name } }", "write exactly one named operation"),
        ("{ project { name } }", "exactly one named operation"),
        ("query Other { project { name } }", "rename the file to the name of its operation"),
        ("query A {", "A.graphql:1"),
    ],
)
def test_an_operation_file_that_is_none_is_refused_with_its_name(text: str, said: str) -> None:
    with pytest.raises(QueryFileError, match=said):
        read_operation("A.graphql", text)


def test_types_with_an_id_are_nodes(schema: GraphQLSchema) -> None:
    assert {type_.name for type_ in schema.get_possible_types(schema.type_map["Node"])} == {"Symbol", "File", "Memory"}


def test_every_document_can_be_written_for_code_generators(tmp_path, schema) -> None:
    files = write_documents(tmp_path / "documents")
    assert [file.stem for file in files] == NAMES
    for file in files:
        assert validate(schema, parse(file.read_text(encoding="utf-8"))) == []
