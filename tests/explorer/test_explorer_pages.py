"""The explorer in a real browser: every view on networkx's graph, for the keyboard, for both themes, and safe from what it shows."""

from __future__ import annotations

import difflib
import gzip
import json
import os
import subprocess
import time
from pathlib import Path
from urllib.parse import quote

import pytest

from graphmem.api import explorer as pages
from graphmem.observe.gates import OUTCOMES
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings
from trees import NETWORKX

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
PAINTED = "document.querySelector('.said')?.textContent.startsWith('Showing')"
VIEWS = {
    "home": ("/", f"{PAINTED} && document.querySelectorAll('.grid table').length > 1"),
    "graph": ("/explore/graph", PAINTED),
    "code": (
        "/explore/code?at=Graph.add_edge",
        "document.querySelector('.ln.in .mark') && document.querySelector('.around-small .node') && document.querySelector('.outline a')",
    ),
    "begin": ("/explore/code", "document.querySelectorAll('.card tbody tr').length > 5"),
    "compare": (
        "/explore/graph?around=Graph.add_edge&with=Graph.add_node",
        "document.querySelector('.node.both') && document.querySelector('.panel h2')",
    ),
    "file": ("/explore/graph?focus=classes%2Fgraph.py", "document.querySelectorAll('.panel details').length > 2"),
    "module": ("/explore/graph?focus=classes", "document.querySelectorAll('.panel table').length > 2"),
    "symbol": ("/explore/graph?focus=Graph.add_edge", "document.querySelector('.panel .signature')?.textContent.includes('add_edge')"),
    "around": (
        "/explore/graph?around=pagerank&depth=2",
        "document.querySelectorAll('.below tbody tr').length > 10 && document.querySelector('.panel h2')",
    ),
    "painted": (
        "/explore/graph?paint=impact&of=to_networkx_graph",
        "document.querySelector('.over strong') && document.querySelectorAll('.below > details:first-child tbody tr').length > 5",
    ),
    "together": ("/explore/graph?paint=together&of=classes%2Fgraph.py", "document.querySelector('.over strong')"),
    "hot": ("/explore/graph?heat=churn", "document.querySelector('.over')?.textContent.includes('no history')"),
    "impact": ("/explore/impact?of=to_networkx_graph", "document.querySelectorAll('.zone').length === 3"),
    "path": ("/explore/path?from=chain_decomposition&to=Graph.nodes", "document.querySelectorAll('.stop').length > 1"),
    "diff": ("/explore/diff", "document.querySelector('textarea')"),
    "coaccess": ("/explore/coaccess?files=classes%2Fgraph.py", "document.querySelector('h1') && !document.querySelector('.loading')"),
    "memories": ("/explore/memories", "document.querySelectorAll('.memory').length >= 5"),
    "news": (
        "/explore/news?days=30",
        "document.querySelectorAll('.dispute').length >= 5 && document.querySelectorAll('.listing a').length > 5",
    ),
    "onboarding": ("/explore/onboarding", "document.querySelectorAll('.sides .listing > li').length > 5"),
    "review": ("/explore/review", "document.querySelectorAll('.item').length >= 5"),
    "teach": ("/explore/teach", "document.querySelector('textarea')"),
    "health": ("/explore/health", "document.querySelector('.score') && document.querySelector('table')"),
    "sessions": ("/explore/sessions", "document.querySelector('h1') && !document.querySelector('.loading')"),
    "questions": ("/explore/questions", "document.querySelectorAll('.grid .card').length === 8"),
    "tangled": ("/explore/tangled", "document.querySelectorAll('main table tbody tr').length > 3"),
    "matrix": ("/explore/matrix", "document.querySelectorAll('.matrix td a').length > 20"),
    "ask": ("/explore/ask?q=adjacency+dict", "document.querySelectorAll('.evidence > li').length > 1"),
}


SERIOUS = """axe.run(document, {resultTypes: ["violations"]}).then((found) => found.violations
    .filter((one) => ["serious", "critical"].includes(one.impact))
    .map((one) => one.id + ": " + one.nodes.slice(0, 4)
        .map((node) => node.html.slice(0, 160) + " " + node.any.map((a) => a.message)[0]).join(" | ")))"""


