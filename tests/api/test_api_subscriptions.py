"""News of index runs over WebSocket and server-sent events."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
import time

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

SUBSCRIBE = {"operationName": "IndexProgress", "variables": {"follow": False}}


@pytest.fixture(scope="module")
def repository(own):
    return own.repository


@pytest.fixture(scope="module")
def service(own):
    return own.service


@pytest.fixture(scope="module")
def client(own):
    return own.client


async def until(condition):
    """Let the event loop run until a thread has done something."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


class Socket:
    """A graphql-transport-ws client."""

    def __init__(self, client):
        self._connection = connect(f"ws://127.0.0.1:{client.port}/graphql", subprotocols=["graphql-transport-ws"], proxy=None)

    def __enter__(self):
        self.raw = self._connection.__enter__()
        self.send(type="connection_init")
        assert self.receive()["type"] == "connection_ack"
        return self

    def __exit__(self, *error):
        self._connection.__exit__(*error)

    def send(self, **message):
        self.raw.send(json.dumps(message))

    def receive(self):
        return json.loads(self.raw.recv(timeout=20))

    def run(self, number, payload):
        """Everything an operation says until it is complete."""
        self.send(id=number, type="subscribe", payload=payload)
        said = []
        while (message := self.receive())["type"] == "next":
            said.append(message["payload"])
        assert message["type"] in ("complete", "error"), message
        return said if message["type"] == "complete" else message["payload"]


def steps_over_sse(client, ready):
    with client.http.stream("POST", "/graphql", json=SUBSCRIBE, headers={"accept": "text/event-stream"}) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        ready.set()
        events = [line for line in response.iter_lines() if line.startswith("data: {")]
    return [json.loads(line[6:])["data"]["indexProgress"] for line in events]


def steps_over_websocket(client, ready):
    with Socket(client) as socket:
        socket.send(id="1", type="subscribe", payload=SUBSCRIBE)
        socket.send(type="ping")
        assert socket.receive()["type"] == "pong"  # the subscription was read before it
        ready.set()
        said = []
        while (message := socket.receive())["type"] == "next":
            said.append(message["payload"]["data"]["indexProgress"])
        assert message == {"id": "1", "type": "complete"}
    return said


@pytest.mark.parametrize("transport", [steps_over_sse, steps_over_websocket])
def test_a_run_is_followed_to_its_end_by_every_subscriber(client, transport):
    heard, ready = {}, [threading.Event(), threading.Event()]
    listeners = [threading.Thread(target=lambda i=i: heard.update({i: transport(client, ready[i])})) for i in range(2)]
    for listener in listeners:
        listener.start()
    for one in ready:
        assert one.wait(10)
    subscribed(client, 2)
    run = client.ask("mutation { index(full: true) { runId state { state } } }")["index"]
    assert run["runId"]
    for listener in listeners:
        listener.join(60)
    assert set(heard) == {0, 1}
    for steps in heard.values():
        assert steps[-1]["stage"] == "done"
        assert {"discover", "parse", "write"} <= {step["stage"] for step in steps}


def subscribed(client, number):
    """Wait until the server has taken in that many subscriptions."""
    hub = client.state.progress
    deadline = time.monotonic() + 10
    while len(hub._subscribers) < number:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_run_that_is_waited_for_answers_with_its_summary(client, service):
    body = client.post({"operationName": "Index", "variables": {"wait": True}}).json()["data"]["index"]
    assert body["summary"]["mode"] == "unchanged"
    assert body["summary"]["files"] == service.state().files
    assert [stage["name"] for stage in body["summary"]["seconds"]]


def test_queries_run_over_a_websocket_with_the_same_limits_and_errors(client):
    with Socket(client) as socket:
        (answer,) = socket.run("1", {"query": "{ project { name } }"})
        assert answer["data"]["project"]["name"]
        (answer,) = socket.run("2", {"query": '{ symbol(ref: "no such thing") { id } }'})
        assert answer["errors"][0]["extensions"]["code"] == "NOT_FOUND"
        (error,) = socket.run(
            "3", {"query": "{ symbols(first: 1000) { edges { node { callers(first: 1000) { edges { node { id } } } } } } }"}
        )
        assert error["extensions"]["code"] == "LIMIT"
        (error,) = socket.run("4", {"operationName": "Nonsense"})
        assert error["extensions"]["code"] == "BAD_INPUT"
        (error,) = socket.run("5", {"query": "{ project { name } }", "variables": []})
        assert error["extensions"]["code"] == "BAD_INPUT"


