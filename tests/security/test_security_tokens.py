"""Tokens: hashed at rest, bound to scopes and visibilities, held to one table at every interface."""

from __future__ import annotations

import json
import stat
import threading
from datetime import UTC, datetime, timedelta

import pytest
from websockets.sync.client import connect

from graphmem.errors import BadInputError, ForbiddenError, MemoryNotFoundError
from graphmem.operations.declare import Sight
from graphmem.operations.registry import registry
from graphmem.security.access import SCOPES, VISIBILITIES, Access
from graphmem.security.guarded import Guarded, rule_of
from graphmem.security.guarded import guarded as held
from graphmem.security.tokens import Keys, TokenFile

REMEMBER = "mutation($input: RememberInput!) { remember(input: $input) { memory { id title relations { title } } result { outcome } } }"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
AGENT = {"accept": "application/json, text/event-stream"}


# ---- the file


def test_only_the_hash_of_a_token_is_on_disk_and_only_its_user_may_read_it(tmp_path) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    made = tokens.create("ci", ["read"])
    text = tokens.path.read_text()
    assert made.token not in text
    assert made.token.rpartition("_")[2] not in text
    assert stat.S_IMODE(tokens.path.stat().st_mode) == 0o600


def test_a_token_opens_what_it_was_made_for_and_nothing_near_it_does(tmp_path) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    made = tokens.create("ci", ["write"], ["team"])
    access = tokens.find(made.token)
    assert access == Access("ci", frozenset(SCOPES[:4]), frozenset({"team"}), made.stored.id)
    for near in ("", made.token[:-1], made.token + "x", made.token.upper(), f"gm_{made.stored.id}_", made.stored.hash, "gm__", "\ud800"):
        assert tokens.find(near) is None, near


def test_a_token_of_another_index_opens_nothing(tmp_path) -> None:
    made = TokenFile(tmp_path / "one.json").create("ci")
    other = TokenFile(tmp_path / "other.json")
    other.create("ci")
    assert other.find(made.token) is None


def test_a_token_ends_with_its_days_and_when_it_is_revoked(tmp_path) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    made = tokens.create("ci", days=2)
    access = tokens.find(made.token)
    assert access is not None
    later = datetime.now(UTC) + timedelta(days=3)
    assert tokens.find(made.token, later) is None
    assert not tokens.stands(access, later)
    assert TokenFile(tokens.path).revoke("ci").id == made.stored.id  # as another process does it
    assert tokens.find(made.token) is None
    assert not tokens.stands(access)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"version": 9, "tokens": []}', '{"version": 1, "tokens": [{}]}', "[" * 100_000])
def test_a_file_that_is_none_of_ours_opens_nothing_and_is_not_overwritten(tmp_path, text: str) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    made = tokens.create("ci")
    tokens.path.write_text(text)
    assert tokens.find(made.token) is None
    with pytest.raises(BadInputError):
        tokens.create("other")
    assert tokens.path.read_text() == text
    assert Keys(tokens=tokens).access(None) is None, "and nobody gets in without one"


@pytest.mark.parametrize(
    "given",
    [
        *({"name": name} for name in ("", "a b", "x" * 41, "../x")),
        *({"scopes": scopes} for scopes in (["root"], [])),
        *({"visibilities": levels} for levels in (["all"], [])),
        *({"days": days} for days in (0, 10**6)),
    ],
)
def test_what_cannot_be_meant_is_refused_and_makes_no_token(tmp_path, given) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    with pytest.raises(BadInputError):
        tokens.create(**{"name": "ci", **given})
    assert not tokens.exists


