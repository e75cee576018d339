"""Sessions, lessons, answers and memories in the explorer, in a real browser."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from explorer_views import CHOOSE, PAINTED
from graphmem.observe.learning.gates import OUTCOMES
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

pytestmark = pytest.mark.browser

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

            # the pages of people and of changes, and the map coloured by what one person knows
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


def test_a_module_lists_the_memories_about_its_files(explorer, remembered, visit, tab) -> None:
    visit(explorer + "/explore/graph?focus=classes", "document.querySelector('.panel')?.textContent.includes('creates missing nodes')")
