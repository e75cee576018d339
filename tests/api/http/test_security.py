"""Requests that the server accepts or refuses, by host, origin and token."""

from __future__ import annotations

import json
import socket

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from graphmem.api.execution.persisted import load_operations
from graphmem.api.requests.limits import ServerLimits
from graphmem.api.schema import build_schema
from graphmem.errors import SettingsError

QUERY = {"query": "{ state { files } }"}
TOKEN = "correct horse"


def code(response):
    return response.json()["errors"][0]["extensions"]["code"]


# ---- forms of a request


@pytest.mark.parametrize("path", ["/graphql", "/graphql/"])
def test_both_spellings_of_the_address_answer_without_a_redirect(client, path):
    response = client.http.post(path, json=QUERY)
    assert response.status_code == 200
    assert response.json()["data"]["state"]["files"] > 0


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/graphql"]
)
def test_only_json_is_taken_because_a_form_could_send_the_rest(client, kind):
    response = client.http.post("/graphql", content=json.dumps(QUERY), headers={"content-type": kind})
    assert response.status_code == 415
    assert code(response) == "BAD_INPUT"


def test_a_body_without_a_type_is_not_taken(client):
    assert client.http.post("/graphql", content=json.dumps(QUERY)).status_code == 415


@pytest.mark.parametrize(
    "body",
    ["", "{", "[]", '[{"query": "{ state { files } }"}]', '"text"', "null", '{"query": 3}', '{"query": "{a}", "variables": []}', "{}"],
)
def test_a_body_that_is_not_an_operation_is_bad_input(client, body):
    response = client.http.post("/graphql", content=body, headers={"content-type": "application/json"})
    assert response.status_code == 400
    assert code(response) == "BAD_INPUT"


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
def test_other_methods_are_refused_with_those_that_are_not(client, method):
    response = client.http.request(method, "/graphql", json=QUERY)
    assert response.status_code == 405
    assert response.headers["allow"] == "GET, POST"
    assert client.http.request(method, "/health").status_code == 405


def test_a_query_in_the_address_is_not_run(client):
    response = client.http.get("/graphql", params={"query": "{ project { root } }"})
    assert response.headers["content-type"].startswith("text/html")


def test_other_addresses_say_where_graphql_is(client):
    response = client.http.get("/nothing")
    assert response.status_code == 404
    assert code(response) == "NOT_FOUND"
    assert "/graphql" in response.text


def test_a_subscription_asked_for_without_a_stream_is_told_which_to_ask_for(client):
    response = client.post({"query": "subscription { indexProgress { stage } }"})
    assert response.status_code == 400
    assert "text/event-stream" in response.json()["errors"][0]["message"]


def test_a_client_that_knows_graphql_s_media_type_reads_the_outcome_from_the_status(client):
    accept = "application/graphql-response+json, application/json;q=0.9"
    answers = [
        client.post({"query": query}, accept=accept)
        for query in ("{ state { files } }", "{ nonsense }", '{ symbol(ref: "nonsense") { id } }')
    ]
    assert [answer.status_code for answer in answers] == [200, 400, 200]
    assert {answer.headers["content-type"] for answer in answers} == {"application/graphql-response+json"}
    assert client.post({"query": "{ nonsense }"}).status_code == 200


def test_a_name_that_is_not_utf_8_arrives_escaped(service, serve):
    import dataclasses

    class Odd:
        def __getattr__(self, verb):
            return getattr(service, verb)

        def project(self):
            return dataclasses.replace(service.project(), name="caf\udce9")

    assert serve(service=Odd()).ask("{ project { name } }")["project"]["name"] == "caf\udce9"


# ---- ready-made operations