@pytest.mark.parametrize("view", list(VIEWS))
def test_every_view_is_there_asks_nobody_else_is_accessible_and_fits_a_phone_and_twice_the_size(view, tab, explorer, remembered, visit):
    path, ready = VIEWS[view]
    visit(explorer + path, ready)
    tab.until("!document.querySelector('.loading')")
    assert tab.value("document.title").endswith("graphmem")
    assert "[object " not in tab.value("document.body.innerText"), "an element was put into a text"
    assert [url for url in tab.requested() if not url.startswith((explorer + "/", "data:", "about:"))] == []
    if folder := os.environ.get("GRAPHMEM_TEST_SCREENSHOTS"):
        Path(folder).mkdir(exist_ok=True)
        tab.screenshot(Path(folder) / f"{view}.png")

    for width, height in ((700, 450), (390, 844)):  # 1,400 pixels at 200%, and a phone
        tab.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        try:
            assert tab.value("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0, width
        finally:
            tab.call("Emulation.clearDeviceMetricsOverride")

    if not AXE.is_file():
        pytest.skip("axe-core is not there (npm --prefix web ci): all but accessibility was checked")
    tab.value("(() => {" + AXE.read_text(encoding="utf-8") + "})(); 1")
    for theme in ("light", "dark"):
        tab.value(f"document.documentElement.dataset.theme = '{theme}'; 1")
        assert tab.value(SERIOUS) == [], theme


@pytest.mark.parametrize("name", ["home", "graph", "around"])
def test_every_picture_has_a_table_of_the_same_content(name, tab, explorer, remembered, visit, networkx_service):
    path, ready = VIEWS[name]
    visit(explorer + path, ready)
    cells = tab.until(
        "[...document.querySelectorAll('details tbody')].map((body) => [...body.rows].map((row) => row.cells[0].textContent))"
    )
    listed = {name for table in cells for name in table}
    if name == "around":
        assert listed >= set(
            networkx_service.neighbourhood(["pagerank"], depth=2, limit=100, fold_tests=True).columns["nodes"]["ref"][:60]
        ) - {""}
    else:
        assert listed >= set(networkx_service.atlas(roles=["code"]).columns["modules"]["name"])
        assert "classes/graph.py" in listed


def test_the_review_queue_is_walked_with_the_keyboard_alone(tab, explorer, remembered, visit):
    visit(explorer + "/explore/review", VIEWS["review"][1])
    tab.until("document.activeElement.classList.contains('item')")
    first = tab.value("document.activeElement.querySelector('h2').textContent")
    tab.press("j")
    second = tab.value("document.activeElement.querySelector('h2').textContent")
    assert second != first
    tab.press("k")
    assert tab.value("document.activeElement.querySelector('h2').textContent") == first

    tab.press("v")  # it is true
    tab.until("document.querySelectorAll('.item').length === 4")
    assert tab.value("document.activeElement.querySelector('h2').textContent") == second
    assert tab.value("document.getElementById('announcer').textContent") == "Verified."
    assert [one.title for one in remembered.memories({"user_verified": True}).memories] == [first]

    tab.press("f")  # forget: asks first
    tab.until("document.activeElement.textContent === 'Yes, forget'")
    tab.press("Enter")
    tab.until("document.querySelectorAll('.item').length === 3")
    assert second not in [one.title for one in remembered.memories().memories]

    third = tab.value("document.activeElement.querySelector('h2').textContent")
    tab.press("d")  # not true: asks why
    tab.until("document.activeElement.name === 'reason'")
    tab.type("has changed since")
    tab.press("Enter")
    tab.until("document.querySelectorAll('.item').length === 2")
    (disputed,) = [one for one in remembered.memories().memories if one.title == third]
    assert disputed.disputed
    assert "has changed since" in json.dumps([one.note for one in remembered.audit(disputed.id).entries])

    tab.press("e")
    tab.until("document.activeElement.name === 'content'")
    tab.value("document.activeElement.value = 'Said better: nodes are sorted before two graphs are compared.'; 1")
    tab.value("document.activeElement.form.requestSubmit(); 1")
    tab.until("document.querySelectorAll('.item').length === 1")
    assert any(one.content.startswith("Said better") for one in remembered.memories().memories)

    tab.press("o")
    tab.until("location.pathname === '/explore/memories' && document.querySelector('.facts')")


def test_typing_finds_a_symbol_and_enter_shows_it(tab, explorer, remembered, visit):
    visit(explorer + "/explore/teach", VIEWS["teach"][1])
    tab.value("document.activeElement.blur()")
    tab.press("/")
    assert tab.value("document.activeElement.id") == "find"
    tab.type("pagerank_scip")
    tab.until(
        "document.querySelectorAll('#find-list [role=option]').length"
        " && document.getElementById('find-list').textContent.includes('_pagerank_scipy')"
    )
    tab.press("ArrowDown")
    tab.press("Enter")
    tab.until("location.search.includes('_pagerank_scipy') && document.querySelector('.panel .signature')")


def _found(tab):
    return tab.value(
        "[...document.querySelectorAll('#find-list [role=option]')].map((one) => one.innerText.split('\\n')[1] ?? one.innerText)"
    )


def test_the_box_takes_words_files_and_what_only_search_can_answer(tab, explorer, remembered, visit):
    visit(explorer + "/explore/teach", VIEWS["teach"][1])
    tab.value("document.getElementById('find').focus()")
    tab.type("edge add weighted")
    tab.until("document.getElementById('find-list').textContent.includes('add_weighted_edges_from')")
    tab.value("document.getElementById('find').select()")
    tab.type("misc.py")
    tab.until("[...document.querySelectorAll('#find-list .kind')].some((one) => one.textContent === 'file')")
    assert "utils/misc.py" in tab.value("document.getElementById('find-list').textContent")
    tab.value("document.getElementById('find').select()")
    tab.type("shortest way between two nodes with negative weights")
    tab.until("document.querySelector('#find-list .said')?.textContent.includes('Found by searching')")
    assert len(_found(tab)) > 1
    tab.press("Enter")
    tab.until("location.pathname === '/explore/ask' && location.search.includes('negative')")


def test_a_box_that_finds_nothing_says_so_in_one_readable_line(tab, explorer, remembered, visit):
    visit(explorer + "/explore/teach", VIEWS["teach"][1])
    tab.value("document.getElementById('find').focus()")
    tab.type("zzqq")
    tab.until("document.querySelector('#find-list .said')")
    wide, high = tab.value(
        "(() => { const box = document.querySelector('#find-list .said').getBoundingClientRect(); return [box.width, box.height]; })()"
    )
    assert wide > 8 * high


def test_what_is_taught_is_kept_and_said(tab, explorer, remembered, visit):
    visit(explorer + "/explore/teach?symbol=to_networkx_graph", VIEWS["teach"][1])
    tab.type("to_networkx_graph guesses the format; new formats are tried last.")
    tab.value("document.querySelector('form.editor').requestSubmit(); 1")
    tab.until("document.querySelector('.lead')?.textContent.includes('Remembered')")
    (found,) = [one for one in remembered.memories().memories if one.content.startswith("to_networkx_graph guesses")]
    assert "convert.py:to_networkx_graph" in [one.name for one in found.about]


def test_a_pasted_diff_shows_what_it_breaks(tab, explorer, remembered, visit):
    visit(explorer + "/explore/diff", VIEWS["diff"][1])
    before = (NETWORKX / "convert.py").read_text(encoding="utf-8").splitlines(keepends=True)
    line = next(i for i, one in enumerate(before) if one.startswith("def to_networkx_graph")) + 50
    after = [*before[:line], "    # looked at\n", *before[line:]]
    text = "".join(difflib.unified_diff(before, after, "a/convert.py", "b/convert.py"))
    tab.value(f"document.querySelector('textarea').value = {json.dumps(text)}; document.querySelector('form.bar').requestSubmit(); 1")
    tab.until(
        "document.querySelectorAll('.zone').length === 2 && document.querySelector('.zone.focus').textContent.includes('to_networkx_graph')"
    )


def test_what_breaks_is_grouped_by_module_with_counts(tab, explorer, visit, networkx_service):
    visit(explorer + VIEWS["impact"][0], VIEWS["impact"][1])
    groups = tab.value(
        "[...document.querySelectorAll('.zone.after details:not(.way) > summary')]"
        ".map((one) => [one.firstChild.textContent, one.lastChild.textContent])"
    )
    names = {one.name for one in networkx_service.modules().modules}
    assert len({name for name, _ in groups} & names) > 3
    assert all(int(count.replace(",", "")) > 0 for _, count in groups)


def test_coming_nearer_shows_files_and_then_symbols(tab, explorer, visit):
    visit(explorer + "/explore/graph", PAINTED)
    assert tab.value("document.querySelector('.said').textContent").startswith("Showing modules")
    tab.value("document.querySelector('canvas').focus()")
    said = set()
    for _ in range(24):
        tab.press("+")
        said.add(tab.value("document.querySelector('.said').textContent.split(/[;.]/)[0]"))
        time.sleep(0.02)  # the map says where it is once the keys have paused
    tab.until("document.querySelector('.said').textContent.startsWith('Showing symbols')")
    tab.press("0")
    tab.until("document.querySelector('.said').textContent.startsWith('Showing modules')")


def test_layers_and_kinds_are_switched(tab, explorer, visit):
    visit(explorer + "/explore/graph", PAINTED)
    boxes = tab.value("[...document.querySelectorAll('.controls input[type=checkbox]')].map((one) => one.parentElement.textContent)")
    assert boxes == [
        "connections",
        "symbols (when zoomed in)",
        "memories",
        "descriptions of modules",
        "only certain connections",
        "hidden modules",
        *(one for one in boxes if one.startswith(("tests (", "files without code ("))),
        "calls",
        "imports",
        "references",
        "inherits",
        "overrides",
        "uses type",
        "tests",
        "move modules",
    ]
    assert any(one.startswith("tests (") for one in boxes)
    picture = "(() => { const c = document.querySelector('canvas'); return c.toDataURL(); })()"
    tab.until(f"(window.last === (window.last = {picture}))")  # settled
    with_edges = tab.value(picture)
    tab.value("document.querySelector('.controls input').click()")
    tab.until(f"{picture} !== {json.dumps(with_edges)}")


def test_an_architect_s_questions_have_pages_with_what_the_index_knows(tab, explorer, remembered, visit):
    (heaviest, *_) = remembered.modules().dependencies
    asked = f"of={quote(heaviest.src_name)}&on={quote(heaviest.dst_name)}"
    visit(f"{explorer}/explore/matrix?{asked}", "document.querySelectorAll('.card table tbody tr').length > 2")
    assert tab.value("document.querySelector('.card h2').textContent") == f"{heaviest.src_name} → {heaviest.dst_name}"
    visit(f"{explorer}/explore/cut?of={quote(heaviest.dst_name)}", "document.querySelectorAll('.grid .card').length >= 6")
    used = remembered.boundary(heaviest.dst_name)
    assert tab.value("document.querySelector('.grid table tbody a').textContent") == used.surface[0].symbol.qualname
    visit(f"{explorer}/explore/risk", "document.querySelectorAll('tbody tr').length > 5")
    assert tab.value("document.querySelector('tbody a').title") == remembered.hotspots().hotspots[0].symbol.path
    visit(f"{explorer}/explore/decisions", "document.querySelectorAll('tbody tr').length === 1")
    (decision,) = (one for one in remembered.memories().memories if one.type == "decision")
    assert decision.content in tab.value("document.querySelector('tbody').textContent")
    visit(f"{explorer}/explore/rules", "document.querySelector('main pre')?.textContent.includes('may_not_use')")


def test_no_two_names_on_the_map_cover_each_other_at_any_distance(tab, explorer, remembered, visit):
    """Every text that is drawn, from all modules to single symbols, and where it is."""
    visit(explorer + "/explore/graph", f"{PAINTED} && document.querySelector('.map').dataset.complete")
    tab.value(
        """(async () => {
          const { Labels } = await import("/explore/assets/stage.js");
          const write = Labels.prototype.write;
          window.boxes = new Map();
          window.cut = []; // names of places that are seen, of which a part is not
          Labels.prototype.write = function (text, x, y, size, given = {}) {
            const done = write.call(this, text, x, y, size, given);
            if (!window.boxes.has(this)) window.boxes.set(this, []);
            const [left, , right] = this.taken.at(-1) ?? []; // where it was written, with a border of three pixels
            if (done && !given.force) window.boxes.get(this).push([left + 3, y - size * 0.5, right - 3, y + size * 0.5, text]);
            if (done && Math.abs(x) < this.half && (left + 3 < -this.half - 0.5 || right - 3 > this.half + 0.5)) window.cut.push(text);
            return done;
          };
          window.covered = () => [...window.boxes.values()].flatMap((all) => all.flatMap((a, i) => all.slice(i + 1)
            .filter((b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]).map((b) => `${a[4]} | ${b[4]}`)));
        })()"""
    )
    tab.value("document.querySelector('canvas').focus()")
    for _ in range(20):
        tab.press("+")
        tab.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    tab.until("[...window.boxes.values()].flat().length > 200 && document.querySelector('.said').textContent.startsWith('Showing symbols')")
    assert tab.value("window.covered()") == []
    assert tab.value("window.cut") == []


def test_what_a_person_changes_about_a_module_is_on_the_map_for_everybody(tab, tmp_path, serve, visit):
    root = tmp_path / "shop"
    (root / "pay").mkdir(parents=True)
    (root / "pay" / "card.py").write_text("def charge(card): return card\n")
    with GraphMem.open(tmp_path / "index", repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        (module,) = memory.atlas().columns["modules"]["name"]
        with serve(memory) as address:
            visit(
                f"{address}/explore/graph?focus={module}",
                "document.querySelector('.map').dataset.complete && document.querySelector('form')",
            )
            tab.value("document.querySelector('.panel form').closest('details').open = true")
            tab.value("document.querySelector('.panel form input').focus()")
            tab.type("Payments")
            tab.press("Enter")
            tab.until("document.querySelector('.panel form [role=status]').textContent.includes('map.json')")
            visit(f"{address}/explore/graph?focus={module}", "document.querySelector('.panel h2')?.textContent === 'Payments'")
        assert json.loads((root / ".graphmem" / "map.json").read_text())["modules"][0]["name"] == "Payments"


def test_switching_kinds_in_a_row_keeps_menu_and_focus_and_escape_closes_it(tab, explorer, visit):
    visit(explorer + "/explore/graph?around=pagerank", "document.querySelector('main .menu') && document.querySelector('.panel h2')")
    tab.value("document.querySelector('main .menu summary').click()")
    tab.value("document.querySelectorAll('main .menu input')[1].click()")
    tab.until("location.search.includes('kinds=CALLS%2CREFERENCES') && document.querySelector('main .menu')?.open")
    tab.until("document.activeElement === document.querySelectorAll('main .menu input')[1]")
    tab.press("Escape")
    assert tab.value("document.querySelector('main .menu').open") is False
    assert tab.value("document.activeElement.tagName") == "SUMMARY"


def test_a_picture_is_saved_as_svg_with_its_names_as_text(tab, explorer, visit):
    visit(explorer + "/explore/graph", PAINTED)
    text = tab.value(
        "import('/explore/assets/svg.js').then(() => new Promise((done) => { const make = URL.createObjectURL;"
        " URL.createObjectURL = (blob) => (blob.text().then(done), make.call(URL, blob));"
        " [...document.querySelectorAll('.buttons button')].at(-1).click(); }))"
    )
    assert text.startswith("<svg")
    assert ">generators</text>" in text


def test_what_breaks_is_painted_on_the_map_and_listed_by_depth(tab, explorer, visit, networkx_service):
    visit(explorer + VIEWS["painted"][0], VIEWS["painted"][1])
    report = networkx_service.impact("to_networkx_graph", max_depth=5, limit=5_000)
    listed = tab.value("[...document.querySelectorAll('.below > details:first-child tbody tr')].map((row) => row.cells[0].textContent)")
    assert set(listed) <= {hit.symbol.path for hit in (*report.hits, *report.tests)} | {"convert.py"}
    assert listed[0] == "convert.py"
    picture = "document.querySelector('canvas').toDataURL()"
    tab.until(f"(window.last === (window.last = {picture}))")
    painted = tab.value(picture)
    tab.value("[...document.querySelectorAll('.over button')].at(-1).click()")
    tab.until(f"{picture} !== {json.dumps(painted)}")
    assert "paint" not in tab.value("location.search")
    assert tab.value("document.querySelector('.below > details tbody')") is not None


def test_who_wants_calm_gets_no_gliding(tab, explorer, visit):
    tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    try:
        visit(explorer + "/explore/graph", PAINTED)
        assert tab.value("import('/explore/assets/dom.js').then((dom) => dom.calm())") is True
    finally:
        tab.call("Emulation.setEmulatedMedia", features=[])


def test_health_says_how_searches_were_and_whether_what_was_shown_helped(tab, explorer, remembered, visit):
    one = remembered.memories().memories[0]
    remembered.search("adjacency")
    remembered.note_use([one.id], "injected")
    remembered.note_use([one.id], "used")
    visit(explorer + "/explore/health", "document.querySelectorAll('.card').length === 9 && !document.querySelector('.loading')")
    seen = tab.value("document.querySelector('main').innerText")
    assert "95% of the searches took at most" in seen
    assert "Results ranked higher because of the code graph" in seen
    assert "Trust level: " in seen
    assert "shown 1 time, used 1 time" in seen


def test_the_impact_of_something_is_saved_as_a_picture_of_three_zones(tab, explorer, remembered, visit):
    visit(explorer + VIEWS["impact"][0], VIEWS["impact"][1])
    text = tab.value(
        "new Promise((done) => { const make = URL.createObjectURL;"
        " URL.createObjectURL = (blob) => (blob.text().then(done), make.call(URL, blob));"
        " document.querySelector('.zone.focus button').click(); })"
    )
    assert text.startswith("<svg")
    assert "to_networkx_graph" in text


def test_a_wrong_address_and_an_unknown_name_say_what_to_do(tab, explorer, remembered, visit):
    visit(explorer + "/explore/nonsense", "document.querySelector('h1')?.textContent.includes('nonsense')")
    visit(explorer + "/explore/impact?of=add_edge", "document.querySelector('.failure')")
    assert "add_edge" in tab.value("document.querySelector('.failure .listing a').textContent")  # several fit: to choose from
    assert tab.value("document.querySelector('.failure strong').textContent") == "Several symbols have this name; choose one:"
    visit(explorer + "/explore/impact?of=no_such_thing_anywhere", "document.querySelector('.failure')")


def test_the_token_is_asked_for_and_taken_from_the_address(tab, networkx_service, serve, visit):
    with serve(networkx_service, token="open sesame") as address:
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
                assert (
                    tab.value("document.querySelectorAll('main :is(img, script, svg, iframe, b, i:not(.line, [class^=heat]))').length") == 0
                )
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


SESSION = Path(__file__).parents[1] / "observe" / "sessions" / "03_error_retry_fires.jsonl"


def test_a_session_shows_what_was_done_and_learnt_and_each_lesson_is_accepted_or_refused(tab, tmp_path, serve, visit):
    events = [json.loads(line) for line in SESSION.read_text(encoding="utf-8").splitlines()[1:]]
    with GraphMem.open(tmp_path / "index", settings=Settings(embedder="none")) as memory:
        memory.start_session("s1", kind="build", agent="claude-code", title="Refunds")
        memory.observe([{**one, "session_id": "s1"} for one in events if one["kind"] != "session_end"])
        memory.end_session("s1", outcome="validated")
        learnt = [one.short_id for receipt in memory.session_receipts("s1") for one in receipt.verdicts if one.short_id]
        with serve(memory) as address:
            visit(address + "/explore/sessions", "document.querySelector('tbody a')?.textContent === 'Refunds'")
            tab.value("document.querySelector('tbody a').click()")
            tab.until("location.search === '?id=s1' && document.querySelector('.card + .grid') && !document.querySelector('.loading')")
            seen = tab.value("document.querySelector('main').textContent")
            assert "claude-code" in seen
            assert "|" not in seen
            shown = set(tab.value("[...document.querySelectorAll('.chip')].map((one) => one.textContent)"))
            assert not shown & {
                name.replace("_", " ") for name in OUTCOMES if name in ("gate_closed", "over_cap", "failed_approach")
            }  # in words, not in names of a table
            assert tab.value("document.querySelectorAll('.memory').length") == sum(
                len(receipt.verdicts) for receipt in memory.session_receipts("s1") if not receipt.undone
            )
            if learnt:
                tab.value("document.querySelector('.memory button.primary').click()")
                tab.until("document.querySelector('.memory [role=status]').textContent === 'Accepted.'")
                assert any(memory.memory(one).user_verified for one in learnt)
            if len(learnt) > 1:
                tab.value("[...document.querySelectorAll('main button')].find((one) => one.textContent.startsWith('Store all')).click()")
                tab.until("[...document.querySelectorAll('.memory .actions')].every((one) => one.parentElement.dataset.decided)")
                assert all(memory.memory(one).user_verified for one in learnt)


def test_what_moves_together_is_shown_from_a_real_history(tab, tmp_path, serve, visit):
    root = tmp_path / "project"
    root.mkdir()

    def git(*arguments):
        subprocess.run(
            ["git", "-C", root, "-c", "user.name=a", "-c", "user.email=a@example.com", *arguments], check=True, capture_output=True
        )

    git("init", "-q")
    for number in range(6):
        for name in ("orders.py", "invoices.py"):
            (root / name).write_text(f"def {name[:-3]}():\n    return {number}\n", encoding="utf-8")
        git("add", ".")
        git("commit", "-q", "-m", f"change {number}", "-m", "Reads two files.")
    with GraphMem.open(tmp_path / "index", repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        with serve(memory) as address:
            visit(address + "/explore/coaccess?files=orders.py", "document.querySelector('tbody a')?.textContent === 'invoices.py'")
            assert tab.value("document.querySelector('meter').value") == 1
            visit(
                address + "/explore/graph?focus=orders.py",
                "document.querySelector('.panel')?.textContent.includes('Changes together with')",
            )
            tab.until("document.querySelector('.panel').textContent.includes('History')")

            # the same, painted on the map; and hot spots of any moment
            visit(address + "/explore/coaccess?files=orders.py", "document.querySelector('a.button')")
            tab.value("document.querySelector('main a.button').click()")
            tab.until("document.querySelector('.below tbody')?.textContent.includes('together 6 times, in 100%')")
            visit(address + "/explore/graph?heat=churn", "document.querySelector('#moment')")
            assert tab.value("document.querySelector('output').textContent").endswith("after 6 commits")
            tab.value("document.querySelector('#moment').focus()")
            for _ in range(40):
                tab.press("ArrowLeft")
            tab.until("document.querySelector('output').textContent.endsWith('commit') || document.querySelector('#moment').value === '0'")
            tab.until("new URLSearchParams(location.search).get('at')")

            # the commits, newest first; each leads to what it breaks
            visit(address + "/", "document.querySelector('main').textContent.includes('change 5')")
            tab.value("[...document.querySelectorAll('main a')].find((one) => one.textContent === 'change 5').click()")
            tab.until("location.pathname === '/explore/diff' && document.querySelector('.zone.focus')?.textContent.includes('orders')")
            assert tab.until("document.querySelector('.commit')?.innerText").split()[:3] == ["change", "5", "a"]
            assert "Reads two files." in tab.value("document.querySelector('.commit .message').textContent")
            visit(address + "/explore/diff", "document.querySelector('main').textContent.includes('change 5')")

            # who knows it, what changed lately, and the heat of one person's knowledge
            visit(address + "/explore/people", "document.querySelector('tbody')?.textContent.includes('a 100%')")
            assert tab.value("getComputedStyle(document.querySelector('tbody .date')).whiteSpace") == "nowrap", "a date is one line"
            visit(address + "/explore/changes", "document.querySelector('main').textContent.includes('6 commits from')")
            by_whom = "[...document.querySelectorAll('.card')].find((one) => one.innerText.startsWith('By whom'))"
            assert tab.value(f"{by_whom}.querySelector('tbody').innerText").split()[:2] == ["a", "6"]
            tab.until("document.querySelectorAll('.grid').length === 2", 60)
            (root / "pins.txt").write_text("a==1\n", encoding="utf-8")
            git("add", ".")
            git("commit", "-q", "-m", "Update a", "--author", "renovate[bot] <renovate@mail.example>")
            visit(address + "/explore/changes", "document.querySelector('main').textContent.includes('7 commits from')")
            said = tab.value("document.querySelector('main').textContent")
            assert "One of them, by a program that updates versions, is left out below (renovate[bot])." in said
            assert "Update a" not in said
            visit(address + "/explore/graph?heat=owner", "document.querySelector('.over')?.textContent.includes('one person')")


def test_an_answer_shows_what_each_sentence_stands_on(tab, tmp_path, serve, visit, playing):
    root = tmp_path / "project"
    root.mkdir()
    (root / "tax.py").write_text('def vat(price):\n    """Price with tax."""\n    return price * 1.19\n', encoding="utf-8")

    def told(asked):
        data = json.loads(asked["messages"][1]["content"])
        if "evidence" in data:
            return json.dumps(
                {"sentences": [{"text": "The price with tax is made by vat.", "cites": [1]}, {"text": "FooBar.baz too.", "cites": [1]}]}
            )
        return json.dumps({"paragraph": "Makes the price with tax, which vat returns."})

    with playing() as model:
        model.plays = [model.says(told)]
        settings = Settings(embedder="none", model_url=model.url, model_name="small")
        with GraphMem.open(tmp_path / "index", repo=root, settings=settings) as memory:
            memory.index(root)
            (module,) = memory.modules().modules
            assert not memory.paragraphs(30).running
            with serve(memory) as address:
                visit(address + "/explore/ask?q=vat", "document.querySelector('.evidence')")
                assert tab.value("document.querySelector('.card').textContent").startswith("AnswerThe price with tax is made by vat.")
                assert "FooBar" not in tab.value("document.querySelector('main').textContent")
                assert "1 of 2 sentences" in tab.value("document.querySelector('main').textContent")
                tab.value("document.querySelector('.card a.cite').click()")
                tab.until("document.querySelector('.evidence > li:target h3 .cite').textContent === '1'")
                visit(
                    f"{address}/explore/graph?focus={module.name}",
                    "document.querySelector('.written')?.textContent === 'Makes the price with tax, which vat returns.'",
                )


CHOOSE = "(() => { const one = document.querySelector('%s'); one.value = '%s'; one.dispatchEvent(new Event('change')); })()"


def test_the_first_visit_is_shown_round_in_four_steps_and_imports_what_is_written_down(tab, tmp_path, serve, visit):
    root = tmp_path / "shop"
    root.mkdir()
    (root / "shop.py").write_text("def total():\n    return 1\n", encoding="utf-8")
    (root / "MEMORY.md").write_text("# Conventions\n\n- Always round prices to two decimals in `total`.\n", encoding="utf-8")
    with GraphMem.open(tmp_path / "index", repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        with serve(memory) as address:
            visit(address + "/", "document.querySelector('.tour')")
            ends = tab.value("document.querySelector('.tour').getBoundingClientRect().bottom")
            begins = tab.value("document.getElementById('work').getBoundingClientRect().top")
            assert ends <= begins  # it covers neither the files nor the page
            tab.value("document.querySelector('#top nav a[data-view=impact]').click()")
            tab.until("document.querySelector('.tour').getBoundingClientRect().height < 60")  # and leaves the room to other pages
            tab.value("document.querySelector('#top nav a[data-view=home]').click()")
            tab.until("document.querySelector('.tour').getBoundingClientRect().height > 100")
            tab.value("document.querySelector('.tour .primary').click()")
            tab.value("document.querySelector('.tour .primary').click()")
            assert tab.value("document.querySelector('.tour [role=status]').textContent") == "Step 3 of 4"
            assert tab.until("document.querySelector('.tour li code')?.textContent") == "MEMORY.md"
            tab.value("document.querySelector('.tour li button').click()")
            tab.until("document.querySelector('.tour li [role=status]').textContent === '1 memory imported.'")
            assert [one.content for one in memory.memories().memories] == ["Always round prices to two decimals in `total`."]
            tab.value("document.querySelector('.tour > div > .buttons .primary').click()")
            assert "graphmem install" in tab.value("document.querySelector('.tour').textContent")
            tab.value("document.querySelector('.tour > div > .buttons .primary').click()")
            assert not tab.value("Boolean(document.querySelector('.tour'))")
            visit(address + "/", f"{PAINTED} && document.querySelectorAll('.grid table').length")
            assert not tab.value("Boolean(document.querySelector('.tour'))")  # once is enough


def test_a_memory_is_edited_where_it_stands_and_corrected_with_a_reason(tab, tmp_path, serve, visit):
    with GraphMem.open(tmp_path / "index", settings=Settings(embedder="none")) as memory:
        memory.remember("Prices are rounded to three decimals before they are stored.", "fact")
        with serve(memory) as address:
            visit(address + "/explore/memories", "document.querySelector('.memory .pen')")
            tab.value("document.querySelector('.memory .pen').click()")
            tab.value("document.activeElement.value = 'Prices are rounded to four decimals before they are stored.'; 1")
            tab.value("document.querySelector('.in-place .primary').click()")
            tab.until("document.querySelector('.memory').textContent.includes('four')")
            (now,) = memory.memories().memories
            assert "four" in now.content
            visit(address + f"/explore/memories?id={now.short_id}", "document.querySelector('.actions')")
            tab.value("[...document.querySelectorAll('.actions button')].find((one) => one.textContent === 'This is not true').click()")
            tab.until("document.activeElement.name === 'reason'")
            tab.value("document.querySelector('.reasons button').click()")
            truth = "Prices are rounded to two decimals before they are stored."
            tab.value(f"document.querySelector('[name=truth]').value = '{truth}'; 1")
            tab.value("document.querySelector('.editor').requestSubmit()")
            tab.until("document.querySelector('blockquote').textContent.includes('two decimals')")
            (last,) = memory.memories().memories
            assert "two" in last.content
            assert last.user_verified
            assert not last.disputed
            assert "no longer true" in json.dumps([one.note for one in memory.audit(limit=100).entries])


def test_a_person_says_how_sure_a_memory_must_be_and_sees_what_it_costs(tab, tmp_path, serve, visit):
    with GraphMem.open(tmp_path / "index", settings=Settings(embedder="none")) as memory, serve(memory) as address:
        visit(address + "/explore/sessions", "document.querySelector('[name=trust]')")
        assert "Sessions counted" in tab.until("document.querySelector('dl.facts') && document.querySelector('main').innerText")
        tab.value(CHOOSE % ("[name=trust]", "AUTONOMOUS"))  # a level that no experience has set
        tab.until("document.querySelector('main').innerText.includes('Now: nearly all')")
        assert memory.trust().chosen == "autonomous"


def test_every_language_has_every_text_and_is_switched(tab, explorer, remembered, visit):
    visit(explorer + "/explore/teach", VIEWS["teach"][1])
    shape = """(async () => {
      const kind = (one) => Array.isArray(one) || typeof one === 'function' ? `${typeof one} of ${one.length}` : typeof one;
      const inside = (one) => one && typeof one === 'object' ? Object.entries(one) : [];
      const all = (one, at) => [`${at}: ${kind(one)}`, ...inside(one).flatMap(([key, value]) => all(value, `${at}.${key}`))];
      return all((await import('/explore/assets/words.%s.js')).words, 'words').sort();
    })()"""
    assert tab.value(shape % "de") == tab.value(shape % "en")
    tab.value(CHOOSE % ("#language", "de"))
    try:
        tab.until("document.documentElement.lang === 'de' && document.querySelector('h1')?.textContent === 'Neue Erinnerung'")
        visit(explorer + "/explore/impact?of=to_networkx_graph", "document.querySelectorAll('.zone').length === 3")
        assert "Risiko" in tab.value("document.querySelector('.verdict').textContent")
        assert tab.value("document.querySelectorAll('.chip.certain').length")
    finally:
        tab.value(CHOOSE % ("#language", "en"))
        tab.until("document.documentElement.lang === 'en' && document.querySelector('h1')")


def test_the_box_offers_the_code_of_a_name_before_its_tests_and_home_names_the_most_tangled(tab, explorer, tmp_path, serve, visit):
    root = tmp_path / "shop"
    (root / "tests").mkdir(parents=True)
    (root / "tests" / "helpers.py").write_text("def made():\n    def total():\n        return 1\n\n    return total\n", encoding="utf-8")
    (root / "zoo.py").write_text("def total():\n    return 1\n", encoding="utf-8")
    with GraphMem.open(tmp_path / "index", repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        with serve(memory) as address:
            visit(address + "/explore/teach", VIEWS["teach"][1])
            tab.value("document.getElementById('find').focus()")
            tab.type("total")
            tab.until("document.querySelectorAll('#find-list [role=option]').length > 2")
            assert "zoo.py" in tab.value("document.querySelector('#find-list [role=option]').textContent")
            tab.open("about:blank")  # the page asks nobody any more when its server ends
    visit(explorer + "/", VIEWS["home"][1])
    tangled = "[...document.querySelectorAll('h3')].find((one) => one.textContent === 'Most tangled modules')?.nextElementSibling"
    assert "uses " in tab.until(f"{tangled}?.innerText")


def test_a_module_lists_the_memories_about_its_files(explorer, remembered, visit, tab) -> None:
    visit(explorer + "/explore/graph?focus=classes", "document.querySelector('.panel')?.textContent.includes('creates missing nodes')")