def test_many_at_once_lose_none(tmp_path) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    threads = [threading.Thread(target=TokenFile(tokens.path).create, args=(f"t{n}",)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one.name for one in tokens.all()) == sorted(f"t{n}" for n in range(16))


# ---- the table


def test_a_verb_nobody_thought_of_needs_everything(service) -> None:
    reader = held(service, Access("ci", frozenset({"read"})))
    with pytest.raises(ForbiddenError):
        reader.close_everything_down  # noqa: B018 - looking it up is refused
    assert isinstance(reader, Guarded)


@pytest.mark.parametrize("verb", sorted(name for name, one in registry().items() if one.hints.needs))
def test_each_verb_is_refused_to_every_set_of_scopes_without_its_own(service, verb: str) -> None:
    rest = frozenset(SCOPES) - {rule_of(verb).needs, "admin"}
    with pytest.raises(ForbiddenError) as refused:
        getattr(held(service, Access("ci", rest)), verb)
    assert refused.value.needs in ("read", rule_of(verb).needs)
    if rule_of(verb).shows is Sight.WHOLE:
        for missing in VISIBILITIES:
            with pytest.raises(ForbiddenError):
                getattr(held(service, Access("ci", frozenset(SCOPES), frozenset(VISIBILITIES) - {missing})), verb)


# ---- the interfaces


def test_without_a_token_nothing_but_pages_and_health_is_answered(guarded) -> None:
    anonymous = guarded.client()
    del anonymous.http.headers["authorization"]
    assert anonymous.http.post("/graphql", json={"query": "{ project { name } }"}).status_code == 401
    assert anonymous.http.post("/mcp", json=INITIALIZE, headers=AGENT).status_code == 401
    assert anonymous.http.post("/import", json={"text": "x"}).status_code == 401
    assert [anonymous.http.get(path).status_code for path in ("/export.jsonl", "/metrics", "/health", "/")] == [401, 401, 200, 200]


def test_the_first_token_closes_a_server_that_was_open_and_its_owner_keeps_everything(start) -> None:
    server = start(own_token="the owner's")
    anonymous = server.client()
    server.tokens.path.unlink()
    del anonymous.http.headers["authorization"]
    assert anonymous.code("{ project { name } }") == ""
    reader = server.client("read")
    assert anonymous.code("{ project { name } }") == "UNAUTHENTICATED"
    assert reader.code("{ project { name } }") == ""
    owner = server.client()
    owner.http.headers["authorization"] = "Bearer the owner's"
    assert owner.code("{ doctor }") == ""
    server.tokens.revoke("token-2")
    assert reader.code("{ project { name } }") == "UNAUTHENTICATED"
    assert anonymous.code("{ project { name } }") == "UNAUTHENTICATED", "revoking the last token opens nothing"


@pytest.mark.parametrize(
    ("scope", "operation"),
    [
        ("read", '{ symbol(ref: "Account") { name } }'),
        (
            "remember",
            'mutation { remember(input: {content: "check() is called by withdraw before the balance changes."}) { result { outcome } } }',
        ),
        ("curate", 'mutation { pin(id: "of-team") { id } }'),
        ("index", "mutation { index { runId } }"),
        ("admin", "{ backups { path } }"),
    ],
)
def test_graphql_holds_an_operation_to_its_scope(guarded, scope: str, operation: str) -> None:
    with_it, without = guarded.client(scope), guarded.client(*(one for one in SCOPES if one not in (scope, "admin")))
    assert with_it.code(operation) == ""
    (error,) = without.answer(operation)["errors"]
    assert (error["extensions"]["code"], error["extensions"]["needs"]) == ("FORBIDDEN", scope)


def test_the_plain_routes_are_held_to_the_same_table(guarded) -> None:
    reader, whole = guarded.client("read"), guarded.client("read", sees=VISIBILITIES)
    assert reader.http.get("/export.jsonl").status_code == 403
    assert whole.http.get("/export.jsonl").status_code == 200
    assert whole.http.get("/metrics").status_code == 200
    assert guarded.client("curate").http.get("/metrics").status_code == 403
    assert whole.http.post("/import", json={"text": "# x", "path": "MEMORY.md"}).status_code == 403
    assert guarded.client("curate").http.post("/import", json={"text": "# x", "path": "MEMORY.md"}).status_code == 403


def agent(client, message: dict, session: str = "") -> tuple[dict, str, int]:
    """An answer of the MCP endpoint, its session and status."""
    response = client.http.post("/mcp", json=message, headers={**AGENT, **({"mcp-session-id": session} if session else {})})
    lines = [line[5:] for line in response.text.splitlines() if line.startswith("data:") and line[5:].strip()]
    body = json.loads(lines[0]) if lines else response.json() if response.text.startswith("{") else {}
    return body, response.headers.get("mcp-session-id", ""), response.status_code


def tool(client, name: str, **arguments) -> dict:
    """Return the answer of a tool."""
    _, session, _ = agent(client, INITIALIZE)
    agent(client, {"jsonrpc": "2.0", "method": "notifications/initialized"}, session)
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    return agent(client, call, session)[0]["result"]


def test_agents_over_http_are_held_to_the_same_table(guarded) -> None:
    reader = guarded.client("read")
    found = tool(reader, "search", query="withdraw", kinds=["memory"])
    assert not found.get("isError")
    assert "zanzibar" not in json.dumps(found)
    assert tool(reader, "get", refs=["#of-personal"])["isError"]
    refused = tool(reader, "remember", content="Tellers serve people in the order in which they came.")
    assert refused["isError"]
    assert "scope remember" in refused["content"][0]["text"]
    assert not tool(guarded.client("remember"), "remember", content="Tellers serve people in the order in which they came.").get("isError")


def test_a_conversation_one_token_began_is_not_gone_on_with_by_another(guarded) -> None:
    owner, other = guarded.client("read", sees=VISIBILITIES), guarded.client("read")
    _, session, _ = agent(owner, INITIALIZE)
    assert session
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    agent(owner, {"jsonrpc": "2.0", "method": "notifications/initialized"}, session)
    assert agent(owner, listing, session)[2] == 200
    assert agent(other, listing, session)[2] in (400, 404)


def test_a_socket_ends_with_its_token(guarded) -> None:
    client = guarded.client("read")
    headers = {"authorization": client.http.headers["authorization"]}
    address = guarded.address.replace("http", "ws") + "/graphql"
    with connect(address, subprotocols=["graphql-transport-ws"], proxy=None, additional_headers=headers) as socket:

        def ask(number: int, query: str) -> dict:
            socket.send(json.dumps({"id": str(number), "type": "subscribe", "payload": {"query": query}}))
            while (said := json.loads(socket.recv(timeout=10)))["type"] == "complete":
                pass
            return said

        socket.send(json.dumps({"type": "connection_init"}))
        assert json.loads(socket.recv(timeout=10))["type"] == "connection_ack"
        assert ask(1, "{ project { name } }")["type"] == "next"
        forbidden = ask(2, "subscription { memoryChanged { changed } }")
        assert "FORBIDDEN" in json.dumps(forbidden)
        guarded.tokens.revoke(client.name)
        assert ask(3, "{ project { name } }")["payload"][0]["extensions"]["code"] == "UNAUTHENTICATED"


# ---- what is personal


KNOWN = "known { memories { title content about } more held }"
DIFF = """--- a/bank/account.py
+++ b/bank/account.py
@@ -2,3 +2,3 @@
     def withdraw(self, amount):
-        check(amount)
+        assert check(amount)
         self.balance -= amount
"""
QUESTIONS = {
    "memory": '{ memory(id: "of-personal") { title content } }',
    "node": "query($id: ID!) { node(id: $id) { ... on Memory { content } } }",
    "memories": '{ memories(filter: {visibility: "personal"}) { totalCount edges { node { content } } } }',
    "all memories": "{ memories { edges { node { content relations { title } } } } }",
    "search": '{ search(query: "zanzibar withdraw afraid", limit: 50) { notes hits { snippet memory { content } memories { content } } } }',
    "ask": '{ ask(question: "zanzibar withdraw afraid", limit: 50) { evidence { notes hits { snippet memory { content } } } } }',
    "timeline": '{ timeline(id: "of-project", n: 20) { before { content } after { content } } }',
    "review": "{ reviewQueue(first: 100) { edges { node { memory { content } } } } }",
    "audit": "{ audit { entries { memory note } } }",
    "export": "{ exportMemories }",
    "context": 'mutation { context(point: PROMPT, text: "zanzibar withdraw", files: ["bank/account.py"]) { text } }',
    "impact": f'{{ impact(targets: ["withdraw"]) {{ hits {{ depth }} {KNOWN} }} }}',
    "impact of a hit": f'{{ impact(targets: ["check"]) {{ hits {{ depth }} {KNOWN} }} }}',
    "impact of a diff": f"query($diff: String!) {{ impactOfDiff(diff: $diff) {{ impact {{ {KNOWN} }} }} }}",
    "symbol": f'{{ symbol(ref: "withdraw") {{ {KNOWN} callers {{ edges {{ node {{ {KNOWN} }} }} }} }} }}',
    "symbol at": f'{{ symbol(file: "bank/account.py", line: 2) {{ {KNOWN} }} }}',
    "file": f'{{ symbol(ref: "withdraw") {{ file {{ {KNOWN} }} }} }}',
    "files": f"{{ files {{ edges {{ node {{ {KNOWN} }} }} }} }}",
    "path": f'{{ path(source: "serve", target: "check") {{ steps {{ line }} {KNOWN} }} }}',
    "co-access": f'{{ coAccess(files: ["bank/account.py"]) {{ {KNOWN} }} }}',
    "plan": '{ planContext(task: "zanzibar withdraw") { text } }',
}


@pytest.mark.parametrize("question", sorted(QUESTIONS))
def test_a_personal_memory_is_nowhere_in_what_others_are_told(guarded, question: str) -> None:
    mine, theirs = guarded.client("read", "remember", sees=VISIBILITIES), guarded.client("read", "remember", "curate")
    variables = {"id": mine.data('{ memory(id: "of-personal") { id } }')["memory"]["id"]} if question == "node" else {}
    variables |= {"diff": DIFF} if question == "impact of a diff" else {}
    said = json.dumps(theirs.answer(QUESTIONS[question], **variables))
    assert "zanzibar" not in said.replace("'of-personal'", "")
    assert "afraid" not in said
    if question not in ("review", "audit", "context", "plan"):
        assert "zanzibar" in json.dumps(mine.answer(QUESTIONS[question], **variables))


def test_who_may_search_may_ask_whatever_memories_they_see(guarded) -> None:
    said = guarded.client("read").data('{ ask(question: "who may withdraw from an Account?") { evidence { hits { snippet } } } }')
    assert said["ask"]["evidence"]["hits"]


def test_whether_a_hidden_memory_exists_is_not_told_either(guarded, service) -> None:
    theirs = guarded.client("read", "curate")
    hidden = service.memory("of-personal")
    for wanted in ("of-personal", hidden.short_id, hidden.short_id[:3]):
        answers = [theirs.answer(f'{{ memory(id: "{one}") {{ id }} }}')["errors"][0] for one in (wanted, "nowhere")]
        assert answers[0]["extensions"]["code"] == answers[1]["extensions"]["code"] == "NOT_FOUND"
        assert answers[0]["message"].replace(wanted, "") == answers[1]["message"].replace("nowhere", "")
    counts = theirs.data("{ memories { totalCount } }")["memories"]["totalCount"]
    assert counts == service.memories().total - 1


@pytest.mark.parametrize(
    "change",
    [
        'forget(id: "of-personal") { ids }',
        'forget(id: "of-personal", hard: true) { ids }',
        'pin(id: "of-personal") { id }',
        'verify(id: "of-personal") { id }',
        'dispute(id: "of-personal", reason: "no") { id }',
        'updateMemory(id: "of-personal", changes: {visibility: "project"}) { content }',
        'noteUse(ids: ["of-personal"]) { ids }',
        'remember(input: {content: "A note that belongs to another.", derivedFrom: ["of-personal"]}) { memory { id } }',
    ],
)
def test_a_hidden_memory_cannot_be_changed(guarded, service, change: str) -> None:
    before = service.memory("of-personal")
    assert guarded.client("read", "remember", "curate").code(f"mutation {{ {change} }}") == "NOT_FOUND"
    assert service.memory("of-personal") == before


@pytest.mark.parametrize(
    "change",
    [
        'updateMemory(id: "of-team", changes: {visibility: "personal"}) { content }',
        'remember(input: {content: "Mine alone.", visibility: "personal"}) { memory { id } }',
        'remember(input: {content: "Instead of yours, mine.", id: "of-personal"}) { memory { id } }',
        'rememberMany(items: [{content: "Mine alone.", visibility: "personal"}]) { counts { name } }',
    ],
)
def test_nobody_writes_what_they_may_not_see(guarded, service, change: str) -> None:
    before = service.memories().total
    assert guarded.client("remember", "curate").code(f"mutation {{ {change} }}") == "FORBIDDEN"
    assert service.memories().total == before


def test_the_audit_says_whose_token_it_was(guarded, service) -> None:
    one, other = guarded.client("curate"), guarded.client("curate")
    one.data('mutation { pin(id: "of-organization") { id } }')
    other.data('mutation { pin(id: "of-organization", on: false) { id } }')
    assert [entry.actor for entry in service.audit("of-organization", limit=2).entries] == [f"graphql:{other.name}", f"graphql:{one.name}"]


def test_what_is_seen_is_seen_by_the_asking_thread_alone(service) -> None:
    reader = held(service, Access("ci", visibilities=frozenset({"team"})))
    with pytest.raises(MemoryNotFoundError):
        reader.memory("of-project")
    assert [one.id for one in reader.memories().memories] == ["of-team"]
    assert service.memory("of-project").id == "of-project"
