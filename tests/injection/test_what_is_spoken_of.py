"""Only relevant memories are injected.

A nearest memory always exists, and that alone is not a reason to show it.
"""

from __future__ import annotations

import time

import pytest

from graphmem.injection.floor import sentences_of
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

LONG = 30.0
KNOWN = {
    "stream": "Request.stream() may be read once: a second read raises RuntimeError, unless body() was called first.",
    "order": "Middleware is wrapped from the last added to the first, so the last added sees a request first.",
    "templates": "Tried to make Jinja2Templates async all the way: rendering blocks anyway, abandoned.",
    "cookie": "SessionMiddleware signs the cookie and does not encrypt it: its owner can read the content of the session.",
    "static": "StaticFiles checks that its directory exists when the application starts, not when a file is asked for.",
    "background": "A background task runs after the response was sent, so an exception in it reaches no client.",
    "client": "TestClient runs the lifespan only as a context manager; without `with` start-up handlers are not called.",
    "close": "Closing a websocket twice raises RuntimeError; check client_state before you close it.",
}
ANSWERED = {
    "why does reading the request stream twice raise an error": "stream",
    "in which order do middlewares see a request": "order",
    "can templates be rendered asynchronously": "templates",
    "is the session cookie encrypted": "cookie",
    "the directory of static files does not exist": "static",
    "exception in a background task": "background",
    "start-up handlers are not called in my test": "client",
    "runtime error when a websocket is closed again": "close",
}
UNANSWERED = (
    "bake a chocolate cake",
    "deploy to kubernetes please",
    "kubernetes ingress",
    "train a neural network on images",
    "write a SQL migration for the users table",
    "rotate the AWS access keys",
    "what is the capital of France",
    "translate the documentation into Spanish",
    "bump the version number",
    "please refactor this module",
)


@pytest.fixture(scope="module", params=["auto", "hashed", "none"])
def asked(request, project, tmp_path_factory):
    """Which of the memories the first message brings, and which answer a search; with the packaged model, another, and none."""
    with GraphMem.open(tmp_path_factory.mktemp("spoken"), repo=project, settings=Settings(embedder=request.param)) as opened:
        opened.index(project)
        answer = opened.remember_many([{"content": text, "type": "gotcha", "source": "user_taught"} for text in KNOWN.values()])
        named = {result.id: name for result, name in zip(answer.results, KNOWN, strict=True)}
        opened.search("warm", kinds=["memory"])
        index = opened.parts.projections.memories()
        until = time.monotonic() + 60
        while request.param != "none" and index.covered()[0] < len(KNOWN):
            assert time.monotonic() < until, "memories have no vectors"
            time.sleep(0.05)

        def shown(text):
            found = opened.context("prompt", text=text, deadline_s=LONG)
            return [named[one.id] for one in found.items if one.kind == "memory"]

        def answers(text):
            return [named[one] for one in opened.parts.injector._finder.answers(text)]

        yield shown, answers


@pytest.mark.parametrize(("question", "name"), ANSWERED.items())
def test_what_a_question_speaks_of_is_shown(asked, question, name):
    shown, answers = asked
    assert name in shown(question)
    assert name in answers(question)


@pytest.mark.parametrize("question", UNANSWERED)
def test_for_what_nothing_is_known_of_nothing_is_shown(asked, question):
    shown, answers = asked
    assert (shown(question), answers(question)) == ([], [])


def test_one_sentence_of_a_long_message_is_enough(asked):
    shown, _ = asked
    around = "We meet on Friday to talk about the plan for the quarter. " * 20
    assert shown(f"{around}\nAnd is the session cookie encrypted?\n{around}") == ["cookie"]


def test_a_name_of_code_is_enough(asked):
    shown, answers = asked
    assert shown("SessionMiddleware") == answers("SessionMiddleware") == ["cookie"]


def test_sentences_are_what_they_mean_and_a_text_of_little_words_is_what_it_says():
    assert sentences_of("Is the cookie signed? It is.\nIs the cookie signed?") == [{"cookie", "signed"}]
    assert sentences_of("what is it") == [{"what", "is", "it"}]
