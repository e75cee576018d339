"""Every operation answers the same in process, through the remote client, as raw GraphQL, as a command and as an agent's tool.

The cases are held against the registry: an operation without a case fails, and a case without its operation fails, too.
"""

from __future__ import annotations

import inspect
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest
import typer.main
from mcp.client import Client

from commands import run_here
from graphmem.answers import to_json
from graphmem.cli.main import app
from graphmem.client.decode import variable
from graphmem.errors import GraphMemError
from graphmem.injection import deadlines
from graphmem.mcp_server.schema import parameters
from graphmem.mcp_server.server import build_server
from graphmem.mcp_server.tools import TOOLS
from graphmem.operations.declare import Operation, camel, pascal
from graphmem.operations.marks import Filled, Local, Spelled
from graphmem.operations.registry import registry
from graphmem.runtime.texts.safe_text import inert_lines

PRICE, CART = "shop/price.py", "shop/cart.py"


class Case(NamedTuple):
    """Arguments of an operation in one case."""

    given: Mapping[str, Any] = {}
    refused: Mapping[str, Any] | None = None  # arguments it refuses
    command: tuple[str, ...] = ()  # one written by hand that prints the same answer with `--json`; derived ones follow from `given`


EVENT = {"session_id": "s1", "step": 1, "at": "2026-01-03T10:00:00Z", "kind": "tool", "tool": "Read", "args": {"path": PRICE}, "ok": True}
RULES = '[[rule]]\nname = "low"\nfrom = "shop/price.py"\nmay_not_use = ["shop/cart.py"]\n'
HOOK = json.dumps({"session_id": "s2", "hook_event_name": "SessionStart", "source": "startup", "cwd": "."})

