"""Queries are files: each compiles on a fresh database, says what it takes and gives, and keeps clear of what breaks the engines."""

from __future__ import annotations

import itertools
import re

import pyarrow as pa
import pytest

from graphmem.errors import MigrationError, QueryFileError, SchemaTooNewError
from graphmem.store import open_store
from graphmem.store.file.migrate import load_migrations, migrate, pending, read_migrations, split_statements
from graphmem.store.tables.catalog import blank_opaque, load_catalog, parse_queries, read_catalog
from graphmem.store.tables.tables import ALL_PAIRS, CODE_PAIRS, EmbeddingTable, NodeTable, TextColumn
from graphmem.store.writes.knowledge_edges import OUTWARD
from graphmem.store.writes.knowledge_rows import MEMORIES, SESSIONS

CATALOG = load_catalog()
TIMES = {"last_seen_at", "seen_at", "last_commit_at", "moment"}
NUMBERS = {
    "size_bytes",
    "lines",
    "error_count",
    "call_sites",
    "start_line",
    "end_line",
    "start_byte",
    "end_byte",
    "name_line",
    "name_column",
}
NUMBERS |= {"complexity", "line", "weight", "position", "sessions", "commits", "max_rows", "from_line", "by", "size", "first", "beyond"}
FLOATS = {"confidence", "share", "min_confidence"}
COLUMNS = {
    **{
        name: pa.string()
        for name in ("id", "path", "language", "module", "content_hash", "diagnostic", "kind", "name", "qualname", "parent_id")
    },
    **{
        name: pa.string()
        for name in ("signature", "doc", "body_hash", "modifiers", "entry_point", "package", "title", "symbol_id", "text_hash")
    },
    **{name: pa.string() for name in ("caller_id", "reason", "src", "dst", "source", "rule", "offsets", "wanted", "chunk_id", "target_id")},
    **{name: pa.string() for name in ("of_role", "of_kind", "value", "framework")},
    **{name: kind for shape in (MEMORIES, SESSIONS) for name, kind in shape.types.items()},
    **{name: kind for shape in OUTWARD for name, kind in shape.columns.items()},
    **dict.fromkeys(NUMBERS, pa.int64()),
    **dict.fromkeys(FLOATS, pa.float64()),
    **dict.fromkeys(TIMES, pa.timestamp("us")),
    "is_test": pa.bool_(),
    "stale_at": pa.timestamp("us"),
    "text": pa.binary(),
    "places": pa.binary(),
    "vec": pa.list_(pa.float32(), 4),
}
# Where not every label or pair makes sense, those that the code gives.
LABELS = {
    "target_state": (NodeTable.FILE, NodeTable.EXTERNAL, NodeTable.MODULE),
    "target_states": (NodeTable.FILE, NodeTable.EXTERNAL, NodeTable.MODULE),
    "set_text": (NodeTable.SYMBOL, NodeTable.MEMORY),
    "set_texts": (NodeTable.MEMORY, NodeTable.SESSION),
    "text_hashes": (NodeTable.MEMORY, NodeTable.CHUNK),
    "revive": (NodeTable.FILE, NodeTable.SYMBOL, NodeTable.EXTERNAL),
    "mark_stale": (NodeTable.FILE, NodeTable.SYMBOL, NodeTable.EXTERNAL),
    "create_about": (NodeTable.FILE, NodeTable.SYMBOL, NodeTable.EXTERNAL, NodeTable.MODULE),
    "create_abouts": (NodeTable.FILE, NodeTable.SYMBOL, NodeTable.EXTERNAL, NodeTable.MODULE),
    "delete_about": (NodeTable.FILE, NodeTable.SYMBOL, NodeTable.EXTERNAL, NodeTable.MODULE),
    "delete_abouts": (NodeTable.FILE, NodeTable.SYMBOL, NodeTable.EXTERNAL, NodeTable.MODULE),
    "create_seen_in": (NodeTable.SESSION, NodeTable.FILE, NodeTable.SYMBOL),
    "create_owns": (NodeTable.FILE, NodeTable.MODULE),
}
IDED = tuple(label for label in NodeTable if label is not NodeTable.META)
CODE_EDGES = {"create_edge", "create_edges", "update_edge", "all_edges"}


