"""The client of a language model, against a real server that plays good, slow, broken and hostile ones."""

from __future__ import annotations

import socket
import time

import pytest

from graphmem import GraphMem
from graphmem.errors import LanguageModelError, SettingsError
from graphmem.language_model import FAILURES, MAX_ANSWER, MAX_REQUEST, REST_S, LanguageModel, configured
from graphmem.settings import PROJECT_FILE, Settings, load_settings
from made_once import empty_index

WORDS = {"type": "object", "properties": {"word": {"type": "string", "maxLength": 5}}, "required": ["word"], "additionalProperties": False}


@pytest.fixture
def model(server):
    return LanguageModel(server.url, "small", "k-1", timeout_s=5)


def refused(model, reason, **given):
    with pytest.raises(LanguageModelError) as refusal:
        model.json("say", "this", WORDS, **given)
    assert refusal.value.reason == reason
    assert "k-1" not in str(refusal.value)
    return refusal.value


def test_a_question_names_model_instructions_and_data_apart_and_carries_the_key(server, model):
    server.plays = [server.says("  a word  ")]
    assert model.text("say a word", "data") == "a word"
    asked = server.asked[0]
    assert asked["model"] == "small"
    assert [one["role"] for one in asked["messages"]] == ["system", "user"]
    assert asked["temperature"] == 0
    assert server.headers[0]["Authorization"] == "Bearer k-1"


@pytest.mark.parametrize("text", ['{"word": "yes"}', '```json\n{"word": "yes"}\n```'])
def test_json_is_read_with_and_without_a_fence(server, model, text):
    server.plays = [server.says(text)]
    assert model.json("say", "this", WORDS) == {"word": "yes"}


@pytest.mark.parametrize(
    "text", ["Of course! Here is your word: yes", '{"word": "too long"}', '{"word": 1}', "[]", "[" * 50_000, '{"word": "a", "b": 1}']
)
def test_prose_and_json_that_does_not_fit_are_refused(server, model, text):
    server.plays = [server.says(text)]
    refused(model, "malformed")
    assert len(server.asked) == 1


@pytest.mark.parametrize("body", [b"", b"<html>", b"{}", b'{"choices": []}', b'{"choices": [{"message": {"content": null}}]}', b"\xff\xfe"])
def test_an_answer_outside_the_protocol_is_refused(server, model, body):
    server.plays = [server.status(200, body)]
    refused(model, "malformed")


def test_a_server_in_trouble_is_asked_once_more_and_no_more(server, model):
    server.plays = [server.status(500), server.says('{"word": "yes"}')]
    assert model.json("say", "this", WORDS) == {"word": "yes"}
    server.plays = [server.status(503)]
    refused(model, "refused")
    assert len(server.asked) == 4


def test_a_refusal_is_not_repeated(server, model):
    server.plays = [server.status(401, b'{"error": "no such key k-1"}')]
    refused(model, "refused")
    assert len(server.asked) == 1


def test_redirects_are_not_followed(server, other_server, model):
    server.plays = [server.status(307, Location=other_server.url + "/chat/completions")]
    refused(model, "redirected")
    assert other_server.asked == []


def test_a_huge_answer_is_cut_off(server, model):
    server.plays = [server.status(200, b"x" * (MAX_ANSWER + 100_000))]
    refused(model, "too_large")


def test_a_question_that_is_too_large_is_not_sent(server, model):
    with pytest.raises(LanguageModelError) as refusal:
        model.text("say", "x" * MAX_REQUEST)
    assert refusal.value.reason == "too_large"
    assert server.asked == []


def test_time_is_kept_against_silence_and_against_drips(server, model):
    def silent(handler, asked):
        server.closing.wait(30)

    def drips(handler, asked):
        handler.send_response(200)
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        while not server.closing.wait(0.02):
            handler.wfile.write(b" ")
            handler.wfile.flush()

    def drips_headers(handler, asked):
        while not server.closing.wait(0.02):
            handler.wfile.write(b"H")
            handler.wfile.flush()

    server.plays = [silent, drips, drips_headers]
    begun = time.monotonic()
    for _ in range(3):
        model._failed = 0
        refused(model, "timeout", timeout_s=0.3)
    assert time.monotonic() - begun < 20  # far from the thirty seconds the server would take


def test_one_that_failed_three_times_is_left_alone_for_a_minute(server):
    now = [0.0]
    model = LanguageModel(server.url, "small", timeout_s=5, clock=lambda: now[0])
    server.plays = [server.status(400)] * FAILURES + [server.says('{"word": "yes"}')]
    for _ in range(FAILURES):
        refused(model, "refused")
    refused(model, "resting")
    assert len(server.asked) == FAILURES
    now[0] = REST_S + 1
    assert model.json("say", "this", WORDS) == {"word": "yes"}


def test_one_that_is_not_there_is_unreachable():
    with socket.socket() as held:  # bound and not listening: nobody else gets the port, and nobody answers
        held.bind(("127.0.0.1", 0))
        refused(LanguageModel(f"http://127.0.0.1:{held.getsockname()[1]}/v1", "small", timeout_s=5), "unreachable")


@pytest.mark.parametrize("url", ["ftp://host/v1", "host/v1", "http://user:pw@host/v1", "https://host/v1?key=1", "http://host:99999/v1", ""])
def test_what_is_not_an_address_is_refused(url):
    with pytest.raises(SettingsError):
        LanguageModel(url, "small")


def test_a_key_never_travels_unencrypted():
    with pytest.raises(SettingsError):
        LanguageModel("http://example.com/v1", "small", "k-1")
    LanguageModel("https://example.com/v1", "small", "k-1")
    LanguageModel("http://localhost:1/v1", "small", "k-1")


def test_there_is_none_unless_one_is_configured_and_a_repository_cannot_choose_it(tmp_path):
    assert configured(Settings()) is None
    with pytest.raises(SettingsError):
        configured(Settings(model_url="https://example.com/v1"))
    for line in ("model_url = 'https://example.com/v1'", "model_key = 'k-1'"):
        (tmp_path / PROJECT_FILE).write_text(line + "\n")
        settings = load_settings(tmp_path)
        assert configured(settings) is None
        assert "is ignored" in settings.ignored[0]
        assert "k-1" not in settings.ignored[0]
    settings = load_settings(
        None, {"GRAPHMEM_MODEL_URL": "https://example.com/v1", "GRAPHMEM_MODEL_NAME": "small", "GRAPHMEM_MODEL_KEY": "k-1"}
    )
    assert configured(settings).name == "small"
    assert "k-1" not in str(settings.shown("model_key"))


def test_a_search_for_memories_that_finds_little_asks_what_one_would_say(server, tmp_path):
    server.plays = [server.says("Bowls are fired in the kiln"), server.status(500)]
    settings = Settings(embedder="hashed", model_url=server.url, model_name="small")
    with GraphMem.open(empty_index(tmp_path / "index"), settings=settings) as gm:
        gm.remember("Pots and bowls are fired twice", "fact")
        gm.remember("Trains are late", "fact")
        found = gm.search("ceramics, with the key sk-ant-REDACTED", kinds=["memory"])
        assert found.hits[0].title == "Pots and bowls are fired twice"
        assert "hypothesis" in found.answered
        assert "sk-ant-api03" not in str(server.asked)
        again = gm.search("ceramics", kinds=["memory"])
        assert "500" in again.missing["hypothesis"]
        asked = len(server.asked)
        gm.search("ceramics")
        assert len(server.asked) == asked
