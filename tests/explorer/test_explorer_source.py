"""The panes of the explorer: files, outline, and source with colours, marks and links."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from graphmem.explorer import highlight
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

PRICE = """\
'''Prices.'''

RATE = 1.19  # as of now 😀


class Price:
    '''A price.'''

    def total(self, net: float) -> float:
        return rounded(net * RATE)


def rounded(value: float) -> float:
    return round(value, 2)
"""
CART = """\
from shop.price import Price, rounded


def checkout(nets):
    '''😀'''; return rounded(sum(Price().total(net) for net in nets))
"""
TESTS = "from shop.cart import checkout\n\n\n" + "\n\n".join(
    f"def test_checkout_{i}():\n    assert checkout([{i}]) > 0\n" for i in range(4)
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    root = tmp_path_factory.mktemp("shop")
    for name, text in {
        "shop/__init__.py": "",
        "shop/price.py": PRICE,
        "shop/cart.py": CART,
        "deep/er/est/only.py": "def lonely():\n    return 1\n",
        "tests/test_cart.py": TESTS,
        "long.md": f"# Long\n\n{'word ' * 1100}\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")

    def git(*arguments):
        subprocess.run(
            ["git", "-C", root, "-c", "user.name=Ada", "-c", "user.email=ada@example.com", *arguments], check=True, capture_output=True
        )

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "Begin the shop")
    with GraphMem.open(tmp_path_factory.mktemp("index") / "index", repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        memory.remember("rounded takes floats only; decimals lose their digits.", type="gotcha", symbols=["shop/price.py:rounded"])
        yield memory


@pytest.fixture(scope="module")
def page(shop, serve):
    with serve(shop) as address:
        yield address


def test_colours_cover_the_whole_text_in_utf16_units():
    lengths, kinds, note = highlight.tokens(PRICE, "shop/price.py", "python")
    assert note == ""
    assert sum(lengths) == len(PRICE.encode("utf-16-le")) // 2
    text, at, seen = PRICE.encode("utf-16-le"), 0, {}
    for length, kind in zip(lengths, kinds, strict=True):
        seen.setdefault(highlight.KINDS[kind], []).append(text[2 * at : 2 * (at + length)].decode("utf-16-le").strip())
        at += length
    assert "class" in seen["keyword"]
    assert "# as of now 😀" in seen["comment"]
    assert {"total", "rounded"} <= set(seen["function"])
    assert "'''Prices.'''" in seen["string"]


def test_what_is_too_long_for_colours_is_said(shop):
    found = shop.file_source("long.md")
    assert "5,000 characters" in found.note
    assert found.columns["tokens"]["length"] == []
    assert found.text.startswith("# Long")
    assert highlight.tokens("one two\n", "no.such-language", "") == ([], [], "")


def test_every_name_of_a_source_stands_where_it_is_written(shop):
    found = shop.file_source("shop/cart.py")
    names, refs = found.columns["names"], found.columns["refs"]
    lines = [line.encode("utf-16-le") for line in found.text.split("\n")]
    said = {
        (lines[line - 1][2 * column : 2 * end].decode("utf-16-le"), refs["ref"][ref])
        for line, column, end, ref in zip(names["line"], names["column"], names["end"], names["ref"], strict=True)
    }
    assert {("checkout", "shop/cart.py:checkout"), ("rounded", "shop/price.py:rounded"), ("total", "shop/price.py:Price.total")} <= said
    assert not found.is_stale


@pytest.mark.parametrize("place", ["a.py", "inner/b.py"])
def test_a_link_in_the_place_of_an_indexed_file_is_not_followed(tmp_path, place):
    root, outside = tmp_path / "root", tmp_path / "outside"
    for name in ("a.py", "inner/b.py"):
        for where in (root, outside):
            (where / name).parent.mkdir(parents=True, exist_ok=True)
            (where / name).write_text(f"{where.name} = 1\n", encoding="utf-8")
    with GraphMem.open(tmp_path / "index", repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        assert memory.file_source(place).text == "root = 1\n"
        part = root / place.partition("/")[0]
        part.rename(tmp_path / "moved")
        part.symlink_to(outside / part.name)
        found = memory.file_source(place)
        assert (found.text, found.is_stale) == ("", True)
        assert "cannot be read any more" in found.note
        part.unlink()
        os.mkfifo(part)
        assert memory.file_source(place).text == ""


def test_a_folder_lists_folders_first_and_joins_lonely_ones(shop):
    entries = shop.folder().entries
    assert [(one.name, one.is_folder) for one in entries] == [
        ("deep/er/est", True),
        ("shop", True),
        ("tests", True),
        ("long.md", False),
    ]
    assert entries[0].path == "deep/er/est"
    assert [one.path for one in shop.folder("deep/er/est").entries] == ["deep/er/est/only.py"]
    assert [one.is_test for one in entries] == [False, False, True, False]
    assert (entries[1].files, shop.folder("shop/").path) == (3, "shop")


def test_blame_tells_who_wrote_a_line_and_what_is_not_committed(shop):
    root = shop.project().root
    (run,) = shop.blame("shop/cart.py").runs
    assert (run.line, run.lines, run.author, run.subject) == (1, 5, "Ada", "Begin the shop")
    changed = Path(root) / "tests" / "test_cart.py"
    changed.write_text(f"{TESTS}# more\n", encoding="utf-8")
    assert [one.commit == "" for one in shop.blame("tests/test_cart.py").runs] == [False, True]
    changed.write_text(TESTS, encoding="utf-8")


def test_tests_around_a_symbol_are_one_node_with_their_number(shop):
    folded = shop.neighbourhood(["checkout"], fold_tests=True).columns
    nodes = folded["nodes"]
    (group,) = [i for i, kind in enumerate(nodes["kind"]) if kind == "tests"]
    assert (nodes["count"][group], nodes["side"][group]) == (4, 1)
    assert [i for i, test in enumerate(nodes["test"]) if test] == [group]
    assert [(a, nodes["ref"][b]) for a, b in zip(folded["edges"]["src"], folded["edges"]["dst"], strict=True) if a == group] == [
        (group, "shop/cart.py:checkout")
    ]
    whole = shop.neighbourhood(["checkout"]).columns["nodes"]
    assert sum(whole["test"]) == 4
    assert len({*zip(nodes["x"], nodes["y"], strict=True)}) == len(nodes["x"])
    # The neighbours of a test are its own, so nothing is folded.
    assert "tests" not in shop.neighbourhood(["test_checkout_1"], fold_tests=True).columns["nodes"]["kind"]


def test_an_edge_says_by_which_rule_and_in_which_lines_it_was_found(shop):
    columns = shop.neighbourhood(["checkout"]).columns
    place = {ref: i for i, ref in enumerate(columns["nodes"]["ref"])}
    edges = columns["edges"]
    (at,) = [
        i
        for i, (a, b) in enumerate(zip(edges["src"], edges["dst"], strict=True))
        if (a, b) == (place["shop/cart.py:checkout"], place["shop/price.py:rounded"])
    ]
    assert edges["lines"][at] == [5]
    assert edges["rule"][at] in columns["rules"]["rule"]
    assert all(columns["rules"]["sentence"])


READY = "document.querySelector('.ln.in .marks a') && document.querySelector('.outline a')"


def test_the_source_of_a_symbol_has_colours_marks_and_links_to_what_names_mean(tab, page, visit):
    visit(page + "/explore/code?at=shop/price.py:rounded", READY)
    row = "document.querySelector('.ln[data-line=\"13\"]')"
    assert tab.value(f"{row}.classList.contains('at')")
    assert tab.value(f"[...{row}.querySelectorAll('.mark')].map((one) => one.title)") == ["1 warning", "2 callers, tests not counted"]
    read = "[...document.querySelectorAll('.ln[data-line=\"3\"] .mark')].map((one) => one.title)"
    assert tab.value(read) == ["1 symbol that uses it, tests not counted"]  # a variable has no callers
    assert tab.value(f"{row}.querySelector('.t-keyword').textContent.trim()") == "def"
    assert tab.value(f"{row}.querySelector('.age').title").startswith("Ada, ")
    assert tab.value("[...document.querySelectorAll('.crumbs li')].map((one) => one.textContent)") == ["shop", "price.py", "rounded"]
    assert tab.value("document.querySelector('.outline [aria-current]').textContent") == "rounded"
    tab.until("document.querySelector('.tree-item[aria-selected=true]')?.dataset.path === 'shop/price.py'")
    assert "1 commit by 1 person" in tab.value("document.querySelector('.source-foot').textContent")
    # A name leads to what it means; back leads back.
    tab.value("[...document.querySelectorAll('.ln[data-line=\"10\"] a.name')].find((one) => one.textContent === 'RATE').click()")
    tab.until("location.search.includes('RATE') && document.querySelector('.ln.at')?.dataset.line === '3'")
    tab.value("document.querySelector('#top .steps button').click()")
    tab.until("location.search.includes('rounded') && document.querySelector('.ln.at')?.dataset.line === '13'")


def test_a_place_in_the_code_opens_beside_the_view_and_is_kept_in_the_address(tab, page, visit):
    visit(
        page + "/explore/impact?of=shop/price.py:rounded",
        "document.querySelectorAll('.zone').length === 3 && document.querySelector('.ln')",
    )
    tab.value("[...document.querySelectorAll('.breaks a.where')].find((one) => one.textContent.startsWith('shop/cart.py')).click()")
    tab.until("document.querySelector('.ln.at') && document.querySelector('.crumbs').textContent.includes('cart.py')")
    assert tab.value("[location.pathname, new URLSearchParams(location.search).get('code')]") == ["/explore/impact", "shop/cart.py:4"]
    address = tab.value("location.pathname + location.search")
    visit(page + address, "document.querySelector('.ln.at')?.dataset.line === '4'")
    assert "cart.py" in tab.value("document.querySelector('.crumbs').textContent")


def test_a_page_about_no_file_marks_none_in_the_tree(tab, page, visit):
    chosen = "document.querySelector('.tree-item[aria-selected=true]')"
    visit(page + "/explore/code?at=shop/cart.py", f"{chosen}?.dataset.path === 'shop/cart.py'")
    tab.value("document.querySelector('#top nav a').click()")
    tab.until(f"location.pathname === '/explore/' && !{chosen}")
    assert tab.value("document.querySelector('.outline').childElementCount") == 0
    tab.value("history.back()")
    tab.until(f"{chosen}?.dataset.path === 'shop/cart.py' && document.querySelector('.outline a')")


def test_the_map_and_its_overview_keep_their_shape_beside_the_source(tab, page, visit):
    visit(page + "/explore/graph?focus=shop/cart.py", "document.querySelector('.ln') && document.querySelector('canvas.mini')")
    sizes = tab.value("[...document.querySelectorAll('.stage canvas')].map((one) => one.getBoundingClientRect().height)")
    assert max(sizes) > 300
    assert min(sizes) < 200


def test_the_panes_are_walked_and_widened_with_the_keyboard_and_stay_as_they_were(tab, page, visit):
    visit(
        page + "/explore/code?at=shop/cart.py",
        "document.querySelector('.ln a.name') && document.querySelector('.tree-item[aria-selected=true]')",
    )
    tab.press("t")
    tab.until("document.activeElement.dataset.path === 'shop/cart.py'")
    tab.press("ArrowDown")
    tab.until("document.activeElement.dataset.path === 'shop/price.py'")
    tab.press("Enter")
    tab.until("location.search.includes('price.py') && document.querySelector('.crumbs').textContent.includes('price.py')")
    tab.until("document.querySelector('.ln a.name')?.textContent === 'RATE'")
    tab.press("s")
    tab.press("n")
    tab.until("document.activeElement.textContent === 'RATE'")
    tab.press("Enter")
    tab.until("location.search.includes('RATE')")
    wide = "document.getElementById('pane-code').offsetWidth"
    before = tab.value(wide)
    tab.value("document.querySelectorAll('.edge')[1].focus()")
    tab.press("ArrowLeft")
    tab.until(f"{wide} === {before + 24}")
    tab.value("[...document.querySelectorAll('.toggle-pane')][0].click()")
    visit(page + "/explore/code?at=shop/cart.py", "document.querySelector('.ln')")
    tab.until(f"{wide} === {before + 24}")
    tab.until("document.getElementById('pane-tree').hidden")
    tab.value("localStorage.removeItem('graphmem-panes')")


def test_a_neighbourhood_says_why_grows_and_shows_each_test(tab, page, visit):
    visit(page + "/explore/graph?around=checkout", "document.querySelector('.node.folded') && document.querySelector('.panel h2')")
    assert tab.value("document.querySelector('.column.after .node').textContent") == "4 tests"
    assert tab.value("document.querySelector('.column.before li:last-child .node').classList.contains('outside')")
    node = "[...document.querySelectorAll('.node')].find((one) => one.querySelector('a')?.textContent === 'rounded')"
    tab.value(f"{node}.dispatchEvent(new PointerEvent('pointerover', {{ bubbles: true }}))")
    said = tab.value("document.querySelector('.why').textContent")
    assert "checkout calls rounded" in said
    assert "line 5" in said
    tab.until("document.querySelector('.node .mark.traps')")  # what is known along the way
    count = tab.value("document.querySelectorAll('.node').length")
    tab.value("[...document.querySelectorAll('.node')].find((one) => one.textContent.includes('total')).querySelector('.grow').click()")
    tab.until(f"document.querySelectorAll('.node').length > {count}")
    assert tab.value("[...document.querySelectorAll('.column')].map((one) => Number(one.dataset.side))")[0] == -2
    tab.value("document.querySelector('.node.folded button').click()")
    tab.until("document.querySelectorAll('.node.test:not(.folded)').length === 4")


def test_a_neighbourhood_is_saved_as_svg_png_and_mermaid(tab, page, visit):
    visit(page + "/explore/graph?around=checkout", "document.querySelector('.node.folded')")
    save = (
        "new Promise((done) => { const make = URL.createObjectURL; URL.createObjectURL = (blob) => {"
        " if (blob.type === '%s') { URL.createObjectURL = make; blob.slice(0, %d).text().then(done); } return make.call(URL, blob); };"
        " [...document.querySelectorAll('.exports button')].find((one) => one.textContent === '%s').click(); })"
    )
    assert ">4 tests<" in tab.value(save % ("image/svg+xml", 1_000_000, "SVG"))
    assert "PNG" in tab.value(save % ("image/png", 8, "PNG"))
    mermaid = tab.value(save % ("text/vnd.mermaid", 1_000_000, "Mermaid"))
    assert mermaid.startswith("flowchart RL\n")
    assert '["4 tests"]' in mermaid
    assert "-->|calls|" in mermaid


def test_the_box_finds_memories_commits_and_pages(tab, page, visit):
    visit(page + "/explore/teach", "document.querySelector('textarea')")
    tab.value("document.activeElement.blur()")
    tab.press("/")
    kinds = "[...document.querySelectorAll('#find-list [role=option]')].map((one) => one.textContent)"
    for typed, kind, said in (
        ("floats only", "memory", "rounded takes"),
        ("begin shop", "commit", "Begin the shop"),
        ("heal", "page", "Health"),
    ):
        tab.value("document.getElementById('find').select()")
        tab.type(typed)
        tab.until(f"{kinds}.some((one) => one.startsWith({json.dumps(kind + said)}))")


def test_enter_opens_the_only_thing_that_is_offered_and_the_box_begins_empty_again(tab, page, visit):
    visit(page + "/explore/teach", "document.querySelector('textarea')")
    tab.value("document.activeElement.blur(); document.getElementById('find').value = 'what was looked for before'")
    tab.press("/")
    tab.type("floats only")
    assert tab.value("document.getElementById('find').value") == "floats only"
    tab.press("Enter")
    tab.until("location.pathname === '/explore/memories' && document.querySelector('h1')?.textContent.includes('rounded takes')")
    assert tab.value("document.querySelectorAll('.failure').length") == 0
    assert tab.value("document.getElementById('find').value") == ""
    assert "certainty 0." in tab.value("document.querySelector('main').innerText")
    assert not tab.value("document.querySelector('#pane-code:not([hidden])')")  # no source beside a page about none


def test_words_that_nothing_is_called_are_searched_and_a_new_page_begins_at_its_top(tab, page, visit):
    visit(page + "/explore/code?at=shop/cart.py", "document.querySelector('.panel h2')")
    tab.value("document.body.style.minHeight = '4000px'; scrollTo(0, 900)")
    tab.value("document.activeElement.blur()")
    tab.press("/")
    tab.type("zzqq.nothing")
    tab.press("Enter")
    tab.until("location.pathname === '/explore/ask' && document.querySelector('h1')")
    assert tab.value("scrollY") == 0
    assert tab.value("document.querySelectorAll('.failure').length") == 0
