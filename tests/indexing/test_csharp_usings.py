"""A using of a whole C# project, wherever it is written, decides what every file of the project names, also after an edit."""

from __future__ import annotations

import json

import pytest

CHAIN = "namespace {name};\npublic class Chain {{ public int Length() {{ return 1; }} }}\n"
CALLER = "namespace Web.Pages;\nclass Page {{ int Size({type} chain) {{ return chain.Length(); }} }}\n"
TREE = {
    "Tools/Chain.cs": CHAIN.format(name="Shop.Tools"),
    "Other/Chain.cs": CHAIN.format(name="Elsewhere"),
    "Web/Web.csproj": '<Project Sdk="Microsoft.NET.Sdk"></Project>\n',
    "Web/GlobalUsings.cs": "global using Shop.Tools;\n",
    "Web/Pages/Page.cs": CALLER.format(type="Chain"),
}
USING = '<Project Sdk="Microsoft.NET.Sdk"><ItemGroup><Using Include="{}" /></ItemGroup></Project>\n'
EDITS = [
    ({"Web/GlobalUsings.cs": "global using Elsewhere;\n"}, "Other/Chain.cs"),
    ({"Web/GlobalUsings.cs": "using Elsewhere;\n"}, None),
    ({"Web/Startup.cs": "global using Elsewhere;\n"}, "Other/Chain.cs"),
    ({"Web/Startup.cs": None}, None),
    ({"Web/Web.csproj": USING.format("Shop.Tools")}, "Tools/Chain.cs"),
    ({"Web/Web.csproj": USING.format("Elsewhere")}, "Other/Chain.cs"),
    ({"Web/Pages/Pages.csproj": TREE["Web/Web.csproj"]}, None),
    ({"Web/Pages/GlobalUsings.cs": "global using Link = Shop.Tools.Chain;\n"}, None),
    ({"Web/Pages/Page.cs": CALLER.format(type="Link")}, "Tools/Chain.cs"),
    ({"Web/Pages/GlobalUsings.cs": "global using Link = Elsewhere.Chain;\n"}, "Other/Chain.cs"),
]


@pytest.fixture
def write(tmp_path):
    def written(files):
        for path, text in files.items():
            place = tmp_path / "tree" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                place.unlink()
            else:
                place.write_text(text, encoding="utf-8")
        return tmp_path / "tree"

    return written


def called_by_page(memory):
    rows = [row for row in memory.export() if row["kind"] == "CALLS" and row["src"]["path"] == "Web/Pages/Page.cs" and row["dst"]["path"]]
    rows = [row for row in rows if row["confidence"] >= 0.9]
    return rows[0]["dst"]["path"] if rows else None


def test_every_edit_of_the_usings_of_a_project_gives_the_graph_of_a_fresh_index(write, open_memory):
    memory = open_memory()
    memory.index(write(TREE))
    assert called_by_page(memory) == "Tools/Chain.cs"
    for number, (edit, target) in enumerate(EDITS):
        memory.index(write(edit))
        fresh = open_memory(f"fresh{number}")
        fresh.index(write({}))
        assert called_by_page(memory) == target, edit
        assert [json.dumps(row) for row in memory.export()] == [json.dumps(row) for row in fresh.export()], edit
