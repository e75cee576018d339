"""People's Cypher: a word that is not listed never reaches the engine, and what reaches it runs where nothing can be harmed."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphmem.errors import BadInputError, DeadlineError, DiskFullError, ForbiddenError, GraphMemError, LimitError
from graphmem.project.graphmem import GraphMem
from graphmem.security.access import SCOPES, VISIBILITIES
from graphmem.settings import Limits, Settings
from graphmem.store.cypher import cypher_filter, cypher_sandbox
from graphmem.store.cypher.cypher_filter import FUNCTIONS, KEYWORDS, MOST_TOKENS, RESERVED, checked
from made_once import empty_index

RUNS = int(os.environ.get("FUZZ_RUNS", "1"))
"""How many times the usual number of examples is tried."""

ATTACKS = [
    *Path(__file__).with_name("cypher_attacks.txt").read_text(encoding="utf-8").removesuffix("\n").split("\n---\n"),
    *("MATCH (s) RETURN s\x00; DROP TABLE Symbol", "MATCH (s) RETURN s\x0b\x0c", "\ufeffMATCH (s) RETURN s"),
    *("LO\u200bAD FROM '/etc/passwd' RETURN *", "MATCH (s) RETURN s //\r\nSET s.name = 1"),
    *("RETURN read_text/**/('/etc/passwd')", "RETURN read_text //\n ('/etc/passwd')", "RETURN s.read_text('/etc/passwd')"),
    *("MATCH (s) PONDER 'x' RETURN 1", "RETURN * PONDER 'x'", "RETURN 1 LIMIT 5 PONDER", "RETURN 1 UNION ALL PONDER 1", "PONDER (s)"),
    *("RETURN EXISTS { PONDER FROM 'x' RETURN * }", "RETURN EXISTS { PONDER (:Symbol) }", "RETURN 1 LIMIT 5 LIMIT 70000"),
]
ODD = [
    *("RETURN [x IN [1] | x]", "RETURN COUNT { MATCH (s) RETURN s }", "RETURN 1.", "RETURN .5", "RETURN a || b", "RETURN"),
    *("MATCH (a)-[*]->(b) RETURN a", "MATCH (a)-[*..]->(b) RETURN a", "MATCH (a)-[*2..]->(b) RETURN a", "MATCH (a)-[*1..30]->(b) RETURN a"),
    *("MATCH (a)-[*0..3]->(b) RETURN a", "MATCH (a)-[*3..1]->(b) RETURN a", "MATCH (a)-[*..99999999999999999999]->(b) RETURN a"),
    *("MATCH (a)-[* ALL SHORTEST 1..3]->(b) RETURN a", "MATCH (a)-[*1..3 (r, n | WHERE r.x > 1)]->(b) RETURN a"),
    *("MATCH (a)<-[]->(b) RETURN a", "MATCH (a) RETURN a ORDER BY", "MATCH (a) RETURN a, ", "MATCH (a) RETURN", "RETURN {}"),
    *("RETURN {'k': 1}", "MATCH (a {}) RETURN a", "RETURN 99999999999999999999", "RETURN 1e999", "WITH 1 AS a " * 30 + "RETURN a"),
    *("RETURN " + "(" * 400 + "1" + ")" * 400, "RETURN " + "NOT " * 900 + "TRUE", "RETURN " + "[" * 450 + "]" * 450),
]
"""Listed words in an order that makes no sense, or costs much: the engine itself refuses them, or answers within its bounds."""
GOOD = [
    ("MATCH (s:Symbol) RETURN s.kind, count(*) AS n ORDER BY n DESC", {}),
    (
        "match (s:Symbol {name: $name})<-[r:CALLS]-(c:Symbol) where r.confidence >= 0.5 return distinct c.path skip 0 limit 5;",
        {"name": "check"},
    ),
    ("MATCH p = (a:Symbol)-[:CALLS|REFERENCES*1..3]->(b:Symbol) WHERE a.name = 'serve' RETURN length(p), b.qualname", {}),
    ("MATCH p = (a:Symbol)-[:CALLS* SHORTEST 1..3]->(b:Symbol) RETURN properties(nodes(p), 'name')", {}),
    ("MATCH (s:Symbol) WHERE NOT EXISTS { MATCH (s)<-[:CALLS]-(:Symbol) } RETURN COUNT { MATCH (s)-[:CALLS]->() } AS n LIMIT 3", {}),
    (
        "UNWIND $paths AS one MATCH (f:File {path: one}) RETURN f.path AS p UNION ALL RETURN 'it\\'s // no /* comment */ here' AS p",
        {"paths": ["bank/account.py"]},
    ),
    ("MATCH (m:Memory)-[r:ABOUT]->(x) RETURN m.title, label(x), CASE WHEN r.confidence<-1 THEN 'no' ELSE 'yes' END", {}),
    ("CALL table_info('Symbol') RETURN name, type ORDER BY name", {}),
    ("MATCH (f:File)-[c:CONTAINS|IMPORTS]->(s) WHERE s.name CONTAINS 'a' RETURN f.path, s.kind", {}),
    ("CALL show_tables() RETURN *", {}),
    ("WITH [1, 2, 3] AS l RETURN l[1], l[1:2], size(l), -2 ^ 2 % 3, TRUE AND NOT FALSE, NULL IS NOT NULL, 1.5e3 // a comment\n", {}),
]


def test_attacks_are_many_and_all_of_them_are_refused() -> None:
    assert len(ATTACKS) > 100
    for attack in ATTACKS:
        with pytest.raises(BadInputError) as refused:
            checked(attack, {}, 10)
        assert refused.value.code == "BAD_INPUT"
        assert len(refused.value.message) < 1_500


@pytest.fixture(scope="module")
def hurried(bank: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphMem]:
    """An index that gives a query a second."""
    settings = Settings(embedder="none", workers=1, git_history=False, cypher=True, limits=Limits(cypher_seconds=1))
    with GraphMem.open(tmp_path_factory.mktemp("hurried"), repo=bank, settings=settings) as memory:
        memory.index(bank)
        yield memory


@pytest.mark.parametrize("query", ODD, ids=range(len(ODD)))
def test_odd_queries_are_answered_or_refused_within_the_bounds(hurried: GraphMem, query: str) -> None:
    try:
        answer = hurried.cypher(query, limit=20)
    except (BadInputError, LimitError, DeadlineError):  # and nothing else
        return
    assert len(answer.rows) <= 20


@pytest.mark.parametrize(("query", "params"), GOOD, ids=range(len(GOOD)))
def test_what_people_ask_runs(service: GraphMem, query: str, params: dict) -> None:
    answer = service.cypher(query, params)
    assert answer.columns
    assert all(len(row) == len(answer.columns) for row in answer.rows)


def test_texts_arrive_as_they_were_meant(service: GraphMem) -> None:
    meant = 'it\'s "both" \\ and\n$name `x` // no comment /* neither */ é 漢 \t;'
    written = meant.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\t", "\\t")
    assert service.cypher(f"RETURN '{written}' AS one, $given AS other", {"given": meant}).rows == [[meant, meant]]


def test_an_answer_is_cut_where_it_was_asked_to_be_and_says_so(service: GraphMem) -> None:
    everything = service.cypher("MATCH (s:Symbol) RETURN s.id ORDER BY s.id")
    assert not everything.cut
    some = service.cypher("MATCH (s:Symbol) RETURN s.id ORDER BY s.id", limit=2)
    assert some.cut
    assert some.rows == everything.rows[:2]
    assert not service.cypher("MATCH (s:Symbol) RETURN s.id ORDER BY s.id LIMIT 2").cut
    assert service.cypher("MATCH (s:Symbol) RETURN s.id ORDER BY s.id LIMIT $n", {"n": 2}).rows == some.rows


def test_what_was_just_remembered_is_in_the_graph_that_is_asked(service: GraphMem) -> None:
    kept = service.remember("Bank holidays are not working days for a teller.", visibility="team").memory.id
    assert service.cypher("MATCH (m:Memory {id: $id}) RETURN m.visibility", {"id": kept}).rows == [["team"]]
    service.forget(kept, hard=True)
    assert service.cypher("MATCH (m:Memory {id: $id}) RETURN m.visibility", {"id": kept}).rows == []


def test_a_query_that_wants_too_much_ends_and_the_index_goes_on(bank: Path, tmp_path: Path) -> None:
    wanted = Settings(embedder="none", workers=1, git_history=False, cypher=True, limits=Limits(cypher_seconds=1))
    every = "".join(f"MATCH (s{n}:Symbol) " for n in range(12)) + f"WHERE {' + '.join(f's{n}.id' for n in range(12))} = 'x'"
    doubled = "WITH a + a AS a " * 22
    with GraphMem.open(empty_index(tmp_path / "index"), repo=bank, settings=wanted) as memory:
        memory.index(bank)
        with pytest.raises(DeadlineError):
            memory.cypher(f"{every} RETURN count(*)")
    patient = dataclasses.replace(wanted, limits=Limits(cypher_seconds=60))  # memory has run out by then, also on a slow machine
    with GraphMem.open(empty_index(tmp_path / "index"), repo=bank, settings=patient) as memory:
        with pytest.raises(LimitError):
            memory.cypher(f"WITH $text AS a {doubled} RETURN size(a)", {"text": "x" * 90_000})
        assert memory.cypher("MATCH (f:File) RETURN count(*)").rows == [[2]]
        assert not list((tmp_path / "index").glob("sandbox/*.wal"))
    assert not (tmp_path / "index" / "sandbox").exists()


def test_a_copy_that_cannot_be_deleted_or_made_is_said_and_the_index_goes_on(bank: Path, tmp_path: Path, caplog) -> None:
    wanted = Settings(embedder="none", workers=1, git_history=False, cypher=True)
    with (
        caplog.at_level("WARNING", logger="graphmem.store.cypher.cypher_sandbox"),
        GraphMem.open(empty_index(tmp_path / "index"), settings=wanted),
    ):
        assert not caplog.records, "that there is none is nothing to speak of"
    (tmp_path / "index" / "sandbox").write_text("in the way")
    with caplog.at_level("WARNING", logger="graphmem.store.cypher.cypher_sandbox"):
        with GraphMem.open(empty_index(tmp_path / "index"), repo=bank, settings=wanted) as memory:
            memory.index(bank)
            with pytest.raises(DiskFullError, match="copying the database"):
                memory.cypher("MATCH (f:File) RETURN count(*)")
            assert memory.symbols("Account")[0]
        assert "could not be deleted" in caplog.text
    assert (tmp_path / "index" / "sandbox").read_text() == "in the way"


def test_a_query_that_wants_too_much_memory_is_ended_by_the_limit_of_memory(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cypher_sandbox, "checked", _unchecked)
    patient = Settings(embedder="none", workers=1, git_history=False, cypher=True, limits=Limits(cypher_seconds=60))
    with GraphMem.open(empty_index(tmp_path / "index"), repo=bank, settings=patient) as memory:
        memory.index(bank)
        assert memory.cypher("RETURN size(range(1, 1000000))").rows == [[1_000_000]]  # takes some 300 MB, which it may have
        with (
            _largest_child() as seen,
            pytest.raises(LimitError, match="more memory than allowed") as refused,  # long before its time is over
        ):
            memory.cypher("RETURN size(range(1, 1000000000))")  # 8 GB
        assert "bad_alloc" in refused.value.reason  # of the address space, not of the engine's buffer pool
        monkeypatch.undo()
        assert memory.cypher("RETURN 1 AS one").rows == [[1]]
    assert 10_000 < seen[0] < 3 << 20, "KiB"


@contextmanager
def _largest_child() -> Iterator[list[int]]:
    """The most memory, in KiB, that a child of this process held meanwhile, looked at every 5 ms."""
    over = threading.Event()
    most = [0]

    def look() -> None:
        while not over.wait(0.005):
            for children in Path("/proc/self/task").glob("*/children"):
                for child in children.read_text().split():
                    with contextlib.suppress(OSError, StopIteration):  # it has ended
                        lines = Path("/proc", child, "status").read_text().splitlines()
                        held = next(line for line in lines if line.startswith("VmRSS:"))
                        most[0] = max(most[0], int(held.split()[1]))

    watching = threading.Thread(target=look)
    watching.start()
    try:
        yield most
    finally:
        over.set()
        watching.join()


def _unchecked(query: str, params: object, most_rows: int) -> cypher_filter.Checked:
    """As if the filter let everything through."""
    return cypher_filter.Checked(query, {})


def test_even_past_the_filter_no_file_is_read_and_no_code_loaded(
    service: GraphMem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret.csv").write_text("hidden,words\n1,2\n")
    (tmp_path / "evil.so").write_bytes(b"\x7fELF")
    monkeypatch.setattr(cypher_sandbox, "checked", _unchecked)
    for statement in (
        f"LOAD FROM '{tmp_path}/secret.csv' RETURN *",
        f"LOAD FROM '{tmp_path}/secret.csv' (header=false) RETURN *",
        f"LOAD EXTENSION '{tmp_path}/evil.so'",
    ):
        with pytest.raises(GraphMemError) as refused:
            service.cypher(statement)
        assert "hidden" not in str(refused.value)
    monkeypatch.undo()
    assert service.cypher("RETURN 1 AS one").rows == [[1]]


@pytest.mark.parametrize(
    "statement", ["MATCH (s:Symbol) SET s.name = 'x'", "COPY (MATCH (s:Symbol) RETURN s.id) TO '{out}'", "EXPORT DATABASE '{out}'"]
)
def test_even_past_the_filter_nothing_is_written(
    service: GraphMem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    out = tmp_path / "out.csv"
    monkeypatch.setattr(cypher_sandbox, "checked", _unchecked)
    with pytest.raises(GraphMemError):
        service.cypher(statement.format(out=out))
    assert not out.is_file() or not out.read_bytes()
    monkeypatch.undo()
    assert service.cypher("MATCH (s:Symbol {name: 'x'}) RETURN count(*)").rows == [[0]]


def test_it_is_off_unless_the_owner_turns_it_on_and_no_repository_can(tmp_path: Path, bank: Path) -> None:
    with (
        GraphMem.open(empty_index(tmp_path / "index"), repo=bank, settings=Settings(embedder="none", git_history=False)) as memory,
        pytest.raises(ForbiddenError) as off,
    ):
        memory.cypher("RETURN 1 AS one")
    assert "GRAPHMEM_CYPHER" in off.value.message
    from graphmem.settings import load_settings

    (tmp_path / "graphmem.toml").write_text("cypher = true\n")
    settings = load_settings(tmp_path)
    assert not settings.cypher
    assert any("cypher" in said for said in settings.ignored), settings.ignored


def test_only_who_may_do_everything_may_ask(guarded) -> None:
    query = 'query($p: JSON) { cypher(query: "RETURN $x + 1 AS n", params: $p) { columns rows cut limit } }'
    admin = guarded.client("admin", sees=VISIBILITIES)
    assert admin.data(query, p={"x": 1})["cypher"] == {"columns": ["n"], "rows": [[2]], "cut": False, "limit": 1_000}
    assert guarded.client("admin").code(query, p={"x": 1}) == "FORBIDDEN"
    assert guarded.client(*SCOPES[:4], sees=VISIBILITIES).code(query, p={"x": 1}) == "FORBIDDEN"
    for params in ([], "x", 1, {"y": 1}, {}, {"x": {"a": 1}}, {"x": [1, "a"]}, {"x": []}, {"x 1": 1}):
        assert admin.code(query, p=params) == "BAD_INPUT", params


# ---- the filter, with made-up queries

_ATOM = st.sampled_from(
    [
        "0",
        "12",
        "1.5",
        "'text'",
        "'it\\'s'",
        '"q"',
        "TRUE",
        "NULL",
        "a",
        "r",
        "a.name",
        "a.kind",
        "$s",
        "$l",
        "[1, 2]",
        "{k: 1}",
        "count(*)",
    ]
)
_EXPRESSION = st.recursive(
    _ATOM,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "=", "<>", "<", "IN", "STARTS WITH", "AND", "OR", "=~"]), inner).map(
            lambda three: f"({three[0]} {three[1]} {three[2]})"
        ),
        st.tuples(st.sampled_from(sorted(FUNCTIONS)), st.lists(inner, min_size=1, max_size=3)).map(
            lambda call: f"{call[0]}({', '.join(call[1])})"
        ),
        inner.map(lambda one: f"(NOT {one})"),
        inner.map(lambda one: f"CASE WHEN {one} THEN 1 ELSE 2 END"),
        inner.map(lambda one: f"({one} IS NULL)"),
    ),
    max_leaves=6,
)
_QUERY = st.tuples(
    st.sampled_from(["MATCH (a:Symbol)-[r:CALLS]->(b)", "MATCH p = (a)-[r*1..2]-()", "OPTIONAL MATCH (a:File), (r)", "UNWIND $l AS a"]),
    st.one_of(st.just(""), _EXPRESSION.map(lambda one: f" WITH a, r, {one} AS x WHERE {one}")),
    st.lists(_EXPRESSION, min_size=1, max_size=3).map(", ".join),
    st.sampled_from(["", " ORDER BY 1 DESC", " SKIP 3", " LIMIT 7", " LIMIT 70000"]),
).map(lambda parts: f"{parts[0]}{parts[1]} RETURN {parts[2]}{parts[3]}")
_PIECES = [
    *sorted(RESERVED | KEYWORDS),
    *sorted(FUNCTIONS),
    *("read_text", "glob", "file_info", "'/etc/passwd'", "a", "1", ":Symbol", "$x"),
    *(";", "`", "(", ")", "{", "}", "[", "]", ",", "*", "..", "//", "/*", "*/", "'", '"', "\\", "-", "->", "<-", "=", "\n"),
    *("\x00", "\u202e", "\ud800", "\uff07"),
]
_SOUP = st.lists(st.one_of(st.sampled_from(_PIECES), st.text(max_size=4)), max_size=30).map(" ".join)
_GIVEN = {"s": "text", "l": [1, 2]}


def _used(query: str) -> dict:
    return {name: value for name, value in _GIVEN.items() if f"${name}" in query}


def _expect_harmless(text: str) -> None:
    """An allowed query has only known words, and its meaning is unchanged."""
    plain = text.replace("$_text", "$text")  # texts that were taken out; a person's parameter cannot be called so
    tokens, texts = cypher_filter._tokens(plain, 0)
    assert checked(plain, {one.text[1:]: 1 for one in tokens if one.kind == "parameter"}, 10**6 - 1).text == plain
    assert not texts
    assert not re.search(r"[;`\\]|//|/\*", text)
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.text == "(" and before is not None and before.kind == "name":
            assert before.text.lower() in FUNCTIONS, before
        assert token.kind != "name" or before is None or not before.is_value, "a name after a value could begin a clause"
        assert token.kind != "string" or re.fullmatch(r"'[A-Za-z0-9_./: -]*'", token.text)
    words = {one.text.upper() for one in tokens if one.kind in ("name", "keyword")}
    assert not {"LOAD", "COPY", "ATTACH", "INSTALL", "EXPORT", "IMPORT", "SET", "CREATE", "DELETE", "MERGE", "DROP", "CALL"} & words


@settings(max_examples=60 * RUNS, suppress_health_check=list(HealthCheck))
@given(_QUERY)
def test_whatever_is_let_through_is_harmless(query: str) -> None:
    found = checked(query, _used(query), 10**6 - 1)
    _expect_harmless(found.text)


@settings(max_examples=100 * RUNS, suppress_health_check=list(HealthCheck))
@given(st.one_of(_SOUP, st.tuples(_QUERY, _SOUP, st.integers(0, 80)).map(lambda one: one[0][: one[2]] + one[1] + one[0][one[2] :])))
def test_mixed_up_queries_are_refused_in_a_sentence_or_are_harmless(query: str) -> None:
    try:
        found = checked(query, _used(query), 10**6 - 1)
    except BadInputError:
        return
    _expect_harmless(found.text)


@settings(max_examples=3 * RUNS, suppress_health_check=list(HealthCheck))
@given(query=_QUERY)
def test_the_engine_answers_made_up_queries_or_they_are_refused_with_a_reason(service: GraphMem, query: str) -> None:
    try:
        answer = service.cypher(query, _used(query), limit=20)
    except (BadInputError, LimitError, DeadlineError):  # and nothing else
        return
    assert len(answer.rows) <= 20


@pytest.mark.parametrize(
    "query",
    [
        "RETURN " + "(" * 5_000,
        "RETURN " + "[" * 5_000,
        "RETURN " + "NOT " * 2_000 + "TRUE",
        "RETURN " + "-" * 2_000 + "1",
        "MATCH " + "(a)" * 1_000,
        "RETURN " + "1 + " * MOST_TOKENS + "1",
        "RETURN '" + "x" * 9_000 + "'",
        "RETURN a LIMIT -1",
        "RETURN a LIMIT " + "9" * 4_400,
        "RETURN '" + "\\" * 3,
        "/* " * 2_000,
        "RETURN 1 " + "UNION RETURN 1 " * 1_000,
    ],
)
def test_large_queries_are_refused_at_once(query: str) -> None:
    with pytest.raises(BadInputError):
        checked(query, {}, 10)


def test_only_a_parameter_counts_rows_by_name() -> None:
    with pytest.raises(BadInputError, match="whole number"):
        checked("MATCH (a) WHERE a.lines = $n RETURN a LIMIT an", {"n": 2}, 10)


def test_a_bracket_too_many_is_said() -> None:
    with pytest.raises(BadInputError, match="closing bracket without an opening one"):
        checked("MATCH (a)) RETURN a", {}, 10)
