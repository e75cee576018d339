"""Reranking by a server on loopback that speaks both protocols, well and badly."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from graphmem import GraphMem
from graphmem.embedding.cross import CrossEncoderReranker
from graphmem.embedding.served_reranker import ServedReranker, reranker_of
from graphmem.errors import EmbedderError, SettingsError
from graphmem.runtime.network.rest import FAILURES, REST_S
from graphmem.settings import PROJECT_FILE, Settings, load_settings

TEXTS = ["trains are late", "bowls are fired twice in the kiln", "the cache is flushed"]


class RerankingServer:
    """Score by the words that a string shares with the query.

    `play` replaces the answer by (status, body).
    """

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict, dict]] = []
        self.play = None
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                owner.asked.append((self.path, body, dict(self.headers)))
                if owner.play is not None:
                    status, raw = owner.play() if callable(owner.play) else owner.play
                else:
                    status, raw = 200, json.dumps(owner.answer(body)).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *said: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"

    @staticmethod
    def answer(body: dict) -> object:
        query = set(body["query"].split())
        scores = [float(len(query & set(text.split()))) for text in body.get("documents") or body["texts"]]
        ranked = sorted(enumerate(scores), key=lambda pair: -pair[1])
        if "texts" in body:
            return [{"index": n, "score": score} for n, score in ranked]
        return {"model": body.get("model"), "results": [{"index": n, "relevance_score": score} for n, score in ranked]}

    def stop(self) -> None:
        if self.thread.is_alive():
            self.http.shutdown()
            self.http.server_close()
            self.thread.join(5)


@pytest.fixture
def served():
    server = RerankingServer()
    yield server
    server.stop()


@pytest.mark.parametrize("protocol", ["documents", "texts"])
def test_scores_come_in_the_order_of_the_texts(served, protocol):
    reranker = ServedReranker(f"{served.url}/v1", "small", "k-1", protocol=protocol, timeout_s=5)
    assert reranker.scores("bowls in the kiln", TEXTS) == [0.0, 4.0, 1.0]
    path, body, headers = served.asked[0]
    assert (path, body["model"], body[protocol]) == ("/v1/rerank", "small", TEXTS)
    assert headers["Authorization"] == "Bearer k-1"
    assert reranker.scores("bowls", []) == []
    assert len(served.asked) == 1


@pytest.mark.parametrize(
    ("play", "said"),
    [
        ((404, b"{}"), "answered 404"),
        ((200, b"<html>"), "did not answer in the protocol"),
        ((200, b"[]"), "did not answer in the protocol"),
        ((200, b'{"results": [{"index": 0, "relevance_score": 1}]}'), "1 of 3 texts"),
        ((200, json.dumps({"results": [{"index": n, "relevance_score": float("nan")} for n in range(3)]}).encode()), "NaN or infinite"),
    ],
)
def test_an_unusable_answer_is_refused_and_the_key_is_not_told(served, play, said):
    served.play = play
    with pytest.raises(EmbedderError, match=said) as refusal:
        ServedReranker(served.url, key="k-1", timeout_s=5).scores("a", TEXTS)
    assert "k-1" not in str(refusal.value)


def test_a_server_that_does_not_answer_is_given_up_and_left_alone_after_three_failures(served):
    held = threading.Event()

    def hold():
        held.wait(10)
        return 200, b"{}"

    served.play = hold
    offset = [0.0]
    reranker = ServedReranker(served.url, timeout_s=0.1, clock=lambda: time.monotonic() + offset[0])
    for _ in range(FAILURES):
        with pytest.raises(EmbedderError, match="did not answer"):
            reranker.scores("a", TEXTS)
    with pytest.raises(EmbedderError, match="no request is sent for a minute"):
        reranker.scores("a", TEXTS)
    assert len(served.asked) == FAILURES
    held.set()
    served.play = None
    offset[0] = REST_S + 1
    reranker._outbound.timeout_s = 5
    assert reranker.scores("trains", TEXTS) == [1.0, 0.0, 0.0]


def test_one_reranker_is_configured_at_most():
    assert reranker_of(Settings()) is None
    assert isinstance(reranker_of(Settings(reranker="folder")), CrossEncoderReranker)
    assert isinstance(reranker_of(Settings(reranker_url="http://127.0.0.1:9")), ServedReranker)
    with pytest.raises(SettingsError, match="unset one of them"):
        reranker_of(Settings(reranker="folder", reranker_url="http://127.0.0.1:9"))
    with pytest.raises(SettingsError, match="unencrypted"):
        reranker_of(Settings(reranker_url="http://example.com", reranker_key="k-1"))


def test_a_repository_does_not_choose_who_reads_the_hits(tmp_path):
    (tmp_path / PROJECT_FILE).write_text('reranker_url = "https://example.com"\nreranker_key = "k"\n')
    settings = load_settings(tmp_path)
    assert (settings.reranker_url, settings.reranker_key) == ("", "")
    assert len(settings.ignored) == 2


def test_a_search_is_ordered_by_the_server_and_keeps_its_order_when_it_is_gone(tmp_path, served):
    settings = Settings(embedder="none", reranker_url=served.url, reranker_seconds=2)
    with GraphMem.open(tmp_path / "index", settings=settings) as memory:
        for text in ("late late trains", "some trains are late in the kiln", "late bowls"):
            memory.remember(text, "fact")
        own = memory.search("late in the kiln", kinds={"memory"})
        assert "rerank" in own.answered
        assert own.hits[0].memory.content == "some trains are late in the kiln"
        served.play = lambda: (200, json.dumps({"results": [{"index": n, "relevance_score": n} for n in range(3)]}).encode())
        turned = memory.search("late in the kiln", kinds={"memory"})
        assert turned.hits[-1].id == own.hits[0].id, "the server decides the order"
        served.stop()
        words = memory.search("late in the kiln", kinds={"memory"})
        assert next(hit.id for hit in words.hits) == own.hits[0].id
        assert "cannot be reached" in words.missing["rerank"]
