"""Orientation in the explorer for a newcomer.

Lists are whole, each number has one meaning, names are warned about, and the five questions are within reach.
"""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from graphmem.mcp_server.budget import tokens
from graphmem.mcp_server.impact_text import impact as impact_for_agents

pytestmark = pytest.mark.browser

FIND = "document.getElementById('find')"
CALLERS = (
    "[...document.querySelectorAll('.panel > details')].find((one) => one.querySelector('summary').firstChild.textContent === 'Callers')"
)
SHOWN = f"{CALLERS}?.querySelectorAll('.listing > li').length"
BUTTON = f"{CALLERS}?.querySelector('.listing ~ button')"


def much_called(service):
    """A symbol that is used much, whose callers need several answers."""
    some = (service.symbol(one.symbol.id) for one in service.central_symbols(limit=50).symbols)
    return next(one for one in some if 200 < len(one.callers) < 900)


def test_a_cut_list_says_how_much_is_shown_of_how_much_and_leads_to_the_rest(tab, explorer, visit, remembered):
    symbol = much_called(remembered)
    total = len(symbol.callers)
    visit(f"{explorer}/explore/code?at={quote(symbol.symbol.ref)}", f"{SHOWN} === 6")
    assert tab.value(f"{CALLERS}.querySelector('.count').textContent") == f"{total:,}"
    assert tab.value(f"{BUTTON}.textContent") == f"Show 94 more (6 of {total:,} shown)"
    tab.value(f"{BUTTON}.click()")
    assert tab.value(f"{BUTTON}.textContent") == f"Show 100 more (100 of {total:,} shown)"
    for shown in (*range(200, total, 100), total):
        tab.value(f"{BUTTON}.click()")
        tab.until(f"{SHOWN} === {shown}")
    assert tab.value(f"{BUTTON} == null") is True
    found = tab.value(f"[...{CALLERS}.querySelectorAll('.listing > li > a.symbol')].map((one) => one.title)")
    assert sorted(found) == sorted(one.symbol.ref for one in symbol.callers)


def test_a_symbol_with_namesakes_says_how_many_and_links_them(tab, explorer, visit, remembered):
    visit(f"{explorer}/explore/code?at=Graph.add_edge", "document.querySelector('.namesakes summary')")
    others = {one.ref for one in remembered.symbols("add_edge", limit=500).symbols if one.name == "add_edge"} - {
        "classes/graph.py:Graph.add_edge"
    }
    assert len(others) > 2
    assert tab.value("document.querySelector('.namesakes summary').textContent") == f"{len(others)} other definitions of the name add_edge"
    tab.value("document.querySelector('.namesakes details').open = true; document.querySelector('.namesakes .listing ~ button')?.click()")
    assert set(tab.value("[...document.querySelectorAll('.namesakes a.symbol')].map((one) => one.title)")) == others


def test_the_name_of_a_file_and_enter_shows_the_file(tab, explorer, visit):
    visit(f"{explorer}/explore/teach", "document.querySelector('textarea')")
    tab.value(f"{FIND}.focus()")
    tab.type("convert.py")
    tab.until("document.querySelector('#find-list .where')?.textContent === 'convert.py'")
    assert tab.value("document.querySelector('#find-list .kind').textContent") == "file"
    tab.press("Enter")
    tab.until("location.pathname === '/explore/code'")
    assert tab.value("new URLSearchParams(location.search).get('at')") == "convert.py"


def test_home_leads_to_each_of_the_five_questions_with_one_visible_click(tab, explorer, visit):
    visit(f"{explorer}/", "document.querySelectorAll('a.task').length === 5")
    tab.call("Emulation.setDeviceMetricsOverride", width=1400, height=900, deviceScaleFactor=1, mobile=False)
    try:
        bottoms = tab.value("[...document.querySelectorAll('a.task')].map((one) => one.getBoundingClientRect().bottom)")
        assert max(bottoms) < 900
    finally:
        tab.call("Emulation.clearDeviceMetricsOverride")
    pages = tab.value("[...document.querySelectorAll('a.task')].map((one) => one.pathname)")
    assert pages == [f"/explore/{name}" for name in ("code", "impact", "memories", "tangled", "changes")]
    listed = tab.value("[...document.querySelectorAll('#top nav > ul a')].map((one) => one.pathname)")
    assert set(pages) < set(listed)
    for page in pages:
        visit(explorer + page, "document.querySelector('main h1')")
        assert tab.value("document.querySelector('#top nav [aria-current]').pathname") == page


