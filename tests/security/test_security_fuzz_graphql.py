"""The GraphQL surface, fuzzed from its own schema: valid operations with hostile values never meet an internal error.

`FUZZ_RUNS=50 python -m pytest tests/security -k fuzz` tries fifty times as much.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLUnionType,
    get_named_type,
    is_leaf_type,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphmem.api.app import ServerOptions, build_app
from graphmem.api.requests.limits import ServerLimits
from graphmem.api.schema import build_schema
from graphmem.api.serve import Server
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

RUNS = int(os.environ.get("FUZZ_RUNS", "1"))
# Seconds each, and made of parts that have tests of their own.
SLOW = frozenset(
    {"rebuild", "rebuildMemories", "compact", "backup", "restore", "index", "drift", "verifyIndex", "doctor", "report", "exportView"}
)

HOSTILE = [
    *(
        "",
        " ",
        "\x00",
        "\n",
        "\u202e",
        "\ufeff",
        "é漢🙂",
        "a" * 10_000,
        "'",
        '"',
        "\\",
        "`",
        "%",
        "*",
        "[",
        "(",
        "$" * 30,
        "-1",
        "null",
        "NaN",
    ),
    *("../../../../etc/passwd", "/etc/passwd", "bank/account.py", "bank/../../x", "bank/account.py:2", "bank/account.py:2:4", "C:\\x", "~"),
    *(
        "Account.withdraw",
        "bank/account.py:Account.withdraw",
        "check",
        "withdraw",
        "::",
        ":",
        "a:b:c:d",
        "x" * 300 + ":9",
        ":-1",
        "x:99999999999",
    ),
    *("U3ltYm9sOng=", "TWVtb3J5OnNhdmVk", "====", "U3ltYm9s", "Zm9vOg==", "of-project", "#of-project"),
    *("(a+)+$", "(?P<x>", "a{9999999}", "[[:alpha:]]", "**/**/**/**/**/*.py", "{a,b}{c,d}" * 20, "!(a)", "[!"),
    *(
        "HEAD",
        "HEAD~1",
        "-h",
        "--upload-pack=x",
        "HEAD; ls",
        "@{-1}",
        "refs/heads/../x",
        "2026-01-01",
        "2026-13-45T99:99",
        "9999-12-31T23:59:59Z",
    ),
    *(
        "{}",
        "[]",
        '{"a": 1}',
        "<x>",
        "]]>",
        "</data>",
        "{{7*7}}",
        "${jndi:ldap://x}",
        "; DROP TABLE x",
        "diff --git a/x b/y\n@@ -1 +1 @@\n",
    ),
    *(
        "xml",
        "markdown",
        "json",
        "claude-code",
        "personal",
        "gotcha",
        "global",
        "a1b2",
        "gm_00000000_x",
        "MATCH (s) RETURN s",
        "GRAPHMEM_TOKEN",
    ),
]
_TEXT = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
_JSON: Any = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63), st.floats(allow_nan=False, allow_infinity=False), _TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_TEXT, inner, max_size=3)),
    max_leaves=5,
)
_EVENT_FIELDS = ["session_id", "step", "at", "kind", "tool", "args", "ok", "text", "tokens", "files", "file_path", "outcome", "event", "v"]
_EVENT = st.fixed_dictionaries({}, optional=dict.fromkeys(_EVENT_FIELDS, _JSON))
_LEAVES: dict[str, Any] = {
    "String": _TEXT,
    "ID": _TEXT,
    "Int": st.one_of(st.integers(-3, 20), st.sampled_from([2**31 - 1, -(2**31), 1000, 100_000])),
    "Float": st.one_of(st.floats(-2, 2), st.sampled_from([1e308, -1e308, 0.0, -0.0])),
    "Boolean": st.booleans(),
    "JSON": st.one_of(_JSON, _EVENT),
    "DateTime": st.one_of(_TEXT, _JSON, st.datetimes().map(lambda at: at.isoformat() + "Z")),
}


def values(kind: GraphQLInputType) -> Any:
    """Values the schema allows, as JSON."""
    if isinstance(kind, GraphQLNonNull):
        return values(kind.of_type)
    if isinstance(kind, GraphQLList):
        return st.lists(values(kind.of_type), max_size=3)
    if isinstance(kind, GraphQLEnumType):
        return st.sampled_from(sorted(kind.values))
    if isinstance(kind, GraphQLInputObjectType):
        wanted = {name: values(one.type) for name, one in kind.fields.items()}
        must = {name for name, one in kind.fields.items() if _is_required(one)}
        return st.fixed_dictionaries({name: wanted[name] for name in must}, optional={name: wanted[name] for name in set(wanted) - must})
    return _LEAVES[kind.name]  # type: ignore[union-attr]


def _is_required(one: Any) -> bool:
    from graphql import Undefined

    return isinstance(one.type, GraphQLNonNull) and one.default_value is Undefined


def selection(kind: Any, depth: int, draw: Any) -> str:
    """Fields of a type: its leaves, and some of the others as long as there is depth."""
    kind = get_named_type(kind)
    if is_leaf_type(kind):
        return ""
    if isinstance(kind, GraphQLUnionType):
        return "{ __typename " + " ".join(f"... on {one.name} {selection(one, depth - 1, draw)}" for one in kind.types) + " }"
    assert isinstance(kind, (GraphQLObjectType, GraphQLInterfaceType))
    found = ["__typename"]
    for name, field in kind.fields.items():
        if any(_is_required(argument) for argument in field.args.values()):
            continue
        inner = get_named_type(field.type)
        if is_leaf_type(inner):
            found.append(name)
        elif depth > 0 and draw(st.booleans()):
            found.append(f"{name} {selection(inner, depth - 1, draw)}")
    return f"{{ {' '.join(found)} }}"


@st.composite
def operations(draw: Any, root: str, slow: bool = False) -> dict[str, Any]:
    """A valid operation over some root fields, with its variables."""
    schema = build_schema(ServerLimits()).graphql
    fields = (schema.query_type if root == "query" else schema.mutation_type).fields  # type: ignore[union-attr]
    names = draw(st.lists(st.sampled_from(sorted(name for name in fields if slow or name not in SLOW)), min_size=1, max_size=3))
    declared, variables, asked = [], {}, []
    for at, name in enumerate(names):
        given_arguments = []
        argument: GraphQLArgument
        for key, argument in fields[name].args.items():
            if not _is_required(argument) and draw(st.integers(0, 2)) == 0:
                continue
            variable = f"v{at}_{key}"
            declared.append(f"${variable}: {argument.type}")
            variables[variable] = draw(values(argument.type))
            given_arguments.append(f"{key}: ${variable}")
        arguments = f"({', '.join(given_arguments)})" if given_arguments else ""
        asked.append(f"a{at}: {name}{arguments} {selection(fields[name].type, 2, draw)}")
    head = f"({', '.join(declared)})" if declared else ""
    return {"query": f"{root} Fuzz{head} {{ {' '.join(asked)} }}", "variables": variables}


@pytest.fixture(scope="module")
def http(bank: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A server over an index of its own, which these tests may spoil."""
    wanted = Settings(embedder="hashed", workers=1, git_history=False)
    with GraphMem.open(tmp_path_factory.mktemp("fuzz"), repo=bank, settings=wanted) as memory:
        memory.index(bank)
        memory.remember("Account.withdraw must never be called with a negative amount.", id="of-project")
        server = Server(build_app(memory, ServerOptions(limits=ServerLimits(seconds=20))), "127.0.0.1", 0)
        ready = threading.Event()
        thread = threading.Thread(target=server.run, args=(lambda host, port: ready.set(),))
        thread.start()
        assert ready.wait(20)
        with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=60, trust_env=False) as client:
            yield client
        server.stop()
        thread.join(20)


