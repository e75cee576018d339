"""Memories from the command line, and one memory asked for through every interface."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from commands import FILES, write
from graphmem.answers import to_json
from graphmem.client.remote import RemoteGraphMem
from graphmem.server import owner

TRAP = "Price.total rounds after multiplying; shop/cart.py relies on it."


def _remembering(graphmem, root: Path) -> Path:
    for args in (("index", root, "-q"), ("remember", TRAP, "--type", "gotcha", "--tag", "money", "-C", root)):
        ran = graphmem(*args)
        assert ran.code == 0, ran.said
    return root


@pytest.fixture
def known(graphmem, shop: Path) -> Path:
    """An index with one memory."""
    return _remembering(graphmem, shop)


@pytest.fixture(scope="module")
def unchanged(graphmem, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, made once, for what changes nothing."""
    return _remembering(graphmem, write(tmp_path_factory.mktemp("unchanged") / "shop", FILES))


def _ids(graphmem, root: Path, *more: str) -> list[str]:
    return graphmem("memory", "list", "-q", "-C", root, *more).out.split()


def test_a_conflict_is_reviewed_with_what_it_contradicts_and_decided(graphmem, known: Path) -> None:
    for text in ("Tests may touch the network.", "Tests must never touch the network."):
        assert graphmem("remember", text, "--type", "fact", "-C", known).code == 0
    never, may = _ids(graphmem, known)[:2]
    ran = graphmem("memory", "review", "-C", known)
    assert f"contradicts #{may.lstrip('#')} Tests may touch the network" in ran.out
    assert graphmem("memory", "resolve", never, "--over", may, "-C", known).code == 0
    assert "nothing to review" in graphmem("memory", "review", "-C", known).out
    assert may not in _ids(graphmem, known)


def test_no_aliases_says_how_one_is_set(graphmem, known: Path) -> None:
    assert "graphmem memory alias TERM" in graphmem("memory", "alias", "-C", known).out
    assert graphmem("memory", "alias", "price", "cost", "-C", known).code == 0
    assert "price  →  cost" in graphmem("memory", "alias", "-C", known).out


def test_what_is_remembered_is_tied_to_the_code_it_names(graphmem, known: Path) -> None:
    [short] = _ids(graphmem, known)
    ran = graphmem("memory", "show", short, "-C", known)
    assert ran.code == 0, ran.said
    for words in (short, "gotcha", TRAP, "about shop/price.py:Price.total", "about shop/cart.py", "money", "user_taught"):
        assert words in ran.out, words


def test_a_memory_whose_code_changed_is_marked_wherever_it_is_shown(graphmem, known: Path) -> None:
    price = known / "shop" / "price.py"
    price.write_text(price.read_text().replace("self.value * count", "count * self.value + 0"), encoding="utf-8")
    assert graphmem("index", known, "-q").code == 0
    for command in (
        ("recall", "rounds after multiplying"),
        ("search", "Price.total"),
        ("memory", "list"),
        ("context", "--file", "shop/price.py"),
    ):
        ran = graphmem(*command, "-C", known)
        assert "written before shop/price.py:Price.total changed" in ran.out, (command, ran.said)


def test_saying_it_again_confirms_it(graphmem, known: Path) -> None:
    before = json.loads(graphmem("memory", "show", _ids(graphmem, known)[0], "--json", "-C", known).out)
    again = json.loads(graphmem("remember", TRAP.upper(), "--json", "-C", known).out)
    assert again["result"]["outcome"] == "duplicate"
    assert again["memory"]["id"] == before["id"]
    assert again["memory"]["strength"] == before["strength"] + 1


def test_forgetting_takes_it_out_and_hard_takes_it_away(graphmem, known: Path) -> None:
    [short] = _ids(graphmem, known)
    assert "1 memory is removed from search" in graphmem("forget", short, "-C", known).out
    assert _ids(graphmem, known) == []
    assert _ids(graphmem, known, "--status", "deprecated") == [short]
    assert graphmem("forget", short, "--hard", "-C", known).code == 0
    ran = graphmem("memory", "show", short, "-C", known)
    assert ran.code == 1
    assert "unknown memory" in ran.err


def test_a_person_can_pin_verify_dispute_and_resolve(graphmem, known: Path) -> None:
    [short] = _ids(graphmem, known)

    def status(*args: str) -> dict:
        ran = graphmem(*args, "--json", "-C", known)
        assert ran.code == 0, ran.said
        return json.loads(ran.out)

    assert status("pin", short)["status"] == "pinned"
    assert status("pin", short, "--off")["status"] == "confirmed"
    assert status("memory", "dispute", short, "it rounds before")["disputed"] is True
    assert [item["reasons"] for item in status("memory", "review")["items"]] == [["disputed", "needs_review"]]
    told = graphmem("memory", "review", "-C", known).out
    assert (told.count("disputed"), told.count("needs review")) == (1, 1)
    assert status("memory", "resolve", short)["disputed"] is False
    assert status("memory", "verify", short)["user_verified"] is True
    assert status("memory", "review")["total"] == 0
    audit = status("memory", "audit")
    assert audit["sound"] is True
    assert {"add", "pin", "unpin", "dispute", "verify"} <= {entry["action"] for entry in audit["entries"]}
    assert {entry["actor"] for entry in audit["entries"]} == {"cli"}


