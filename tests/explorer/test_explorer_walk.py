"""An architect's walk through a small project: by keyboard, to its newest commits, and with a memory that is put on the map."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from explorer_views import PAINTED
from graphmem.analysis.risk import Facts, assess
from graphmem.analysis.surface import _CALLED_BY
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

pytestmark = pytest.mark.browser

COMMITS = 35
FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": "from shop.price import rounded\n\n\ndef total(some):\n    return rounded(sum(some))\n",
    "shop/__main__.py": "from shop.cart import total\n\n\ndef run():\n    return total([1])\n",
    "shop/price.py": "def rounded(one):\n    return round(one, 2)\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    root = tmp_path_factory.mktemp("walk") / "shop"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")

    def git(*arguments: str) -> None:
        person = ("-c", "user.email=a@mail.example", "-c", "user.name=Ada")
        subprocess.run(["git", "-C", root, *person, *arguments], check=True, capture_output=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "Add the shop")
    for number in range(1, COMMITS):
        (root / "shop/price.py").write_text(f"def rounded(one):\n    return round(one, {number})\n", encoding="utf-8")
        git("commit", "-qam", f"Round to {number} digits")
    with GraphMem.open(tmp_path_factory.mktemp("index") / "index", repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        yield memory


@pytest.fixture(scope="module")
def address(shop, serve):
    with serve(shop) as found:
        yield found


def find(tab, words: str) -> None:
    """Type words into the box at the top and press Enter."""
    tab.press("/")
    tab.type(words)
    tab.until("document.querySelectorAll('#find-list [role=option] .kind').length")
    tab.press("Enter")


def test_the_keys_of_a_page_work_once_the_box_has_led_to_it(tab, address, visit):
    visit(f"{address}/explore/questions", "document.querySelector('main .card')")
    find(tab, "total")
    tab.until("document.querySelector('main h2.ref')?.textContent === 'total' && document.querySelector('.pane.code .lines')")
    tab.press("s")
    assert tab.until("document.activeElement.closest('.pane.code')")
    assert tab.value("document.getElementById('find').value") == ""


MARKS = """import('/explore/assets/svg.js').then(() => new Promise((done) => {
  const make = URL.createObjectURL;
  URL.createObjectURL = (blob) => (blob.text().then(done), make.call(URL, blob));
  [...document.querySelectorAll('button')].find((one) => one.textContent === 'Save as SVG').click();
})).then((text) => {
  const colour = getComputedStyle(document.documentElement).getPropertyValue('--memory').trim();
  return text.split(`fill="${colour}"`).length - 1;
})"""


def test_a_memory_about_a_function_is_marked_on_the_map(tab, address, visit, shop):
    visit(f"{address}/explore/graph", PAINTED)
    before = tab.value(MARKS)
    memory = shop.remember("Amounts are rounded before they are added up.", symbols=["total"]).memory
    try:
        assert memory.files == []
        visit(f"{address}/explore/graph", PAINTED)
        tab.until(f"{MARKS}.then((count) => count === {before + 1})")
    finally:
        shop.forget(memory.id)


def test_the_name_of_a_file_without_its_ending_leads_to_the_file(tab, address, visit):
    visit(f"{address}/explore/questions", "document.querySelector('main .card')")
    find(tab, "cart")
    tab.until("document.querySelector('main h2.ref')?.textContent === 'shop/cart.py'")


def test_every_commit_of_a_period_is_listed(tab, address, visit):
    visit(f"{address}/explore/changes?days=365", "document.querySelector('main .card .listing')")
    card = "[...document.querySelectorAll('section.card')].find((one) => one.querySelector('h2').textContent === 'Newest commits first')"
    tab.value(f"{card}.querySelector('button').click()")
    assert tab.value(f"[...{card}.querySelectorAll('li')].length") == COMMITS


def test_the_history_of_a_symbol_lists_the_commits_of_its_file(tab, address, visit):
    section = "[...document.querySelectorAll('main details')].find((one) => one.querySelector('summary').textContent.startsWith('History'))"
    visit(f"{address}/explore/code?at=rounded", section)
    tab.value(f"{section}.querySelector('summary').click()")
    tab.until(f"{section}.querySelector('.listing a')?.textContent === 'Round to {COMMITS - 1} digits'")
    tab.value(f"{section}.querySelector('.listing + button').click()")
    assert tab.value(f"[...{section}.querySelectorAll('li .author')].map((one) => one.textContent)") == ["Ada"] * COMMITS
    facts = tab.value(f"[...{section}.querySelectorAll('dd')].map((one) => one.textContent)")
    assert (facts[0], facts[-1]) == (str(COMMITS), "1")


def test_types_of_memories_have_the_same_names_on_every_page(tab, address, visit):
    names = "[...document.querySelector('main [name=type]').options].map((one) => one.textContent).slice(1)"
    visit(f"{address}/explore/memories", "document.querySelector('main [name=type]')")
    listed = tab.value(names)
    visit(f"{address}/explore/teach", "document.querySelector('main [name=type]')")
    assert tab.value(names) == listed
    assert "recurring error" in listed


def test_candidates_are_named_on_the_page_that_has_no_doubts_to_decide(tab, address, visit, shop):
    visit(f"{address}/explore/review", "document.querySelector('main .lead').textContent")
    assert tab.value("document.querySelector('main').textContent").count("Nothing to review.") == 1
    memory = shop.remember("Amounts are never negative.", source="observer_inferred").memory
    try:
        assert memory.status == "candidate"
        visit(f"{address}/explore/review", "document.querySelector('main .lead + p a')")
        assert "Nothing to review" not in tab.value("document.querySelector('main').textContent")
        assert tab.value("document.querySelector('main .lead + p a').textContent") == "1 memory is unconfirmed (a candidate)"
        page = tab.value("document.querySelector('main .lead + p a').href")
        visit(page, "document.querySelector('main .memories .memory')?.textContent.includes('never negative')")
    finally:
        shop.forget(memory.id)


def test_dependencies_are_not_named_dependents(tab, address, visit):
    visit(f"{address}/explore/impact?of=shop/__main__.py:run", "document.querySelector('.zone.before h3:not(.direct)')")
    assert tab.value("[...document.querySelectorAll('.zone.before h3')].map((one) => one.firstChild.textContent)") == [
        "Direct",
        "Certain dependencies, two or more steps away",
    ]


def test_a_memory_from_the_form_is_a_persons(tab, address, visit, shop):
    visit(f"{address}/explore/teach", "document.querySelector('main textarea')")
    tab.value("document.querySelector('main textarea').focus()")
    tab.type("Prices of one cart have one currency.")
    tab.value("document.querySelector('main form button.primary').click()")
    page = tab.until("document.querySelector('main [role=status] a')?.href")
    visit(page, "document.querySelector('main dl.facts')?.textContent.includes('a person')")
    memory = shop.memory(page.rpartition("=")[2])
    try:
        assert (memory.source, memory.origin) == ("user_taught", "user")
    finally:
        shop.forget(memory.id)


PICTURE = """(async (width, height) => {
  const [{ ask }, { MapScene }, { Stage }] = await Promise.all(["api", "map", "stage"].map((one) => import(`/explore/assets/${one}.js`)));
  const { atlas } = await ask("Atlas", { roles: ["CODE"] });
  const scene = new MapScene(atlas.columns);
  const texts = [];
  const known = { fillText: (text) => texts.push(text), measureText: (text) => ({ width: 6 * text.length }) };
  const context = new Proxy(known, { get: (has, name) => has[name] ?? (() => {}), set: () => true });
  const [x0, y0, x1, y1] = scene.bounds();
  const camera = { x: (x0 + x1) / 2, y: (y0 + y1) / 2, k: Math.min(width / (x1 - x0), height / (y1 - y0)) };
  for (const portion of scene.paint(context, camera, { width, height })) void portion;
  const begins = (i) => texts.some((text) => scene.shortNames[i].startsWith(text.replace(/…$/, "")));
  const rest = scene.modules.name.map((_, i) => i).filter((i) => !scene.unnamed.includes(i) && !scene.crowded.includes(i));
  return { names: rest.filter((i) => !begins(i)), numbers: scene.unnamed.filter((_, n) => !texts.includes(String(n + 1))),
    unnamed: scene.unnamed.length, crowded: scene.crowded.length };
})"""


@pytest.mark.parametrize(("width", "height"), [(1200, 560), (390, 300)])
def test_every_module_of_a_map_has_a_name_or_a_number(width, height, tab, explorer, visit):
    visit(f"{explorer}/explore/questions", "document.querySelector('main .card')")
    drawn = tab.value(f"{PICTURE}({width}, {height})")
    assert (drawn["names"], drawn["numbers"], drawn["crowded"]) == ([], [], 0)
    assert (drawn["unnamed"] > 0) is (width == 390)


def test_a_german_page_gives_every_reason_of_a_risk_in_german(tab, address, visit):
    outside = [*_CALLED_BY.values(), "may override a method of flask.views.View: callers outside are not known"]
    one = Facts(1, 1, None, 1, 1.5, 1, 1, 1, "", unresolved=1, resolved=1, unknown=False)
    none = one._replace(dependents=0, direct=0, unresolved=0)
    several = Facts(1234, 12, 0.97, 7, 8.5, 2, 3, 0, "", unresolved=20, resolved=0, unknown=False)
    unknown = none._replace(unknown=True)
    others = [one, none, several, several._replace(tests=3), unknown, unknown._replace(unresolved=3, text_only="Fish")]
    reasons = [*outside, *(reason for facts in others for reason in assess(facts).reasons)]
    visit(f"{address}/explore/questions", "document.querySelector('main .card')")
    shown = tab.value(f"import('/explore/assets/words.de.js').then(({{ words }}) => {json.dumps(reasons)}.map(words.impact.reason))")
    english = re.compile(r"\b(the|of|and|it|are|not|no|could|besides|reached|with)\b")
    assert [(said, one) for said, one in zip(reasons, shown, strict=True) if english.search(one)] == []
    assert "1.234 Abhängige außer Tests, in 7 Dateien, davon 12 direkt" in shown


def test_an_imported_file_in_the_source_leads_to_the_file_and_not_to_its_top_level_code(tab, address, visit):
    links = "[...document.querySelectorAll('.pane.code .lines a.name')]"
    visit(f"{address}/explore/code?at=shop/cart.py", f"{links}.some((one) => one.textContent === 'shop.price')")
    tab.value(f"{links}.find((one) => one.textContent === 'shop.price').click()")
    tab.until("document.querySelector('main h2.ref')?.textContent === 'shop/price.py'")
    assert "shop/cart.py" in tab.value("document.querySelector('main').textContent")


def test_the_page_of_risks_begins_with_the_riskiest_file_and_why(tab, address, visit):
    visit(f"{address}/explore/risk", "document.querySelector('main p.answer')")
    said = tab.value("document.querySelector('main p.answer').textContent")
    assert said.startswith("shop/price.py is the riskiest file (heat ")
    assert said.endswith("and 1 file uses it. No test uses its 1 function directly.")
    assert tab.value("document.querySelector('main tbody td').textContent").startswith("price.py")
