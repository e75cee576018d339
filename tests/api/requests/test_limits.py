"""Every limit is configurable, refuses with its name, and costs nothing on repeated requests."""

from __future__ import annotations

import threading
import time

import pytest
from graphql import parse

from graphmem.api.execution.documents import KEPT, LONGEST
from graphmem.api.requests.complexity import ComplexityMeter, sizes_of
from graphmem.api.requests.limits import ServerLimits
from graphmem.api.schema import build_schema

LIMITS = ServerLimits()


def refused_for(client, limit, query, **variables):
    error = client.refused(query, **variables)
    assert error["extensions"]["code"] == "LIMIT", error
    assert error["extensions"]["limit"] == limit
    return error["extensions"]


def test_depth(limited):
    client = limited(depth=3)
    assert client.ask("{ project { state { files } } }")
    facts = refused_for(client, "depth", "{ symbols { edges { node { name } } } }")
    assert (facts["allowed"], facts["found"]) == (3, 4)


def test_depth_counts_through_fragments(limited):
    client = limited(depth=3)
    refused_for(
        client,
        "depth",
        "{ symbols { ...C } } fragment C on SymbolConnection { edges { ...E } } fragment E on SymbolListEdge { node { name } }",
    )


def test_introspection_is_deeper_than_the_limit_and_allowed(limited):
    from graphql import get_introspection_query

    assert limited(depth=3).ask(get_introspection_query())["__schema"]


def test_endless_introspection_is_refused(client):
    query = "{ __schema { types " + "{ fields { type " * 6 + "{ name }" + " } }" * 6 + " } }"
    errors = client.post({"query": query}).json()["errors"]
    assert {(error["extensions"]["code"], error["extensions"]["limit"]) for error in errors} == {("LIMIT", "depth")}


def test_aliases(limited):
    client = limited(aliases=2)
    assert client.ask("{ a: state { files } b: state { files } }")
    facts = refused_for(client, "aliases", "{ a: state { x: files } b: state { files } }")
    assert (facts["allowed"], facts["found"]) == (2, 3)


def test_aliases_of_a_fragment_count_at_every_spread(limited):
    refused_for(
        limited(aliases=3),
        "aliases",
        "{ state { ...F } project { state { ...F } } } fragment F on IndexState { a: files b: files }",
    )


def test_tokens(limited):
    client = limited(tokens=20)
    assert client.ask("{ state { files } }")
    refused_for(client, "tokens", "{ state { " + "files " * 20 + "} }")


def test_a_document_nested_beyond_reading_is_refused(client):
    refused_for(client, "depth", "{ " + "a { " * 500 + "b" + " }" * 501)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("{ symbols(first: %s) { totalCount } }" % ("9" * 5_000), "Exceeds the limit"),
        ("query($n: Int = -%s) { symbols(first: $n) { totalCount } }" % ("9" * 5_000), "Exceeds the limit"),
        ('mutation { recordCoAccess(files: ["a.py"], at: 5) { __typename } }', "must be a string in ISO 8601"),
    ],
)
def test_a_value_in_the_document_that_cannot_be_read_is_bad_input(client, query, says):
    error = client.refused(query)
    assert error["extensions"]["code"] == "BAD_INPUT", error
    assert says in error["message"]
    assert len(error["message"]) <= 1_000


def test_complexity_multiplies_page_sizes(limited):
    client = limited(complexity=1_000)
    query = "query ($n: Int!) { symbols(first: $n) { edges { node { callers(first: 10) { edges { node { name } } } } } } }"
    assert client.ask(query, n=10)
    facts = refused_for(client, "complexity", query, n=100)
    assert facts["found"] == 1 + 100 * (1 + 1 + 1 + 10 * 2)


@pytest.fixture(scope="module")
def meter():
    return ComplexityMeter(build_schema(LIMITS)._schema)