def test_code_that_changes_makes_what_was_said_about_it_suspect(graphmem, known: Path) -> None:
    price = known / "shop" / "price.py"
    price.write_text(price.read_text().replace("self.value * count", "self.value * count + 0"))
    assert graphmem("index", known, "-q").code == 0
    ran = graphmem("memory", "review", "-C", known)
    assert "suspect" in ran.out
    assert "written before this changed" in ran.out


def test_a_function_that_was_renamed_keeps_what_is_known_about_it(graphmem, known: Path) -> None:
    for path in ("shop/price.py", "shop/cart.py"):
        text = (known / path).read_text()
        (known / path).write_text(
            text.replace("def total(self, count", "def amount(self, count").replace("line.total(1)", "line.amount(1)")
        )
    assert graphmem("index", known, "-q").code == 0
    shown = json.loads(graphmem("memory", "show", _ids(graphmem, known)[0], "--json", "-C", known).out)
    assert ("shop/price.py:Price.amount", "moved") in {(about["name"], about["anchor"]) for about in shown["about"]}


def test_memories_outlive_a_full_index_and_come_back_from_the_journal_alone(graphmem, known: Path) -> None:
    ids = _ids(graphmem, known)
    assert graphmem("index", known, "--full", "-q").code == 0
    assert _ids(graphmem, known) == ids
    ran = graphmem("memory", "rebuild", "-C", known)
    assert ran.code == 0, ran.said
    assert "1 memory from the journal" in ran.out
    assert _ids(graphmem, known) == ids


def test_deleting_everything_wants_the_projects_name(graphmem, known: Path) -> None:
    ran = graphmem("delete-all", "-C", known)
    assert ran.code == 2
    assert "--confirm shop" in ran.err
    assert graphmem("delete-all", "--confirm", "shop", "-C", known).code == 0
    assert _ids(graphmem, known) == []


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("remember", ""), "content"),
        (("remember", "x" * 8001), "8,000"),
        (("remember", "a fact", "--type", "nonsense"), "nonsense"),
        (("remember", "a fact", "--file", "../../etc/passwd"), "etc/passwd"),
        (("remember", "sk-ant-api03-" + "q7Zp2Lk9" * 11), "secret"),
        (("memory", "show", "ffff"), "ffff"),
        (("memory", "list", "--sort", "colour"), "colour"),
    ],
)
def test_bad_input_is_refused_with_one_sentence_and_nothing_is_kept(graphmem, unchanged: Path, args, words) -> None:
    before = _ids(graphmem, unchanged)
    ran = graphmem(*args, "-C", unchanged)
    assert ran.code in {1, 2}, ran.said
    assert words in ran.said
    assert "internal error" not in ran.said
    assert _ids(graphmem, unchanged) == before


def test_an_edit_of_nothing_names_the_command(graphmem, unchanged: Path) -> None:
    [short] = _ids(graphmem, unchanged)
    ran = graphmem("memory", "edit", short, "-C", unchanged)
    assert (ran.code, "`memory edit` has nothing to change" in ran.said) == (2, True), ran.said


def test_every_door_gives_the_same_memory(graphmem, serve, known: Path) -> None:
    serve(known).wait_until_it_answers()
    serving = owner.find(known / ".graphmem" / "owner.json")
    assert serving is not None
    with RemoteGraphMem(serving.address, serving.token) as graphql:
        short = _ids(graphmem, known)[0]
        info = graphql.memory(short.removeprefix("#"))
        assert info.content == TRAP
        assert graphql.memories().memories == [info]
        # The command line over the same server, as JSON and as words.
        assert json.loads(graphmem("memory", "show", short, "--json", "-C", known).out) == to_json(info)
        # Agents.
        from mcp.client import Client

        from graphmem.mcp_server.server import build_server

        async def ask() -> str:
            async with Client(build_server(lambda: graphql)) as client:
                return (await client.call_tool("get", {"refs": [short]})).content[0].text

        told = anyio.run(ask)
        assert short in told
        assert TRAP in told
        for about in info.about:
            assert about.name in told
        # What is written through one interface is read through the others, the errors too.
        added = graphql.remember("Carts never hold two prices of one article.", type="requirement")
        assert f"#{added.memory.short_id}" in _ids(graphmem, known)
        from graphmem.errors import BadInputError, MemoryNotFoundError

        with pytest.raises(MemoryNotFoundError):
            graphql.memory("ffff")
        with pytest.raises(BadInputError, match="confidence"):
            graphql.remember("a fact", confidence=1.5)
        many = graphql.remember_many([{"content": f"Fact number {i} of many.", "id": f"fact-{i}"} for i in range(30)])
        assert many.counts == {"added": 30}
        assert graphql.memory("fact-7").content == "Fact number 7 of many."


