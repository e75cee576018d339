"""Indexes in the shapes that scip-java, scip-go, rust-analyzer, scip-clang, scip-ruby and scip-dotnet write.

Each is made here from the symbol grammar that its tool documents, with what is particular to it: constructors that are spelled
as their class, counters and hashes of overloads, `impl` blocks, relationships, enclosing ranges and how columns are counted.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from graphmem.evidence.scip_format import UTF8, UTF16, message_class

WIDTH = {UTF8: ("utf-8", 1), UTF16: ("utf-16-le", 2)}


class Shape(NamedTuple):
    """One tool's index of a few files."""

    tool: str
    encoding: int
    scheme: str  # what its symbols begin with
    files: dict[str, str]
    defined: dict[str, str]  # "path:line:name[:last line]" -> symbol
    used: dict[str, str]  # "path:line:name" -> symbol
    implements: dict[str, str]  # symbol -> symbol
    expected: set[tuple[str, str, str]]


JAVA = Shape(
    "scip-java",
    0,
    "semanticdb maven maven/com.example/shop 1.0 shop/",
    {
        "shop/Cart.java": (
            "package shop;\n\npublic class Cart implements Total {\n  private final int é = 1;\n\n  public Cart() { this(2); }\n\n"
            "  public Cart(int start) { add(start); }\n\n  @Override\n  public int total() { return add(1); }\n\n"
            "  int add(int n) { return n; }\n\n  int add(String n) { return 0; }\n}\n"
        ),
        "shop/Total.java": "package shop;\n\npublic interface Total {\n  int total();\n}\n",
        "shop/Main.java": (
            "package shop;\n\npublic class Main {\n  static int run(Total total) {\n"
            '    String é = "é"; Cart cart = new Cart(3); return total.total() + cart.add("x");\n  }\n}\n'
        ),
    },
    {
        "shop/Cart.java:3:Cart:17": "Cart#",
        "shop/Cart.java:6:Cart": "Cart#`<init>`().",
        "shop/Cart.java:8:Cart": "Cart#`<init>`(+1).",
        "shop/Cart.java:11:total": "Cart#total().",
        "shop/Cart.java:13:add": "Cart#add().",
        "shop/Cart.java:15:add": "Cart#add(+1).",
        "shop/Total.java:3:Total": "Total#",
        "shop/Total.java:4:total": "Total#total().",
        "shop/Main.java:3:Main": "Main#",
        "shop/Main.java:4:run": "Main#run().",
        "shop/Main.java:4:total": "Main#run().(total)",
    },
    {
        "shop/Cart.java:3:Total": "Total#",
        "shop/Cart.java:11:add": "Cart#add().",
        "shop/Main.java:5:Cart:1": "Cart#`<init>`(+1).",
        "shop/Main.java:5:total": "Main#run().(total)",
        "shop/Main.java:5:total:1": "Total#total().",
        "shop/Main.java:5:add": "Cart#add(+1).",
    },
    {"Cart#": "Total#", "Cart#total().": "Total#total()."},
    {
        ("CALLS", "Cart.total", "Cart.add@13"),
        ("CALLS", "Main.run", "Cart.Cart@8"),
        ("CALLS", "Main.run", "Cart@3"),
        ("CALLS", "Main.run", "Total.total@4"),
        ("CALLS", "Main.run", "Cart.add@15"),
        ("OVERRIDES", "Cart.total", "Total.total@4"),
        ("INHERITS", "Cart", "Total@3"),
    },
)
GO = Shape(
    "scip-go",
    UTF8,
    "scip-go gomod example.com/shop v1 ",
    {
        "go.mod": "module example.com/shop\n\ngo 1.22\n",
        "cart/cart.go": (
            "package cart\n\ntype Totaller interface {\n\tTotal() int\n}\n\ntype Cart struct{ n int }\n\n"
            "func New() *Cart { return &Cart{} }\n\nfunc (c *Cart) Total() int { return c.n }\n"
        ),
        "main.go": (
            'package main\n\nimport "example.com/shop/cart"\n'
            '\nfunc sum(t cart.Totaller) int {\n\tname := "é"; _ = name; return t.Total()\n}\n'
            "\nfunc main() {\n\tsum(cart.New())\n}\n"
        ),
    },
    {
        "cart/cart.go:3:Totaller": "`example.com/shop/cart`/Totaller#",
        "cart/cart.go:4:Total": "`example.com/shop/cart`/Totaller#Total.",
        "cart/cart.go:7:Cart": "`example.com/shop/cart`/Cart#",
        "cart/cart.go:9:New": "`example.com/shop/cart`/New().",
        "cart/cart.go:11:Total": "`example.com/shop/cart`/Cart#Total().",
        "main.go:5:sum": "`example.com/shop`/sum().",
        "main.go:9:main": "`example.com/shop`/main().",
    },
    {
        "main.go:6:Total": "`example.com/shop/cart`/Totaller#Total.",
        "main.go:10:sum": "`example.com/shop`/sum().",
        "main.go:10:cart": "`example.com/shop/cart`/",
        "main.go:10:New": "`example.com/shop/cart`/New().",
    },
    {"`example.com/shop/cart`/Cart#Total().": "`example.com/shop/cart`/Totaller#Total."},
    {
        ("CALLS", "sum", "Totaller.Total@4"),
        ("CALLS", "main", "sum@5"),
        ("CALLS", "main", "New@9"),
        ("OVERRIDES", "Cart.Total", "Totaller.Total@4"),
    },
)
RUST = Shape(
    "rust-analyzer",
    UTF8,
    "rust-analyzer cargo shop 0.1.0 ",
    {
        "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/lib.rs": (
            "pub trait Total {\n    fn total(&self) -> i32;\n}\n\npub struct Cart {\n    n: i32,\n}\n\nimpl Cart {\n"
            "    pub fn new() -> Self {\n        Cart { n: 1 }\n    }\n}\n\nimpl Total for Cart {\n    fn total(&self) -> i32 {\n"
            '        let _é = "é"; double(self.n)\n    }\n}\n\nfn double(n: i32) -> i32 {\n    n * 2\n}\n\n'
            "pub fn run() -> i32 {\n    Cart::new().total()\n}\n"
        ),
    },
    {
        "src/lib.rs:1:Total": "Total#",
        "src/lib.rs:2:total": "Total#total().",
        "src/lib.rs:5:Cart": "Cart#",
        "src/lib.rs:6:n": "Cart#n.",
        "src/lib.rs:10:new": "impl#[Cart]new().",
        "src/lib.rs:16:total": "impl#[Cart][Total]total().",
        "src/lib.rs:21:double": "double().",
        "src/lib.rs:25:run": "run().",
    },
    {
        "src/lib.rs:17:double": "double().",
        "src/lib.rs:26:Cart": "Cart#",
        "src/lib.rs:26:new": "impl#[Cart]new().",
        "src/lib.rs:26:total": "impl#[Cart][Total]total().",
    },
    {"impl#[Cart][Total]total().": "Total#total()."},
    {
        ("CALLS", "Cart.total", "double@21"),
        ("CALLS", "run", "Cart.new@10"),
        ("CALLS", "run", "Cart.total@16"),
        ("OVERRIDES", "Cart.total", "Total.total@2"),
    },
)
CLANG = Shape(
    "scip-clang",
    UTF8,
    "cxx . . $ ",
    {
        "cart.h": (
            "#pragma once\n\nnamespace shop {\n\nclass Cart {\n public:\n  Cart(int n);\n  int Total() const;\n"
            "  int Total(int more) const;\n"
            "\n private:\n  int n_;\n};\n\n}  // namespace shop\n"
        ),
        "cart.cc": (
            '#include "cart.h"\n\nnamespace shop {\n\nCart::Cart(int n) : n_(n) {}\n\nint Cart::Total() const { return Total(1); }\n\n'
            "int Cart::Total(int more) const { return n_ + more; }\n\n}  // namespace shop\n"
        ),
        "main.cc": (
            '#include "cart.h"\n\nint Run() {\n  /* é */ shop::Cart cart(3); return cart.Total();\n}\n\nint main() { return Run(); }\n'
        ),
    },
    {
        "cart.h:5:Cart": "shop/Cart#",
        "cart.h:12:n_": "shop/Cart#n_.",
        "cart.cc:5:Cart:5:1": "shop/Cart#Cart(d4f767463ce0a6b3).",
        "cart.cc:7:Total": "shop/Cart#Total(34fa6c8d6ac3b1b5).",
        "cart.cc:9:Total": "shop/Cart#Total(70c2b8ee3dd9b3f4).",
        "main.cc:3:Run": "Run(49f6e7a06ebc5aa8).",
        "main.cc:7:main": "main(b126dc7c1de90089).",
    },
    {
        "cart.h:7:Cart": "shop/Cart#Cart(d4f767463ce0a6b3).",
        "cart.h:8:Total": "shop/Cart#Total(34fa6c8d6ac3b1b5).",
        "cart.h:9:Total": "shop/Cart#Total(70c2b8ee3dd9b3f4).",
        "cart.cc:7:Total:1": "shop/Cart#Total(70c2b8ee3dd9b3f4).",
        "main.cc:4:Total": "shop/Cart#Total(34fa6c8d6ac3b1b5).",
        "main.cc:7:Run": "Run(49f6e7a06ebc5aa8).",
    },
    {},
    {
        ("CALLS", "Cart.Total", "Cart.Total@9"),
        ("CALLS", "Run", "Cart.Total@7"),
        ("CALLS", "main", "Run@3"),
    },
)
RUBY = Shape(
    "scip-ruby",
    UTF8,
    "scip-ruby gem shop 1.0 ",
    {
        "cart.rb": (
            "class Cart\n  attr_accessor :label\n\n  def initialize(n)\n    @n = n\n  end\n\n  def total\n    doubled\n  end\n\n"
            "  def doubled\n    @n * 2\n  end\n\n  def self.make\n    new(1)\n  end\nend\n"
        ),
        "main.rb": 'require_relative "cart"\n\ndef run\n  cart = Cart.make; "é"; cart.total\nend\n',
    },
    {
        "cart.rb:1:Cart": "Cart#",
        "cart.rb:2:label": "Cart#`label=`().",
        "cart.rb:4:initialize": "Cart#initialize().",
        "cart.rb:5:@n": "Cart#`@n`.",
        "cart.rb:8:total": "Cart#total().",
        "cart.rb:12:doubled": "Cart#doubled().",
        "cart.rb:16:make": "`<Class:Cart>`#make().",
        "main.rb:3:run": "Object#run().",
    },
    {
        "cart.rb:9:doubled": "Cart#doubled().",
        "main.rb:4:Cart": "Cart#",
        "main.rb:4:make": "`<Class:Cart>`#make().",
        "main.rb:4:total": "Cart#total().",
    },
    {},
    {("CALLS", "run", "Cart.make@16"), ("CALLS", "run", "Cart.total@8"), ("CALLS", "Cart.total", "Cart.doubled@12")},
)
DOTNET = Shape(
    "scip-dotnet",
    0,
    "scip-dotnet nuget . . ",
    {
        "Cart.cs": (
            "namespace Shop\n{\n    public interface ITotal { int Total(); }\n\n    public class Cart : ITotal\n    {\n"
            "        public Cart(int n) { N = n; }\n\n        public int N { get; set; }\n\n        public int Total() { return Add(1); }\n"
            "\n        public int Add(int n) { return N + n; }\n\n        public int Add(string n) { return 0; }\n    }\n}\n"
        ),
        "Main.cs": (
            "namespace Shop\n{\n    public static class Start\n    {\n"
            '        public static int Run(ITotal total) { var é = 1; var cart = new Cart(3); return total.Total() + cart.Add("x"); }\n'
            "    }\n}\n"
        ),
    },
    {
        "Cart.cs:3:ITotal": "Shop/ITotal#",
        "Cart.cs:3:Total": "Shop/ITotal#Total().",
        "Cart.cs:5:Cart": "Shop/Cart#",
        "Cart.cs:7:Cart": "Shop/Cart#`.ctor`().",
        "Cart.cs:9:N": "Shop/Cart#N.",
        "Cart.cs:11:Total": "Shop/Cart#Total().",
        "Cart.cs:13:Add": "Shop/Cart#Add().",
        "Cart.cs:15:Add": "Shop/Cart#Add(+1).",
        "Main.cs:3:Start": "Shop/Start#",
        "Main.cs:5:Run": "Shop/Start#Run().",
    },
    {
        "Cart.cs:5:ITotal": "Shop/ITotal#",
        "Cart.cs:11:Add": "Shop/Cart#Add().",
        "Main.cs:5:Cart": "Shop/Cart#`.ctor`().",
        "Main.cs:5:Total": "Shop/ITotal#Total().",
        "Main.cs:5:Add": "Shop/Cart#Add(+1).",
    },
    {"Shop/Cart#Total().": "Shop/ITotal#Total().", "Shop/Cart#": "Shop/ITotal#"},
    {
        ("CALLS", "Cart.Total", "Cart.Add@13"),
        ("CALLS", "Start.Run", "Cart.Cart@7"),
        ("CALLS", "Start.Run", "Cart@5"),
        ("CALLS", "Start.Run", "ITotal.Total@3"),
        ("CALLS", "Start.Run", "Cart.Add@15"),
        ("OVERRIDES", "Cart.Total", "ITotal.Total@3"),
        ("INHERITS", "Cart", "ITotal@3"),
    },
)
SHAPES = (JAVA, GO, RUST, CLANG, RUBY, DOTNET)