# In this order, after the commands and tools: an operation may use what those above it made.
CASES: dict[str, Case] = {
    "project": Case(),
    "state": Case(),
    "symbol": Case({"ref": "Cart", "source": True}, {"ref": "chekout"}, ("symbol", "Cart", "--source")),
    "symbols": Case({"query": "total", "limit": 2, "offset": 1}, {"limit": -1}),
    "files": Case({"prefix": "shop/", "limit": 2}, {"limit": -1}),
    "symbol_at": Case({"file": PRICE, "line": 1, "column": 4, "unit": "utf16"}, {"file": "no.py", "line": 1}),
    "occurrences": Case({"file": CART}, {"file": "no.py"}),
    "impact": Case(
        {"targets": ["rounded"], "max_depth": 3, "min_confidence": 0.1},
        {"targets": ["total"]},
        ("impact", "rounded", "--max-depth", "3", "--min-confidence", "0.1"),
    ),
    "outline": Case({"path": PRICE}, {"path": "no/such.py"}),
    "file_source": Case({"file": CART}, {"file": "no/such.py"}),
    "folder": Case({"path": "shop"}, {"path": "no/such"}),
    "blame": Case({"file": CART}, {"file": "no/such.py"}),
    "hover": Case({"file": PRICE, "line": 4, "column": 5}, {"file": "no/such.py", "line": 1}),
    "usages": Case({"ref": "rounded", "limit": 3}, {"ref": "nothing"}, ("usages", "rounded", "--limit", "3")),
    "implementations": Case({"ref": "rounded", "limit": 3}, {"ref": "nothing"}, ("implementations", "rounded")),
    "edges": Case({"source": CART, "target": "rounded", "limit": 3}, {"source": CART, "target": "nothing"}),
    "review": Case({"base": "HEAD~1"}, {"base": "no-such-branch"}, ("review", "HEAD~1")),
    "tests_to_run": Case({"targets": ["rounded"], "limit": 5}, {"targets": ["nothing"]}),
    "impact_of_diff": Case({"base": "HEAD~1"}, {"base": "no-such-branch"}, ("impact", "--diff", "HEAD~1")),
    "path": Case({"source": "checkout", "target": "rounded"}, {"source": "nothing", "target": "rounded"}),
    "subgraph": Case({"seeds": ["rounded"], "depth": 2}, {"seeds": ["nothing"]}),
    "atlas": Case({"edges": 10}),
    "atlas_symbols": Case({"paths": [PRICE]}),
    "neighbourhood": Case({"refs": ["rounded"], "kinds": ["CALLS"]}, {"refs": ["nothing"]}),
    "search": Case({"query": "checkout the cart", "limit": 4, "kinds": ["symbol", "memory", "module"]}, {"query": ""}),
    "export": Case(),
    "modules": Case(command=("modules",)),
    "module": Case({"ref": PRICE}, {"ref": "nothing"}),
    "boundary": Case({"module": PRICE, "limit": 5}, {"module": "nothing"}),
    "module_dependency": Case({"src": CART, "dst": PRICE, "limit": 5}, {"src": "nothing", "dst": PRICE}),
    "people": Case({"module": PRICE, "limit": 5}, {"module": "nothing"}),
    "map_entries": Case(),
    "check_architecture": Case({"rules": RULES}, {"rules": "[["}),
    "cycles": Case({"level": "files"}, {"level": "towns"}),
    "entry_points": Case({"kinds": ["test"]}),
    "flows": Case({"limit": 3}, {"limit": 0}),
    "hotspots": Case({"level": "symbols"}, {"level": "towns"}),
    "central_symbols": Case({"limit": 3}, {"limit": 0}),
    "dead_code": Case({"min_confidence": 0.1}, {"min_confidence": 2.0}),
    "duplicates": Case({"min_tokens": 20}, {"min_tokens": 0}),
    "drift": Case({"base": "HEAD~1"}, {"base": "no-such-branch"}, ("drift", "HEAD~1")),
    "report": Case(),
    "export_view": Case({"view": "impact", "format": "mermaid", "targets": ["rounded"]}, {"view": "impact", "targets": ["nothing"]}),
    "contracts": Case({"limit": 3}, {"base": "no-such-branch"}),
    "commits": Case({"limit": 1}, {"limit": 0}),
    "heat_history": Case({"steps": 2}, {"steps": 0}),
    "paragraphs": Case(),
    "ask": Case({"question": "how are prices rounded", "limit": 3}, {"question": ""}),
    "co_access": Case({"files": [PRICE], "limit": 5}, {"files": ["../outside.py"]}),
    "reviewers": Case({"file": PRICE, "limit": 3}, {"file": PRICE, "limit": 0}),
    "file_history": Case({"paths": [PRICE, CART]}),
    "memory": Case({"id": "taught-one"}, {"id": "nothing"}),
    "memories": Case({"filter": {"types": ["gotcha"]}, "sort": "importance", "limit": 1}, {"filter": {"sources": ["nobody"]}}),
    "timeline": Case({"id": "taught-two", "n": 2}, {"id": "nothing"}),
    "review_queue": Case({"limit": 5}),
    "aliases": Case(),
    "audit": Case({"limit": 5}),
    "export_memories": Case({"format": "markdown"}, {"format": "runes"}),
    "rules": Case({"files": [PRICE]}),
    "plan_context": Case({"task": "round prices", "modules": ["shop"]}, {"task": ""}),
    "relay": Case({"before": "explore", "to": "implement"}, {"before": "explore", "to": "sleep"}),
    "prefetch": Case({"module": "shop"}),
    "step_limit": Case({"module": "shop", "base": 20}, {"module": "shop", "base": 0}),
    "context_budget": Case({"remaining": 20_000}),
    "trust": Case(command=("trust",)),
    "learning": Case(command=("memory", "auto")),
    "sessions": Case({"limit": 5}),
    "session_detail": Case({"id": "s0"}, {"id": "s0"}),
    "session_receipts": Case({"session": "s0"}, {"session": "s0"}),
    "session_summary": Case({"session": "s0"}, {"session": "s0"}),
    "session_summaries": Case({"limit": 3}),
    "recent_summaries": Case({"now": "2026-01-04T00:00:00Z"}),
    "experiment": Case(),
    "phase_weights": Case(),
    "search_evaluation": Case({"commits": 60}, {"commits": 1}),
    "sharing_status": Case(),
    "organisation_people": Case({}, {"url": "http://127.0.0.1/"}),
    "organisation_audit": Case({}, {"limit": 0}),
    "team_news": Case({}, {"days": 0}),
    "memory_comments": Case({"id": "taught-one"}, {"id": "nothing"}),
    "projects": Case(),
    "search_projects": Case({"query": "checkout the cart", "limit": 3}, {"query": "cart", "projects": ["no such project"]}),
    "impact_projects": Case({"target": "rounded", "max_depth": 2}, {"target": "nothing"}),
    "health": Case(),
    "doctor": Case(),
    "cypher": Case({"query": "MATCH (s:Symbol) RETURN count(s)"}, {"query": "MATCH (s:Symbol) RETURN count(s)"}),
    "backups": Case(),
    "verify_index": Case(),
    # ---- changes
    "record_co_access": Case({"files": [PRICE, CART], "at": "2026-01-03T10:00:00Z", "session": "pair"}, {"files": []}),
    "change_map": Case({"module": "shop", "name": "The shop", "hidden": False}, {"module": "no such module"}),
    "record_rename": Case({"old": "shop/old.py", "new": "shop/new.py", "at": "2026-01-03T11:00:00Z"}, {"old": "../a.py", "new": "b.py"}),
    "remember": Case(
        {"content": "Totals are summed before they are rounded.", "type": "fact", "tags": ["money"], "id": "taught-three"}, {"content": ""}
    ),
    "remember_many": Case(
        {"items": [{"content": "Carts are never shared between people.", "id": "taught-four"}, {"content": ""}], "skip_invalid": True},
        {"items": [{"content": ""}]},
    ),
    "update_memory": Case({"id": "taught-three", "importance": 0.9, "tags": ["money", "sum"]}, {"id": "nothing", "importance": 0.9}),
    "pin": Case({"id": "taught-three", "on": False}, {"id": "nothing"}),
    "verify": Case({"id": "taught-one"}, {"id": "nothing"}),
    "dispute": Case({"id": "taught-two", "reason": "it sorts them"}, {"id": "nothing"}),
    "resolve_conflict": Case({"winner": "taught-one", "note": "seen"}, {"winner": "nothing"}),
    "note_use": Case({"ids": ["taught-one"], "use": "used"}, {"ids": ["nothing"]}),
    "set_alias": Case({"term": "basket", "means": ["cart"]}, {"term": "", "means": ["cart"]}),
    "forget": Case({"id": "taught-four"}, {"id": "nothing"}),
    "prune": Case({"dry_run": True}),
    "retract": Case({"origin": "web", "dry_run": True}, {"origin": ""}),
    "scan_secrets": Case({"dry_run": True}),
    "import_memories": Case(
        {"content": "# Notes\n\n- The shop closes at noon on Sundays.\n", "path": "MEMORY.md"}, {"content": "x", "format": "runes"}
    ),
    "sync_file": Case({"dry_run": True}, {"path": "../outside.md"}),
    "rebuild_memories": Case(),
    "sync_memories": Case({}, {"url": "http://127.0.0.1/"}),
    "drop_branch": Case({"name": "no such branch"}),
    "push_index": Case({"address": "http://127.0.0.1:9/p/shop"}, {"address": "http://127.0.0.1:9/"}),
    "found_organisation": Case({}, {"url": "http://127.0.0.1/"}),
    "invite_person": Case({"login": "ann"}, {"login": "ann", "level": "king"}),
    "set_team_member": Case({"team": "core", "login": "ann"}, {"team": "", "login": "ann"}),
    "set_project_role": Case({"key": "git:1", "level": "read", "login": "ann"}, {"key": "git:1", "level": "king"}),
    "enable_person": Case({"login": "ann"}, {"login": "ann", "url": "http://127.0.0.1/"}),
    "comment_memory": Case({"id": "taught-one", "text": "Why?"}, {"id": "nothing", "text": "Why?"}),
    "export_organisation": Case({"login": "ann"}, {"url": "http://127.0.0.1/"}),
    "erase_person": Case({"login": "ann", "confirm": "ann"}, {"login": "ann"}),
    "erase_organisation": Case({"confirm": "team"}, {"url": "http://127.0.0.1/"}),
    "decide_disagreement": Case({"id": "taught-one", "field": "type", "side": 1}, {"id": "taught-one", "field": "type", "side": 1}),
    "context": Case(
        {"point": "prompt", "session": "c1", "text": "round the prices", "deadline_s": 20.0}, {"point": "prompt", "phase": "sleep"}
    ),
    "context_update": Case({"session": "c2", "messages": ["round the prices"]}, {"session": "c2", "phase": "sleep"}),
    "context_take": Case({"session": "c3", "deadline_s": 20.0}, {"session": "c3", "format": "runes"}),
    "set_learning": Case({"state": "on"}, {"state": "asleep"}),
    "set_trust_level": Case({"level": "standard"}, {"level": "blind"}),
    "hook": Case({"agent": "claude-code", "payload": HOOK}, {"agent": "nobody", "payload": HOOK}),
    "start_session": Case({"id": "s1", "kind": "build", "agent": "test"}, {"id": "s9", "kind": "dance"}),
    "observe": Case({"events": [EVENT], "session": "s1"}, {"events": "no list"}),
    "end_session": Case({"id": "s1", "outcome": "accepted"}, {"id": "s1", "outcome": "lost"}),
    "undo_session": Case({"session": "s1"}, {"session": "nothing"}),
    "learn_from": Case({"record": {"session": "s7"}}, {"record": {"session": 7}}),
    "choose_search_weights": Case({"choice": "built-in"}, {"choice": "runes"}),
    "choose_phase_weights": Case({"choice": "built-in"}, {"choice": "runes"}),
    "index": Case({"full": False}),
    "compact": Case(),
    "backup": Case({"portable": True}),
    "restore": Case({"file": "no-such.zip"}, {"file": "no-such.zip"}),
    "rebuild": Case(),
    "delete_all": Case({"confirm": "shop"}, {"confirm": "another"}),
}
NOT_REMOTE = {name for name, one in registry().items() if one.hints.client == "none"}

