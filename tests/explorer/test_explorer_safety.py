"""The explorer in a real browser stays safe from what a repository contains."""

from __future__ import annotations

import gzip

import pytest

from explorer_views import PAINTED
from graphmem.api.routes import explorer as pages
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

pytestmark = pytest.mark.browser


def test_the_token_is_asked_for_and_taken_from_the_address(tab, remembered, serve, visit):
    with serve(remembered, token="open sesame") as address:
        tab.open(f"{address}/")
        tab.until("document.querySelector('form.token')")
        tab.value("document.querySelector('form.token input').value = 'wrong'; document.querySelector('form.token').requestSubmit(); 1")
        tab.until("document.querySelector('form.token [role=alert]')")
        tab.value(
            "document.querySelector('form.token input').value = 'open sesame'; document.querySelector('form.token').requestSubmit(); 1"
        )
        tab.until(PAINTED)
        assert tab.value("Boolean(document.querySelector('form.token'))") is False  # also when an earlier refusal comes late
        tab.value("sessionStorage.clear()")
        tab.call("Page.navigate", url="about:blank")
        tab.call("Page.navigate", url=f"{address}/explore/graph#token=open%20sesame")
        tab.until(PAINTED)
        assert "sesame" not in tab.value("location.href")
        tab.events.clear()  # the refusals that were asked for are in the browser's log


MARKUP = '<img src=x onerror="window.taken=1"><script>window.taken=1</script>'
HOSTILE = {
    "<img src=x onerror=window.taken=1>.py": f'"""{MARKUP}"""\n\ndef victim():\n    """{MARKUP}"""\n    return 1\n',
    "javascript:window.taken=1.py": "from normal import victim_of_all\n\ndef clicked():\n    return victim_of_all()\n",
    "normal.py": f'def victim_of_all():\n    """{MARKUP}"""\n    return "{MARKUP[:20]}"\n',
    "od\u202egnp.py": "def turned():\n    return 2\n",
    "tests/test_<svg onload=window.taken=1>.py": "from normal import victim_of_all\n\ndef test_it():\n    assert victim_of_all()\n",
}


FOREIGN = "img, script, svg, iframe, b, i:not(.line, .circle, .mark, .frame, [class^=heat])"
"""Elements that the explorer does not make itself; it uses `i` of these classes for the marks in legends."""


def test_what_a_hostile_repository_says_stays_text(tab, tmp_path, serve, visit):
    root = tmp_path / "<b>repo<b>"
    for name, text in HOSTILE.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace('"""<', "'''<").replace('>"""', ">'''"), encoding="utf-8")
    with GraphMem.open(tmp_path / "index", repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        memory.remember(f"victim_of_all {MARKUP} is to be kept", title=MARKUP, tags=["<i>tag</i>"], files=["normal.py"])
        for one in memory.memories().memories:
            memory.dispute(one.id, MARKUP)
        one = memory.memories().memories[0]
        with serve(memory) as address:
            for path in (
                "/",
                "/explore/graph?focus=normal.py",
                "/explore/graph?focus=normal.py:victim_of_all",
                "/explore/graph?around=normal.py:victim_of_all",
                "/explore/impact?of=normal.py:victim_of_all",
                "/explore/memories",
                f"/explore/memories?id={one.short_id}",
                "/explore/review",
                "/explore/health",
                "/explore/ask?q=victim_of_all",
                "/explore/<img src=x onerror=window.taken=1>",
                "/explore/impact?of=<img src=x onerror=window.taken=1>",
            ):
                visit(address + path, "document.querySelector('h1') && !document.querySelector('.loading')")
                assert tab.value("window.taken") is None
                assert tab.value(f"document.querySelectorAll('main :is({FOREIGN})').length") == 0
                assert tab.value("[...document.querySelectorAll('a')].filter((one) => one.protocol === 'javascript:').length") == 0
                assert "\u202e" not in tab.value("document.body.innerText")
            visit(address + "/explore/impact?of=normal.py:victim_of_all", "document.querySelectorAll('.zone').length === 3")
            assert "<svg onload" in tab.value("document.body.textContent")  # shown, as text


def test_the_policy_forbids_markup_scripts_and_strangers(explorer):
    import httpx

    with httpx.Client(base_url=explorer, trust_env=False) as client:
        policy = client.get("/").headers["content-security-policy"]
        assert "require-trusted-types-for 'script'" in policy
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert client.get("/explore/anything/at/all").headers["content-security-policy"] == policy
        assert client.get("/explore/assets/..%2f..%2fatlas.py").text == client.get("/").text  # the page, not the file
        assert client.get("/explore/assets/atlas.py").status_code == 404
        assert client.get("/explore/assets/index.html").status_code == 404
        assert client.get("/", headers={"host": "evil.example"}).status_code == 403
        assert client.get("/explore/assets/main.js").headers["content-type"].startswith("text/javascript")


def test_the_pages_weigh_little_and_name_no_other_address():
    files = [entry for entry in pages.assets().iterdir() if entry.is_file()]
    assert sum(len(gzip.compress(entry.read_bytes())) for entry in files) < 400_000
    for entry in files:
        text = entry.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")  # a name, which nobody fetches
        assert "http://" not in text
        assert "https://" not in text
        assert "innerHTML" not in text
        assert "eval(" not in text