def occurrence(shape: Shape, place: str, symbol: str, role: int) -> tuple[str, dict[str, object]]:
    path, line, name, *more = place.split(":")
    row = shape.files[path].split("\n")[int(line) - 1]
    nth = int(more[-1]) if more and (role == 0 or len(more) == 2) else 0
    at = -1
    for _ in range(nth + 1):
        at = next(i for i in range(at + 1, len(row)) if row.startswith(name, i) and not _inside_a_word(row, i, i + len(name)))
    codec, width = WIDTH[shape.encoding or UTF16]
    start, end = (len(row[:i].encode(codec)) // width for i in (at, at + len(name)))
    found: dict[str, object] = {"range": [int(line) - 1, start, end], "symbol": shape.scheme + symbol, "symbol_roles": role}
    if role and more:
        found["enclosing_range"] = [int(line) - 1, 0, int(more[0]) - 1, 1]
    return path, found


def _inside_a_word(row: str, start: int, end: int) -> bool:
    before, after = row[start - 1 : start], row[end : end + 1]
    return before.isalnum() or before == "_" or after.isalnum() or after == "_"


def index(shape: Shape) -> bytes:
    documents: dict[str, dict[str, list[object]]] = {}
    rows = [occurrence(shape, place, symbol, 1) for place, symbol in shape.defined.items()]
    rows += [occurrence(shape, place, symbol, 0) for place, symbol in shape.used.items()]
    for path, found in rows:
        documents.setdefault(path, {"occurrences": [], "symbols": []})["occurrences"].append(found)
    for own, base in shape.implements.items():
        path = next(place for place, symbol in shape.defined.items() if symbol == own).partition(":")[0]
        relationship = {"symbol": shape.scheme + base, "is_implementation": True}
        documents[path]["symbols"].append({"symbol": shape.scheme + own, "relationships": [relationship]})
    return message_class("Index")(
        metadata={"tool_info": {"name": shape.tool, "version": "1.2.3"}, "project_root": "file:///builds/shop"},
        documents=[{"relative_path": path, "position_encoding": shape.encoding, **found} for path, found in documents.items()],
    ).SerializeToString()


@pytest.fixture(params=SHAPES, ids=lambda shape: shape.tool)
def taken(request, tmp_path, open_memory, take):
    """A shape, its tree, an index with it, and the summary of the run."""
    shape, root = request.param, tmp_path / "tree"
    for path, text in shape.files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    file = tmp_path / "index.scip"
    file.write_bytes(index(shape))
    memory = open_memory()
    return shape, root, memory, take(memory, root, scip_files=[str(file)])


def told(memory):
    """{(kind, caller, target@line)} of the edges that the indexer told."""
    return {
        (row["kind"], row["src"]["qualname"], f"{row['dst']['qualname']}@{row['dst']['line']}")
        for row in memory.export()
        if row.get("source") == "scip" and row["kind"] != "REFERENCES"
    }


def test_no_file_is_refused_and_every_call_and_relationship_arrives(taken):
    shape, _, memory, summary = taken
    assert not [one for one in summary.diagnostics if one.code == "evidence"]
    assert shape.expected <= told(memory), "what the tool says"
    wrong = {edge for edge in told(memory) - shape.expected if edge[0] == "CALLS"}
    assert not wrong


def test_lines_that_move_take_their_edges_along(taken):
    shape, root, memory, _ = taken
    before = {edge[:2] for edge in told(memory)}
    path = root / next(iter(shape.defined)).partition(":")[0]
    path.write_text("\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    memory.index()
    assert {edge[:2] for edge in told(memory)} == before
