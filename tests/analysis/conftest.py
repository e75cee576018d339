"""Small graphs written as text: the answer can be seen beside the question."""

from __future__ import annotations

from typing import get_type_hints

import pyarrow as pa
import pytest

from graphmem.model import EdgeRow, ExternalRow, FileRow, SymbolRow, UnresolvedRow, external_id, file_id, symbol_id
from graphmem.projection.graph.view import GraphView
from graphmem.store.base import GraphTables

PROJECT = "p"


def table(rows, kind):
    columns = {name: [getattr(row, name) for row in rows] for name in kind._fields}
    hints = {str: pa.string(), int: pa.int64(), bool: pa.bool_(), float: pa.float64()}
    kinds = get_type_hints(kind)
    schema = pa.schema([(name, hints[kinds[name]]) for name in kind._fields])
    return pa.table(columns, schema=schema)


class Builder:
    """`symbol("a.py", "f")`, `edge("a.py:f", "b.py:g", 0.9)`; then `view()`."""

    def __init__(self):
        self.files, self.symbols, self.externals, self.edges, self.unresolved = {}, {}, {}, [], []

    def symbol(self, path, qualname, kind="function", lines=(1, 2), **extra):
        if path not in self.files:
            self.files[path] = FileRow(
                file_id(PROJECT, path),
                path,
                "python",
                path.removesuffix(".py").replace("/", "."),
                "0",
                1,
                9,
                path.startswith("test"),
                0,
                "",
                0,
            )
        ordinal = extra.get("ordinal", 0)
        key = symbol_id(PROJECT, path, qualname, kind, ordinal)
        fields = {"parent_id": "", "entry_point": "", "modifiers": "", "is_test": path.startswith("test"), **extra}
        self.symbols[f"{path}:{qualname}" + (f"#{ordinal}" if ordinal else "")] = SymbolRow(
            key, path, kind, qualname.rpartition(".")[2], qualname, fields["parent_id"], "", "", *lines, 0, 9, lines[0], 4, "h",
            fields["modifiers"], fields["entry_point"], 1, fields["is_test"],
        )  # fmt: skip
        return key

    def written_in(self, path, language, errors=0):
        """A file of a language, in which the parser left so many errors."""
        self.symbol(path, "<module>", "module")
        self.files[path] = self.files[path]._replace(language=language, error_count=errors)

    def id(self, ref):
        if ref in self.symbols:
            return self.symbols[ref].id
        if ref in self.externals:
            return self.externals[ref].id
        if ref in self.files:
            return self.files[ref].id
        path, _, qualname = ref.rpartition(":")
        return self.symbol(path, qualname)

    def edge(self, src, dst, confidence=1.0, kind="CALLS", rule="lexical", lines="3", source="ast"):
        first = int(lines.split(",")[0]) if lines else 0
        self.edges.append(EdgeRow(kind, self.id(src), self.id(dst), confidence, source, rule, first, lines))
        return self

    def external(self, package, name):
        self.externals[f"{package}.{name}"] = ExternalRow(external_id(PROJECT, package, name), package, name)

    def missed(self, caller, name, line, reason="no_receiver_type"):
        path = caller.rpartition(":")[0]
        self.unresolved.append(UnresolvedRow(f"{len(self.unresolved):020x}", path, self.id(caller), name, line, reason))

    def view(self, generation=1):
        return GraphView.from_tables(
            GraphTables(
                generation,
                table(sorted(self.files.values()), FileRow),
                table(sorted(self.symbols.values()), SymbolRow),
                table(sorted(self.externals.values()), ExternalRow),
                table(sorted(self.edges), EdgeRow),
                table(sorted(self.unresolved), UnresolvedRow),
            )
        )


@pytest.fixture
def graph():
    return Builder()