def fillings(query):
    """Every way the code may fill a query."""
    choices = {}
    for fill in query.fills:
        if fill.type == "NodeTable" and fill.name not in ("from", "to"):
            choices[fill.name] = LABELS.get(query.name, IDED)
        elif fill.type == "EmbeddingTable":
            choices[fill.name] = (EmbeddingTable(4),)
        elif fill.type == "TextColumn":
            choices[fill.name] = (TextColumn.SOURCE,) if query.name == "set_texts" else (TextColumn.KIND,)
        elif not fill.type:
            choices[fill.name] = (4,) if fill.name == "dim" else (fill.low, fill.high)
    names = {fill.name for fill in query.fills}
    code = query.name in CODE_EDGES
    pairs = (CODE_PAIRS if code else ALL_PAIRS) if "edge" in names else (None,)
    if "to" in names and "edge" not in names:
        choices["to"] = LABELS[query.name]
    for values in itertools.product(*choices.values()):
        for pair in pairs:
            ends = {} if pair is None else {name: value for name, value in zip(("edge", "from", "to"), pair, strict=True) if name in names}
            filled = {**dict(zip(choices, values, strict=True)), **ends}
            if "column" in filled and "label" in filled:
                filled["column"] = TextColumn.KIND if filled["label"] in (NodeTable.SYMBOL, NodeTable.SESSION) else TextColumn.SOURCE
            yield filled


def example(name, query):
    """A value of the type a parameter has."""
    if name == "rows":
        words = set(re.findall(r"[a-z_]+", blank_opaque(query.text)))
        keys = ("id", "wanted")  # which must not be null
        return pa.table({name: pa.array(["a" if name in keys else None], kind) for name, kind in COLUMNS.items() if name in words})
    if name in ("ids", "paths", "names", "tags", "memory_ids", "symbol_ids"):
        return ["a"]
    if name == "vec":
        return [1.0, 2.0, 3.0, 4.0]
    kind = COLUMNS.get(name, pa.timestamp("us") if name.endswith("_at") else pa.string())
    if pa.types.is_timestamp(kind):
        return None
    if pa.types.is_list(kind):
        return ["a"]
    return {pa.int64(): 1, pa.float64(): 0.5, pa.bool_(): True}.get(kind, "a")


@pytest.mark.parametrize("name", sorted(set(CATALOG)))
def test_every_query_compiles_and_gives_what_it_declares(shared_store, name):
    query = CATALOG[name]
    if "COPY" in query.text:
        pytest.skip("it has no plan; every first load runs it")
    for fills in fillings(query):
        text, params = query.bind({**fills, **{param: example(param, query) for param in query.params}})
        with shared_store._passage() as connection:
            connection.rows("BEGIN TRANSACTION")
            try:
                found = connection.rows(text, params)
            finally:
                connection.roll_back()
        declared = [column for column in query.returns if column.name != "*"]
        if declared:
            types = [re.sub(r"\[\d+\]", "[]", kind) for kind in found.types]  # the dimension of a vector is its table's
            assert [(column.name, column.type) for column in declared] == list(zip(found.columns, types, strict=True)), fills


@pytest.fixture(scope="module")
def shared_store(engine, tmp_path_factory):
    store = open_store(tmp_path_factory.mktemp("queries") / "graph.db", engine=engine, max_db_bytes=1 << 30)
    store._connection.rows("CREATE NODE TABLE Embedding_4(id STRING PRIMARY KEY, model STRING, text_hash STRING, vec FLOAT[4])")
    yield store
    store.close()


@pytest.mark.parametrize("name", sorted(set(CATALOG)))
def test_no_query_does_what_breaks_an_engine(name):
    query = CATALOG[name]
    code = " ".join(blank_opaque(query.text).split())
    assert not re.search(r"\bDETACH\b", code), "leaves edges behind on kuzu"
    assert not re.search(r"_INDEX\b|\bLOAD EXTENSION\b|\bINSTALL\b|\bATTACH\b", code), "engine indexes lose rows, extensions are code"
    assert not re.search(r"\bIN \$", code) or name in FEW_ONLY, "a list of 500 takes seconds; join with Arrow rows"
    assert not re.search(r"UNWIND .*\b(CREATE|MERGE|SET|DELETE)\b", code), "fifty times slower than LOAD FROM"
    if "COPY" in code:
        assert query.where.startswith("cypher/load.cypher"), "empties a table when its transaction rolls back"
    if "MERGE" in code and "LOAD FROM" in code:
        assert "ON MATCH" not in code, "a key twice in a batch writes a null"


@pytest.mark.parametrize("name", sorted(set(CATALOG)))
def test_no_query_reads_or_writes_a_file_of_the_machine(name):
    code = " ".join(blank_opaque(CATALOG[name].text).split())
    assert all(source.startswith("$") for source in re.findall(r"\b(?:LOAD|COPY\b[^$]*?) FROM (\S+)", code)), (
        "rows come as Arrow, never from a path"
    )
    assert not re.search(r"\bCOPY\b.*\bTO\b|\bEXPORT\b|\bIMPORT\b|\bUSE\b", code), "a read-only database would do these, too"


FEW_ONLY = {name for name in CATALOG if CATALOG[name].where.startswith("cypher/of_files.cypher") or name == "edges_of_files"}


