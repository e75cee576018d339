"""The report and exported views are self-contained and readable."""

from __future__ import annotations

import contextlib
import html.parser
import itertools
import json
import os
import pty
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from graphmem.errors import BadInputError
from graphmem.reports import exporting
from graphmem.reports.diagram import Box, Diagram, Line, as_json, dot, graphml, mermaid
from graphmem.reports.report import _environment
from graphmem.reports.svg import svg

AWKWARD = Diagram(
    'a "map" <of> it',
    [Box('x"1', 'say "hi" <b>&amp; [it]; {x}|`', "d\\", "h\x00int", 0.3, 0.5, 0.4), Box("y\\2", "ünï → #1", "", "", 0.7, 0.5, 1.0)],
    [Line('x"1', "y\\2", 3, 'because "so"', wrong=True), Line("y\\2", 'x"1', 1, "", possible=True)],
    2,
    1,
)


class _Page(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        given = dict(attrs)
        self.links += [value for name, value in attrs if name in ("href", "src", "srcset", "action", "xlink:href")]
        if "id" in given:
            self.ids.append(given["id"])
        if tag not in ("meta", "br", "link", "img", "input", "rect", "path"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        if tag not in ("rect", "path"):
            assert self.open.pop() == tag


def test_the_report_is_one_page_without_script_or_address(indexed):
    document = indexed.report()
    page = _Page()
    page.feed(document.text)
    assert page.open == []
    assert document.media_type == "text/html"
    assert not page.tags & {"script", "link", "img", "iframe", "object"}
    assert page.links
    assert all(link.startswith("#") for link in page.links)
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert "url(" not in document.text
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", document.text)
    for heading in ("Map of modules", "Hot spots", "Cycles", "Entry points and flows", "Probably dead code", "Duplicates"):
        assert heading in document.text


def test_the_report_of_one_index_is_always_the_same(indexed):
    assert indexed.report() == indexed.report()


@pytest.mark.parametrize("targets", [None, ["DiGraph.add_node"]])
def test_a_view_is_well_formed_in_every_language(indexed, targets):
    import networkx as nx

    view = "impact" if targets else "modules"
    texts = {name: indexed.export_view(view, name, targets).text for name in ("svg", "graphml", "dot", "mermaid", "json")}
    picture = ET.fromstring(texts["svg"])
    boxes = list(picture.iter("{http://www.w3.org/2000/svg}g"))
    read = nx.parse_graphml(texts["graphml"])
    drawn = json.loads(texts["json"])
    assert len(boxes) == len(read) == len(drawn["boxes"]) > 3
    assert read.number_of_edges() == len(drawn["lines"]) > 2
    assert texts["mermaid"].startswith("flowchart TD\n")
    assert texts["dot"].startswith("digraph ")
    width, height = (float(picture.get(side)) for side in ("width", "height"))
    for box in picture.iter("{http://www.w3.org/2000/svg}rect"):
        assert 0 <= float(box.get("x")) <= width
        assert 0 <= float(box.get("y")) <= height


def test_awkward_names_survive_every_language():
    import networkx as nx

    assert ET.fromstring(svg(AWKWARD)).findtext("{http://www.w3.org/2000/svg}title") == 'a "map" <of> it'
    read = nx.parse_graphml(graphml(AWKWARD))
    assert read.nodes['x"1']["title"] == 'say "hi" <b>&amp; [it]; {x}|`'
    assert read.edges['x"1', "y\\2"] == {"weight": 3, "wrong": True, "possible": False}
    assert '"x\\"1" -> "y\\\\2"' in dot(AWKWARD)
    text = mermaid(AWKWARD)
    assert '"hi"' not in text
    assert "say #34;hi#34; #60;b#62;#38;amp#59; #91;it#93;#59; #123;x#125;#124;#96;" in text


TOKEN = re.compile(
    r"""\s+|(?P<string>"(?:[^"\\]|\\.)*")|(?P<word>[A-Za-z_][A-Za-z_0-9]*|-?(?:\.\d+|\d+(?:\.\d*)?))|(?P<sign>->|[{}\[\];,=:])""", re.DOTALL
)


def read_dot(text):
    """(nodes, edges) of a digraph, by the grammar at graphviz.org/doc/info/lang.html; anything else in it is an error."""
    tokens, at = [], 0
    while at < len(text):
        found = TOKEN.match(text, at)
        assert found, f"no token of the language: {text[at : at + 40]!r}"
        at = found.end()
        if found.lastgroup:
            tokens.append(found.group())
    tokens.reverse()
    nodes, edges = set(), []

    def take(wanted=None):
        token = tokens.pop()
        assert wanted is None or token == wanted, f"{token!r} where {wanted!r} has to be"
        return token

    def name():
        token = take()
        assert token[0] == '"' or re.fullmatch(r"[\w.-]+", token), f"{token!r} is not a name"
        return token

    def attributes():
        while tokens[-1] == "[":
            take("[")
            while tokens[-1] != "]":
                name(), take("="), name()
                if tokens[-1] in ",;":
                    take()
            take("]")

    def statements():
        while tokens[-1] != "}":
            if tokens[-1] == "subgraph":
                take(), name(), take("{"), statements(), take("}")
            elif tokens[-1] in ("node", "edge", "graph"):
                take(), attributes()
            else:
                one = name()
                if tokens[-1] == "=":
                    take(), name()
                else:
                    ends = [one]
                    while tokens[-1] == "->":
                        take(), ends.append(name())
                    nodes.update(ends)
                    edges.extend(itertools.pairwise(ends))
                    attributes()
            if tokens[-1] == ";":
                take()

    take("digraph")
    if tokens[-1] != "{":
        name()
    take("{"), statements(), take("}")
    assert not tokens
    return nodes, edges


def test_dot_is_read_by_the_grammar_of_the_language(indexed):
    for text, drawn in (
        (dot(AWKWARD), as_json(AWKWARD)),
        (indexed.export_view("modules", "dot").text, indexed.export_view("modules", "json").text),
    ):
        nodes, edges = read_dot(text)
        assert len(nodes) == len(json.loads(drawn)["boxes"])
        assert len(edges) == len(json.loads(drawn)["lines"])


def test_a_report_goes_into_a_file_when_somebody_looks_and_to_a_pipe_when_not(served, tmp_path):
    """HTML on a terminal helps nobody."""
    _, _, folder = served
    command = [sys.executable, "-m", "graphmem", "report", "--db", str(folder)]
    ours, theirs = pty.openpty()
    done = subprocess.run(command, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE, text=True, check=True)
    os.close(theirs)
    (made,) = tmp_path.iterdir()
    assert made.suffix == ".html"
    assert made.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert made.name in done.stderr
    os.set_blocking(ours, False)
    with contextlib.suppress(OSError):
        assert b"<html" not in os.read(ours, 65_536)
    os.close(ours)
    piped = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert piped.stdout == made.read_text(encoding="utf-8")


def test_the_whole_graph_comes_back_from_graphml_as_it_was(project):
    import networkx as nx

    service = project(
        {
            "a.py": "import os\n\n\nclass A:\n    def f(self):\n        return os.getcwd()\n",
            "b.py": "from a import A\n\n\ndef g():\n    return A().f()\n",
        }
    )
    rows = list(service.export())
    nodes = [row for row in rows if "src" not in row]
    read = nx.parse_graphml("".join(exporting.graphml(rows)), force_multigraph=True)
    assert read.number_of_nodes() == len(nodes)
    assert read.number_of_edges() == len(rows) - len(nodes)
    assert read.nodes["a.py::A.f"]["symbol_kind"] == "method"
    assert read.nodes["a.py::A.f"]["start_line"] == 5
    kinds = [data["kind"] for _, _, data in read.out_edges("b.py::g", data=True)]
    assert "CALLS" in kinds
    whole = json.loads("".join(exporting.as_json(rows)))
    assert whole["nodes"] == nodes
    assert len(whole["edges"]) == len(rows) - len(nodes)
    assert "".join(exporting.dot(rows)).count(" -> ") == len(rows) - len(nodes)


def test_twins_of_one_name_are_two_nodes(project):
    import networkx as nx

    service = project({"t.py": "try:\n    def f():\n        return 1\nexcept ImportError:\n    def f():\n        return 2\n"})
    rows = list(service.export())
    read = nx.parse_graphml("".join(exporting.graphml(rows)), force_multigraph=True)
    assert read.number_of_nodes() == sum("src" not in row for row in rows)


def test_what_cannot_be_meant_is_refused(indexed):
    with pytest.raises(BadInputError, match="svg, mermaid"):
        indexed.export_view("modules", "png")
    with pytest.raises(BadInputError, match="needs targets"):
        indexed.export_view("impact")
    with pytest.raises(BadInputError, match="takes no targets"):
        indexed.export_view("modules", "svg", ["Graph"])


def test_the_report_escapes_every_text():
    made = _environment().from_string("<td>{{ name }}</td><td title='{{ name }}'>{{ names|join(', ') }}</td>")
    text = made.render(name="<b>'x\x1b[31m", names=["<i>", "\u202e"])
    assert text == r"<td>&lt;b&gt;&#39;x\x1b[31m</td><td title='&lt;b&gt;&#39;x\x1b[31m'>&lt;i&gt;, \u202e</td>"