def test_answers_over_a_websocket_are_not_those_of_an_earlier_operation(client, service):
    """A connection lives long; what it has looked up does not."""
    with Socket(client) as socket:
        query = {"query": '{ symbol(ref: "compile_path") { doc } state { generation } }'}
        (first,) = socket.run("1", query)
        service.index(full=True)
        (second,) = socket.run("2", query)
    assert second["data"]["state"]["generation"] > first["data"]["state"]["generation"]
    assert second["data"]["symbol"] == first["data"]["symbol"]


@pytest.mark.parametrize("text", ["nonsense", "[]", '"text"', "{}", '{"type": "nonsense"}', '{"type": "subscribe", "id": "1"}'])
def test_a_message_that_is_none_closes_the_connection_and_nothing_else(client, text):
    with Socket(client) as socket:
        socket.raw.send(text)
        with pytest.raises(ConnectionClosed) as closed:
            socket.raw.recv(timeout=5)
        assert closed.value.rcvd.code == 4400
    assert client.ask("{ project { name } }")


def test_subscriptions_of_a_connection_are_limited(limited):
    with Socket(limited(subscriptions=2)) as socket:
        for number in "123":
            socket.send(id=number, type="subscribe", payload={"operationName": "IndexProgress"})
        message = socket.receive()
        assert (message["id"], message["type"]) == ("3", "error")


def test_a_slow_subscriber_loses_old_steps_and_keeps_the_last(service):
    from graphmem.api.requests.progress import Fan
    from graphmem.model import IndexProgress
    from graphmem.project.graph.progress import Hub

    async def listen():
        source = Hub(replay=True)
        hub = Fan(source.feed, is_state=True)
        steps = hub.steps(follow=False)
        first = asyncio.ensure_future(anext(steps))
        await asyncio.sleep(0)  # until it listens
        source.publish(IndexProgress("parse", 0, 500, ""))
        await first
        for done in range(500):
            source.publish(IndexProgress("parse", done, 500, ""))
            if done % 50 == 0:
                await asyncio.to_thread(lambda: None)
        source.publish(IndexProgress("done", 1, 1, ""))
        await until(lambda: hub._last == IndexProgress("done", 1, 1, ""))
        rest = [step async for step in steps]
        hub.close()
        return rest

    rest = asyncio.run(listen())
    assert rest[-1].stage == "done"
    assert len(rest) < 200


def test_a_slow_subscriber_of_changes_is_told_that_it_missed_some():
    from graphmem.api.requests.progress import Fan
    from graphmem.errors import LimitError
    from graphmem.project.graph.progress import Hub

    async def listen(count):
        source = Hub()
        fan = Fan(source.feed, is_state=False)
        changes = fan.steps(follow=True)
        first = asyncio.ensure_future(anext(changes))
        await asyncio.sleep(0)  # until it listens
        source.publish(-1)
        assert await first == -1
        for change in range(count):
            source.publish(change)
        await until(lambda: fan._last == count - 1 or fan._subscribers[0].missed)
        fan.close()
        return [change async for change in changes]

    assert asyncio.run(listen(60)) == list(range(60))
    with pytest.raises(LimitError, match="subscribe again"):
        asyncio.run(listen(100))


def test_a_slow_listener_of_changes_in_the_process_is_told_that_it_missed_some():
    from graphmem.errors import LimitError
    from graphmem.project.graph.progress import MAX_WAITING, Hub

    for replay, count in ((False, MAX_WAITING), (True, MAX_WAITING + 50)):
        source = Hub(replay=replay)
        with source.feed() as events:
            for change in range(count):
                source.publish(change)
            assert [next(events) for _ in range(MAX_WAITING)] == list(range(count))[-MAX_WAITING:]
    source = Hub()
    with source.feed() as events:
        for change in range(MAX_WAITING + 1):
            source.publish(change)
        with pytest.raises(LimitError, match="subscribe again"):
            next(events)