# What differs between two processes at two moments: when something was written, under which new id, how long it took.
MOMENT = re.compile(r"(_at|_from|seconds|^at|^short_id)$")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|#[0-9a-f]{4,}")
# Answers about the process itself: only their names and their types are compared.
OF_THE_PROCESS = {"health", "project", "backup", "backups", "verify_index", "compact", "report", "audit", "index", "rebuild"}


def masked(name: str, answer: Any) -> Any:
    """An answer as plain values, without what differs between two processes at two moments."""
    if name == "doctor":  # `served_at` is the client's own, sizes and timings are of the process
        answer = {key: None for key in answer if key != "served_at"}
    plain = json.loads(UUID.sub("ID", json.dumps(to_json(answer), default=str)))
    return _kinds(plain) if name in OF_THE_PROCESS else _without_moments(plain)


def _without_moments(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: "…" if MOMENT.search(key) and isinstance(one, (str, float, dict)) else _without_moments(one) for key, one in value.items()
        }
    if isinstance(value, float):
        return round(value, 3)  # the age of a memory counts in its score
    return [_without_moments(one) for one in value] if isinstance(value, list) else value


def _kinds(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _kinds(one) for key, one in value.items()}
    return [_kinds(one) for one in value[:1]] if isinstance(value, list) else type(value).__name__


