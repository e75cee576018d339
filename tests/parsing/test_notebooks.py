"""A notebook is read as the code and the documentation of its cells, at the lines of its file."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from graphmem.parsing.contents import language_of
from graphmem.parsing.discovery import discover
from graphmem.parsing.ignore import DiscoveryOptions
from graphmem.parsing.languages.ipython import without_commands
from graphmem.parsing.sources import source_of
from graphmem.parsing.worker import parse_file

PYTHON = {"kernelspec": {"name": "python3", "language": "python"}, "language_info": {"name": "python"}}


def cell(kind: str, text: str, **more: object) -> dict[str, object]:
    return {"cell_type": kind, "metadata": {}, **more, "source": text.splitlines(keepends=True)}


def notebook(*cells: dict[str, object], metadata: object = None, indent: int | None = 1) -> str:
    return json.dumps(
        {"cells": cells, "metadata": PYTHON if metadata is None else metadata, "nbformat": 4, "nbformat_minor": 5}, indent=indent
    )


def code_of(text: str, path: str = "a.ipynb") -> list[str]:
    return source_of(path, text.encode(), "python").text.decode().split("\n")


def parsed(folder: Path, text: str, name: str = "a.ipynb"):
    (folder / name).write_text(text)
    (file,) = discover(folder).files
    return parse_file(file, "p")


PLAIN = notebook(
    cell("markdown", "# Sales\n\nHow carts become *orders*.\n"),
    cell(
        "code",
        'import shop\n\ndef total(cart):\n    """Sum of a cart."""\n    return shop.add("é \\"x\\" \\\\n", cart)\n',
        outputs=[{"text": ["1\n", "2\n"]}],
    ),
    cell("code", "order = total([1])\norder"),
)


def test_each_line_of_code_stands_at_its_line_of_the_file():
    code = code_of(PLAIN)
    for number, line in enumerate(PLAIN.split("\n")):
        if line.strip().startswith('"') and "def total" in line:
            assert code[number] == "def total(cart):"
        if "order = total" in line:
            assert code[number : number + 2] == ["order = total([1])", "order"]
    assert '    return shop.add("é \\"x\\" \\\\n", cart)' in code


def test_outputs_are_not_part_of_the_code():
    marked = notebook(cell("code", "x = 1\n", outputs=[{"data": {"text/plain": ["def hidden(): pass"], "image/png": "iVBOR" * 100}}]))
    assert "hidden" not in "".join(code_of(marked))
    assert "iVBOR" not in "".join(code_of(marked))


def test_the_lines_of_a_notebook_are_those_of_its_code(tmp_path):
    table = {"data": {"text/html": ["<td>1</td>\n"] * 500}, "output_type": "display_data"}
    found = parsed(
        tmp_path, notebook(cell("code", "x = 1\ny = 2\n", outputs=[table]), cell("markdown", "# Sales"), cell("code", "f(x, y)"))
    )
    assert found.facts.lines == 3


def test_definitions_calls_and_documentation_of_a_notebook_are_found(tmp_path):
    found = parsed(tmp_path, PLAIN)
    (total,) = [one for one in found.facts.definitions if one.qualname == "total"]
    assert "def total" in PLAIN.split("\n")[total.start_line - 1]
    assert total.doc == "Sum of a cart."
    assert found.facts.diagnostics == ()
    (prose,) = [one for one in found.chunks if one.kind == "prose"]
    assert (prose.title, "How carts become *orders*." in prose.text) == ("Sales", True)
    assert "# Sales" in PLAIN.split("\n")[prose.start_line - 1]


def test_code_outside_definitions_is_named_by_its_cells(tmp_path):
    long = "\n".join(f"value_{number} = compute({number})" for number in range(60))
    titles = [one.title for one in parsed(tmp_path, notebook(cell("markdown", "x"), cell("code", long))).chunks if one.kind == "code"]
    assert set(titles) == {"a.ipynb cell 2"}


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (["%matplotlib inline", "x = 1"], ["", "x = 1"]),
        (["!pip install \\", "  shop", "x = 1"], ["", "", "x = 1"]),
        (["%time f(1)", "if x:", "    %timeit -n 10 g()"], ["f(1)", "if x:", "    g()"]),
        (["%%bash", "f(1)"], ["", ""]),
        (["", "%%time", "f(1)"], ["", "", "f(1)"]),
        (["files = !ls", "f?", "?f", "f??"], ["files = []", "", "", ""]),
        (["x = (a", "%b)", "y = '''", "!no", "'''"], ["x = (a", "%b)", "y = '''", "!no", "'''"]),
        (["!echo it's (", "x = 1"], ["", "x = 1"]),
        (["x = a \\", "%b", "y = x \\", "!= z", "%cd d"], ["x = a \\", "%b", "y = x \\", "!= z", ""]),
        (["# a path \\", "%cd d", "files = !ls \\", "  x", "%cd d"], ["# a path \\", "", "files = []", "", ""]),
        (["x != y", "a % b", "# 'quote", "%cd x"], ["x != y", "a % b", "# 'quote", ""]),
    ],
)
def test_commands_of_the_kernel_are_not_code(lines, code):
    assert without_commands(lines) == code


def test_a_notebook_of_version_3_is_read():
    old = {
        "metadata": {"name": ""},
        "nbformat": 3,
        "worksheets": [
            {
                "cells": [
                    {"cell_type": "heading", "level": 2, "source": ["Sales"]},
                    {"cell_type": "code", "input": ["f(1)\n"], "outputs": []},
                ]
            }
        ],
    }
    text = json.dumps(old, indent=1)
    source = source_of("a.ipynb", text.encode(), language_of("a.ipynb", text.encode()))
    assert source.text.decode().split("\n")[-2:] == ["f(1)", ""]
    assert source.documentation.decode().strip() == "## Sales"


def test_code_on_one_line_of_the_file_gets_lines_of_its_own_and_a_note():
    source = source_of("a.ipynb", notebook(cell("code", "a = 1\nb = 2\n"), cell("code", "c = 3"), indent=None).encode(), "python")
    assert source.text.decode() == "a = 1\nb = 2\nc = 3\n"
    assert [one[:2] for one in source.notes] == [("note", "notebook")]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ('{\n "cells": [\n<<<<<<< HEAD\n', 3, "the notebook is not valid JSON (expecting '{')"),
        ("", 1, "the notebook is not valid JSON"),
        ('{"a": 1}', 1, "the notebook has no list of cells"),
    ],
)
def test_an_unreadable_notebook_is_named_with_the_reason(tmp_path, text, line, reason):
    ((severity, code, message, at),) = parsed(tmp_path, text).facts.diagnostics
    assert (severity, code, at) == ("error", "notebook", line)
    assert message.startswith(reason)
    assert "save it again" in message


@pytest.mark.parametrize(
    ("metadata", "language"),
    [
        (PYTHON, "python"),
        ({}, "python"),
        ({"kernelspec": {"name": "conda-env-shop-py", "display_name": "shop"}}, "python"),
        ({"kernelspec": {"name": "ir", "language": "R"}}, "text"),
        ({"kernelspec": {"name": "julia-1.9"}}, "text"),
        ({"language_info": {"name": "C++17"}}, "cpp"),
        ({"kernelspec": {"name": "deno", "language": "typescript"}}, "typescript"),
    ],
)
def test_a_notebook_has_the_language_of_its_kernel(metadata, language):
    assert language_of("a.ipynb", notebook(metadata=metadata).encode()) == language


def test_a_notebook_in_a_language_without_a_grammar_is_searched_as_text_and_says_so(tmp_path):
    found = parsed(
        tmp_path, notebook(cell("markdown", "# Sales"), cell("code", "fit <- lm(y ~ x)"), metadata={"kernelspec": {"language": "R"}})
    )
    assert [(one.kind, "lm(y" in one.text) for one in found.chunks] == [("prose", False), ("code", True)]
    assert any("no grammar for R" in message for _, _, message, _ in found.facts.diagnostics)


def test_outputs_count_neither_for_the_size_limit_nor_as_work(tmp_path):
    source = "\n".join(f"def f{number}(x):\n    return g(x, {number})\n" for number in range(300))
    image = {"data": {"image/png": "A" * (20 << 20)}, "output_type": "display_data"}
    small, large = notebook(cell("code", source, outputs=[])), notebook(cell("code", source, outputs=[image]))
    seconds = []
    for name, text in (("small", small), ("large", large)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.ipynb").write_text(text)
        before = time.process_time()
        (file,) = discover(tmp_path / name).files
        found = parse_file(file, "p")
        seconds.append(time.process_time() - before)
        assert sum(one.kind == "function" for one in found.facts.definitions) == 300
    assert seconds[1] < 3 * seconds[0] + 0.5


def test_a_notebook_with_too_much_code_is_left_out_by_the_size_of_its_code(tmp_path):
    (tmp_path / "a.ipynb").write_text(notebook(cell("code", "x = 1\n" * 400)))
    (tmp_path / "b.py").write_text("x = 1\n")
    found = discover(tmp_path, DiscoveryOptions(max_file_bytes=1000))
    assert [one.path for one in found.files] == ["b.py"]
    assert [(one.path, one.code, "2,400 bytes" in one.message) for one in found.diagnostics] == [("a.ipynb", "too_large", True)]


def test_a_number_of_any_length_in_an_output_costs_no_code():
    text = notebook(cell("heading", "Sales", level=2), cell("code", "a = 1", outputs=[{"data": {"application/json": 1}}]))
    long = text.replace('"application/json": 1', f'"application/json": {"7" * 5000}')
    assert len(long) > len(text)
    read = source_of("a.ipynb", long.encode(), "python")
    assert (read.text, read.notes) == (source_of("a.ipynb", text.encode(), "python").text, ())
    assert b"## Sales" in read.documentation


@pytest.mark.parametrize("line", [f"{' ' * 60_000}x", f"x?{' ' * 60_000}y"])
def test_a_long_line_of_blanks_is_read_in_time_that_grows_with_its_length(line):
    before = time.process_time()
    assert without_commands([line]) == [line]
    assert time.process_time() - before < 0.5