def test_an_operation_is_run_by_name_by_hash_and_by_a_persisted_query_s_hash(client):
    project = load_operations(build_schema(ServerLimits()).graphql).find({"operationName": "Project"})
    bodies = [
        {"operationName": "Project"},
        {"id": "Project"},
        {"id": f"sha256:{project.sha256}"},
        {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": project.sha256}}},
    ]
    answers = [client.post(body).json() for body in bodies]
    assert answers[0]["data"]["project"]["name"]
    assert all(answer == answers[0] for answer in answers)


def test_an_operation_that_is_not_there_is_answered_with_those_that_are(client):
    response = client.post({"operationName": "Nonsense"})
    assert code(response) == "BAD_INPUT"
    assert "Impact" in response.json()["errors"][0]["message"]


def test_a_server_may_run_its_own_operations_only(serve):
    client = serve(persisted_only=True)
    assert client.post({"operationName": "Project"}).json()["data"]
    assert client.post({"query": load_operations(build_schema(ServerLimits()).graphql).find({"id": "Project"}).text}).json()["data"]
    response = client.post(QUERY)
    assert response.status_code == 403
    assert code(response) == "FORBIDDEN"


# ---- health, export, headers


def test_health_says_which_process_this_is_and_nothing_about_the_project(client, repository):
    import os

    import graphmem

    response = client.http.get("/health")
    assert response.json() == {"status": "ok", "name": "graphmem", "version": graphmem.__version__, "pid": os.getpid()}


def test_the_export_is_the_service_s_own_line_by_line(client, service):
    with client.http.stream("GET", "/export.jsonl") as response:
        assert response.headers["content-type"] == "application/jsonl"
        lines = [json.loads(line) for line in response.iter_lines()]
    assert lines == list(service.export())
    assert len(lines) > 1_000


def test_every_response_forbids_framing_sniffing_and_scripts(client):
    for response in (client.http.get("/health"), client.post(QUERY), client.http.get("/nothing"), client.http.get("/graphql")):
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["x-frame-options"] == "DENY"
        policy = response.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in policy
        assert "unsafe-eval" not in policy
        assert "script-src 'unsafe-inline'" not in policy


def test_what_nobody_foresaw_outside_an_operation_is_an_id_too(service, serve):
    class Broken:
        def __getattr__(self, verb):
            return getattr(service, verb)

        def export(self):
            raise RuntimeError("secret")

    response = serve(service=Broken()).http.get("/export.jsonl")
    assert response.status_code == 500
    assert code(response) == "INTERNAL"
    assert "secret" not in response.text


# ---- host and origin


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "evil.example:80", "", "127.0.0.1.evil.example"])
def test_a_name_that_is_not_ours_is_refused(client, host):
    response = client.http.get("/health", headers={"host": host})
    assert response.status_code == 403
    assert code(response) == "FORBIDDEN"


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:99", "[::1]:99", "192.168.1.7"])
def test_localhost_and_bare_addresses_are_fine(client, host):
    assert client.http.get("/health", headers={"host": host}).status_code == 200