def first_difference(one: Any, other: Any, at: str = "") -> str:
    """Return a line on the first difference of two plain values; "" if equal."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in [*other, *one]:
            if key not in one or key not in other:
                return f"{at}.{key} is only in {'the first' if key in one else 'the second'}"
            if found := first_difference(one[key], other[key], f"{at}.{key}"):
                return found
        return ""
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return next(
            (found for place, pair in enumerate(zip(one, other, strict=True)) if (found := first_difference(*pair, f"{at}[{place}]"))), ""
        )
    return "" if one == other else f"{at}: {one!r} != {other!r}"


def called(target: Any, name: str, given: Mapping[str, Any]) -> Any:
    answer = getattr(target, name)(**given)
    return list(answer) if isinstance(answer, Iterator) else answer


def outcome(target: Any, name: str, given: Mapping[str, Any]) -> Any:
    """The answer, or the kind of refusal."""
    try:
        return called(target, name, given)
    except GraphMemError as error:
        return {"refused": error.code}


def test_every_operation_has_a_case_and_every_case_an_operation() -> None:
    assert CASES.keys() == registry().keys() - NOT_REMOTE


def test_only_helpers_of_resolvers_and_streams_are_not_in_the_client() -> None:
    streams = {"subscribe_progress", "subscribe_memories", "subscribe_context"}
    assert NOT_REMOTE - streams == {"resolve", "file_info", "symbol_info", "sites", "details", "known_about", "source", "start_index"}


@pytest.mark.parametrize("name", [name for name, one in registry().items() if one.hints.root == "query"])
def test_the_ready_made_document_answers_every_field(twins, name: str) -> None:
    operation = registry()[name]
    given = inspect.signature(operation.function).bind(None, **CASES[name].given).arguments
    variables = {
        camel(one.name): variable(one, given[one.name])
        for one in operation.parameters
        if one.name in given and not hidden(operation, one.name)
    }
    if getattr(operation.answer, "__shape__", None) is not None and operation.answer.__shape__.page:
        variables = {new: value for old, value in variables.items() if (new := {"limit": "first"}.get(old, old)) != "offset"}
    here = outcome(twins.here, name, CASES[name].given)
    if isinstance(here, dict) and here.keys() == {"refused"}:
        with pytest.raises(GraphMemError) as refusal:
            twins.there._wire.ask(pascal(name), more=variables)
        assert refusal.value.code == here["refused"]
        return
    data = twins.there._wire.ask(pascal(name), more=variables)
    assert data.keys() == {camel(name)}
    assert data[camel(name)] is not None


def hidden(operation: Operation, parameter: str) -> bool:
    one = next(one for one in operation.parameters if one.name == parameter)
    return one.has(Filled) or one.has(Local)


DERIVED = [name for name in CASES if name in registry() and registry()[name].hints.command]


def typed(operation: Operation, given: Mapping[str, Any]) -> list[str]:
    """The command line that asks a derived command this."""
    *family, last = operation.hints.command.split()
    command: Any = typer.main.get_command(app)
    for name in (*family, last):
        command = command.commands[name]
    options: list[str] = []
    arguments: list[str] = []
    for one in command.params:
        if one.name not in given:
            continue
        values = given[one.name] if isinstance(given[one.name], list) else [given[one.name]]
        if one.param_type_name == "argument":
            arguments += map(str, values)
        elif isinstance(values[0], bool):
            options.append(one.opts[0] if values[0] else one.secondary_opts[0])
        else:
            options += [word for value in values for word in (one.opts[0], str(value))]
    assert given.keys() <= {one.name for one in command.params}, f"{operation.name} does not take {given} as a command"
    return [*family, last, *options, "--", *arguments] if arguments else [*family, last, *options]


def as_command(operation: Operation, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of an operation when its command gets these.

    Some defaults of commands differ.
    """
    shown = {one.name: said.default for one in operation.parameters if (said := one.mark(Spelled)) and said.default is not None}
    return shown | dict(given)