def expect_sense(http: httpx.Client, body: dict[str, Any]) -> None:
    """Every answer is an answer, or says in a known code why there is none."""
    response = http.post("/graphql", content=json.dumps(body).encode(), headers={"content-type": "application/json"})
    assert response.status_code in (200, 400, 413), (response.status_code, body)
    for error in response.json().get("errors", ()):
        assert error["extensions"]["code"] != "INTERNAL", (error, json.dumps(body))
        assert len(json.dumps(error)) < 20_000, "what was sent comes back in part at most"


@settings(max_examples=50 * RUNS, suppress_health_check=list(HealthCheck))
@given(body=operations("query"))
def test_fuzzed_questions_never_meet_an_internal_error(http: httpx.Client, body: dict[str, Any]) -> None:
    expect_sense(http, body)


@settings(max_examples=50 * RUNS, suppress_health_check=list(HealthCheck))
@given(body=operations("mutation"))
def test_fuzzed_changes_never_meet_an_internal_error(http: httpx.Client, body: dict[str, Any]) -> None:
    expect_sense(http, body)
    assert http.get("/ready").status_code == 200


@pytest.mark.skipif(RUNS < 2, reason="seconds each: with FUZZ_RUNS")
@settings(max_examples=3 * RUNS, suppress_health_check=list(HealthCheck))
@given(body=st.one_of(operations("query", slow=True), operations("mutation", slow=True)))
def test_fuzzed_slow_operations_never_meet_an_internal_error(http: httpx.Client, body: dict[str, Any]) -> None:
    expect_sense(http, body)


