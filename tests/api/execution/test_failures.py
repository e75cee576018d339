"""Refusals keep their code and their facts; internals stay inside."""

from __future__ import annotations

import logging

import pytest
from graphql import GraphQLError

from graphmem import errors
from graphmem.api.execution.failures import PUBLIC_FACTS, STATUS, shape
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

EVERY = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.GraphMemError)]


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_every_error_has_a_status_and_says_what_clients_may_see(kind):
    assert kind.code in STATUS
    error = kind("a sentence", path="/home/somebody/secret", stderr="secret", ref="x", limit="depth", candidates=[])
    shaped = shape(GraphQLError("x", original_error=error))
    assert shaped.extensions["code"] == kind.code
    assert "stderr" not in shaped.extensions
    if kind.code == "INTERNAL":
        assert "a sentence" not in shaped.message
        assert set(shaped.extensions) == {"code", "id"}
    else:
        assert shaped.message == "a sentence"
        assert set(shaped.extensions) <= {"code", "error", *PUBLIC_FACTS.get(kind.code, ())}


def test_shaping_an_error_again_changes_nothing():
    shaped = shape(GraphQLError("x", original_error=RuntimeError("secret")))
    assert shape(shaped) is shaped


@pytest.mark.parametrize("raised", [RuntimeError("secret at /home/somebody"), KeyError("secret"), errors.StoreClosedError("secret path")])
def test_an_internal_error_reaches_the_client_as_an_id_and_the_log_as_a_traceback(service, serve, caplog, raised):
    class Broken:
        def __getattr__(self, verb):
            return getattr(service, verb)

        def project(self):
            raise raised

    with caplog.at_level(logging.ERROR, "graphmem.api"):
        response = serve(service=Broken()).post({"query": "{ project { name } }"})
    (error,) = response.json()["errors"]
    assert error["extensions"]["code"] == "INTERNAL"
    assert "secret" not in response.text
    assert type(raised).__name__ not in response.text
    (record,) = [record for record in caplog.records if record.name == "graphmem.api"]
    assert error["extensions"]["id"] in record.getMessage()
    assert record.exc_info[1] is raised


def test_a_refusal_is_not_logged(client, caplog):
    with caplog.at_level(logging.DEBUG, "graphmem.api"):
        client.refused('{ symbol(ref: "nothing of this name") { id } }')
        client.refused("{ nonsense }")
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.parametrize(
    "query",
    [
        "{ project {",
        "{ project { nme } }",
        "{ project }",
        "query ($x: Int!) { files(first: $x) { totalCount } }",
        'query { files(first: "many") { totalCount } }',
        "query A { project { name } } query B { project { name } }",
        "fragment F on Project { name }",
        "{ ...F }",
        "{ ...F } fragment F on Query { ...F }",
    ],
)
def test_documents_that_are_none_are_bad_input(client, query):
    body = client.post({"query": query}).json()
    assert {error["extensions"]["code"] for error in body["errors"]} == {"BAD_INPUT"}
    assert "data" not in body or body["data"] is None


def test_an_unknown_field_is_answered_with_the_one_that_was_meant(client):
    assert "name" in client.refused("{ project { nam } }")["message"]


def test_an_empty_index_is_not_found_and_its_state_is_told(tmp_path, serve):
    with GraphMem.open(tmp_path / "index", settings=Settings(embedder="none")) as empty:
        client = serve(service=empty)
        assert client.ask("{ state { state generation } }")["state"] == {"state": "EMPTY", "generation": 0}
        error = client.refused('{ symbol(ref: "x") { id } }')
        assert error["extensions"]["code"] == "NOT_FOUND"
        assert client.http.get("/export.jsonl").status_code == 404


def test_a_repository_other_than_the_project_s_is_forbidden(client, tmp_path):
    error = client.refused("mutation ($p: String!) { index(repo: $p) { runId } }", p=str(tmp_path))
    assert error["extensions"]["code"] == "FORBIDDEN"
    assert client.refused('mutation { index(repo: "..") { runId } }')["extensions"]["code"] == "FORBIDDEN"


def test_a_repository_that_is_not_there_is_bad_input(tmp_path, serve):
    with GraphMem.open(tmp_path / "index", settings=Settings(embedder="none")) as empty:
        error = serve(service=empty).refused("mutation ($p: String!) { index(repo: $p, wait: true) { runId } }", p=str(tmp_path / "no"))
    assert error["extensions"]["code"] == "BAD_INPUT"


def test_a_value_the_schema_does_not_know_is_our_error_and_not_the_client_s(service, serve):
    import dataclasses

    class Strange:
        def __getattr__(self, verb):
            return getattr(service, verb)

        def state(self):
            return dataclasses.replace(service.state(), state="molten")

    error = serve(service=Strange()).refused("{ state { state } }")
    assert error["extensions"]["code"] == "INTERNAL"
    assert "molten" not in error["message"]


def test_null_for_an_argument_that_has_a_default_is_a_mistake_of_the_client(client, caplog):
    query = 'query ($depth: Int) { impact(targets: ["Router"], maxDepth: $depth) { total } }'
    for variables in ({"depth": None}, {"depth": 2}, {"depth": None}):  # the second time, too, after the direct way is known
        body = client.http.post("/graphql", json={"query": query, "variables": variables}).json()
        codes = [error["extensions"]["code"] for error in body.get("errors", ())]
        assert codes == (["BAD_INPUT"] if variables["depth"] is None else [])
        assert all("maxDepth" in error["message"] for error in body.get("errors", ()))
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