def printed(twins: Any, index: Path, words: Sequence[str]) -> Any:
    """Return the JSON that a command prints: the answer, or the error's code."""
    environ = {**os.environ, "GRAPHMEM_EMBEDDER": "none", "GRAPHMEM_WORKERS": "1", "NO_COLOR": "1"}
    more = ["--json", "--db", str(index)]
    at = words.index("--") if "--" in words else len(words)
    ran = run_here(environ, *words[:at], *more, *words[at:], cwd=twins.root)
    assert ran.code in (0, 1, 2), ran.err
    answer = json.loads(ran.out)
    return {"refused": answer["error"]["code"]} if isinstance(answer, dict) and answer.keys() == {"error"} else answer


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.command])
def test_the_command_prints_the_answer(twins, name: str) -> None:
    case = CASES[name]
    found = printed(twins, twins.for_commands, case.command)
    assert first_difference(masked(name, found), masked(name, called(twins.here, name, case.given))) == ""


@pytest.mark.parametrize("name", [name for name in DERIVED if registry()[name].hints.root == "query"])
def test_a_derived_command_prints_the_answer(twins, name: str) -> None:
    operation, given = registry()[name], CASES[name].given
    found = printed(twins, twins.for_commands, typed(operation, given))
    assert first_difference(masked(name, found), masked(name, outcome(twins.here, name, as_command(operation, given)))) == ""


