"""Answers of the explorer's pages on a small project in two languages.

The right answers can be read off the files of the project.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from importlib import resources

import pytest

from graphmem.cli.output import Output
from graphmem.cli.render.impact import impact as impact_text
from graphmem.mcp_server.impact_text import impact as impact_for_agents
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

pytestmark = pytest.mark.browser

FILES = {
    "shop/cart.py": (
        "from shop.price import Price\n\n\nclass Cart:\n    def __init__(self):\n        self.price = Price()\n\n"
        "    def __len__(self):\n        return self.price.total()\n\n    def empty(self):\n        return unknown.thing(self)\n"
    ),
    "shop/price.py": "class Price:\n    def total(self):\n        return 1\n",
    "shop/alone.py": "def alone():\n    return 2\n",
    "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_cart():\n    assert len(Cart().price.total()) == 1\n",
    "web/sum.ts": "export function sum(a: number, b: number): number {\n  return a + b\n}\n",
    "web/sum.test.ts": "import { sum } from './sum'\n\ntest('sums', () => {\n  expect(sum(1, 2)).toBe(3)\n})\n",
}
READY = "document.querySelector('h1') && !document.querySelector('.loading')"
TEXT = "document.querySelector('main').innerText"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphMem]:
    root = tmp_path_factory.mktemp("shop") / "project"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "a shop"]):
        git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run([*git, *arguments], check=True, capture_output=True)
    with GraphMem.open(root.parent / "index", repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        yield memory


@pytest.fixture(scope="module")
def page(shop, serve) -> Iterator[str]:
    with serve(shop) as address:
        yield address


def test_the_way_from_a_class_begins_at_its_member_and_names_both(tab, page, visit):
    visit(page + "/explore/path?from=Cart&to=Price", "document.querySelectorAll('.stop').length > 1")
    first, last = tab.value(
        "(() => { const all = [...document.querySelectorAll('.stop')].map((one) => one.innerText); return [all[0], all.at(-1)]; })()"
    )
    assert first.startswith("Cart.__init__")
    assert "of Cart" in first
    assert last.startswith("Price")


def test_a_missing_path_beside_an_unresolved_call_does_not_count_as_independence(tab, page, visit):
    visit(page + "/explore/path?from=alone&to=Price", f"{READY} && document.querySelector('.lead')")
    seen = tab.value(TEXT)
    assert "No path from alone to Price was found" in seen
    assert "A path may exist anyway" in seen
    assert "does not depend" not in seen


TO_RUN = ".command:not(.recording)"  # the other command records a run
SHARED = {
    "cart.py": "class Cart:\n    def total(self):\n        return 1\n",
    "tests/conftest.py": (
        "import pytest\n\nfrom cart import Cart\n\n\n@pytest.fixture\ndef cart():\n    made = Cart()\n    made.total()\n    return made\n"
    ),
    "tests/test_cart.py": "def test_total(cart):\n    assert cart.total() == 1\n\n\ndef test_nothing():\n    assert True\n",
}


def test_one_command_runs_exactly_the_tests_and_no_helper_of_them(tab, tmp_path, serve, visit):
    root = tmp_path / "project"
    for name, text in SHARED.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    with GraphMem.open(tmp_path / "index", repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        assert [one.id for one in memory.tests_to_run("Cart.total").tests] == ["tests/test_cart.py::test_total"]
        with serve(memory) as address:
            visit(address + "/explore/impact?of=Cart.total", f"document.querySelector('{TO_RUN}')")
            commands = f"[...document.querySelectorAll('{TO_RUN} code')].map((one) => one.textContent)"
            assert tab.value(commands) == ["pytest tests/test_cart.py::test_total"]
            recording = "[...document.querySelectorAll('.command.recording code')].map((one) => one.textContent)"
            assert tab.value(recording) == ["pytest --graphmem && graphmem index"]
            assert "1 test to run, 1 test helper" in tab.value("document.querySelector('.verdict').innerText")
            tab.value(f"document.querySelector('{TO_RUN} button').click()")
            tab.until(f"document.querySelector('{TO_RUN} button').textContent === 'Copied.'")


def test_names_of_files_are_offered_for_tests_whose_runner_is_unknown(tab, page, visit):
    visit(page + "/explore/impact?of=web/sum.ts:sum", f"document.querySelector('{TO_RUN}')")
    assert tab.value(f"[...document.querySelectorAll('{TO_RUN}')].map((one) => one.innerText.split('\\n'))") == [
        ["web/sum.test.ts", "Copy the names of 1 file"]
    ]


def test_keeping_one_of_two_that_contradict_takes_both_from_the_queue(tab, tmp_path, serve, visit):
    with GraphMem.open(tmp_path / "index", settings=Settings(embedder="none")) as memory:
        first = memory.remember("Always use tabs for indentation in Makefiles.", "pattern", files=["Makefile"])
        second = memory.remember("Never use tabs for indentation in Makefiles.", "pattern", files=["Makefile"])
        other = memory.remember("Colours of the map are those of the system.", type="fact")
        memory.dispute(other.memory.id, "is it so?")
        assert {item.memory.id for item in memory.review_queue().items} == {one.memory.id for one in (first, second, other)}
        with serve(memory) as address:
            visit(address + "/explore/review", "document.querySelectorAll('.item').length === 3")
            titles = "[...document.querySelectorAll('.item h2')].map((one) => one.textContent)"
            while "Makefiles" not in tab.until("document.activeElement.querySelector('h2')?.textContent"):
                tab.press("j")
            tab.press("m")
            tab.until("document.querySelectorAll('.item').length === 1")
            assert tab.value(titles) == [other.memory.title]
            assert tab.value("document.querySelector('.lead').textContent") == "1 memory to review"
            assert tab.value("document.activeElement.querySelector('h2')?.textContent") == other.memory.title


def test_what_never_moved_together_stands_apart_and_says_why_it_is_there(tab, page, visit):
    visit(page + "/explore/coaccess?files=shop/cart.py", "document.querySelectorAll('main table').length")
    cards = tab.value("[...document.querySelectorAll('.card')].map((one) => [one.querySelector('h2').textContent, one.innerText])")
    assert [title for title, _ in cards] == ["Changed together"]  # one commit made all of them
    visit(page + "/explore/coaccess?files=shop/cart_view.py", "document.querySelectorAll('main table').length")
    seen = tab.value(TEXT)
    assert "Neither the index nor the commit history contains shop/cart_view.py." in seen
    assert "The files below are guesses: their names are similar to the given names." in seen
    assert tab.value("document.querySelectorAll('.card').length") == 1
    assert "Never changed together" in seen
    assert "similar name" in seen
    assert "edited recently" not in seen
    assert "no dependency in the code" not in seen
    assert "0%" not in seen.replace("100%", "")
    visit(page + "/explore/coaccess?files=shop/nowhere.py", "document.querySelectorAll('[role=alert]').length")
    assert "No files are known to change together with the given files." in tab.value(TEXT)


def test_files_of_a_module_keep_their_names_and_say_their_folders(tab, page, shop, visit):
    for module in shop.modules().modules:
        visit(f"{page}/explore/graph?focus={module.name}", "document.querySelectorAll('.panel table').length > 2")
        cells = tab.value("[...document.querySelectorAll('.panel table')].at(-1).tBodies[0].innerText.split(/\\s+/)")
        assert {part for part in cells if "/" in part or "." in part} <= {
            *(path.rsplit("/", 1)[0] for path in FILES),
            *(path.rsplit("/", 1)[-1] for path in FILES),
        }


def test_health_counts_what_is_known_of_symbols_and_names_memories_by_their_short_ids(tab, tmp_path, serve, visit):
    root = tmp_path / "project"
    root.mkdir()
    (root / "tax.py").write_text("def vat(price):\n    return price * 1.19\n", encoding="utf-8")
    with GraphMem.open(tmp_path / "index", repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        one = memory.remember("The rate is that of the day of delivery.", symbols=["tax.py:vat"], actor="cli").memory
        gone = memory.remember("Prices have no cents.", actor="cli").memory
        memory.forget(gone.id, hard=True)
        assert one.files == []
        with serve(memory) as address:
            visit(address + "/explore/health", f"{READY} && document.querySelectorAll('.card').length === 9")
            tab.until("!document.querySelector('.loading')")
            seen = tab.value(TEXT)
            (module,) = [found.name for found in memory.modules().modules]
            assert tab.value("document.querySelector('main table tbody tr').innerText").split("\t") == [
                module,
                "2",
                "1",
            ]  # the function and its file
            assert f"Remembered · at the command line #{one.short_id}" in seen
            assert "a deleted memory" in seen
            assert one.id[:8] not in seen


def test_impact_says_as_the_command_does_how_complete_it_is_and_who_else_may_call(tab, page, shop, visit):
    said = {
        "lower_bound": "There may be more dependents: source text does not show every call.",
        "unknown": "Unknown: no dependent code was found",
    }
    for ref in ("Cart.__len__", "alone", "Cart.empty"):
        report = shop.impact(ref)
        visit(f"{page}/explore/impact?of={ref}", "document.querySelector('.verdict')")
        seen = tab.value("document.querySelector('.verdict').innerText")
        assert said[report.epistemic] in seen
        assert ("such answers miss a test" in seen) == (report.miss_chance is not None)
        assert ("outside the project may call Cart.__len__" in seen) == (ref == "Cart.__len__")


NARROW = ("/", "/explore/graph?heat=churn", "/explore/graph?around=Cart&depth=2", "/explore/impact?of=Price", "/explore/health")
LONG = "/explore/ask?q=" + "what_a_long_name_that_nobody_breaks_" * 3


@pytest.fixture
def phone(tab) -> Iterator[None]:
    tab.call("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=True)
    yield
    tab.call("Emulation.clearDeviceMetricsOverride")


@pytest.mark.usefixtures("phone")
def test_on_a_phone_every_page_is_as_wide_as_the_phone(tab, page, shop, visit):
    shop.remember("what_a_long_name_that_nobody_breaks_" * 5 + " is a name.", title="what_a_long_name_that_nobody_breaks_" * 2)
    for address in (*NARROW, LONG, "/explore/coaccess?files=shop/cart.py"):
        visit(page + address, READY)
        tab.until("!document.querySelector('.loading')")
        # A phone that has to shows more than its width, so that the page's width is what tells.
        assert tab.value("[document.documentElement.scrollWidth, innerWidth]") == [390, 390], address
    tab.value("document.getElementById('find').focus()")
    tab.type("total")
    tab.until("document.querySelectorAll('#find-list [role=option] .kind').length")
    assert tab.value("[document.documentElement.scrollWidth, innerWidth]") == [390, 390]


@pytest.mark.usefixtures("phone")
def test_on_a_phone_a_row_of_many_columns_is_a_few_lines_that_can_be_read(tab, page, visit):
    visit(page + "/explore/coaccess?files=shop/cart.py", "document.querySelectorAll('table.wide tbody tr').length")
    heights = tab.value("[...document.querySelectorAll('table.wide tbody tr')].map((row) => row.offsetHeight)")
    assert max(heights) < 220
    named = "[...document.querySelectorAll('table.wide tbody tr:first-child td')].map((cell) => cell.dataset.column)"
    assert tab.value(named)[1:3] == ["Share of the given files' changes that also changed this file", "Times changed together"]


@pytest.mark.usefixtures("phone")
def test_on_a_phone_what_is_in_the_middle_of_a_neighbourhood_is_whole(tab, page, visit):
    visit(
        page + "/explore/graph?around=Cart&depth=2", "document.querySelector('.column.focus .node') && document.querySelector('.panel h2')"
    )
    left, right, wide = tab.value(
        "(() => { const box = document.querySelector('.column.focus .node').getBoundingClientRect();"
        " return [box.left, box.right, document.documentElement.clientWidth]; })()"
    )
    assert 0 < left < right < wide
    assert right - left > 100


@pytest.mark.usefixtures("phone")
def test_the_query_page_leads_back_and_has_room_for_the_answer_on_a_phone(tab, page, visit):
    if not (resources.files("graphmem.api") / "static" / "graphiql" / "graphiql.js").is_file():
        pytest.skip("the query page is not built (npm --prefix web ci && npm --prefix web run build)")
    visit(page + "/graphql", "document.querySelector('.graphiql-response')")
    assert tab.value("document.querySelector('.graphiql-response').getBoundingClientRect().width") > 250
    assert tab.value("document.querySelector('.graphiql-response').getBoundingClientRect().height") > 150
    tab.value("document.querySelector('nav a').click()")
    tab.until("location.pathname === '/explore/' && document.querySelector('#top nav')")


def test_impact_and_neighbourhood_say_what_they_count(tab, page, shop, visit):
    report = shop.impact("Price")
    assert len(report.tests) == 1 < report.total
    visit(page + "/explore/impact?of=Price", "document.querySelectorAll('.zone').length === 3")
    assert tab.value("document.querySelector('.breaks .count').textContent") == str(sum(hit.depth == 1 for hit in report.hits))
    said = tab.value("document.querySelector('.verdict').innerText")
    direct = sum(hit.depth == 1 for hit in report.hits)
    assert f"{report.total - 1} dependents within 5 steps, {direct} of them direct; tests not counted; 1 test to run" in said
    assert f"{report.total - 1} dependents besides tests" in said  # one number for one thing
    names = tab.value("[...document.querySelectorAll('.breaks .symbol, .zone.after .symbol')].map((one) => one.textContent)")
    assert len(names) == len(set(names)) == len(report.hits)
    columns = shop.neighbourhood(["Cart"], depth=1, limit=100).columns["nodes"]
    visit(page + "/explore/graph?around=Cart&depth=1", "document.querySelector('.said')?.textContent")
    left = sum(side < 0 for side in columns["side"])
    tests = sum(test for side, test in zip(columns["side"], columns["test"], strict=True) if side > 0)
    right = sum(side > 0 for side in columns["side"]) - tests
    assert tests
    assert tab.value("document.querySelector('.said').textContent").startswith(f"The symbol in focus depends directly on {left} symbol")
    assert f"; {right} symbol" in tab.value("document.querySelector('.said').textContent")
    assert f" and {tests} test" in tab.value("document.querySelector('.said').textContent")


def test_impact_begins_with_direct_dependents_and_tests_and_says_the_warning_of_a_file_once(tab, page, shop, visit, capsys):
    report = shop.impact("Price")
    direct = [hit.symbol for hit in report.hits if hit.depth == 1]
    path = next(path for path in {one.path for one in direct} if sum(one.path == path for one in direct) > 1)
    trap = shop.remember("Carts are not closed before they are counted.", "gotcha", files=[path]).memory
    try:
        visit(page + "/explore/impact?of=Price", "document.querySelectorAll('.zone').length === 3")
        assert tab.value("document.querySelectorAll('.chip.trap').length") == 1
        assert path in tab.value("document.querySelector('.chip.trap').closest('li').innerText")
        first = tab.value("[...document.querySelectorAll('.breaks > .listing .symbol')].map((one) => one.title)")
        assert set(first) == {one.ref for one in direct}
        order = "[...document.querySelectorAll('.verdict, .breaks, section.tests, .zones3')].map((one) => one.className.split(' ').at(-1))"
        assert tab.value(order) == ["verdict", "breaks", "tests", "zones3"]
        impact_text(Output(), report, 0)
        for said, titles in (
            (capsys.readouterr().out, ("risk ", "  because ", "Will break", "Tests to run", "At least this")),
            (impact_for_agents(report, 2_000), ("risk ", "will break (depth 1):", "tests to run (")),
        ):
            places = [said.index(title) for title in titles]
            assert places == sorted(places), "the terminal and agents read the same order"
        assert report.tests[0].symbol.name in tab.value("document.querySelector('section.tests').innerText")
    finally:
        shop.forget(trap.id, hard=True)


def test_without_dependents_impact_shows_the_places_that_only_name_the_target(tab, tmp_path, serve, visit):
    root = tmp_path / "project"
    root.mkdir()
    (root / "commands.py").write_text("def send_invoice(order):\n    return order\n", encoding="utf-8")
    (root / "commands.json").write_text('{\n  "invoice": "send_invoice"\n}\n', encoding="utf-8")
    with GraphMem.open(tmp_path / "index", repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        with serve(memory) as address:
            visit(address + "/explore/impact?of=send_invoice", "document.querySelector('.breaks .named a')")
            said = tab.value("document.querySelector('.breaks').innerText")
            assert "No code of this project is known to depend on the target, except tests." in said
            assert "1 place names a target in a string, or in a file that is read as text; look there" in said
            tab.value("document.querySelector('.breaks .named a').click()")
            tab.until("document.querySelector('.pane.code .ln.at, .pane.code .ln.in')?.textContent.includes('send_invoice')")


def layers() -> dict[str, str]:
    """Files of two packages of ten modules that use each other; one of web uses one of store."""
    files = {}
    for package in ("store", "web"):
        for i in range(10):
            lines = [f"from {package}.part{j} import f{j}\n" for j in range(i)] + (
                ["from store.part0 import f0 as g\n"] * (package == "web" and i == 9)
            )
            files[f"{package}/part{i}.py"] = "".join(lines) + f"\n\ndef f{i}():\n    return [{', '.join(f'f{j}()' for j in range(i))}]\n"
    files["web/part9.py"] += "\n\ndef h():\n    return g()\n"
    return files


def test_without_a_cycle_no_module_is_called_tangled_and_no_cut_is_suggested(tab, tmp_path, serve, visit):
    root = tmp_path / "project"
    for name, text in layers().items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    with GraphMem.open(tmp_path / "index", repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        assert len(memory.modules().dependencies) == 1
        with serve(memory) as address:
            visit(address + "/explore/tangled", "document.querySelector('main tbody tr')")
            said = tab.value("document.querySelector('.answer').textContent")
            assert said.startswith(
                "No modules depend on each other in a cycle, so none is tangled and no dependency has to be removed. The most connected"
            )
            assert "→" not in tab.value("document.querySelector('main table').textContent")
            visit(address + "/explore/cut?of=web", "document.querySelector('.answer')")
            assert "web is in no cycle" in tab.value("document.querySelector('.answer').textContent")
            visit(address + "/explore/quarter", "document.querySelector('main h1')")  # as the page of changes was called
            assert tab.value("document.querySelector('#top nav [aria-current]').pathname") == "/explore/changes"


def test_a_question_in_the_box_is_offered_to_ask_first_and_notes_are_sentences(tab, tmp_path, serve, visit):
    root = tmp_path / "project"
    root.mkdir()
    (root / "shop.py").write_text("def sell():\n    return 1\n\n\ndef open_shop():\n    return sell()\n", encoding="utf-8")
    with GraphMem.open(tmp_path / "index", repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        with serve(memory) as address:
            visit(address + "/explore/changes", "document.querySelector('main .hint')")
            assert tab.until("document.querySelector('main p + .hint')?.textContent") == "The project is not under git."
            options = "[...document.querySelectorAll('#find-list [role=option]')].map((one) => one.innerText.trim())"
            for written, first in (("who calls sell", "Ask: who calls sell"), ("sell", "function")):
                tab.value("document.getElementById('find').value = ''; document.getElementById('find').focus()")
                tab.type(written)
                tab.until(f"{options}.length > 1 && {options}.some((one) => one === 'Ask: {written}' || one.includes('“{written}”'))")
                assert tab.value(f"{options}[0]").startswith(first)
                assert tab.value("document.querySelector('#find-list .said')") is None


def test_a_broken_rule_leads_to_the_lines_that_break_it_and_programs_are_counted_without_handlers(tab, tmp_path, serve, visit):
    root = tmp_path / "project"
    (root / ".graphmem").mkdir(parents=True)
    (root / ".graphmem" / "architecture.toml").write_text(
        '[[rule]]\nname = "store-alone"\nfrom = "store.py"\nmay_not_use = ["api.py"]\nbecause = "the store is below"\n', encoding="utf-8"
    )
    (root / "store.py").write_text("import api\n\n\ndef keep():\n    return api.name()\n\n\nif __name__ == '__main__':\n    keep()\n")
    routes = "".join(f"\n\n@app.get('/{i}')\ndef show{i}():\n    return name()\n" for i in range(3))
    (root / "api.py").write_text("from fastapi import FastAPI\n\napp = FastAPI()\n\n\ndef name():\n    return 'api'\n" + routes)
    with GraphMem.open(tmp_path / "index", repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        with serve(memory) as address:
            visit(address + "/explore/rules", "document.querySelectorAll('main table').length === 2")
            shown = "[...document.querySelectorAll('main table:last-of-type tbody td a')].map((one) => one.textContent)"
            assert {"store.py", "line 1", "line 5", "api.py"} <= {one.strip() for one in tab.value(shown)}, tab.value(shown)
            visit(address + "/explore/ask?q=where+does+execution+start", "document.querySelector('main .card .answer')")
            assert tab.value("document.querySelector('main .card .answer').textContent") == "Execution starts at store.py."


def test_a_newcomer_reads_warnings_and_decisions_before_other_memories_and_the_project_files_last(tab, tmp_path, serve, visit):
    root = tmp_path / "project"
    root.mkdir()
    (root / "README.md").write_text("# Shop\n\nShop sells books by mail, and keeps carts for a day.\n", encoding="utf-8")
    (root / "pyproject.toml").write_text('[project]\nname = "shop"\ndescription = "Sells books"\n', encoding="utf-8")
    (root / "web").mkdir()
    (root / "web" / "package.json").write_text('{"name": "shop-web", "scripts": {"dev": "shop dev"}}\n', encoding="utf-8")
    (root / "cart.py").write_text("def total():\n    return 1\n", encoding="utf-8")
    with GraphMem.open(tmp_path / "index", repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        for kind, text in (
            ("fact", "Carts live for one day."),
            ("gotcha", "Totals are rounded once."),
            ("decision", "Prices are integers."),
        ):
            memory.verify(memory.remember(text, kind, files=["cart.py"]).memory.id)
        known = memory.team_news().important
        assert {one.type for one in known[:2]} == {"gotcha", "decision"}
        assert [one.seeded for one in known] == sorted(one.seeded for one in known)
        assert known[2].type == "fact"
        assert known[-1].seeded
        part = next(one for one in known if one.seeded and one.files == ["web/package.json"])
        with serve(memory) as address:
            visit(address + "/explore/onboarding", "document.querySelectorAll('main .card').length === 4")
            cards = tab.value("[...document.querySelectorAll('main .card')].map((one) => one.innerText)")
            assert all(one.title in cards[0] for one in known[:3])
            assert known[-1].title not in cards[0]
            assert next(one.title for one in known if one.files == ["pyproject.toml"]) in cards[3]
            assert cards[3].index("About this project") < cards[3].index("pyproject.toml")
            assert cards[3].index("pyproject.toml") < cards[3].index(part.title), "the project before its parts"


def test_what_is_found_says_its_kind_in_words_and_shows_it(tab, page, visit):
    visit(page + "/explore/impact", READY)
    tab.press("/")
    tab.type("total")
    tab.until("document.querySelectorAll('#find-list [role=option] .kind').length")
    assert "method" in tab.value("[...document.querySelectorAll('#find-list .kind')].map((one) => one.textContent)")
    tab.press("ArrowDown")
    tab.press("Enter")
    tab.until("location.pathname === '/explore/code' && document.querySelector('.ln.in')?.textContent.includes('total')")


def test_each_dependent_says_by_which_rule_and_in_which_line_and_shows_traps_on_the_way(tab, page, shop, visit):
    trap = shop.remember("Price.total rounds down; add taxes first.", "gotcha", symbols=["Price.total"]).memory
    try:
        visit(page + "/explore/impact?of=Price.total", "document.querySelector('.breaks details.way')")
        tab.value("document.querySelectorAll('.breaks details').forEach((one) => { one.open = true; }); 1")
        step = tab.until("document.querySelector('.breaks details.way li')?.innerText")
        assert "calls" in step
        assert "line " in step
        assert trap.title in step
        ((_, sentence),) = shop.path("Cart.__len__", "Price.total").rules.items()
        assert sentence in step
        tab.until("document.querySelector('.pane.code .ln') && location.search.includes('code=')")  # the line stands beside it
        visit(page + "/explore/path?from=Cart.__len__&to=Price.total", "document.querySelector('.stop')")
        assert sentence in tab.value(TEXT)
        assert tab.value("document.querySelectorAll('.stop .trap').length") == 1
    finally:
        shop.forget(trap.id, hard=True)
