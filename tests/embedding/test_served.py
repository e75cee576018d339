"""Embedding by a server on loopback that speaks both protocols, well and badly."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from graphmem import GraphMem
from graphmem.embedding.choose import NO_SERVER, Server, choose, for_model
from graphmem.embedding.hashed import HashedEmbedder
from graphmem.embedding.served import ServedEmbedder
from graphmem.errors import EmbedderError, SettingsError
from graphmem.runtime.network.rest import FAILURES, REST_S
from graphmem.settings import PROJECT_FILE, Settings, load_settings

TEXTS = ["def add(a, b): return a + b", "class Cart: pass", "sort a list of numbers"]


class EmbeddingServer:
    """Answers with hashed features; `play` replaces the next answers by (status, body, headers) or waits for an event."""

    def __init__(self) -> None:
        self.model = HashedEmbedder(64)
        self.asked: list[tuple[str, dict, dict]] = []
        self.play = None
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                owner.asked.append((self.path, body, dict(self.headers)))
                if owner.play is not None:
                    status, raw, headers = owner.play() if callable(owner.play) else owner.play
                else:
                    vectors = (owner.model.encode(body["input"]) * 3).tolist()
                    if self.path.endswith("/api/embed"):
                        answer = {"model": body["model"], "embeddings": vectors}
                    else:
                        rows = [{"index": n, "embedding": vector} for n, vector in enumerate(vectors)]
                        answer = {"object": "list", "data": rows[::-1]}
                    status, raw, headers = 200, json.dumps(answer).encode(), {}
                self.send_response(status)
                for name, value in {"Content-Length": str(len(raw)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *said: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}"

    def stop(self) -> None:
        if self.thread.is_alive():
            self.http.shutdown()
            self.http.server_close()
            self.thread.join(5)


@pytest.fixture
def served():
    server = EmbeddingServer()
    yield server
    server.stop()


@pytest.mark.parametrize(("protocol", "base", "path"), [("openai", "/v1", "/v1/embeddings"), ("ollama", "", "/api/embed")])
def test_vectors_come_in_the_order_of_the_texts_with_unit_length(served, protocol, base, path):
    embedder = ServedEmbedder(protocol, served.url + base, "small", "k-1", timeout_s=5)
    vectors = embedder.encode(TEXTS)
    assert np.allclose(vectors, served.model.encode(TEXTS), atol=1e-6)
    assert embedder.dim == 64
    asked, body, headers = served.asked[0]
    assert (asked, body["model"], body["input"]) == (path, "small", TEXTS)
    assert headers["Authorization"] == "Bearer k-1"
    assert embedder.encode([]).shape == (0, 64)
    assert len(served.asked) == 1


def test_a_prefix_of_the_vector_is_a_model_of_its_own(served):
    whole, short = (ServedEmbedder("openai", served.url, "small", prefix=prefix) for prefix in (0, 16))
    expected = whole.encode(TEXTS)[:, :16]
    assert np.allclose(short.encode(TEXTS), expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)
    assert short.model_id != whole.model_id
    with pytest.raises(EmbedderError, match=r"have only .* values; set embedder_prefix to at most"):
        ServedEmbedder("openai", served.url, "small", prefix=100).encode(TEXTS)


@pytest.mark.parametrize(
    ("play", "said"),
    [
        ((404, b"{}", {}), "answered 404"),
        ((302, b"", {"Location": "http://127.0.0.1:1/"}), "does not follow"),
        ((200, b"<html>", {}), "did not answer in the protocol"),
        ((200, b'{"data": []}', {}), "for 3 texts"),
        ((200, b'{"data": [{"index": 0, "embedding": [1, 2]}]}', {}), "for 3 texts"),
        ((200, json.dumps({"data": [{"index": n, "embedding": [0, 0]} for n in range(3)]}).encode(), {}), "is zero"),
        ((200, json.dumps({"data": [{"index": n, "embedding": [float("nan"), 0]} for n in range(3)]}).encode(), {}), "NaN or infinite"),
    ],
)
def test_an_unusable_answer_is_refused_and_the_key_is_not_told(served, play, said):
    served.play = play
    with pytest.raises(EmbedderError, match=said) as refusal:
        ServedEmbedder("openai", served.url, "small", "k-1", timeout_s=5).encode(TEXTS)
    assert "k-1" not in str(refusal.value)


def test_a_server_that_does_not_answer_is_given_up_and_left_alone_after_three_failures(served):
    held = threading.Event()

    def hold():
        held.wait(10)
        return 200, b"{}", {}

    served.play = hold
    offset = [0.0]
    embedder = ServedEmbedder("openai", served.url, "small", timeout_s=0.1, clock=lambda: time.monotonic() + offset[0])
    for _ in range(FAILURES):
        with pytest.raises(EmbedderError, match="did not answer"):
            embedder.encode(TEXTS)
    count = len(served.asked)
    with pytest.raises(EmbedderError, match="no request is sent for a minute"):
        embedder.encode(TEXTS)
    assert len(served.asked) == count
    held.set()
    served.play = None
    offset[0] = REST_S + 1
    embedder._outbound.timeout_s = 5
    assert embedder.encode(TEXTS).shape == (3, 64)


def test_the_server_must_be_configured_whole():
    for server in (NO_SERVER, Server(url="http://127.0.0.1:1"), Server(model="small"), Server("ftp://host", "small")):
        with pytest.raises(SettingsError):
            choose("openai", server=server)
    with pytest.raises(SettingsError, match="unencrypted"):
        choose("openai", server=Server("http://example.com/v1", "small", "k-1"))


def test_former_vectors_are_served_again_only_by_their_own_host():
    server = Server("http://127.0.0.1:9/v1", "new")
    old = for_model("openai:127.0.0.1/old@0", server=server)
    assert old is not None
    assert old.model_id == "openai:127.0.0.1/old@0"
    assert for_model("openai:example.com/old@0", server=server) is None
    assert for_model("openai:127.0.0.1/old@0") is None


def test_a_repository_does_not_choose_who_reads_the_texts(tmp_path):
    (tmp_path / PROJECT_FILE).write_text('embedder_url = "https://example.com"\nembedder_key = "k"\n')
    settings = load_settings(tmp_path)
    assert (settings.embedder_url, settings.embedder_key) == ("", "")
    assert len(settings.ignored) == 2


def test_a_project_switches_to_the_server_and_answers_by_words_when_it_is_gone(tmp_path, served):
    tree = tmp_path / "tree"
    tree.mkdir()
    for n, text in enumerate(TEXTS):
        (tree / f"m{n}.py").write_text(f"def function_{n}():\n    '''{text}'''\n    return {n}\n")
    with GraphMem.open(tmp_path / "index", settings=Settings(embedder="hashed", workers=1)) as memory:
        memory.index(tree)
        memory.fill_vectors(background=False)
    settings = Settings(workers=1, embedder="openai", embedder_url=f"{served.url}/v1", embedder_model="small", embedder_seconds=2)
    with GraphMem.open(tmp_path / "index", settings=settings, patience_s=0) as memory:
        memory.wait_until_ready()
        before = memory.search("sort numbers")
        assert "dense" in before.answered
        assert all(body["input"] != ["sort numbers"] for _, body, _ in served.asked), "the old vectors answer"
        memory.fill_vectors(background=False)
        assert served.asked
        found = memory.search("sort numbers")
        assert "dense" in found.answered
        assert found.hits[0].path == "m2.py"
        assert list(memory.parts.store.vector_models()) == ["openai:127.0.0.1/small@0"]
        served.stop()
        words = memory.search("sort many numbers")
        assert words.hits[0].path == "m2.py"
        assert "cannot be reached" in words.missing["dense"]