@pytest.mark.parametrize("name", [name for name in DERIVED if registry()[name].hints.root == "mutation"])
def test_a_derived_command_changes_what_the_operation_does(twins, apart, name: str) -> None:
    here, index = apart
    operation, given = registry()[name], CASES[name].given
    found = printed(twins, index, typed(operation, given))
    assert first_difference(masked(name, found), masked(name, outcome(here, name, as_command(operation, given)))) == ""


TOOL_CASES: dict[str, dict[str, Any]] = {
    "impact": {"targets": ["rounded"]},
    "search": {"query": "checkout the cart"},
    "get": {"refs": ["Cart", "rounded"]},
    "path": {"source": "checkout", "target": "rounded"},
    "co_access": {"files": [PRICE]},
    "remember": {"content": "Agents say that lines are floats."},
    "forget": {"id": "#taught-zero"},
    "timeline": {"id": "#taught-two"},
}


def test_every_tool_has_a_case() -> None:
    assert TOOL_CASES.keys() == TOOLS.keys()


@pytest.mark.parametrize("name", TOOL_CASES)
def test_a_tool_tells_an_agent_the_answer_of_the_project(twins, name: str) -> None:
    async def asked() -> Any:
        async with Client(build_server(lambda: twins.there)) as client:
            return await client.call_tool(name, TOOL_CASES[name])

    for one in (twins.here, twins.there):
        one.search("checkout", kinds=["module"])  # search lists only modules that are derived, and a server derives them in the background
    through_the_protocol = anyio.run(asked)
    assert not through_the_protocol.is_error
    here = inert_lines(TOOLS[name].answer(twins.here, TOOL_CASES[name], TOOLS[name].budget))
    assert UUID.sub("ID", through_the_protocol.content[0].text) == UUID.sub("ID", here)


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_takes_parameters_of_the_operations_it_asks(name: str) -> None:
    tool = TOOLS[name]
    known = {parameter for operation in tool.asks for parameter in parameters(operation)}
    assert set(tool.takes) - known == set(tool.own) - known
    assert set(TOOL_CASES[name]) <= set(tool.takes)


@pytest.mark.parametrize("name", CASES)
def test_the_client_answers_as_the_project_does(twins, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # A late answer to a hook is empty. On a busy machine one of the two would be late.
    monkeypatch.setattr(deadlines, "DEADLINES_S", dict.fromkeys(deadlines.POINTS, 60.0))
    case = CASES[name]
    if case.refused is not None:
        here, there = outcome(twins.here, name, case.refused), outcome(twins.there, name, case.refused)
        assert there == here
        assert "refused" in here, f"{name} takes {case.refused}"
    here, there = outcome(twins.here, name, case.given), outcome(twins.there, name, case.given)
    assert type(there) is type(here)
    assert first_difference(masked(name, there), masked(name, here)) == ""
