"""Random code graphs that are edited at random: the one generator of all tests that need a graph without a repository."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from graphmem.model import (
    ChunkRow,
    EdgeRow,
    EdgeSource,
    ExternalRow,
    FileRow,
    GraphDelta,
    OccurrencesRow,
    PackedChunkRow,
    SymbolKind,
    SymbolRow,
    UnresolvedRow,
    chunk_id,
    external_id,
    file_id,
    stable_id,
    symbol_id,
)
from graphmem.runtime.texts.compression import deflated
from graphmem.store.base import GraphTables

PROJECT = "p"
TO_SYMBOLS = ("CALLS", "REFERENCES", "USES_TYPE", "INHERITS", "OVERRIDES", "TESTS")
RULES = ("local", "import", "self_method", "unique_name")
MANY_RULES = [f"rule_{number}" for number in range(12)]
KINDS = [str(kind) for kind in SymbolKind if kind != SymbolKind.MODULE]
WORDS = ["load", "Parser", "größe", "get_value", "HTTPServer2", "run", "__init__", "x", "данные", "cache"]
ARROW = {"bytes": pa.binary(), "str": pa.string(), "int": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}


def table(row_type: type, rows: list) -> pa.Table:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(row_type._fields)
    kinds = [kind.__forward_arg__ for kind in row_type.__annotations__.values()]
    return pa.table({name: pa.array(column, ARROW[kind]) for name, kind, column in zip(row_type._fields, kinds, columns, strict=True)})


def packed_table(chunks: Iterable[ChunkRow]) -> pa.Table:
    """Chunks by id as the store gives them to the word index."""
    rows = [PackedChunkRow(*row[:7], deflated(row.prefix, row.text, row.start_line, row.end_line), row.text_hash) for row in sorted(chunks)]
    return table(PackedChunkRow, rows)


class World:
    """A code graph as dictionaries, and the deltas between its states.

    Args:
        seed: determines the graph and all its edits.
        files: number of files.
        varied: draw kinds, names, parents, modifiers and edges without sites at random; otherwise all symbols are alike.
    """

    def __init__(self, seed: int = 1, files: int = 4, *, varied: bool = False) -> None:
        self.random = random.Random(seed)
        self.varied = varied
        self.generation = 1
        self.files: dict[str, FileRow] = {}
        self.symbols: dict[str, SymbolRow] = {}
        self.externals: dict[str, ExternalRow] = {}
        self.chunks: dict[str, ChunkRow] = {}
        self.edges: dict[tuple[str, str, str], EdgeRow] = {}
        self.unresolved: dict[str, UnresolvedRow] = {}
        self.counter = 0
        for _ in range(files):
            self.add_file()

    # ---- states

    def state(self) -> tuple[dict[Any, Any], ...]:
        return tuple(
            dict(part) for part in (self.files, self.symbols, self.externals, self.chunks, self.edges, self.unresolved, self.occurrences)
        )

    @property
    def occurrences(self) -> dict[str, OccurrencesRow]:
        """Every second file has some, which change with its content."""
        rows = (OccurrencesRow(row.id, row.path, bytes.fromhex(row.content_hash) * 9) for row in self.files.values() if row.lines % 2 == 0)
        return {row.id: row for row in rows}

    def full(self) -> GraphDelta:
        empty: tuple[dict[Any, Any], ...] = ({}, {}, {}, {}, {}, {}, {})
        return self.since(empty)

    def since(self, old: tuple[dict[Any, Any], ...]) -> GraphDelta:
        removed, added = [], []
        for at, (before, after) in enumerate(zip(old, self.state(), strict=True)):
            changed = {key for key in before.keys() & after.keys() if before[key] != after[key]}
            removed.append(sorted(before.keys() - after.keys() | (changed if at == 4 else set())))
            added.append([after[key] for key in sorted(after) if before.get(key) != after[key]])
        return GraphDelta(*removed[:6], *added[:6], removed_occurrences=removed[6], occurrences=added[6])

    def edit(self, times: int = 1) -> GraphDelta:
        """Change something, and say what."""
        old = self.state()
        for _ in range(times):
            self.random.choice(
                (
                    self.add_file,
                    self.remove_file,
                    self.rewrite_file,
                    self.move_lines,
                    self.move_lines,
                    self.rewrite_symbol,
                    self.remove_symbol,
                    self.add_edges,
                    self.remove_edges,
                    self.change_evidence,
                    self.change_chunk,
                    self.change_unresolved,
                )
            )()
        return self.since(old)

    def loose_edit(self) -> GraphDelta:
        """Change something, and say it with rows that did not change and without edges that the removal of a node implies."""
        delta = self.edit(self.random.randrange(1, 5))
        self.generation += 1
        added = []
        for part, rows in zip((self.files, self.symbols, self.externals, self.chunks, {}, self.unresolved), delta[6:12], strict=True):
            named = {row.id for row in rows} if part else set()
            more = [row for key, row in part.items() if key not in named and self.random.random() < 0.05]
            added.append(self.random.sample(rows + more, len(rows) + len(more)))
        edges = delta.removed_edges
        if self.random.random() < 0.5:
            alive = {*self.files, *self.symbols, *self.externals}
            edges = [key for key in edges if key[1] in alive and key[2] in alive]
        return delta._replace(removed_edges=edges, **dict(zip(GraphDelta._fields[6:12], added, strict=True)))

    # ---- the forms in which a store gives it

    def tables(self) -> GraphTables:
        by_id = [
            table(kind, sorted(rows.values()))
            for kind, rows in ((FileRow, self.files), (SymbolRow, self.symbols), (ExternalRow, self.externals))
        ]
        edges, sites = sorted(self.edges.values()), sorted(self.unresolved.values())
        return GraphTables(self.generation, *by_id, table(EdgeRow, edges), table(UnresolvedRow, sites))

    def chunk_table(self) -> pa.Table:
        return packed_table(self.chunks.values())

    # ---- changes

    def rewrite_file(self) -> None:
        """Replace a file by another one at the same path."""
        if len(self.files) > 1:
            self.add_file(path=self.remove_file())

    def add_file(self, symbols: int | None = None, path: str = "") -> str:
        self.counter += 1
        random = self.random
        path = path or f"src/é{self.counter}.py"
        number = symbols if symbols is not None else random.randint(1, 12)
        self.files[file_id(PROJECT, path)] = FileRow(
            file_id(PROJECT, path), path, "python", f"src.m{self.counter}", stable_id(path, str(random.random())), 100, 10, False, 0, "", 7
        )
        module = symbol_id(PROJECT, path, "<module>", "module", 0)
        self._symbol(SymbolRow(module, path, "module", "m", "<module>", "", "", "", 1, 90, 0, 900, 1, 0, "h", "", "", 0, False))
        self._edge("DEFINES", file_id(PROJECT, path), module, 1)
        for index in range(number):
            name = f"f{index}"
            one = symbol_id(PROJECT, path, name, "function", 0)
            start = 5 + index * 10
            doc = f'It\'s {name}; "quoted" // no comment \x00 🦉\n' * (index % 3)
            self._symbol(
                SymbolRow(
                    one,
                    path,
                    "function",
                    name,
                    name,
                    module,
                    f"def {name}()",
                    doc,
                    start,
                    start + 8,
                    0,
                    9,
                    start,
                    4,
                    stable_id(one),
                    "",
                    "",
                    1,
                    False,
                )
            )
            self._edge("DEFINES", module, one, start)
            text = f"def {name}(): pass  # {random.random()}\n" * 3
            chunk = chunk_id(PROJECT, path, name, 0)
            self.chunks[chunk] = ChunkRow(
                chunk, path, one if index % 4 else "", "code", name, start, start + 8, f"File: {path}", text, stable_id("text", text)
            )
            if index % 3 == 0:
                site = stable_id("unresolved", one)
                self.unresolved[site] = UnresolvedRow(site, path, one, "get", start + 2, random.choice(("dynamic", "no_receiver_type")))
        if self.varied:
            self._vary(path)
        self.add_edges(number * 2)
        return path

    def _vary(self, path: str) -> None:
        """Give the symbols of a new file other names, kinds, parents and marks, and the file some prose."""
        random, known = self.random, {}
        inside = [row for row in self.symbols.values() if row.path == path and row.kind != "module"]
        for number, row in enumerate(inside):
            name, kind = random.choice(WORDS), random.choice(KINDS)
            qualname = name if number % 2 else f"Outer.{name}"
            one = symbol_id(PROJECT, path, qualname, kind, number)
            self.symbols[one] = row._replace(
                id=one,
                kind=kind,
                name=name,
                qualname=qualname,
                parent_id=random.choice(["", row.parent_id, *known.values()]),
                modifiers=random.choice(["", "async", "async static"]),
                entry_point=random.choice(["", "", "main"]),
                is_test=random.random() < 0.2,
            )
            known[row.id] = one
        self._rename(known)
        for key, row in [(key, row) for key, row in self.chunks.items() if row.path == path]:
            text = f"def {random.choice(WORDS)}():\n    return {random.choice(WORDS)}_{random.randrange(5)}"
            self.chunks[key] = row._replace(text=text, text_hash=stable_id(path, text))
        for number in range(random.randrange(3)):
            one, text = stable_id("prose", path, str(number)), " ".join(random.choices(WORDS, k=4))
            row = ChunkRow(one, path, "", "prose", f"Heading {number}", number, number, f"File: {path}", text, stable_id(path, text))
            self.chunks[one] = row

    def remove_file(self) -> str:
        if len(self.files) < 2:
            return ""
        row = self.files.pop(self.random.choice(sorted(self.files)))
        gone = {row.id} | {one for one, symbol in self.symbols.items() if symbol.path == row.path}
        for one in sorted(gone - {row.id}):
            del self.symbols[one]
        self._forget(gone)
        self.chunks = {key: chunk for key, chunk in self.chunks.items() if chunk.path != row.path}
        self.unresolved = {key: site for key, site in self.unresolved.items() if site.path != row.path}
        return row.path

    def move_lines(self) -> None:
        row = self.files[self.random.choice(sorted(self.files))]
        start, by = self.random.choice((0, 0, 20, 40)), self.random.choice((1, 3, -1))
        self.files[row.id] = row._replace(content_hash=stable_id(row.content_hash, "moved"), lines=row.lines + by)
        moved = set()
        for one, symbol in self.symbols.items():
            if symbol.path == row.path and symbol.start_line > start:
                moved.add(one)
                self.symbols[one] = symbol._replace(
                    start_line=symbol.start_line + by,
                    end_line=symbol.end_line + by,
                    name_line=symbol.name_line + by,
                    start_byte=symbol.start_byte + 9,
                )
        for key, edge in self.edges.items():
            owner = self.symbols.get(edge.src)
            if edge.line > start and owner is not None and owner.path == row.path:
                lines = ",".join(str(int(line) + by) for line in edge.lines.split(","))
                self.edges[key] = edge._replace(line=edge.line + by, lines=lines)
        for key, chunk in self.chunks.items():
            if chunk.path == row.path and chunk.start_line > start:
                self.chunks[key] = chunk._replace(start_line=chunk.start_line + by, end_line=chunk.end_line + by)

    def rewrite_symbol(self) -> None:
        row = self.symbols[self.random.choice(sorted(self.symbols))]
        self.symbols[row.id] = row._replace(
            doc=row.doc + "more",
            body_hash=stable_id(row.body_hash),
            complexity=row.complexity + 1,
            end_line=row.end_line + 2,
            signature="def g()",
        )

    def remove_symbol(self) -> None:
        candidates = sorted(one for one, symbol in self.symbols.items() if symbol.kind != "module")
        if candidates:
            one = self.random.choice(candidates)
            del self.symbols[one]
            self._forget({one})
            self.symbols = {key: row._replace(parent_id="") if row.parent_id == one else row for key, row in self.symbols.items()}
            self.chunks = {key: chunk for key, chunk in self.chunks.items() if chunk.symbol_id != one}
            self.unresolved = {key: site for key, site in self.unresolved.items() if site.caller_id != one}

    def rename_symbol(self, one: str) -> list[tuple[str, str]]:
        """Another name for a symbol, same body; gives back what moved where."""
        self.counter += 1
        row = self.symbols[one]
        name = f"renamed{self.counter}"
        new = symbol_id(PROJECT, row.path, name, row.kind, 0)
        self.symbols[new] = row._replace(id=new, name=name, qualname=name)
        return self._rename({one: new})

    def move_file(self, one: str) -> list[tuple[str, str]]:
        """Another path for a file and everything in it; gives back what moved where."""
        self.counter += 1
        row = self.files[one]
        path = f"moved/é{self.counter}.py"
        names = {one: file_id(PROJECT, path)}
        self.files[names[one]] = row._replace(id=names[one], path=path)
        for symbol in [symbol for symbol in self.symbols.values() if symbol.path == row.path]:
            names[symbol.id] = symbol_id(PROJECT, path, symbol.qualname, symbol.kind, 0)
            self.symbols[names[symbol.id]] = symbol._replace(id=names[symbol.id], path=path)
        for symbol in [self.symbols[new] for new in names.values() if new in self.symbols]:
            self.symbols[symbol.id] = symbol._replace(parent_id=names.get(symbol.parent_id, ""))
        for key, chunk in [(key, chunk) for key, chunk in self.chunks.items() if chunk.path == row.path]:
            del self.chunks[key]
            new = chunk_id(PROJECT, path, chunk.title, 0)
            self.chunks[new] = chunk._replace(id=new, path=path)
        for key, site in self.unresolved.items():
            if site.path == row.path:
                self.unresolved[key] = site._replace(path=path)
        return self._rename(names)

    def _rename(self, names: dict[str, str]) -> list[tuple[str, str]]:
        for part in (self.files, self.symbols):
            for old in names:
                part.pop(old, None)  # type: ignore[attr-defined]
        edges = [edge._replace(src=names.get(edge.src, edge.src), dst=names.get(edge.dst, edge.dst)) for edge in self.edges.values()]
        self.edges = {edge[:3]: edge for edge in edges}
        self.chunks = {key: row._replace(symbol_id=names.get(row.symbol_id, row.symbol_id)) for key, row in self.chunks.items()}
        self.unresolved = {key: row._replace(caller_id=names.get(row.caller_id, row.caller_id)) for key, row in self.unresolved.items()}
        for key, row in self.symbols.items():
            self.symbols[key] = row._replace(parent_id=names.get(row.parent_id, row.parent_id))
        return sorted(names.items())

    def add_edges(self, count: int = 3) -> None:
        for _ in range(count):
            kind = self.random.choice((*TO_SYMBOLS, "CALLS", "IMPORTS"))
            src = self.random.choice(sorted(self.files if kind == "IMPORTS" else self.symbols))
            if kind != "TESTS" and self.random.random() < 0.3:
                name = f"os.path{self.random.randint(1, 9)}"
                dst = external_id(PROJECT, "os", name)
                self.externals[dst] = ExternalRow(dst, "os", name)
            else:
                dst = self.random.choice(sorted(self.files if kind == "IMPORTS" else self.symbols))
            self._edge(kind, src, dst, self.random.randint(1, 80))
        self._drop_unused()

    def remove_edges(self) -> None:
        loose = [key for key in self.edges if key[0] != "DEFINES"]
        for key in self.random.sample(loose, min(len(loose), 3)):
            del self.edges[key]
        self._drop_unused()

    def change_evidence(self) -> None:
        for key in self.random.sample(sorted(self.edges), min(len(self.edges), 4)):
            edge = self.edges[key]
            lines = sorted({edge.line, edge.line + self.random.randint(0, 5), edge.line + 7})
            self.edges[key] = edge._replace(
                confidence=self.random.choice((0.35, 0.9, 1.0)), rule=self.random.choice(RULES), lines=",".join(map(str, lines))
            )

    def change_chunk(self) -> None:
        if self.chunks:
            row = self.chunks[self.random.choice(sorted(self.chunks))]
            self.chunks[row.id] = row._replace(text=row.text + "…", text_hash=stable_id(row.text_hash))

    def change_unresolved(self) -> None:
        if self.unresolved:
            row = self.unresolved[self.random.choice(sorted(self.unresolved))]
            self.unresolved[row.id] = row._replace(line=row.line + 1, reason="dynamic")

    def _symbol(self, row: SymbolRow) -> None:
        self.symbols[row.id] = row

    def _edge(self, kind: str, src: str, dst: str, line: int) -> None:
        lines = sorted({line, line + self.random.choice((0, 0, 4))})
        source, rules = "ast", RULES
        if self.varied:
            source, rules = str(self.random.choice(list(EdgeSource))), MANY_RULES
            if self.random.random() < 0.1:
                line, lines = 0, []
        row = EdgeRow(kind, src, dst, self.random.choice((1.0, 0.8)), source, self.random.choice(rules), line, ",".join(map(str, lines)))
        self.edges.setdefault(row[:3], row)

    def _forget(self, gone: set[str]) -> None:
        self.edges = {key: edge for key, edge in self.edges.items() if edge.src not in gone and edge.dst not in gone}
        self._drop_unused()

    def _drop_unused(self) -> None:
        used = {edge.dst for edge in self.edges.values()}
        self.externals = {one: row for one, row in self.externals.items() if one in used}
