"""The committed schema, the ready-made operations and the answers of the service stay in step."""

from __future__ import annotations

import dataclasses

import pytest
from graphql import parse, specified_rules, validate

from graphmem import answers
from graphmem._resources import data_root
from graphmem.api.complexity import ComplexityMeter
from graphmem.api.limits import ServerLimits
from graphmem.api.operations import load_operations, read_operation
from graphmem.api.rules import shape_rules
from graphmem.api.schema import build_schema
from graphmem.api.sdl import sdl
from graphmem.errors import QueryFileError

SCHEMA = build_schema(ServerLimits())._schema
OPERATIONS = load_operations()

# Fields of answers that the schema shows in another form.
ELSEWHERE = {
    "state": "indexState",
    "edges_by_kind": "edgesByKind",
}
# What an answer's field is read through instead.
NOT_SHOWN = {
    ("IndexState", "state"): "status",
    ("SymbolDetail", "symbol"): "id",
    ("SearchHit", "node"): "id",
    ("MemoryPage", "memories"): "edges",
    ("MemoryPage", "total"): "totalCount",
    ("ReviewQueue", "items"): "edges",
    ("ReviewQueue", "total"): "totalCount",
}
TYPES = {
    "SymbolInfo": "Symbol",
    "SymbolDetail": "Symbol",
    "Site": "SymbolEdge",
    "FileInfo": "File",
    "MemoryInfo": "Memory",
    "MemoryPage": "MemoryConnection",
    "ReviewQueue": "ReviewConnection",
}


def test_the_committed_schema_is_the_one_that_is_served() -> None:
    committed = (data_root() / "queries" / "schema.graphql").read_text(encoding="utf-8")
    assert committed == sdl(), "write it anew: python -m graphmem.api.sdl > queries/schema.graphql"


@pytest.mark.parametrize("name", OPERATIONS.names)
def test_every_ready_made_operation_is_valid_and_within_the_default_limits(name: str) -> None:
    limits = ServerLimits()
    document = parse(OPERATIONS.find({"operationName": name}).text, max_tokens=limits.tokens)
    assert validate(SCHEMA, document, [*specified_rules, *shape_rules(limits.depth, limits.aliases)]) == []
    assert 0 < ComplexityMeter(SCHEMA).measure(document, name, {}) <= limits.complexity


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("query A { project { name } } query B { project { name } }", "must hold one"),
        ("{ project { name } }", "one named operation"),
        ("query Other { project { name } }", "called like"),
        ("query A {", "A.graphql:1"),
    ],
)
def test_an_operation_file_that_is_none_is_refused_with_its_name(text: str, said: str) -> None:
    with pytest.raises(QueryFileError, match=said):
        read_operation("A.graphql", text)


@pytest.mark.parametrize("answer", [one for one in vars(answers).values() if dataclasses.is_dataclass(one)], ids=lambda one: one.__name__)
def test_every_field_of_an_answer_is_in_the_schema(answer: type) -> None:
    shown = SCHEMA.type_map[TYPES.get(answer.__name__, answer.__name__)].fields

    def name(field: str) -> str:
        special = NOT_SHOWN.get((answer.__name__, field)) or ELSEWHERE.get(field)
        if special:
            return special
        head, *tail = field.split("_")
        return head + "".join(part.capitalize() for part in tail)

    fields = [name(field.name) for field in dataclasses.fields(answer)]
    if answer is answers.Site:
        fields.remove("symbol")
        fields.append("node")
    assert [field for field in fields if field not in shown] == []


def test_types_with_an_id_are_nodes() -> None:
    assert {type_.name for type_ in SCHEMA.get_possible_types(SCHEMA.type_map["Node"])} == {"Symbol", "File", "Memory"}
