"""Questions of an architect, asked by the words that people use."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

pytestmark = pytest.mark.browser

TEACH = ("/explore/teach", "document.querySelector('textarea')")
FIND = "document.getElementById('find')"


def most_tangled(service):
    """The first of the modules by those that they both use and are used by, then by all neighbours."""
    uses, used = {}, {}
    for one in service.modules().dependencies:
        uses.setdefault(one.src_name, set()).add(one.dst_name)
        used.setdefault(one.dst_name, set()).add(one.src_name)

    def rank(name):
        out, into = uses.get(name, set()), used.get(name, set())
        return -len(out & into), -len(out) - len(into), name

    return min(uses.keys() | used.keys(), key=rank)


@pytest.mark.parametrize("page", ["tangled", "questions", "cut", "ask?q=which%20module%20is%20the%20most%20tangled", ""])
def test_the_most_tangled_module_and_where_to_cut_it_is_one_sentence_on_every_page_about_it(page, tab, explorer, remembered, visit):
    address = f"/explore/{page}" if page else "/"
    visit(explorer + address, "document.querySelector('.answer a')")
    said = tab.value("document.querySelector('.answer').textContent")
    assert said.startswith(f"{most_tangled(remembered)} is the most tangled module (uses ")
    assert "the dependency to remove first is" in said
    assert "ranked by the number of modules that they both use and are used by" in said
    source, target = tab.value("document.querySelectorAll('.answer a')[1].textContent").split(" → ")
    (cut,) = [one for one in remembered.modules().dependencies if (one.src_name, one.dst_name) == (source, target)]
    assert f"({cut.weight:,} connection" in said


def test_the_page_of_a_module_names_the_same_place_to_cut_as_the_ranking(tab, explorer, visit):
    visit(explorer + "/explore/tangled", "document.querySelector('main table tbody tr')")
    rows = "[...document.querySelectorAll('main table tbody tr')].slice(0, 2)"
    ranked = tab.value(f"{rows}.map((row) => [...row.querySelectorAll('a')].map((one) => [one.textContent, one.getAttribute('href')]))")
    for (module, _), *places, (_, page) in ranked:
        visit(explorer + page.removeprefix(explorer), "document.querySelector('main .answer')")
        said = tab.value("document.querySelector('main .answer').innerText")
        begin = (
            f"To untangle {module}, first remove this dependency: ",
            f"{module} is in a cycle. The dependency to remove there first is ",
        )
        assert said.startswith(begin)
        assert all(f" {place} (" in said for place, _ in places)


@pytest.mark.parametrize("words", ["tangled", "cycles", "most coupled"])
def test_the_box_leads_to_the_most_tangled_modules_by_any_word_for_it(words, tab, explorer, remembered, visit):
    visit(explorer + TEACH[0], TEACH[1])
    tab.value(f"{FIND}.focus()")
    tab.type(words)
    offered = "[...document.querySelectorAll('#find-list [role=option]')].find((one) => one.textContent.includes('Tangled modules'))"
    tab.until(f"Boolean({offered})")
    tab.value(f"{offered}.dispatchEvent(new PointerEvent('pointerdown', {{ bubbles: true, cancelable: true }}))")
    tab.until("location.pathname === '/explore/tangled' && document.querySelector('.answer')")


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("what changed lately", "/explore/changes"),
        ("who knows classes/graph.py?", "/explore/people"),
        ("what is risky to touch", "/explore/risk"),
        ("what breaks if Graph.add_edge changes?", "/explore/impact"),
        ("who calls Graph.add_edge", "/explore/code"),
        ("what is known about Graph.add_edge?", "/explore/memories"),
        ("which tests should I run if I change Graph.add_edge?", "/explore/impact"),
        ("what changes together with classes/graph.py", "/explore/coaccess"),
        ("what are the main flows?", "/explore/"),
        ("where would I cut classes", "/explore/cut"),
        ("where does the program begin?", "/explore/onboarding"),
        ("what are the entry points", "/explore/onboarding"),
    ],
)
def test_a_question_that_a_page_answers_leads_to_that_page_and_not_to_search(question, page, tab, explorer, remembered, visit):
    visit(f"{explorer}/explore/ask?q={quote(question)}", "document.querySelector('main .card a.button')")
    assert tab.value("new URL(document.querySelector('main .card a.button').href).pathname") == page
    tab.until("document.querySelector('main details > summary')")
    assert "In short" not in tab.value("document.querySelector('main').textContent")
    tab.value("document.querySelector('main .card a.button').click()")
    tab.until(f"location.pathname === '{page}' && document.querySelector('h1')")


@pytest.mark.parametrize("question", ["which tests cover Graph.add_edge", "what breaks if `Graph.add_edge` changes in classes"])
def test_the_page_of_an_answer_is_about_the_code_in_the_question_and_not_about_its_other_words(question, tab, explorer, remembered, visit):
    visit(
        f"{explorer}/explore/ask?q={quote(question)}", "document.querySelector('main .card a.button') && document.querySelector('.answer')"
    )
    assert tab.value("new URL(document.querySelector('main .card a.button').href).searchParams.get('of')") == "Graph.add_edge"


def test_whether_one_module_uses_another_is_answered_with_yes_or_no(tab, explorer, remembered, visit):
    found = remembered.modules()
    weights = {(one.src_name, one.dst_name): one.weight for one in found.dependencies}
    (of, on), weight = next((pair, weight) for pair, weight in weights.items() if (pair[1], pair[0]) not in weights)
    many = f"{weight:,} edge leads" if weight == 1 else f"{weight:,} edges lead"
    for question, said in (
        (f"does {of} use {on}?", f"Yes: {many} from {of} to {on}."),
        (f"is {on} used by {of}?", f"Yes: {many} from {of} to {on}."),
        (f"does {on} depend on {of}?", f"No edge leads from {on} to {of}."),
    ):
        visit(f"{explorer}/explore/ask?q={quote(question)}", "document.querySelector('main .card .answer')")
        assert tab.value("document.querySelector('.answer').textContent").startswith(said)
    tab.value("document.querySelector('main .card a.button').click()")
    tab.until(f"document.querySelector('main').textContent.includes('{on} does not use {of}.')")


def test_of_two_modules_with_the_same_last_name_a_question_means_the_one_nearest_to_the_root(tab, tmp_path, serve, visit):
    root = tmp_path / "project"
    for folder in ("shop", "web/pages/shop"):
        (root / folder).mkdir(parents=True)
        for name in "abcd":
            uses = "".join(f"from {folder.replace('/', '.')}.{other} import {other}\n" for other in "abcd" if other != name)
            calls = "".join(f"    {other}()\n" for other in "abcd" if other != name)
            (root / folder / f"{name}.py").write_text(f"{uses}\n\ndef {name}():\n{calls}", encoding="utf-8")
    with GraphMem.open(tmp_path / "index", repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        names = {one.name for one in memory.modules().modules}
        assert sum(one.split("/")[-1] == "shop" for one in names) == 2, names
        with serve(memory) as address:
            visit(f"{address}/explore/ask?q={quote('what is risky to touch in shop?')}", "document.querySelector('main .card a.button')")
            assert tab.value("new URL(document.querySelector('main .card a.button').href).searchParams.get('of')") == "shop"


def test_a_name_that_is_not_in_the_index_is_not_answered_with_figures_of_other_code(tab, explorer, remembered, visit):
    visit(f"{explorer}/explore/ask?q={quote('who knows Frobnicator.spin?')}", "document.querySelector('main .card .answer')")
    assert tab.value("document.querySelector('.answer').textContent") == "The index has no file, module or symbol named Frobnicator.spin."


def test_the_answer_about_entry_points_names_them_or_the_exports_of_a_library(tab, explorer, remembered, visit):
    visit(f"{explorer}/explore/ask?q=what+are+the+entry+points", "document.querySelector('main .card .answer')")
    said = tab.value("document.querySelector('main .card .answer').textContent")
    outside = remembered.entry_points(["main", "route", "command", "event", "task"], limit=1).total
    exports = remembered.entry_points(["export"], limit=1).total
    assert said.startswith(
        "Execution starts at" if outside else f"No program, command, route or task is known. Other projects can use {exports:,}"
    )


def test_memories_with_all_words_are_listed_apart_from_those_that_are_only_near(tab, explorer, remembered, visit):
    near = "document.querySelector('main div.nearest h2')"
    visit(
        explorer + "/explore/memories?text=nodes+missing",
        f"document.querySelector('main ul.memories').children.length === 1 && {near}",
    )
    assert tab.value(f"{near}.textContent") == "Memories with some of these words, or with a similar meaning"
    assert "creates missing nodes" in tab.value("document.querySelector('main ul.memories').textContent")
    assert "creates missing nodes" not in tab.value("document.querySelector('main div.nearest').textContent")
    visit(explorer + "/explore/memories?text=silently+outermost", near)
    assert tab.value("document.querySelector('main ul.memories').textContent").startswith("No memory has all of these words.")
    reasons = "[...document.querySelectorAll('main a')].find((one) => one.textContent.startsWith('Look for reasons in '))"
    assert tab.value(f"new URL({reasons}.href).search") == "?q=why+silently+outermost"
    names = ("from_sparse6_bytes", "lollipop_graph", "EdgePartition", "circular_layout", "pagerank")
    unknown = next(name for name in names if not remembered.symbol(name).known.memories)
    visit(f"{explorer}/explore/code?at={unknown}", reasons)
    assert tab.value(f"new URL({reasons}.href).search") == f"?q=why+{unknown}"


def test_a_question_for_a_reason_is_answered_with_passages_that_give_one(tab, explorer, remembered, visit):
    for _ in range(5):
        visit(f"{explorer}/explore/ask?q={quote('why is adjacency a dict of dicts')}", "document.querySelector('.reasons li')")
        said = tab.value("document.querySelector('.reasons').innerText")
        if "took too long" not in tab.value("document.querySelector('main').innerText"):  # on a busy machine: a person asks again, too
            break
    assert "These passages give reasons, but perhaps for another matter" in said
    assert "looking up an edge has to take constant time" in said
    assert tab.value("document.querySelector('.reasons a').href").startswith(f"{explorer}/explore/")


def test_a_question_about_how_or_why_is_searched(tab, explorer, remembered, visit):
    visit(f"{explorer}/explore/ask?q=adjacency+dict", "document.querySelectorAll('.evidence > li').length > 1")
    assert tab.value("document.querySelector('main .card a.button')") is None


def test_the_table_below_the_map_counts_connections_like_the_matrix(tab, explorer, remembered, visit):
    visit(explorer + "/", "document.querySelector('.map-place ~ div td span')?.textContent")
    body = "document.querySelector('.map-place ~ div tbody')"
    rows = dict(tab.value(f"[...{body}.rows].map((row) => [row.cells[0].textContent, row.cells[3].textContent])"))
    dependencies = remembered.modules().dependencies
    for name, said in rows.items():
        own = sorted((one for one in dependencies if one.src_name == name), key=lambda one: (-one.weight, one.dst_name))[:4]
        assert said == ", ".join(f"{one.dst_name} ({one.weight:,})" for one in own)


def test_the_files_of_a_dependency_have_as_many_edges_as_the_matrix_says(tab, explorer, remembered, visit):
    for one in remembered.modules().dependencies[:40:13]:
        page = f"{explorer}/explore/matrix?of={quote(one.src_name)}&on={quote(one.dst_name)}"
        visit(page, "document.querySelector('main .card table tbody tr')")
        answer = remembered.module_dependency(one.src_name, one.dst_name, limit=1000)
        assert answer.edges == one.weight
        assert sum(pair.weight for pair in answer.files) == one.weight
        first = tab.value("document.querySelector('main .card table tbody tr').innerText.split(/\\s+/).at(-1)")
        assert first == f"{answer.files[0].weight:,}"


def test_the_boxes_of_impact_say_what_the_answer_below_was_asked_with(tab, explorer, remembered, visit):
    visit(explorer + "/explore/impact?of=to_networkx_graph", "document.querySelectorAll('.zone').length === 3")
    assert tab.value("document.querySelector('[name=depth]').value") == "5"
    tab.value("(() => { const box = document.querySelector('[name=depth]'); box.value = '1'; box.dispatchEvent(new Event('change')); })()")
    said = "document.querySelector('.verdict')?.textContent.includes('within 1 step,')"
    tab.until(f"location.search.includes('depth=1') && {said}")


def test_impact_shows_few_memories_below_what_breaks_and_says_how_to_miss_fewer_tests(tab, explorer, remembered, visit):
    visit(explorer + "/explore/impact?of=Graph.add_edge", "document.querySelectorAll('.zone').length === 3")
    assert tab.value("document.querySelector('.zone.focus').textContent.includes('Memories about')") is False
    assert tab.value("document.querySelectorAll('.zones3 ~ details .listing > li').length") <= 3
    tab.until("document.querySelector('.command.recording')")
    assert tab.value("document.querySelector('.command.recording code').textContent") == "pytest --graphmem && graphmem index"
