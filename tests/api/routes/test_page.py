"""The query page works in a browser with no internet, and says so when it was not built."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import time
from pathlib import Path

import pytest
from graphql import build_schema, parse, validate

from graphmem.api.routes import page
from graphmem.api.sdl import sdl
from hosted import SHOP, SITE, hosted, indexed

BROWSER = Path(__file__).parents[3] / "benchmarks" / "browser.py"
spec = importlib.util.spec_from_file_location("graphmem_benchmark_browser", BROWSER)
browser = importlib.util.module_from_spec(spec)
spec.loader.exec_module(browser)
CHROMIUM, chromium = browser.CHROMIUM, browser.chromium


def in_browser(test):
    """Marks a test that needs Chromium and the built page."""
    skip = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
    return pytest.mark.browser(skip(test))


TOKEN = "open sesame"
SOURCES = Path(__file__).parents[3] / "web" / "src"
OURS = ("index.html", "page.js", "page.css")  # copied by the build as they are
EXAMPLES = ["Overview", "WhatBreaks", "MadeOf", "WhereItHurts", "Search"]  # a tab each


TEXT = "document.querySelector('.graphiql-query-editor .CodeMirror')?.CodeMirror.getValue()"
RUN = "document.querySelector('.graphiql-execute-button')"
RESULT = "document.querySelector('.result-window .CodeMirror')?.CodeMirror.getValue()"
DATA = f"(({RESULT}) ?? '').includes('\"data\"') && {RESULT}"  # not the refusal that was shown before the token was given


@in_browser
def test_the_page_renders_and_runs_a_query_without_asking_anybody_else(client, service, tmp_path):
    need_assets()
    with chromium(tmp_path) as tab:
        tab.open(f"{client.address}/graphql")
        assert "query Overview" in tab.until(TEXT)
        assert tab.value("[...document.querySelectorAll('.graphiql-tab')].map((one) => one.innerText.trim())") == EXAMPLES
        tab.value(f"{RUN}.click()")
        shown = json.loads(tab.until(RESULT))
        if picture := os.environ.get("GRAPHMEM_TEST_SCREENSHOT"):
            tab.screenshot(Path(picture))
        elsewhere = [url for url in tab.requested() if not url.startswith((client.address + "/", "data:"))]
        troubles = tab.troubles()
    assert shown["data"]["project"]["state"]["files"] == service.state().files
    assert shown["data"]["symbols"]["totalCount"] > 0
    assert elsewhere == []
    assert troubles == []


def test_every_example_is_an_operation_of_this_schema():
    text = (SOURCES / "page.js").read_text(encoding="utf-8")
    found = [parse(one) for one in re.findall(r"`(# .*?)`", text, re.DOTALL)]
    assert [one.definitions[0].name.value for one in found] == EXAMPLES
    schema = build_schema(sdl())
    for one in found:
        assert validate(schema, one) == []


def need_assets():
    if not (page.assets() / page.PAGE).is_file():
        pytest.skip("the query page is not built: npm --prefix web ci && npm --prefix web run build")
    old = [name for name in OURS if (page.assets() / name).read_bytes() != (SOURCES / name).read_bytes()]
    assert not old, f"the built query page is older than web/src ({', '.join(old)}); run `make page`"


@in_browser
def test_the_page_takes_the_token_from_the_address_or_asks_for_it(serve, tmp_path):
    need_assets()
    client = serve(token=TOKEN)
    with chromium(tmp_path) as tab:
        tab.open(f"{client.address}/graphql")
        tab.until("!document.getElementById('token-form').hidden")
        tab.value(f"document.getElementById('token').value = {json.dumps(TOKEN)}; document.querySelector('#token-form button').click()")
        tab.until("document.getElementById('token-form').hidden")
        tab.until(f"!!{RUN}")
        tab.until(TEXT)  # an operation can be run after the editor has it
        tab.value(f"{RUN}.click()")
        assert json.loads(tab.until(DATA)).get("errors") is None

        tab.value("sessionStorage.clear()")
        tab.call("Page.navigate", url="about:blank")
        tab.call("Page.navigate", url=f"{client.address}/graphql?again#token={TOKEN.replace(' ', '%20')}")
        tab.until(f"!!{RUN}")
        tab.until(TEXT)  # an operation can be run after the editor has it
        tab.value(f"{RUN}.click()")
        assert json.loads(tab.until(DATA)).get("errors") is None
        assert TOKEN not in tab.value("decodeURIComponent(window.location.href)")


@in_browser
def test_the_page_shows_a_subscription(own, tmp_path):
    need_assets()
    client = own.client
    with chromium(tmp_path) as tab:
        tab.open(f"{client.address}/graphql?query=subscription%7BindexProgress(follow%3Afalse)%7Bstage%7D%7D")
        tab.until(f"!!{RUN}")
        for _ in range(6):
            tab.value(f"{RUN}.click()")  # lost while the editor has no text yet
            deadline = time.monotonic() + 5
            while not client.state.progress._subscribers and time.monotonic() < deadline:
                time.sleep(0.02)
            if client.state.progress._subscribers:
                break
        assert client.state.progress._subscribers
        client.ask("mutation { index { runId } }")
        tab.until(f"({RESULT} ?? '').includes('done')")


def test_the_page_s_files_name_no_other_address():
    need_assets()
    for name in OURS:
        text = (page.assets() / name).read_text(encoding="utf-8")
        assert "http://" not in text
        assert "https://" not in text


def test_without_its_assets_the_page_says_how_to_get_them_and_everything_else_works(client, monkeypatch, tmp_path):
    monkeypatch.setattr(page, "assets", lambda: tmp_path)
    response = client.http.get("/graphql")
    assert response.status_code == 200
    assert "npm --prefix web ci" in response.text
    assert client.ask("{ project { name } }")


def test_the_lock_file_pins_bytes_and_no_registry():
    web = Path(__file__).parents[3] / "web"
    lock = json.loads((web / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name: one for name, one in lock["packages"].items() if name}
    assert all("resolved" not in one for one in packages.values())
    assert all(one["integrity"].startswith("sha512-") for one in packages.values())
    wanted = json.loads((web / "package.json").read_text(encoding="utf-8"))["dependencies"]
    assert all(packages[f"node_modules/{name}"]["version"] == version for name, version in wanted.items())


@in_browser
def test_the_page_of_one_project_of_a_server_asks_that_project_and_leads_back_to_it(tmp_path):
    need_assets()
    with hosted(tmp_path / "srv") as server:
        for name, files in (("shop", SHOP), ("site", SITE)):
            with indexed(tmp_path / name, files) as own:
                own.push_index(server.project(name))
        token = server.enter("ann", project="site")
        with chromium(tmp_path / "chromium") as tab:
            tab.open(f"{server.project('site')}/graphql")
            tab.until("!document.getElementById('token-form').hidden")
            tab.value(f"document.getElementById('token').value = {json.dumps(token)}; document.querySelector('#token-form button').click()")
            tab.until("document.getElementById('token-form').hidden")
            tab.until(TEXT)
            tab.value(f"{RUN}.click()")
            shown = json.loads(tab.until(DATA))
            assert shown.get("errors") is None
            assert shown["data"]["project"]["name"] == "site"
            back = tab.value("document.querySelector('nav a').href")
            tab.value("sessionStorage.clear()")
            tab.call("Page.navigate", url=back)
            tab.until("document.querySelector('form.token')")
            form = "document.querySelector('form.token')"
            tab.value(f"{form}.querySelector('input').value = {json.dumps(token)}; {form}.requestSubmit(); 1")
            tab.until("document.body.innerText.includes('1 file, 3 symbols')")
            assert [url for url in tab.requested() if not url.startswith((server.address + "/", "data:"))] == []
            troubles = [one for one in tab.troubles() if "401" not in str(one)]
    assert back == f"{server.project('site')}/explore/"
    assert troubles == []
