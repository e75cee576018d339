"""The explorer in a real browser: every view on networkx's graph, for the keyboard, for both themes, and safe from what it shows."""

from __future__ import annotations

import difflib
import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from explorer_views import CHOOSE, VIEWS
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings
from trees import NETWORKX

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"


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
    assert "[object " not in tab.value("document.body.innerText"), "an element was converted to a string"
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

    assert_accessible(tab)


def assert_accessible(tab: Any) -> None:
    """Check the page by axe-core's serious and critical rules, in both colours."""
    if not AXE.is_file():
        pytest.skip("axe-core is not there (npm --prefix web ci): all but accessibility was checked")
    tab.value("(() => {" + AXE.read_text(encoding="utf-8") + "})(); 1")
    for theme in ("light", "dark"):
        tab.value(f"document.documentElement.dataset.theme = '{theme}'; 1")
        assert tab.value(SERIOUS) == [], theme


def test_the_row_of_the_tour_on_other_pages_is_accessible_and_fits_a_phone(tab, explorer, remembered, visit):
    visit(explorer + "/explore/teach", "document.querySelector('textarea')")
    tab.value("localStorage.removeItem('graphmem-tour'); document.querySelector('a.brand').click()")
    tab.until("document.querySelector('.tour:not(.small) .primary')")
    tab.value("document.querySelector('nav a[data-view=impact]').click()")
    tab.until("document.querySelector('.tour.small') && document.querySelector('main .combo input')")
    tab.until("!document.querySelector('.loading')")
    tab.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=False)
    try:
        assert tab.value("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    finally:
        tab.call("Emulation.clearDeviceMetricsOverride")
    assert_accessible(tab)


@pytest.mark.parametrize("name", ["home", "graph", "around"])
def test_every_picture_has_a_table_of_the_same_content(name, tab, explorer, remembered, visit):
    path, ready = VIEWS[name]
    visit(explorer + path, ready)
    cells = tab.until(
        "[...document.querySelectorAll('details tbody')].map((body) => [...body.rows].map((row) => row.cells[0].textContent))"
    )
    listed = {name for table in cells for name in table}
    if name == "around":
        assert listed >= set(remembered.neighbourhood(["pagerank"], depth=2, limit=100, fold_tests=True).columns["nodes"]["ref"][:60]) - {
            ""
        }
    else:
        assert listed >= set(remembered.atlas(roles=["code"]).columns["modules"]["name"])
        assert "classes/graph.py" in listed


def test_the_review_queue_is_walked_with_the_keyboard_alone(tab, reviewed, visit):
    memory, explorer = reviewed
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
    assert [one.title for one in memory.memories({"user_verified": True}).memories] == [first]

    tab.press("f")  # forget: asks first
    tab.until("document.activeElement.textContent === 'Yes, forget'")
    tab.press("Enter")
    tab.until("document.querySelectorAll('.item').length === 3")
    assert second not in [one.title for one in memory.memories().memories]

    third = tab.value("document.activeElement.querySelector('h2').textContent")
    tab.press("d")  # not true: asks why
    tab.until("document.activeElement.name === 'reason'")
    tab.type("has changed since")
    tab.press("Enter")
    tab.until("document.querySelectorAll('.item').length === 2")
    (disputed,) = [one for one in memory.memories().memories if one.title == third]
    assert disputed.disputed
    assert "has changed since" in json.dumps([one.note for one in memory.audit(disputed.id).entries])

    tab.press("e")
    tab.until("document.activeElement.name === 'content'")
    tab.value("document.activeElement.value = 'Said better: nodes are sorted before two graphs are compared.'; 1")
    tab.value("document.activeElement.form.requestSubmit(); 1")
    tab.until("document.querySelectorAll('.item').length === 1")
    assert any(one.content.startswith("Said better") for one in memory.memories().memories)

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


def test_what_is_taught_is_kept_and_said(tab, reviewed, visit):
    memory, explorer = reviewed
    visit(explorer + "/explore/teach?symbol=to_networkx_graph", VIEWS["teach"][1])
    tab.type("to_networkx_graph guesses the format; new formats are tried last.")
    tab.value("document.querySelector('form.editor').requestSubmit(); 1")
    tab.until("document.querySelector('.lead')?.textContent.includes('Remembered')")
    (found,) = [one for one in memory.memories().memories if one.content.startswith("to_networkx_graph guesses")]
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
    assert decision.content.removesuffix(".") in tab.value("document.querySelector('tbody').textContent")
    visit(f"{explorer}/explore/rules", "document.querySelector('main pre')?.textContent.includes('may_not_use')")


def test_health_says_how_searches_were_and_whether_what_was_shown_helped(tab, reviewed, visit):
    memory, explorer = reviewed
    one = memory.memories().memories[0]
    memory.search("adjacency")
    memory.note_use([one.id], "injected")
    memory.note_use([one.id], "used")
    visit(explorer + "/explore/health", "document.querySelectorAll('.card').length === 9 && !document.querySelector('.loading')")
    seen = tab.value("document.querySelector('main').innerText")
    assert "95% of the searches took at most" in seen
    assert "Results ranked higher because of the code graph" in seen
    assert "Trust level: " in seen
    assert "shown 1 time, used 1 time" in seen


def test_a_wrong_address_and_an_unknown_name_say_what_to_do(tab, explorer, remembered, visit):
    visit(explorer + "/explore/nonsense", "document.querySelector('h1')?.textContent.includes('nonsense')")
    visit(explorer + "/explore/impact?of=add_edge", "document.querySelector('.failure')")
    assert "add_edge" in tab.value("document.querySelector('.failure .listing a').textContent")  # several fit: to choose from
    assert tab.value("document.querySelector('.failure strong').textContent") == "Several symbols have this name; choose one:"
    visit(explorer + "/explore/impact?of=no_such_thing_anywhere", "document.querySelector('.failure')")


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
