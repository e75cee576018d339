"""The explorer's map in a real browser: layers, names, painted impact and saved pictures."""

from __future__ import annotations

import json
import time

import pytest

from explorer_views import PAINTED, VIEWS
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

pytestmark = pytest.mark.browser


def test_what_breaks_is_grouped_by_module_with_counts(tab, explorer, visit, remembered):
    visit(explorer + VIEWS["impact"][0], VIEWS["impact"][1])
    groups = tab.value(
        "[...document.querySelectorAll('.zone.after details:not(.way) > summary')]"
        ".map((one) => [one.firstChild.textContent, one.lastChild.textContent])"
    )
    names = {one.name for one in remembered.modules().modules}
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


def test_what_breaks_is_painted_on_the_map_and_listed_by_depth(tab, explorer, visit, remembered):
    visit(explorer + VIEWS["painted"][0], VIEWS["painted"][1])
    report = remembered.impact("to_networkx_graph", max_depth=5, limit=5_000)
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


def test_the_impact_of_something_is_saved_as_a_picture_of_three_zones(tab, explorer, remembered, visit):
    visit(explorer + VIEWS["impact"][0], VIEWS["impact"][1])
    text = tab.value(
        "new Promise((done) => { const make = URL.createObjectURL;"
        " URL.createObjectURL = (blob) => (blob.text().then(done), make.call(URL, blob));"
        " document.querySelector('.zone.focus button').click(); })"
    )
    assert text.startswith("<svg")
    assert "to_networkx_graph" in text