def test_subscriptions_end_with_an_error_if_the_listening_thread_missed_changes_and_new_ones_go_on():
    from graphmem.api.requests.progress import Fan
    from graphmem.errors import LimitError
    from graphmem.project.graph.progress import MAX_WAITING, Hub

    async def listen():
        source = Hub()
        fan = Fan(source.feed, is_state=False)
        changes = fan.steps(follow=True)
        first = asyncio.ensure_future(anext(changes))
        await asyncio.sleep(0)  # until it listens
        with fan._lock:  # as while the thread has no turn
            for change in range(MAX_WAITING + 2):
                source.publish(change)
        with pytest.raises(LimitError, match="subscribe again"):
            await first
        again = fan.steps(follow=True)
        second = asyncio.ensure_future(anext(again))
        await asyncio.sleep(0)  # until it listens
        source.publish("later")
        assert await second == "later"
        fan.close()

    asyncio.run(asyncio.wait_for(listen(), 20))


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("subscription {", "BAD_INPUT"),
        ("subscription { nonsense }", "BAD_INPUT"),
        ("subscription { indexProgress { stage " + "done " * 5_000 + "} }", "LIMIT"),
        ('query { symbol(ref: "no such thing") { id } }', "NOT_FOUND"),
    ],
)
def test_refusals_reach_a_stream_as_its_only_event(client, query, code):
    response = client.post({"query": query}, accept="text/event-stream")
    events = [line[6:] for line in response.text.split("\r\n") if line.startswith("data: {")]
    (event,) = map(json.loads, events)
    assert event["errors"][0]["extensions"]["code"] == code
    assert response.text.endswith("event: complete\r\ndata: \r\n\r\n")


def test_changes_of_memories_are_told_as_they_happen(client, service):
    with Socket(client) as socket:
        socket.send(id="1", type="subscribe", payload={"operationName": "MemoryChanged"})
        socket.send(type="ping")
        assert socket.receive()["type"] == "pong"
        kept = service.remember("Routes are compiled once, when the application starts.", type="fact").memory
        told = socket.receive()["payload"]["data"]["memoryChanged"]
        assert [base64.b64decode(one).decode() for one in told["changed"]] == [f"Memory:{kept.id}"]
        assert told["removed"] == []
        service.forget(kept.id, hard=True)
        gone = socket.receive()["payload"]["data"]["memoryChanged"]
        assert [base64.b64decode(one).decode() for one in gone["removed"]] == [f"Memory:{kept.id}"]
        socket.send(id="1", type="complete")


def test_impact_is_told_again_when_a_run_changes_it(client, service, repository):
    """A new caller and its removal are told; an edit that changes nothing for the target is not."""
    query = "subscription($t: [String!]!) { impactChanged(targets: $t) { hits { symbol { path } } tests { symbol { path } } } }"
    caller, other = repository / "starlette" / "new_caller.py", repository / "starlette" / "other_file.py"

    def told(socket):
        report = socket.receive()["payload"]["data"]["impactChanged"]
        return {hit["symbol"]["path"] for hit in (*report["hits"], *report["tests"])}

    try:
        with Socket(client) as socket:
            socket.send(id="1", type="subscribe", payload={"query": query, "variables": {"t": ["compile_path"]}})
            before = told(socket)
            assert "tests/test_starlette.py" in before
            caller.write_text("from starlette.routing import compile_path\n\n\ndef calls():\n    return compile_path('/')\n")
            service.index()
            assert told(socket) == before | {"starlette/new_caller.py"}
            other.write_text("def alone():\n    return 1\n")
            service.index()
            caller.unlink()
            service.index()
            assert told(socket) == before
            socket.send(id="1", type="complete")
            (answer,) = socket.run("2", {"query": query, "variables": {"t": ["no such thing"]}})
            assert answer["errors"][0]["extensions"]["code"] == "NOT_FOUND"
    finally:
        caller.unlink(missing_ok=True)
        other.unlink(missing_ok=True)
        service.index()