@pytest.mark.parametrize(
    ("query", "variables", "objects"),
    [
        ("{ project { name } }", {}, 1),
        ("{ symbols(first: 7) { edges { node { name } } } }", {}, 1 + 7 * 2),
        ("query ($n: Int = 4) { symbols(first: $n) { edges { node { name } } } }", {}, 1 + 4 * 2),
        ("query ($n: Int = 4) { symbols(first: $n) { edges { node { name } } } }", {"n": 9}, 1 + 9 * 2),
        ("query ($n: Int = 4) { symbols(first: $n) { edges { node { name } } } }", {"n": 9.0}, 1 + 9 * 2),
        ("{ symbols { edges { node { name } } } }", {}, 1 + 50 * 2),
        ('{ impact(targets: ["a"], limit: 30) { hits { symbol { name } } } }', {}, 1 + 30 * 2),
        ('{ impactOfDiff(diff: "", limit: 30) { impact { tests { symbol { name } } } } }', {}, 2 + 30 * 2),
        ('{ search(query: "a", limit: 9) { hits { parts { path } } } }', {}, 1 + 9 * (1 + 3)),
        ('{ nodes(ids: ["a", "b", "c"]) { id } }', {}, 3),
        ("query ($ids: [ID!]!) { nodes(ids: $ids) { id } }", {"ids": ["a"] * 12}, 12),
        ('query ($ids: [ID!]! = ["a", "b", "c"]) { nodes(ids: $ids) { id } }', {}, 3),
        ("{ symbols(first: 2) { ...P } } fragment P on SymbolConnection { edges { node { name } } }", {}, 1 + 2 * 2),
        ("{ ... on Query { symbols(first: 2) { edges { cursor } } } }", {}, 1 + 2),
        ("query A { project { name } } query B { symbols(first: 2) { edges { cursor } } }", {}, 3),
    ],
)
def test_objects_are_counted_by_the_sizes_asked_for(query, variables, objects, meter):
    document = parse(query)
    name = "B" if "query B" in query else None
    assert meter.measure(document, name, dict(sizes_of(variables))) == objects


def test_fragments_that_multiply_are_measured_at_once(limited):
    # Each fragment spreads the next one twice: 2^60 fields when written out.
    fragments = "".join(f" fragment F{i} on IndexState {{ ...F{i + 1} ...F{i + 1} }}" for i in range(60))
    query = "{ state { ...F0 } }" + fragments + " fragment F60 on IndexState { a: files }"
    began = time.perf_counter()
    facts = refused_for(limited(), "aliases", query)
    assert facts["found"] == 2**60
    assert time.perf_counter() - began < 5


def test_a_body_over_the_limit_is_refused_by_its_length_and_while_it_comes(limited):
    client = limited(body_bytes=1_000)
    small = client.post({"query": "{ state { files } }"})
    assert small.status_code == 200
    large = client.post({"query": "{ state { files } }", "variables": {"x": "y" * 2_000}})

    def pieces():
        for _ in range(20):
            yield b" " * 100

    chunked = client.http.post("/graphql", content=pieces(), headers={"content-type": "application/json"})
    for response in (large, chunked):
        assert response.status_code == 413
        facts = response.json()["errors"][0]["extensions"]
        assert (facts["code"], facts["limit"], facts["allowed"]) == ("LIMIT", "body_bytes", 1_000)


def test_time(limited):
    error = limited(seconds=0).refused('{ impact(targets: ["Router"]) { total } }')  # any positive time may suffice on a busy machine
    assert error["extensions"]["code"] == "TIMEOUT"
    assert error["extensions"]["seconds"] == 0


def test_a_verb_that_takes_long_does_not_hold_up_others(service, serve):
    begun, others_answered = threading.Event(), threading.Event()

    class Slow:
        def __getattr__(self, verb):
            return getattr(service, verb)

        def project(self):
            begun.set()
            assert others_answered.wait(20)
            return service.project()

    client = serve(service=Slow())
    done = []
    thread = threading.Thread(target=lambda: done.append(client.ask("{ project { name } }")))
    thread.start()
    assert begun.wait(20)
    assert client.http.get("/health").status_code == 200
    assert client.ask("{ state { files } }")
    assert not done
    others_answered.set()
    thread.join()
    assert done