def test_the_other_views_are_in_one_menu_by_what_they_are_about(tab, explorer, visit):
    visit(f"{explorer}/explore/people", "document.querySelector('#top nav .menu.here')")
    tab.value("document.querySelector('#top nav summary').focus()")
    tab.press("Enter")
    assert tab.value("document.querySelector('#top nav .menu').open") is True
    assert tab.value("document.querySelector('#top nav .menu [aria-current]').pathname") == "/explore/people"
    every = tab.value("[...document.querySelectorAll('#top nav a')].map((one) => one.pathname)")
    views = (
        "coaccess changes code cut decisions diff graph health impact matrix memories path people review risk rules sessions tangled teach"
    )
    assert {f"/explore/{name}" for name in views.split()} <= set(every)
    assert len(every) == len(set(every))
    tab.press("Escape")
    assert tab.value("document.activeElement.tagName") == "SUMMARY"


def test_the_use_of_a_file_is_one_number_on_every_page_and_counts_no_test(tab, explorer, visit, remembered):
    rows = remembered.atlas(roles=["code"]).columns["files"]
    counted = dict(zip(rows["path"], rows["dependents"], strict=True))
    every = remembered.atlas().columns["files"]
    assert {path: n for path, n in zip(every["path"], every["dependents"], strict=True) if path in counted} == counted
    tables = "[...document.querySelectorAll('main table')].filter((one) => one.textContent.includes('Used by (files)'))"
    number = "[...one.querySelectorAll('thead th')].findIndex((head) => head.textContent === 'Used by (files)')"
    cells = "[...one.tBodies[0].rows].map((row) => [row.querySelector('a').title, row.cells[at].textContent])"
    for page, least in (("/", 2), ("/explore/risk", 1)):
        visit(explorer + page, f"{tables}.filter((one) => one.querySelector('tbody a[title]')).length >= {least}")
        shown = tab.value(
            f"{tables}.filter((one) => one.querySelector('tbody a[title]')).flatMap((one) => {{ const at = {number}; return {cells}; }})"
        )
        assert len(shown) >= 8
        assert {path: text for path, text in shown if path in counted} == {
            path: f"{counted[path]:,}" for path, _ in shown if path in counted
        }


def test_agents_read_direct_dependents_then_tests_then_what_is_farther_away(remembered):
    said = impact_for_agents(remembered.impact("Graph.add_edge"), 4_000)
    places = [said.index(one) for one in ("risk ", "will break (depth 1):", "tests to run (", "likely (depth 2):")]
    assert places == sorted(places)
    assert tokens(said) <= 4_000


def test_the_page_of_a_symbol_says_its_risk_with_the_numbers_of_the_impact_page(tab, explorer, visit, remembered):
    report = remembered.impact("Graph.add_edge", limit=5_000)
    visit(f"{explorer}/explore/code?at=Graph.add_edge", "document.querySelector('.verdict-line .hint')")
    first = tab.value("document.querySelector('.verdict-line .reasons summary').textContent")
    others = tab.value("document.querySelector('.verdict-line .reasons').lastChild.textContent")
    assert f"{first}; {others}" == "; ".join(report.risk.reasons)
    assert any(one.startswith("more direct dependents than 9") for one in report.risk.reasons), report.risk.reasons
    visit(f"{explorer}/explore/impact?of=Graph.add_edge", "document.querySelector('.verdict')")
    said = tab.value("document.querySelector('.verdict').textContent")
    assert all(one in said for one in report.risk.reasons)
    direct = sum(hit.depth == 1 for hit in report.hits)
    assert f"{report.total - len(report.tests):,} dependents within 5 steps, {direct:,} of them direct; tests not counted" in said


