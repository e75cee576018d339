"""Tools for agents: their answers, their arguments and their tokens."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import anyio
import pytest
import starlette
from mcp.client import Client

from graphmem import GraphMem
from graphmem.answers.impact import odds
from graphmem.mcp_server.budget import tokens
from graphmem.mcp_server.server import build_server
from graphmem.mcp_server.tools import INSTRUCTIONS, OF_BRANCHES, TOOLS
from graphmem.settings import load_settings


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    root = tmp_path_factory.mktemp("mcp") / "starlette"
    shutil.copytree(Path(starlette.__file__).parent, root / "starlette", ignore=shutil.ignore_patterns("__pycache__"))
    settings = load_settings(None, {"GRAPHMEM_EMBEDDER": "none"})
    with GraphMem.open(db=root.parent / "index", settings=settings) as opened:
        opened.index(root)
        yield opened


@pytest.fixture(scope="module")
def ask(memory):
    """Call a tool the way a client does: through the protocol."""

    def call(name, **arguments):
        async def run():
            async with Client(build_server(lambda: memory)) as client:
                answer = await client.call_tool(name, arguments)
                return answer.is_error, "\n".join(part.text for part in answer.content)

        return anyio.run(run)

    return call


def test_tools_are_few_and_cheap_to_have_on():
    listed = json.dumps(
        [{"name": name, "description": tool.description, "inputSchema": tool.schema} for name, tool in TOOLS.items()], separators=(",", ":")
    )
    assert len(TOOLS) <= 8
    assert len(listed.encode()) <= 4096
    assert tokens(listed) + tokens(INSTRUCTIONS + OF_BRANCHES) <= 1500


def test_a_branch_is_refused_where_none_are_kept(ask):
    failed, said = ask("impact", targets=["compile_path"], branch="feature/tax")
    assert failed
    assert "this server keeps no branches" in said


def test_the_protocol_lists_exactly_the_table(memory):
    async def run():
        async with Client(build_server(lambda: memory)) as client:
            return (await client.list_tools()).tools

    listed = anyio.run(run)
    assert [tool.name for tool in listed] == list(TOOLS)
    assert [tool.input_schema for tool in listed] == [tool.schema for tool in TOOLS.values()]


def test_impact_says_what_breaks_and_how_sure_it_is(ask, memory):
    failed, said = ask("impact", targets=["starlette/routing.py:compile_path"])
    assert not failed, said
    report = memory.impact("starlette/routing.py:compile_path")
    assert said.startswith("dependents of starlette/routing.py:compile_path\nrisk ")
    assert f"{report.total} dependents" in said
    for hit in report.hits[:3]:
        assert f"{hit.symbol.path}:{hit.symbol.start_line} {hit.symbol.qualname} {hit.confidence:.2f}" in said


def test_one_bad_target_of_several_is_named_and_the_others_are_answered(ask):
    failed, said = ask("impact", targets=["starlette/routing.py:no_such_thing", "starlette/routing.py:compile_path"])
    assert not failed
    assert "dependents of starlette/routing.py:compile_path" in said
    assert "left out: the index has no symbol or file named 'starlette/routing.py:no_such_thing'" in said
    failed, said = ask("impact", targets=["no_such_thing", "nor_this_one"])
    assert failed
    assert "no_such_thing" in said


def test_impact_says_what_text_cannot_show_and_how_much_is_further_away(ask, memory):
    failed, said = ask("impact", targets=["starlette/_utils.py:get_route_path"], max_depth=1)
    assert not failed, said
    report = memory.impact("starlette/_utils.py:get_route_path", max_depth=1)
    assert report.epistemic == "lower_bound"
    further = next(cause for cause in report.causes if cause.kind == "depth")
    assert f"at least {report.total} dependents within depth 1, tests at any" in said
    assert f"{further.count} more than 1 step away and left out" in said
    assert f"{odds(report.miss_chance)} such answers miss a test" in said if report.miss_chance is not None else "such answers" not in said


def test_impact_of_a_file_is_no_more_complete_than_that_of_what_it_holds(ask, memory):
    of_file, of_method = "starlette/requests.py", "starlette/requests.py:Request.close"
    counts = []
    for target in (of_file, of_method):
        report = memory.impact(target)
        counts.append(next(cause.count for cause in report.causes if cause.kind == "unresolved_calls"))
        uses = "1 call site uses" if counts[-1] == 1 else f"{counts[-1]} call sites use"
        assert f"{uses} a target's name on a receiver of unknown type" in ask("impact", targets=[target])[1]
    assert counts[0] >= counts[1] > 0


def test_impact_of_a_diff_names_the_changed_symbols(ask):
    import inspect

    from starlette import routing

    lines, first = inspect.getsourcelines(routing.compile_path)
    changed = next(number for number, line in enumerate(lines) if "duplicated_params" in line)
    diff = (
        f"--- a/starlette/routing.py\n+++ b/starlette/routing.py\n@@ -{first + changed},1 +{first + changed},1 @@\n"
        f"-{lines[changed].rstrip()}\n+{lines[changed].rstrip()}  # changed\n"
    )
    failed, said = ask("impact", diff=diff)
    assert not failed, said
    assert "- body: starlette/routing.py" in said
    assert "compile_path" in said


@pytest.mark.parametrize("budget", [100, 300, 2000])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("impact", {"targets": ["starlette/requests.py:Request"]}),
        ("search", {"query": "session middleware cookie", "limit": 50}),
        ("get", {"refs": ["starlette/requests.py:Request", "starlette/routing.py:Router"]}),
    ],
)
def test_an_answer_keeps_to_its_budget_and_says_what_it_left_out(ask, tool, arguments, budget):
    failed, said = ask(tool, budget=budget, **arguments)
    assert not failed, said
    assert tokens(said) <= budget + 60  # the head, which says what the answer is about, is never cut
    if budget < 2000:
        assert "more lines:" in said


def test_get_gives_source_and_neighbours(ask):
    failed, said = ask("get", refs=["starlette/routing.py:compile_path"])
    assert not failed, said
    assert "def compile_path(" in said
    assert "callers (" in said


def test_what_moves_together_is_told_with_how_often_and_whether_the_code_explains_it(ask, memory):
    for day in range(4):
        memory.record_co_access(["starlette/routing.py", "starlette/requests.py", "docs/routing.md"], f"2026-02-0{day + 1}T10:00:00Z")
    failed, said = ask("co_access", files=["starlette/routing.py"])
    assert not failed, said
    assert "4 sessions" in said.splitlines()[0]
    rows = {line.split()[1]: line for line in said.splitlines() if line.startswith("- ")}
    assert "4x, 100% of their changes" in rows["docs/routing.md"]
    assert rows["docs/routing.md"].endswith("no edge in the code")
    assert "in the code: " in rows["starlette/requests.py"]
    assert "history does not know docs/new.md" in ask("co_access", files=["docs/new.md"])[1]


def test_path_tells_the_way(ask):
    failed, said = ask("path", source="starlette/routing.py:Route.__init__", target="starlette/routing.py:compile_path")
    assert not failed, said
    assert "depends on starlette/routing.py:compile_path" in said


def test_search_rows_can_be_asked_for_with_get(ask):
    failed, said = ask("search", query="compile_path", kinds=["symbol"], k=1)
    assert not failed, said
    row = next(line for line in said.splitlines() if "starlette/" in line)
    assert ask("get", refs=[row.split(" ")[2]])[0] is False
    assert re.search(r":compile_path lines \d+-\d+ ", row), "an agent need not read the whole file"


@pytest.mark.parametrize(
    ("tool", "arguments", "word"),
    [
        ("impact", {}, "targets"),
        ("impact", {"targets": ["compile_path"], "max_depth": 99}, "max_depth"),
        ("impact", {"targets": ["no_such_function_anywhere"]}, "no_such_function_anywhere"),
        ("impact", {"targets": ["compile_path"], "min_confidence": 2}, "min_confidence"),
        ("co_access", {"files": []}, "files"),
        ("co_access", {"files": ["../outside.py"]}, "outside"),
        ("co_access", {"files": ["a.py"], "depth": 3}, "depth"),
        ("search", {"query": "x", "budget": 30_000}, "budget"),
        ("search", {}, "query"),
        ("search", {"query": "x", "kind": "code"}, "kind"),
        ("get", {"refs": []}, "refs"),
        ("get", {"refs": ["__init__"]}, "starlette/"),
        ("nonsense", {}, "impact"),
        ("search", {"query": "x", "budget": 1}, "budget"),
    ],
)
def test_bad_input_is_refused_with_a_sentence_that_helps(ask, tool, arguments, word):
    failed, said = ask(tool, **arguments)
    assert failed
    assert word in said
    assert "Traceback" not in said


def test_what_was_remembered_is_found_read_in_time_and_forgotten(ask):
    failed, said = ask(
        "remember",
        content="compile_path in starlette/routing.py must keep the trailing slash: mounted applications rely on it.",
        type="gotcha",
        files=["starlette/routing.py"],
    )
    assert not failed, said
    assert said.startswith("added #")
    assert "about starlette/routing.py" in said
    short = said.split()[1]
    failed, said = ask("get", refs=[short])
    assert not failed, said
    assert "trailing slash" in said
    assert " gotcha confirmed" in said
    failed, said = ask("timeline", id=short)
    assert not failed, said
    assert f"> {said.split()[1]} {short} gotcha" in said
    failed, said = ask("search", query="trailing slash of mounted applications", kinds=["memory"])
    assert not failed, said
    assert "#" in said
    failed, _ = ask("forget", id=short)
    assert not failed, said
    assert "trailing slash" not in ask("search", query="trailing slash of mounted applications", kinds=["memory"])[1]


def test_what_is_cut_says_how_to_ask_for_less_by_a_name_that_is_taken(ask):
    failed, said = ask("impact", targets=["starlette/requests.py:Request"], budget=100)
    assert not failed, said
    assert "or lower `max_depth`" in said
    assert not ask("impact", targets=["starlette/requests.py:Request"], max_depth=1)[0]


def test_a_list_of_one_may_be_given_bare_and_what_is_cut_names_an_argument_of_the_tool(ask):
    assert ask("impact", targets="compile_path") == ask("impact", targets=["compile_path"])
    failed, said = ask("search", query="how are requests routed to endpoints", kinds="code", budget=120)
    assert not failed, said
    assert "ask for fewer with `limit`" in said


def test_a_number_may_be_given_as_a_string_and_another_string_is_refused_with_what_to_give(ask):
    assert ask("impact", targets=["compile_path"], max_depth="1", min_confidence="0.5") == ask(
        "impact", targets=["compile_path"], max_depth=1, min_confidence=0.5
    )
    assert ask("impact", targets=["compile_path"], max_depth=1.0) == ask("impact", targets=["compile_path"], max_depth=1)
    for wrong, remedy in (
        ({"max_depth": "1.5"}, "a whole number, such as 5"),
        ({"max_depth": "9" * 5_000}, "a whole number, such as 5"),
        ({"min_confidence": "high"}, "a number, such as 0.5"),
    ):
        failed, said = ask("impact", targets=["compile_path"], **wrong)
        assert failed
        assert said.endswith(f"; give {remedy}"), said


def test_a_name_that_is_not_taken_is_refused_with_those_that_are(ask):
    failed, said = ask("impact", targets=["compile_path"], depth=2)
    assert failed
    assert "impact takes targets, diff, base, direction, max_depth, min_confidence, budget" in said


def test_dependencies_have_no_risk_and_do_not_break(ask):
    failed, said = ask("impact", targets=["starlette/routing.py:compile_path"], direction="dependencies", budget=2000)
    assert not failed, said
    assert said.startswith("dependencies of starlette/routing.py:compile_path\n")
    assert "depth 1:" in said.splitlines()
    assert not [word for word in ("risk ", "will break", "tests to run", "likely") if word in said]


def test_files_that_never_moved_together_stand_apart_with_what_is_known_of_them(ask, memory):
    memory.record_co_access(["starlette/routing.py", "starlette/applications.py"], "2026-03-01T10:00:00Z")
    failed, said = ask("co_access", files=["starlette/status.py"])
    assert not failed, said
    first, *rest = said.splitlines()
    assert first.startswith("no files are known to change with starlette/status.py")
    assert "never changed together so far:" in rest
    hits = memory.co_access(["starlette/status.py"]).hits
    assert any(hit.path == "starlette/routing.py" and not hit.support for hit in hits)
    assert "- starlette/routing.py: edited recently; no other reason is known" in rest


def test_a_file_that_is_not_there_is_not_answered_with_files_that_have_nothing_to_do_with_it(ask, memory):
    memory.record_co_access(["starlette/routing.py", "starlette/applications.py"], "2026-03-01T10:00:00Z")
    failed, said = ask("co_access", files=["lib/nope.xyz"])
    assert not failed, said
    assert "the index does not either; check its spelling" in said
    assert "edited recently" not in said


@pytest.mark.parametrize("form", ["{path}:{line}-{last}", "{path}#L{line}", "{path}#L{line}-L{last}", "{path}:compile_path()"])
def test_a_place_may_be_written_as_other_tools_write_it(ask, memory, form):
    found = memory.resolve("starlette/routing.py:compile_path")
    failed, said = ask("get", refs=[form.format(path=found.path, line=found.start_line, last=found.end_line)], source=False)
    assert not failed, said
    assert "compile_path" in said.splitlines()[0]


@pytest.mark.parametrize(
    ("path", "says"), [("starlette/fresh.py", "fresh.py exists, but is not in the index"), ("starlette/status.py", "occurs in")]
)
def test_code_that_was_just_written_is_not_called_unknown_alone(ask, memory, path, says):
    file = memory.parts.graph.root() / path
    before = file.read_bytes() if file.exists() else b""
    file.write_bytes(before + b"\n\ndef just_written():\n    pass\n")
    try:
        failed, said = ask("impact", targets=[f"{path}:just_written"])
    finally:
        file.write_bytes(before) if before else file.unlink()
    assert failed
    assert says in said
    assert "ask again in a few seconds" in said


def test_a_file_is_answered_with_what_it_defines(ask):
    failed, said = ask("get", refs=["starlette/routing.py"], source=False)
    assert not failed, said
    assert "compile_path" in next(line for line in said.splitlines() if line.startswith("members: "))


def test_a_diff_without_changes_affects_nothing(memory):
    from graphmem.answers.impact import DiffImpact
    from graphmem.mcp_server import impact_text

    report = memory.impact("starlette/routing.py:compile_path")
    said = impact_text.diff_impact(DiffImpact("HEAD", "", [], [], [], report), 800)
    assert said.startswith("nothing changed, so nothing is affected")
    assert "risk" not in said


def test_a_diff_is_not_answered_with_dependents_if_dependencies_were_asked_for(ask):
    failed, said = ask("impact", diff="--- a/one.py\n+++ b/one.py\n@@ -1,1 +1,1 @@\n-one\n+two\n", direction="dependencies")
    assert failed
    assert said.startswith("`direction` applies to `targets` only")


def test_one_reference_that_is_not_there_leaves_the_others_answered(ask):
    failed, said = ask("get", refs=["starlette/routing.py:compile_path", "no_such_thing", "#ffffffff", "__init__"])
    assert not failed, said
    assert "def compile_path(" in said
    assert "no_such_thing: the index has no symbol or file named 'no_such_thing'" in said
    assert "#ffffffff: unknown memory" in said
    assert "__init__: '__init__' matches " in said


def test_where_no_reference_is_there_the_answer_is_an_error_that_names_each(ask):
    failed, said = ask("get", refs=["no_such_thing", "nor_this"])
    assert failed
    assert "'no_such_thing'" in said
    assert "'nor_this'" in said


def test_a_memory_is_meant_with_and_without_its_sign_everywhere(ask, memory):
    made = memory.remember("WebSocketEndpoint decodes text before on_receive is called.", "gotcha").memory
    for said in (made.short_id, f"#{made.short_id}", made.id, f"#{made.id}"):
        assert "WebSocketEndpoint decodes" in ask("get", refs=[said])[1]
        assert f"#{made.short_id}" in ask("timeline", id=said)[1]
    assert ask("forget", id=f"#{made.short_id}")[0] is False


def test_refusals_advise_what_an_agent_can_do(ask):
    said = [
        ask("get", refs=["qqqqzzzz"])[1],
        ask("get", refs=["#ffffffff"])[1],
        ask("timeline", id="ffffffff")[1],
        ask("forget", id="ffffffff")[1],
        ask("remember", content="Sessions end at noon.", files=["../outside.py"])[1],
    ]
    assert not [one for one in said if "`graphmem " in one], said
    assert "`search` finds names by their parts" in said[0]
    assert "files" in said[-1]


def test_what_is_known_is_told_once_below_the_code_that_was_found(ask, memory):
    made = memory.remember(
        "HTTPEndpoint.dispatch looks for a handler of the method's name.", "gotcha", files=["starlette/endpoints.py"]
    ).memory
    failed, said = ask("search", query="endpoint dispatch handler", kinds=["symbol"], k=10, budget=3000)
    assert not failed, said
    found = memory.search("endpoint dispatch handler", kinds=["symbol"], limit=10)
    assert sum(made.id in [known.id for known in hit.memories] for hit in found.hits) > 1
    assert said.count(f"known: gotcha #{made.short_id}") == 1


def test_a_secret_is_not_kept_and_not_repeated(ask):
    key = "sk-ant-api03-" + "q7Zp2Lk9" * 11
    failed, said = ask("remember", content=key)
    assert failed
    assert key not in said


def test_rows_are_small_say_what_get_wants_and_what_is_known(ask, memory):
    added = memory.remember(
        "Route.matches returns PARTIAL when the method differs; never treat it as NONE. " + "The reasons are long. " * 40,
        "gotcha",
        symbols=["starlette/routing.py:Route.matches"],
    ).memory
    failed, said = ask("search", query="Route.matches partial", k=5, budget=2000)
    assert not failed, said
    rows = said.splitlines()
    [row] = [line for line in rows if line.split(" ")[1:2] == ["gotcha"] and f"#{added.short_id}" in line]
    assert added.created_at[:10] in row
    assert added.title in row
    assert all(tokens(line) <= 100 for line in rows)
    assert any(line.startswith(f"  known: gotcha #{added.short_id} ") for line in rows), "a hit on code brings its memories along"
    whole = ask("get", refs=[f"#{added.short_id}"], budget=2000)[1]
    assert added.content in whole
    assert tokens(said) < tokens(whole), "the cheap one first"
    memory.forget(added.id, hard=True)


@pytest.mark.parametrize("budget", [100, 400, 2000])
def test_full_text_keeps_to_its_budget_and_counts_what_found_no_room(ask, budget):
    failed, said = ask("search", query="session middleware cookie", full=True, budget=budget, k=20)
    assert not failed, said
    assert tokens(said) <= 2 * budget + 60, "the budget is counted by a real vocabulary, which has most words whole"
    assert "(no room)" in said or "nothing fits" in said
    assert "unknown phase of work" in ask("search", query="x", phase="dreaming")[1]
