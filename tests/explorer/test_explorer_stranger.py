"""Questions of somebody who has never seen the project, a small one in TypeScript with a history."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from urllib.parse import quote

import pytest

from graphmem.errors import SymbolNotFoundError
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

pytestmark = pytest.mark.browser

FILES = {
    "package.json": '{"name": "shop", "bin": {"shop": "./cli.js"}, "devDependencies": {"vitest": "1"}}\n',
    "src/cli.ts": "import { total } from './cart/total'\n\nexport function main() {\n  return total([1])\n}\n\nmain()\n",
    "src/cart/total.ts": "import { round } from './round'\n\nexport function total(some: number[]) {\n  return round(some[0])\n}\n",
    "src/cart/round.ts": "export function round(one: number) {\n  return Math.round(one)\n}\n",
    "src/cart/deep/list.ts": "export function list() {\n  return []\n}\n\nexport const table = { list: list }\n",
    "src/cart/total.test.ts": "import { total } from './total'\n\n"
    "describe('total', () => {\n  it('adds the prices of v1.2.', () => { total([1]) })\n})\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    root = tmp_path_factory.mktemp("stranger") / "shop"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")

    moment = datetime.now(UTC).isoformat(timespec="seconds")
    # A later commit counts more, so that the order of two people would depend on the second of each commit.
    dated = {**os.environ, "GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}

    def git(*arguments: str) -> None:
        command = ["git", "-C", root, "-c", "user.email=a@mail.example", *arguments]
        subprocess.run(command, check=True, capture_output=True, env=dated)

    git("init", "-q")
    git("add", ".")
    git("-c", "user.name=Ada", "commit", "-q", "-m", "Add the shop")
    (root / "src/cart/round.ts").write_text("export function round(one: number) {\n  return Math.floor(one)\n}\n", encoding="utf-8")
    git("-c", "user.name=Bob", "-c", "user.email=b@mail.example", "commit", "-qam", "Round down")
    with GraphMem.open(tmp_path_factory.mktemp("index") / "index", repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        yield memory


@pytest.fixture(scope="module")
def address(shop, serve):
    with serve(shop) as found:
        yield found


def answer(tab, visit, address: str, question: str) -> str:
    visit(f"{address}/explore/ask?q={quote(question)}", "document.querySelector('main .card .answer')")
    return str(tab.value("document.querySelector('main .card .answer').textContent"))


def test_the_people_of_a_directory_that_is_not_a_module_are_told(tab, address, visit):
    assert answer(tab, visit, address, "who knows src/cart?").startswith("src/cart/: Ada 50%, Bob 50%")
    page = tab.value("document.querySelector('main .card a.button').href")
    visit(page, "document.querySelector('main tbody')?.textContent.includes('round.ts')")
    tab.until("document.querySelector('main').textContent.includes('src/cart/ is known best by Ada 50%, Bob 50%')")
    assert "src/cli.ts" not in tab.value("document.querySelector('main').textContent")
    tab.until("document.querySelector('main select')?.value === 'src/cart/'")


def test_the_program_that_package_json_declares_is_where_execution_starts(tab, address, visit):
    assert "src/cli.ts" in answer(tab, visit, address, "what are the entry points?")


def test_a_name_in_an_answer_leads_to_its_page(tab, address, visit):
    answer(tab, visit, address, "what are the entry points?")
    page = tab.value("document.querySelector('main .card .answer a').href")
    visit(page, "document.querySelector('main h2.ref')?.textContent.includes('src/cli.ts')")


def test_a_question_about_splitting_something_else_is_searched(tab, address, visit):
    visit(f"{address}/explore/ask?q={quote('where are totals split into prices?')}", "document.querySelector('main ul.short')")
    assert tab.value("document.querySelector('main .card .answer')") is None
    visit(f"{address}/explore/ask?q={quote('where would I split this module?')}", "document.querySelector('main .card a.button')")


def test_titles_of_tests_are_shown_as_people_wrote_them(tab, address, visit):
    said = answer(tab, visit, address, "which tests should I run if I change total?")
    assert "total.adds the prices of v1.2" in said
    assert "·" not in said


def test_directories_are_found_by_their_last_names(shop):
    inner = shop.people("src/cart/deep").whole
    assert inner is not None
    assert (inner.name, inner.commits, [one.name for one in inner.people]) == ("src/cart/deep/", 1, ["Ada"])
    assert shop.people("deep").whole == inner
    assert shop.people("cart").whole.name == "cart", "a module comes before a directory"
    assert shop.people().whole is None
    with pytest.raises(SymbolNotFoundError):
        shop.people("art/deep")


def test_the_map_names_modules_by_parts_that_say_something(tab, address, visit):
    visit(f"{address}/explore/graph", "document.querySelector('main canvas')")
    names = [
        "api/v2",
        "notify/slack",
        "provider/mem",
        "@shop/prompt/src/library",
        "@shop/load/src",
        "cli",
        "src",
        "hc/lib",
        "a/msteams + a/graphs",
        "app/web: one/two, three",
    ]
    shown = tab.value(f"import('/explore/assets/map.js').then((map) => map.shortest({names}))")
    assert shown == [
        "api/v2",
        "slack",
        "provider/mem",
        "prompt/library",
        "load",
        "cli",
        "src",
        "hc/lib",
        "msteams + graphs",
        "web: one/two, three",
    ]


def test_the_map_says_what_its_marks_and_colours_mean_at_each_level(tab, address, visit):
    visit(f"{address}/explore/graph", "document.querySelector('main .meaning')?.textContent")
    key = "document.querySelector('main .meaning').textContent"
    assert "its size is that of its code" in tab.value(key)
    assert "depends on" in tab.value(key)
    assert "uses what you chose" not in tab.value(key)
    visit(f"{address}/explore/graph?focus=cart", "document.querySelector('main .meaning')?.textContent.includes('chose')")
    assert "is used by what you chose" in tab.value(key)


@pytest.mark.parametrize(
    ("question", "beginning"),
    [
        ("total callers", "total has 2 callers"),
        ("what does total call?", "total calls 1 symbol: round."),
        ("what does round call?", "round calls 1 symbol: ecmascript.Math.floor."),
        ("who calls list?", "list has 0 callers. Code that names it without a call, for example to pass it on: table."),
        ("what is known about src/cart?", "No memory is about src/cart directly"),
        ("what breaks if src/cart/ changes?", "src/cart/ is a directory with 4 files."),
        ("who calls src/nothing?", "The index has no file, module or symbol named src/nothing."),
    ],
)
def test_questions_may_name_a_directory_or_end_with_callers(question, beginning, tab, address, visit):
    assert answer(tab, visit, address, question).startswith(beginning)


def find(tab, words: str) -> None:
    """Type words into the box at the top and press Enter."""
    tab.value("document.getElementById('find').focus()")
    tab.type(words)
    tab.until("document.querySelectorAll('#find-list [role=option] .kind').length")
    tab.press("Enter")


def test_a_directory_is_found_by_its_path_and_shown_on_the_map(tab, address, visit):
    visit(f"{address}/explore/teach", "document.querySelector('textarea')")
    find(tab, "src/cart")
    tab.until("document.querySelector('aside.panel h2.ref')?.textContent === 'src/cart/'")
    said = tab.value("document.querySelector('aside.panel').textContent")
    assert "directory with 3 files on the map" in said, "tests are hidden there"
    assert "round.ts" in said
    assert "cli.ts" not in said


def test_a_module_is_found_by_the_name_that_a_person_gave_it(tab, address, visit, shop):
    module = shop.modules().modules[0].name
    shop.change_map(module, name="Money and prices", note="Ask Ada.")
    try:
        visit(f"{address}/explore/teach", "document.querySelector('textarea')")
        tab.value("document.getElementById('find').focus()")
        tab.type("money prices")
        tab.until("document.querySelector('#find-list .name')?.textContent === 'Money and prices'")
        tab.press("Enter")
        tab.until("document.querySelector('aside.panel .written')?.textContent === 'Ask Ada.'")
    finally:
        shop.change_map(module, name="", note="")


def test_entry_points_of_one_name_are_told_apart_by_their_files(tab, address, visit):
    visit(f"{address}/explore/teach", "document.querySelector('textarea')")
    symbols = [{"qualname": name, "path": path} for name, path in (("Command.handle", "a.py"), ("Command.handle", "b.py"), ("run", "c.py"))]
    made = f"import('/explore/assets/semantics.js').then((made) => made.programNames({symbols}))"
    assert tab.value(made) == ["a.py", "b.py", "run"]


def test_where_execution_starts_names_programs_and_no_handlers(tab, address, visit):
    visit(f"{address}/explore/teach", "document.querySelector('textarea')")
    entries = [{"kind": kind, "symbol": {"qualname": name}} for kind, name in (("MAIN", "main"), ("MAIN", "init"), ("EVENT", "go"))]
    made = f"import('/explore/assets/semantics.js').then((made) => {entries}.map(made.isProgram))"
    assert tab.value(made) == [True, False, False]


def test_programs_are_listed_by_their_files(tab, address, visit):
    card = "[...document.querySelectorAll('section.card')].find((one) => one.querySelector('h2').textContent === 'Entry points')"
    visit(f"{address}/", f"{card}?.querySelector('a.symbol')")
    assert tab.value(f"[...{card}.querySelectorAll('a.symbol')].map((one) => one.textContent)") == ["src/cli.ts"]


UNLIKELY_TESTS = """(async () => {
  const [{ ask }, { zones }, { fill }] = await Promise.all(["api", "impact", "dom"].map((name) => import(`/explore/assets/${name}.js`)));
  const { impact } = await ask("ImpactOverview", { targets: ["total"] });
  const [hit] = impact.tests.filter((one) => one.symbol.entryPoint === "test");
  const far = (n) => ({ ...hit, confidence: 0.1, symbol: { ...hit.symbol, id: `t${n}`, path: `far${n}.test.ts` } });
  impact.tests = [hit, far(1), far(2), far(3)];
  const runs = (command, tests) => [{ runner: "vitest", command, tests, wholeFiles: false, recording: "" }];
  const answer = async (command, tests) => ({ total: tests, tests: [], commands: runs(command, tests) });
  const more = { commands: answer("run everything", 4), likely: (n) => answer(`run the first ${n}`, n) };
  fill(document.querySelector("main"), zones(impact, null, new Map(), more));
})()"""


def test_tests_that_hardly_run_the_target_are_folded_below_the_likely_ones(tab, address, visit):
    visit(f"{address}/explore/impact?of=total", "document.querySelector('section.tests .command')")
    tab.value(UNLIKELY_TESTS)
    tab.until("document.querySelectorAll('section.tests .command').length === 2")
    said = tab.value("document.querySelector('section.tests').textContent")
    assert "1 test runs the target with a chance of 30% or more. The other 3 reach it" in said
    assert said.index("run the first 1") < said.index("run everything")
    assert "3 less likely tests in 3 files" in said


def test_titles_of_memories_are_shown_without_their_markdown(tab, address, visit, shop):
    text = "# Sums\nWe decided that `total` **rounds down**, as [the rules](https://shop.example/rules) say."
    memory = shop.remember(text, type="decision", title="## Totals are **rounded down**", files=["src/cart/total.ts"]).memory
    try:
        for page in ("memories", "decisions", f"memories?id={memory.short_id}"):
            visit(f"{address}/explore/{page}", "document.querySelector('main').textContent.includes('rounded down')")
            shown = tab.value("[...document.querySelectorAll('main :is(h1, h3, td, .memory)')].map((one) => one.textContent).join(' ')")
            assert "Totals are rounded down" in shown
            assert "**" not in shown
            assert "#" not in shown
    finally:
        shop.forget(memory.id)


def test_exports_without_a_name_are_told_apart_by_their_files(tab, address, visit):
    visit(f"{address}/explore/teach", "document.querySelector('textarea')")
    symbols = [{"qualname": "default", "path": "src/app/login/page.tsx"}, {"qualname": "total", "path": "src/cart/total.ts"}]
    made = f"import('/explore/assets/parts.js').then((made) => {symbols}.map(made.nameOf))"
    assert tab.value(made) == ["default (login/page.tsx)", "total"]