def test_memories_say_what_they_are_about_on_each_page(tab, explorer, remembered, visit):
    pages = {
        "code?at=Graph.add_edge": "Memories about this symbol, its file and the code around it",
        "code?at=classes/graph.py": "Memories about this file and its symbols",
        "graph?focus=classes": "Memories about the files of this module",
    }
    for page, heading in pages.items():
        visit(f"{explorer}/explore/{page}", f"document.querySelector('main').textContent.includes({json.dumps(heading)})")


def test_a_project_without_rules_is_told_how_to_write_them_and_not_of_an_error(tab, explorer, visit):
    visit(f"{explorer}/explore/rules", "document.querySelector('main pre')")
    assert "This project has no architecture rules yet." in tab.value("document.querySelector('main').innerText")
    assert tab.value("document.querySelector('main .failure') == null") is True


def test_the_source_is_as_wide_as_its_lines_and_a_chosen_width_is_kept(tab, explorer, visit):
    address = f"{explorer}/explore/code?at=Graph.add_edge"
    ready = "document.querySelector('.ln.in .mark') && document.querySelector('.source-legend .mark')"
    wide = "document.querySelector('.pane.code').getBoundingClientRect().width"
    tab.call("Emulation.setDeviceMetricsOverride", width=1900, height=900, deviceScaleFactor=1, mobile=False)
    try:
        visit(address, ready)
        longest = tab.value("[...document.querySelectorAll('.ln .text')].map((one) => one.getBoundingClientRect().right)")
        edge = tab.value("document.querySelector('.pane.code').getBoundingClientRect().right")
        assert sum(right <= edge for right in longest) >= 0.95 * len(longest)
        assert tab.value("document.getElementById('main').getBoundingClientRect().width") >= 560
        before = tab.value(wide)
        tab.value("document.querySelectorAll('.edge')[1].focus()")
        tab.press("ArrowRight")
        assert tab.value(wide) == before - 24
        visit(address, ready)
        assert tab.value(wide) == before - 24, "the width is kept"
        tab.value("document.querySelectorAll('.edge')[1].dispatchEvent(new MouseEvent('dblclick'))")
        assert tab.value(wide) == before
    finally:
        tab.value("localStorage.removeItem('graphmem-pane-widths')")
        tab.call("Emulation.clearDeviceMetricsOverride")


def test_a_neighbourhood_has_its_columns_below_each_other_on_a_phone(tab, explorer, visit):
    tab.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=False)
    try:
        visit(f"{explorer}/explore/graph?around=pagerank&depth=1", "document.querySelectorAll('.column .node').length > 2")
        cut = "[...document.querySelectorAll('.node .where')].filter((one) => one.scrollWidth > one.clientWidth).length"
        assert tab.value(cut) == 0, "the name of each file is whole"
        boxes = tab.value(
            "[...document.querySelectorAll('.column .node')].map((one) => one.getBoundingClientRect()).map((box) => [box.left, box.right])"
        )
        assert all(0 <= left < right <= 390 for left, right in boxes), boxes
    finally:
        tab.call("Emulation.clearDeviceMetricsOverride")


def test_the_neighbourhood_of_a_class_counts_its_members_as_itself_like_impact_and_says_so(tab, explorer, visit, remembered):
    columns = remembered.neighbourhood(["classes/graph.py:Graph"], limit=400).columns["nodes"]
    assert "classes/graph.py:Graph" in columns["ref"]
    assert not {one.ref for one in remembered.symbol("classes/graph.py:Graph").members} & set(columns["ref"])
    for name in ("classes/graph.py:Graph", "classes/coreviews.py:AtlasView"):
        report = remembered.impact(name, max_depth=1, min_confidence=0.001, limit=10_000)
        direct = {hit.symbol.ref for hit in report.hits}
        shown = remembered.neighbourhood([name], limit=10_000).columns["nodes"]
        right = {ref for ref, side, test in zip(shown["ref"], shown["side"], shown["test"], strict=True) if side > 0 and not test}
        assert right == direct
    visit(f"{explorer}/explore/graph?around=classes%2Fgraph.py%3AGraph", "document.querySelector('.said')?.textContent")
    assert "Members count as part of the symbol: code that calls a method of a class counts as code that uses the class." in tab.value(
        "document.querySelector('.said').textContent"
    )