def test_a_name_can_be_allowed(serve):
    client = serve(allowed_hosts=("graphmem.example",))
    assert client.http.get("/health", headers={"host": "GraphMem.example:8420"}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://localhost"])
def test_a_page_of_another_site_may_neither_read_nor_write(client, origin):
    for response in (client.post(QUERY, origin=origin), client.http.get("/export.jsonl", headers={"origin": origin})):
        assert response.status_code == 403
        assert "access-control-allow-origin" not in response.headers


def test_our_own_page_may(client):
    assert client.post(QUERY, origin=client.address).status_code == 200


def test_an_allowed_site_is_told_so_before_and_with_the_answer(serve):
    client = serve(allowed_origins=("https://ide.example",), token=TOKEN)
    preflight = client.http.options(
        "/graphql",
        headers={
            "origin": "https://ide.example",
            "access-control-request-method": "POST",
            "access-control-request-headers": "authorization,content-type",
        },
    )
    assert preflight.status_code == 200
    answer = client.post(QUERY, origin="https://ide.example", authorization=f"Bearer {TOKEN}")
    assert answer.headers["access-control-allow-origin"] == "https://ide.example"
    assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize("origin", ["*", "ide.example", "https://ide.example/path", "https://IDE.example", "null"])
def test_an_origin_that_is_none_is_refused_when_the_server_is_made(origin):
    from graphmem.api.app import ServerOptions

    with pytest.raises(SettingsError, match="is not a valid origin"):
        ServerOptions(allowed_origins=(origin,))


# ---- token


@pytest.fixture
def guarded(serve):
    return serve(token=TOKEN)


@pytest.mark.parametrize("given", [None, "Bearer wrong", f"Basic {TOKEN}", TOKEN, "Bearer"])
def test_without_the_right_token_nothing_is_answered(guarded, given):
    headers = {} if given is None else {"authorization": given}
    for response in (
        guarded.post(QUERY, **headers),
        guarded.http.get("/export.jsonl", headers=headers),
        guarded.http.get("/x", headers=headers),
    ):
        assert response.status_code == 401
        assert code(response) == "UNAUTHENTICATED"
        assert response.headers["www-authenticate"] == "Bearer"
        assert TOKEN not in response.text


def test_with_it_everything_is(guarded):
    headers = {"authorization": f"bearer {TOKEN}"}
    assert guarded.post(QUERY, **headers).json()["data"]
    assert guarded.http.get("/export.jsonl", headers=headers).status_code == 200


def test_health_and_the_page_s_own_files_need_none(guarded):
    assert guarded.http.get("/health").status_code == 200
    assert guarded.http.get("/graphql").status_code == 200
    assert guarded.http.get("/graphql/assets/nothing.js").status_code == 404


@pytest.mark.parametrize("name", ["..%2f..%2fapp.py", "%2e%2e/app.py", "../app.py", "index.html/../../../app.py", "..%5capp.py"])
def test_the_page_s_files_lead_nowhere_else(client, name):
    with httpx.Client(base_url=client.address, trust_env=False) as raw:
        response = raw.send(raw.build_request("GET", httpx.URL(client.address).copy_with(raw_path=b"/graphql/assets/" + name.encode())))
    assert response.status_code == 404


def test_the_token_is_not_kept_in_the_clear(service):
    from graphmem.api.app import ServerOptions
    from graphmem.security.tokens import Keys

    assert TOKEN not in repr(ServerOptions(token=TOKEN, own_token=TOKEN))
    assert TOKEN not in repr(vars(Keys(TOKEN, TOKEN)))


def websocket(client, **options):
    return connect(f"ws://127.0.0.1:{client.port}/graphql", subprotocols=["graphql-transport-ws"], proxy=None, **options)


def test_a_websocket_brings_the_token_in_its_handshake_or_its_first_message(guarded):
    right = {"authorization": f"Bearer {TOKEN}"}
    for headers, payload in ((right, {}), ({}, right)):
        with websocket(guarded, additional_headers=headers) as socket:
            socket.send(json.dumps({"type": "connection_init", "payload": payload}))
            assert json.loads(socket.recv(timeout=5)) == {"type": "connection_ack"}


@pytest.mark.parametrize("payload", [{}, {"authorization": "Bearer wrong"}, {"authorization": 3}])
def test_a_websocket_without_it_is_closed(guarded, payload):
    with websocket(guarded) as socket:
        socket.send(json.dumps({"type": "connection_init", "payload": payload}))
        with pytest.raises(Exception, match="4403"):
            socket.recv(timeout=5)


@pytest.mark.parametrize(
    "headers",
    [{"authorization": "Bearer wrong"}, {"origin": "http://evil.example"}, {"host": "evil.example"}],
    ids=lambda headers: next(iter(headers)),
)
def test_a_websocket_that_may_not_is_refused_before_it_opens(guarded, headers):
    if "host" in headers:
        response = guarded.http.get(
            "/graphql",
            headers={
                "host": "evil.example",
                "connection": "upgrade",
                "upgrade": "websocket",
                "sec-websocket-version": "13",
                "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
            },
        )
        assert response.status_code == 403
        return
    with pytest.raises(InvalidStatus) as refused, websocket(guarded, additional_headers=headers):
        pass
    assert refused.value.response.status_code == 403


def raw(port: int, head: bytes) -> int:
    """The status of a request that no library would send."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(head + b"\r\nConnection: close\r\n\r\n")
        return int(connection.recv(4_096).split(b" ", 2)[1])


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /health HTTP/1.1\r\nHost: localhost", 200),
        (b"GET /health HTTP/1.1\r\nHost: localhost:99", 200),
        (b"GET /health HTTP/1.1\r\nHost: LOCALHOST:", 200),
        (b"GET /health HTTP/1.1\r\nHost: [::1]:8420", 200),
        (b"GET /health HTTP/1.1\r\nHost: 192.168.0.7:8420", 200),
        (b"GET http://localhost:1/health HTTP/1.1\r\nHost: localhost:1", 200),
        (b"GET /health HTTP/1.1\r\nHost: [127.0.0.1].evil.example", 403),
        (b"GET /health HTTP/1.1\r\nHost: [::1]evil", 403),
        (b"GET /health HTTP/1.1\r\nHost: [::1].evil.example:80", 403),
        (b"GET /health HTTP/1.1\r\nHost: [127.0.0.1]", 403),
        (b"GET /health HTTP/1.1\r\nHost: ::1", 403),
        (b"GET /health HTTP/1.1\r\nHost: me@localhost", 403),
        (b"GET /health HTTP/1.1\r\nHost: localhost, evil.example", 403),
        (b"GET /health HTTP/1.1\r\nHost: localhost:80:80", 403),
        (b"GET /health HTTP/1.1\r\nHost: localhost/", 403),
        (b"GET /health HTTP/1.1\r\nHost: evil.example", 403),
        (b"GET /health HTTP/1.1\r\nHost:", 403),
        (b"GET http://evil.example/health HTTP/1.1\r\nHost: localhost", 403),
        (b"GET http://evil.example HTTP/1.1\r\nHost: localhost", 403),
        (b"GET http://localhost@evil.example/health HTTP/1.1\r\nHost: localhost", 403),
        (b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost", 400),
        (b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example", 400),
        (b"GET http://localhost/health HTTP/1.1\r\nHost: localhost\r\nHost: localhost", 400),
        (b"GET /health HTTP/1.1\r\nAccept: */*", 400),
    ],
)
def test_a_host_is_read_as_the_standard_has_it(client, head, status):
    assert raw(client.port, head) == status


@pytest.mark.parametrize("site", ["cross-site", "same-site", "anything"])
def test_what_pages_of_other_sites_embed_is_refused_but_for_pages(client, site):
    for path in ("/", "/explore", "/explore/impact/x", "/graphql"):
        assert client.http.get(path, headers={"sec-fetch-site": site}).status_code == 200, path
    for path in ("/export.jsonl", "/health", "/ready", "/metrics", "/explore/assets/app.css", "/mcp", "/import"):
        assert client.http.get(path, headers={"sec-fetch-site": site}).status_code == 403, path
    assert client.post({"operationName": "Project"}, **{"sec-fetch-site": site}).status_code == 403
    for own in ("same-origin", "none"):
        assert client.http.get("/export.jsonl", headers={"sec-fetch-site": own}).status_code == 200


def test_a_site_that_is_allowed_may_be_another(serve):
    client = serve(allowed_origins=("https://ide.example.com", "vscode-webview://*"))
    for origin in ("https://ide.example.com", "vscode-webview://0f3a-11", "vscode-webview://other"):
        answer = client.post({"operationName": "Project"}, origin=origin, **{"sec-fetch-site": "cross-site"})
        assert answer.status_code == 200, answer.text
        assert answer.headers["access-control-allow-origin"] == origin
    for origin in ("https://evil.example", "vscode-webview-evil://x", "null", "https://vscode-webview"):
        assert client.post({"operationName": "Project"}, origin=origin).status_code == 403
    with pytest.raises(SettingsError):
        serve(allowed_origins=("https://*",))