@pytest.mark.parametrize(
    ("limit", "query"),
    [
        ("first", "{ files(first: 11) { totalCount } }"),
        ("first", '{ symbol(ref: "compile_path") { callers(first: 11) { totalCount } } }'),
        ("limit", '{ impact(targets: ["Router"], limit: 11) { total } }'),
        ("limit", '{ subgraph(seeds: ["Router"], limit: 11) { truncated } }'),
        ("limit", '{ search(query: "a", limit: 11) { query } }'),
        ("targets", "{ impact(targets: [%s]) { total } }" % ('"Router" ' * 11)),
        ("seeds", "{ subgraph(seeds: [%s]) { truncated } }" % ('"Router" ' * 11)),
        ("ids", "{ nodes(ids: [%s]) { id } }" % ('"U3ltYm9sOjA=" ' * 11)),
    ],
)
def test_sizes_of_arguments(limited, limit, query):
    facts = refused_for(limited(page=10, hits=10, results=10, targets=10), limit, query)
    assert (facts["allowed"], facts["found"]) == (10, 11)


@pytest.mark.parametrize(
    "query",
    [
        "{ files(first: -1) { totalCount } }",
        '{ files(after: "nonsense") { totalCount } }',
        "{ impact(targets: []) { total } }",
        '{ impact(targets: ["Router"], maxDepth: -1) { total } }',
        '{ impact(targets: ["Router"], minConfidence: 7) { total } }',
        '{ impact(targets: ["Router"], direction: SIDEWAYS) { total } }',
        '{ search(query: "a", limit: 99999999999) { query } }',
        '{ symbol(ref: "") { id } }',
    ],
)
def test_arguments_that_mean_nothing_are_bad_input(client, query):
    assert client.refused(query)["extensions"]["code"] == "BAD_INPUT"


def test_a_document_is_parsed_and_validated_once_with_every_limit_on(client):
    documents = build_schema(LIMITS).documents
    query = "query Probe($first: Int!) { files(first: $first) { totalCount } }"
    client.ask(query, first=1)
    hits, misses = documents.hits, documents.misses
    for first in range(2, 12):
        client.ask(query, first=first)
    assert (documents.hits - hits, documents.misses - misses) == (10, 0)


def test_a_cached_document_is_measured_again_for_other_variables(limited):
    client = limited(complexity=100)
    query = "query ($first: Int!) { files(first: $first) { edges { node { path } } } }"
    assert client.ask(query, first=10)
    refused_for(client, "complexity", query, first=50)
    assert client.ask(query, first=11)


def test_documents_that_are_kept_are_bounded(client):
    documents = build_schema(LIMITS).documents
    for number in range(KEPT + 10):
        documents.prepare(f"query Q{number} {{ project {{ name }} }}")
    long = "{ project { name } }" + " " * LONGEST
    documents.prepare(long)
    assert len(documents._kept) == KEPT
    assert long not in documents._kept


def test_too_many_waiting_verbs_are_refused_and_do_not_pile_up(service, serve):
    class Slow:
        def __getattr__(self, verb):
            return getattr(service, verb)

        def project(self):
            time.sleep(0.3)
            return service.project()

    client = serve(service=Slow(), limits=ServerLimits(threads=1, pending=2))
    body = client.answer("{ a: project { name } b: project { name } c: project { name } }")
    (error,) = body["errors"]
    assert (error["extensions"]["code"], error["extensions"]["limit"]) == ("LIMIT", "pending")
    assert client.ask("{ project { name } }")


def test_slow_verbs_count_among_the_waiting_ones_and_have_few_threads(service, serve):
    class Slow:
        running = most = 0
        lock = threading.Lock()

        def __getattr__(self, verb):
            return getattr(service, verb)

        def flows(self, *given, **more):
            with self.lock:
                self.running += 1
                self.most = max(self.most, self.running)
            time.sleep(0.3)
            with self.lock:
                self.running -= 1
            return service.flows(*given, **more)

    slow = Slow()
    client = serve(service=slow, limits=ServerLimits(slow_threads=2, pending=4))
    body = client.answer("{ " + " ".join(f"f{number}: flows {{ total }}" for number in range(6)) + " }")
    assert [one["extensions"]["limit"] for one in body["errors"]] == ["pending"] * 2
    assert sum(body["data"][f"f{number}"] is not None for number in range(6)) == 4
    assert slow.most == 2
    assert client.ask("{ flows { total } }")
    client = serve(service=slow, limits=ServerLimits(pending=1))
    (error,) = client.answer("{ a: flows { total } b: flows { total } }")["errors"]
    assert (error["extensions"]["code"], error["extensions"]["retry_after"]) == ("LIMIT", 1.0)