def test_the_same_memory_is_in_the_index_when_nobody_serves_it(graphmem, known: Path) -> None:
    from graphmem import GraphMem

    shown = json.loads(graphmem("memory", "show", _ids(graphmem, known)[0], "--json", "-C", known).out)
    with GraphMem.open(repo=known) as memory:
        assert to_json(memory.memory(shown["id"])) == shown


def test_every_door_packs_the_same_hits_into_the_same_budget(graphmem, serve, known: Path) -> None:
    for number in range(6):
        assert graphmem("remember", f"Rounding of prices, remark {number}: {'cents are never lost ' * number}.", "-C", known).code == 0
    serve(known).wait_until_it_answers()
    serving = owner.find(known / ".graphmem" / "owner.json")
    assert serving is not None
    query, budget = "rounding of prices", 260
    with RemoteGraphMem(serving.address, serving.token) as graphql:
        packed = graphql.search(query, budget_tokens=budget).packed
        assert packed.tokens <= budget
        assert packed.left_out, "the budget is small on purpose"
        assert "[^ " in packed.text, "citations"
        assert graphmem("search", query, "--budget", str(budget), "-q", "-C", known).out.rstrip() == packed.text.rstrip()
        said = graphmem("search", query, "--budget", str(budget), "-C", known).out
        assert f"{packed.tokens} of {budget} tokens" in said
        assert "left out" in said
        from mcp.client import Client

        from graphmem.mcp_server.server import build_server

        async def ask() -> str:
            async with Client(build_server(lambda: graphql)) as client:
                return (await client.call_tool("search", {"query": query, "full": True, "budget": budget})).content[0].text

        told = anyio.run(ask)
        assert packed.text.rstrip() in told
        assert "left out: " in told


def test_recall_asks_by_type_phase_and_time(graphmem, known: Path) -> None:
    assert graphmem("remember", "We decided that Price.total rounds half up.", "--type", "decision", "-C", known).code == 0
    asked = ("recall", "how does Price.total round", "-C", known, "-q")
    both = graphmem(*asked).out.split()
    assert len(both) == 2
    [decision] = graphmem(*asked, "--type", "decision").out.split()
    assert graphmem(*asked, "--phase", "implement").out.split()[0] == next(one for one in both if one != decision), "traps come first"
    assert graphmem(*asked, "--as-of", "2001-01-01T00:00:00Z").out.split() == []
    assert graphmem("forget", decision, "-C", known).code == 0
    assert decision not in graphmem(*asked).out.split()
    assert decision in graphmem(*asked, "--retired").out.split()
    refused = graphmem(*asked, "--phase", "dreaming")
    assert refused.code in {1, 2}
    assert "define" in refused.err


def test_memories_are_counted_searched_edited_and_told_to_a_newcomer(graphmem, known: Path) -> None:
    assert "1 confirmed" in graphmem("memory", "status", "-C", known).out
    said = json.loads(graphmem("memory", "status", "-C", known, "--json").out)
    assert (said["learning"]["state"], said["cost"]["injected_tokens"]) == ("on", 0)
    (short,) = _ids(graphmem, known)
    assert short in graphmem("memory", "search", "who rounds the price", "-C", known).out
    assert graphmem("memory", "edit", short, "-C", known).code == 2
    assert graphmem("memory", "edit", short, "Price.total rounds before multiplying.", "--tag", "prices", "-C", known).code == 0
    (changed,) = _ids(graphmem, known)
    said = graphmem("memory", "show", changed, "-C", known).out
    assert "before multiplying" in said
    assert "prices" in said
    graphmem("remember", "The shop closes at noon.", "--type", "fact", "--confidence", "0.4", "-C", known)
    graphmem("pin", graphmem("remember", "Never deploy on Fridays.", "-q", "-C", known).out.strip(), "-C", known)
    listed = graphmem("memory", "onboard", "-C", known, "--limit", 2).out
    assert listed.index("Never deploy") < listed.index("before multiplying")
    assert "noon" not in listed


def test_recall_says_which_memories_only_surround_the_found_one_and_prints_few_of_them(graphmem, shop: Path) -> None:
    assert graphmem("index", cwd=shop).code == 0
    for text in (
        "Carts expire after a day.",
        "Prices are decimals.",
        "Taxes are rounded once.",
        "Orders are immutable.",
        "Mail is queued.",
        "Ids are random.",
    ):
        assert graphmem("remember", text, "--type", "fact", "--file", "shop/price.py", cwd=shop).code == 0
    lines = graphmem("recall", "decimals", cwd=shop).out.splitlines()
    parted = lines.index("Without a word of the query; the nearest in meaning")
    before, after = "\n".join(lines[:parted]), lines[parted:]
    assert before.count("Prices are decimals") == 1, "a memory of one sentence is printed once"
    assert sum("fact" in line for line in after) <= 3
    assert any("less near; --json lists all" in line for line in after)
    assert len(json.loads(graphmem("recall", "decimals", "--json", cwd=shop).out)["hits"]) > 4