_BROKEN = st.one_of(
    st.binary(max_size=60),
    st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")),
    _JSON.map(lambda one: json.dumps(one).encode()),
    st.tuples(operations("query"), st.integers(0, 400), st.binary(max_size=6)).map(
        lambda one: (text := json.dumps(one[0]).encode())[: one[1] % len(text)] + one[2] + text[one[1] % len(text) + len(one[2]) :]
    ),
    st.fixed_dictionaries({}, optional=dict.fromkeys(("query", "variables", "operationName", "extensions", "id"), _JSON)).map(
        lambda one: json.dumps(one).encode()
    ),
    st.sampled_from([b"[" * 100_000, b'{"query": ' * 10_000, b'{"query": "' + b"{a" * 20_000 + b'"}', b'{"variables": {"x": 1e999}}']),
)


@settings(max_examples=50 * RUNS, suppress_health_check=list(HealthCheck))
@given(body=_BROKEN, path=st.sampled_from(["/graphql", "/graphql", "/graphql", "/import"]))
def test_fuzzed_bodies_that_are_not_operations_are_refused_as_what_they_are(http: httpx.Client, body: bytes, path: str) -> None:
    response = http.post(path, content=body, headers={"content-type": "application/json"})
    assert response.status_code < 500, (path, body)
    assert all(error["extensions"]["code"] != "INTERNAL" for error in response.json().get("errors", ())), (response.text, body)


@settings(max_examples=40 * RUNS, suppress_health_check=list(HealthCheck))
@given(
    path=st.one_of(st.sampled_from(HOSTILE), st.text(max_size=40)),
    under=st.sampled_from(["", "explore/", "explore/assets/", "graphql/assets/", "graphql/", "mcp/", "export.jsonl/"]),
    method=st.sampled_from(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]),
)
def test_fuzzed_addresses_give_pages_or_nothing(http: httpx.Client, path: str, under: str, method: str) -> None:
    raw = b"/" + under.encode() + "".join(f"%{byte:02x}" for byte in path.encode("utf-8", "surrogatepass")[:2_000]).encode()
    request = http.build_request(method, httpx.URL(http.base_url).copy_with(raw_path=raw))
    response = http.send(request)
    assert response.status_code < 500, raw
    assert b"root:" not in response.content
