"""First steps in the explorer: search boxes, hints instead of errors.

Numbers on different pages agree.
"""

from __future__ import annotations

from urllib.parse import quote

import pytest

pytestmark = pytest.mark.browser

TYPED = "document.activeElement.value"


def recursive(service):
    """A function that calls itself and that code and tests call."""
    for one in service.central_symbols(limit=200).symbols:
        detail = service.symbol(one.symbol.id)
        code = [site for site in detail.callers if not site.symbol.is_test and site.symbol.id != one.symbol.id]
        if code and len(detail.callers) <= 100 and any(site.symbol.id == one.symbol.id for site in detail.callers):
            return detail, len(code)
    raise AssertionError("no central symbol of this tree calls itself")


@pytest.mark.parametrize("page", ["code", "impact", "memories"])
def test_what_is_typed_on_a_page_that_asks_for_a_name_goes_into_its_box(page, tab, explorer, remembered, visit):
    visit(f"{explorer}/explore/{page}", "document.querySelector('main input') && document.activeElement.matches('main input')")
    tab.type("classes")  # with letters that are keys elsewhere
    assert tab.value(TYPED) == "classes"
    tab.until("document.querySelector('main .suggestions [role=option]')")
    assert "classes/graph.py" in tab.value("document.querySelector('main .suggestions').textContent")


def test_impact_without_a_name_offers_where_to_begin_and_an_example_of_this_project(tab, explorer, remembered, visit):
    first = remembered.central_symbols(limit=1).symbols[0].symbol
    visit(f"{explorer}/explore/impact", "document.querySelector('main table tbody a')")
    assert tab.value("document.querySelector('main .combo input').placeholder") == f"for instance {first.qualname}"
    assert quote(first.ref, safe="") in tab.value("document.querySelector('main table tbody a').getAttribute('href')")
    tab.value("document.querySelector('main table tbody a').click()")
    tab.until("document.querySelector('.zone.after')")


def test_a_name_of_several_or_of_nothing_is_asked_back_beside_its_box_and_is_not_an_error(tab, explorer, visit):
    plain = "getComputedStyle(document.querySelector('.failure')).backgroundColor"
    visit(f"{explorer}/explore/impact?of=no_such_thing_anywhere", "document.querySelector('.failure')")
    alarming = tab.value(plain)
    assert tab.value("document.querySelector('.failure a').getAttribute('href')").endswith("/explore/ask?q=no_such_thing_anywhere")
    for name, said in (
        ("add_edge", "Several symbols have this name; choose one:"),
        ("Graph.add_edg", "Nothing is called Graph.add_edg. Did you mean:"),
    ):
        visit(f"{explorer}/explore/code?at={name}", "document.querySelector('.failure.choose a')")
        assert tab.value("document.querySelector('.failure strong').textContent") == said
        assert tab.value(plain) != alarming
        assert tab.value("document.getElementById('code-of').value") == name


def test_callers_are_one_number_in_the_list_the_margin_and_the_outline(tab, explorer, remembered, visit):
    detail, code = recursive(remembered)
    ref = detail.symbol.ref
    entries = remembered.outline(detail.symbol.path).entries
    assert next(one.callers for one in entries if one.symbol.id == detail.symbol.id) == code
    visit(f"{explorer}/explore/code?at={quote(ref)}", "document.querySelector('.panel > details > summary .besides')")
    summary = tab.value("document.querySelector('.panel > details > summary').innerText")
    assert summary.startswith(f"Callers{code:,}")
    assert "itself" in summary
    tests = sum(site.symbol.is_test for site in detail.callers)
    assert (f"{tests:,} caller" in summary) is bool(tests)


def test_memories_about_a_symbol_are_those_of_its_file_with_a_way_to_all_that_is_known(tab, explorer, remembered, visit):
    expected = remembered.memories({"files": ["classes/graph.py"]}).total
    assert expected
    visit(f"{explorer}/explore/memories?file=Graph.add_edge", "document.querySelectorAll('.memories > li.memory').length")
    assert tab.value("document.querySelector('main .lead').textContent").startswith(
        f"{expected} memories about classes/graph.py and the code in it."
    )
    tab.value("document.querySelector('main .lead a').click()")
    tab.until("location.pathname === '/explore/code' && document.querySelector('.panel h2')")
    assert tab.value("document.querySelector('.panel h2').textContent") == "Graph.add_edge"


def test_a_place_without_memories_leads_to_those_of_its_neighbours_in_the_code_and_of_its_folder(tab, explorer, remembered, visit):
    visit(f"{explorer}/explore/memories?file=classes/digraph.py", "document.querySelector('.nearest li.memory')")
    some = remembered.memories({"files": ["classes"]}).total
    heads = tab.value("[...document.querySelectorAll('.nearest h2')].map((one) => one.textContent)")
    assert heads[-1] == f"In the same directory: {some} memories about code in classes"
    assert tab.value("document.querySelectorAll('.nearest li.memory').length") == min(5, some)
    beside = set()
    for direction in ("dependents", "dependencies"):
        known = remembered.impact("classes/digraph.py", direction=direction, max_depth=1, limit=200).known.memories
        beside |= {one.content for one in known if one.place != "together"}
    assert beside
    assert heads[0].endswith("about code that uses this code or that this code uses")
    assert set(tab.value("[...document.querySelector('.nearest').querySelectorAll('.listing a')].map((one) => one.textContent)")) == beside


def test_the_box_of_memories_offers_directories_as_they_are_typed(tab, explorer, remembered, visit):
    visit(f"{explorer}/explore/memories", "document.activeElement.matches('main input')")
    tab.type("algorithms/cent")
    tab.until("document.querySelector('main .suggestions [role=option] .name')?.textContent === 'algorithms/centrality/'")
    tab.press("ArrowDown")
    tab.press("Enter")
    tab.until("new URLSearchParams(location.search).get('file') === 'algorithms/centrality'")


def test_a_question_about_a_name_of_several_is_asked_back_with_each_of_them(tab, explorer, visit):
    visit(f"{explorer}/explore/ask?q=who%20calls%20add_edge", "document.querySelector('.failure.choose a')")
    tab.value("document.querySelector('.failure.choose a').click()")
    tab.until("location.pathname === '/explore/code' && document.querySelector('.panel h2.ref')")
    assert tab.value("document.querySelector('.panel h2.ref').textContent").endswith("add_edge")


def test_long_names_do_not_widen_the_picture_of_a_symbol_beyond_its_view(tab, explorer, visit):
    visit(f"{explorer}/explore/code?at=Graph.add_edge", "document.querySelector('.columns-inner')")
    tab.until("(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector('.columns'))")