def test_every_node_table_has_a_key_of_text():
    for migration in load_migrations():
        for statement in migration.statements:
            if statement.startswith("CREATE NODE TABLE"):
                assert re.search(r"\b(id|name) STRING PRIMARY KEY", statement), statement


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("MATCH (n) RETURN n", "the query file begins with a line outside any query"),
        ("// name: Bad()\n// Doc.\nMATCH (n) RETURN n", "write `// name"),
        ("// name: a(x)\n// Doc.\nMATCH (n) DELETE n", "declares the parameter x and does not use it"),
        ("// name: a()\n// Doc.\nMATCH (n {id: $x}) DELETE n", "uses the parameter x and does not declare it"),
        ("// name: a()\n// Doc.\nMATCH (n:@label) DELETE n", "uses the fill label and does not declare it"),
        ("// name: a()\n// Doc.\n// fill: @label Anything\nMATCH (n:@label) DELETE n", "write `@name"),
        ("// name: a()\nMATCH (n) DELETE n", "no comment"),
        ("// name: a()\n// Doc.\n", "no statement"),
        ("// name: a()\n// Doc.\nMATCH (n) DELETE n; MATCH (m) DELETE m", "another statement"),
        ("// name: a(timeout_s)\n// Doc.\nMATCH (n {id: $timeout_s}) DELETE n", "declares the reserved name timeout_s"),
        ("// name: a(x, x)\n// Doc.\nMATCH (n {id: $x}) DELETE n", "declares a parameter or fill twice"),
        ("// name: a()\n// Doc.\nMATCH (n) RETURN n", "add a line `// returns:"),
        ("// name: a()\n// Doc.\n// returns: id STRING\nMATCH (n) DELETE n", "remove the line `// returns:`"),
        ("// name: a()\n// Doc.\n// returns: id TEXT NOT NULL\nMATCH (n) RETURN n", "write `name TYPE"),
    ],
)
def test_a_file_that_does_not_follow_the_format_is_refused_with_its_line(text, words):
    with pytest.raises(QueryFileError, match=re.escape(words)) as caught:
        parse_queries(text, "some.cypher")
    assert caught.value.line >= 1


def test_what_stands_in_strings_and_comments_is_not_a_query():
    (query,) = parse_queries('// name: a(x)\n// Doc.\nMATCH (n {id: $x}) /* $y; */ SET n.t = "; $z" // $v', "some.cypher")
    assert query.params == ("x",)


def test_two_queries_of_a_name_are_refused(tmp_path):
    folder = tmp_path / "cypher"
    folder.mkdir()
    for file in ("a.cypher", "b.cypher"):
        (folder / file).write_text("// name: a()\n// Doc.\nMATCH (n) DELETE n\n")
    with pytest.raises(QueryFileError, match=r"already defined in cypher/a\.cypher:1"):
        read_catalog(folder)


def test_migrations_are_numbered_without_gaps(tmp_path):
    (tmp_path / "0001-one.cypher").write_text("CREATE NODE TABLE A(id STRING PRIMARY KEY);")
    (tmp_path / "0003-three.cypher").write_text("CREATE NODE TABLE B(id STRING PRIMARY KEY);")
    with pytest.raises(QueryFileError, match="must have the number 0002"):
        read_migrations(tmp_path)
    assert split_statements("A '; //' ; // B;\n  C\n   D") == ("A '; //'", "C D")


def test_a_changed_migration_and_a_newer_database_are_refused_and_a_new_file_runs_once(store):
    known = load_migrations()
    connection, path = store._connection, store._file
    changed = (known[0]._replace(sha256="other"), *known[1:])
    with pytest.raises(MigrationError, match=r"0001-.*was changed"):
        pending(connection, path, changed)
    with pytest.raises(SchemaTooNewError):
        pending(connection, path, known[:-1])
    more = known[-1]._replace(
        version=f"{len(known) + 1:04}", name="more", sha256="x", statements=("CREATE NODE TABLE More(id STRING PRIMARY KEY)",)
    )
    assert migrate(connection, store._catalog, path, (*known, more)) == [more.version]
    assert migrate(connection, store._catalog, path, (*known, more)) == []


def test_a_migration_that_fails_leaves_nothing(store):
    known = load_migrations()
    broken = known[-1]._replace(
        version=f"{len(known) + 1:04}", sha256="x", statements=("CREATE NODE TABLE More(id STRING PRIMARY KEY)", "NO CYPHER")
    )
    with pytest.raises(Exception, match="refused a statement"):
        migrate(store._connection, store._catalog, store._file, (*known, broken))
    assert "More" not in {row[0] for row in store._connection.rows("CALL show_tables() RETURN name").rows}
    assert [migration.version for migration in pending(store._connection, store._file, (*known, broken))] == [broken.version]
