"""Entry points: programs that people start come first, examples last."""

from __future__ import annotations

import pytest

from graphmem.analysis.semantic.beside import is_beside

MAIN = "from shop import store\n\n\ndef main():\n    return store.total()\n\n\nif __name__ == '__main__':\n    main()\n"
SHOP = {
    "pyproject.toml": '[project]\nname = "shop"\n\n[project.scripts]\nshop = "shop.zz_cli:serve"\n',
    "docs/render.py": MAIN,
    "shop/__init__.py": "",
    "shop/emoji.py": "def show():\n    return 1\n\n\nif __name__ == '__main__':\n    print(1)\n",
    "shop/store.py": "def total():\n    return _sum()\n\n\ndef _sum():\n    return 1\n",
    "shop/worker.py": MAIN,
    "shop/commands.py": "import click\n\n\n@click.command()\ndef add():\n    return 1\n",
    "shop/zz_cli.py": "from shop import store\n\n\ndef serve():\n    return store.total()\n",
}


def test_the_declared_command_is_the_first_entry_point_and_a_script_of_the_docs_the_last(project):
    service = project(SHOP)
    kinds = ["command", "main"]
    found = [(one.kind, one.symbol.path) for one in service.entry_points(kinds).entry_points]
    assert found == [
        ("command", "shop/zz_cli.py"),
        ("command", "shop/commands.py"),  # a manifest's, or one that runs less
        ("main", "shop/worker.py"),  # runs more than the next
        ("main", "shop/emoji.py"),
        ("main", "docs/render.py"),
    ]
    assert [one.symbol.path for page in range(5) for one in service.entry_points(kinds, 1, page).entry_points] == [
        path for _, path in found
    ]


def test_functions_that_run_when_a_package_is_loaded_come_after_the_program_and_its_routes(project):
    calls = "".join(f"func step{i}() {{}}\n" for i in range(3))
    init = "package shop\n\nfunc init() {\n\tstep0()\n\tstep1()\n\tstep2()\n}\n" + calls
    main = "package main\n\nfunc main() {\n}\n"
    web = 'package shop\n\nimport "net/http"\n\nfunc serve() {\n\thttp.HandleFunc("/carts", carts)\n}\n\nfunc carts() {}\n'
    files = {"go.mod": "module example.org/shop\n", "shop.go": init, "web.go": web, "cmd/shop/main.go": main}
    service = project(files)
    names = [one.symbol.name for one in service.entry_points(["main"]).entry_points]
    assert names == ["main", "init"], "the code of a file only prepares its `main`"
    assert [one.symbol.name for one in service.entry_points().entry_points] == ["main", "carts", "init"]


def test_a_file_that_is_a_program_comes_before_routes(project):
    web = "from flask import Flask\n\napp = Flask(__name__)\n\n\n@app.route('/carts')\ndef carts():\n    return ''\n"
    service = project({"shop/__init__.py": "", "shop/web.py": web, "shop/__main__.py": "from shop.web import app\n\napp.run()\n"})
    assert [one.symbol.path for one in service.entry_points().entry_points][:2] == ["shop/__main__.py", "shop/web.py"]


def test_the_main_of_csharp_is_a_program(project):
    web = "class Carts { [HttpGet] public void Home() { } }"
    main = "class App { static void Main() { } }"
    service = project({"Carts.cs": web, "Shop.cs": main})
    assert [one.symbol.name for one in service.entry_points().entry_points][:2] == ["Main", "Home"]


def test_variants_of_a_program_come_after_the_other_programs(project):
    go = "package main\n\nfunc main() {\n}\n"
    service = project(
        {
            "package.json": '{"name": "shop", "bin": {"shop": "./src/cli.js", "shop-esm": "./src/cli-esm.js", "till": "./src/till.js"}}',
            **{f"src/{name}.ts": f"export const {name[:3]} = 1\n\nprint({name[:3]})\n" for name in ("cli", "cli-esm", "till", "client")},
            "go.mod": "module example.org/shop\n",
            "cmd/agent/agent.go": f"//go:build man\n\n{go}",
            "cmd/agent/main.go": go,
            "cmd/server/main.go": go,
            "cart/testing/broken/main.go": go,
        }
    )
    commands = [one.symbol.path for one in service.entry_points(["command"]).entry_points]
    assert commands == ["src/cli.ts", "src/till.ts", "src/cli-esm.ts"]
    programs = [one.symbol.path for one in service.entry_points(["main"]).entry_points if one.symbol.name == "main"]
    assert programs == ["cmd/agent/main.go", "cmd/server/main.go", "cmd/agent/agent.go", "cart/testing/broken/main.go"]


def test_the_program_that_uses_most_of_the_project_comes_first_though_it_finds_its_commands_without_a_call(project):
    part = "package {0}\n\ntype Command struct{{ Name string }}\n\nfunc (c Command) Run() {{}}\n"
    head = 'package main\n\nimport (\n\t"example.org/shop/{0}"\n\t"example.org/shop/{1}"\n)\n\n'
    service = project(
        {
            "go.mod": "module example.org/shop\n",
            "cart/cart.go": part.format("cart"),
            "till/till.go": part.format("till"),
            "cmd/probe/main.go": "package main\n\nfunc step() { more() }\n\nfunc more() {}\n\nfunc main() {\n\tstep()\n}\n",
            "cmd/shop/main.go": head.format("cart", "till")
            + "var commands = []any{cart.Command{}, till.Command{}}\n\nfunc main() {\n\tparse(commands)\n}\n\nfunc parse(some []any) {}\n",
        }
    )
    first, second, *_ = service.entry_points(["main"]).entry_points
    assert [(one.symbol.path, one.symbol.name) for one in (first, second)] == [("cmd/shop/main.go", "main"), ("cmd/probe/main.go", "main")]


def test_the_flow_of_an_exported_class_begins_at_a_public_method_of_the_declared_api(project):
    source = (
        "import {{ round }} from './{0}'\n\nexport class {1} {{\n  sum() {{ return round(1) }}\n"
        "  private hidden() {{ return round(2) }}\n}}\n"
    )
    service = project(
        {
            "package.json": '{"name": "shop", "main": "./index.js"}',
            "src/index.ts": "export * from './cart'\n",
            "src/cart.ts": source.format("round", "Cart"),
            "src/alone.ts": source.format("round", "Alone"),
            "src/round.ts": "export function round(one: number) { return floor(one) }\n\n"
            "function floor(one: number) { return Math.floor(one) }\n",
        }
    )
    found = service.flows().flows
    assert [(one.entry.qualname, one.kind, [step.dst.qualname for step in one.steps]) for one in found] == [
        ("Cart.sum", "export", ["round", "floor"]),
    ]
    assert [one.split(":")[1] for one in found[0].variants] == ["Alone.sum"]


def test_flows_of_the_product_come_before_those_of_scripts(project):
    other = MAIN.replace("import store", "import store as s").replace("store.total", "s.total")
    flows = project({**SHOP, "docs/render.py": other + "\n\ndef more():\n    return main()\n\n\nmore()\n"}).flows(["main", "command"]).flows
    assert [one.entry.path for one in flows][-1] == "docs/render.py"


@pytest.mark.parametrize(
    ("path", "beside"),
    [
        ("docs/conf.py", True),
        ("dev/generate/main.py", True),
        ("web/examples/app.ts", True),
        ("web/gen/options_js.py", True),
        (".github/run.py", True),
        ("src/api.generated.ts", True),
        ("shop/tools/main.py", False),
        ("src/core/build/prod.ts", False),
        ("docs.py", False),
        ("cmd/tool/main.go", False),
        ("src/main/java/org/springframework/samples/shop/Cart.java", False),
        ("samples/shop/src/main/java/org/shop/Cart.java", True),
        ("src/main/java/org/shop/generated/Cart.java", True),
        ("mvnw", True),
        ("db/migrate/20260101_create_carts.rb", True),
        ("quickstart/src/main/resources/archetype-resources/src/main/java/Pipe.java", True),
        ("src/main/java/org/shop/resources/Texts.java", False),
    ],
)
def test_folders_and_names_tell_what_is_beside_the_product(path, beside):
    assert is_beside(path) is beside


def test_a_controller_is_listed_by_its_routes_with_their_whole_paths(project):
    java = (
        '@RequestMapping("/pets")\nclass Pets {\n  @GetMapping("/{id}")\n  String one(String id) { return id; }\n\n'
        '  @PostMapping({ "/new" })\n  void add() {}\n}\n'
    )
    found = project({"src/main/java/org/shop/Pets.java": java}).entry_points(["route"]).entry_points
    assert [(one.symbol.qualname, [name.name for name in one.names]) for one in found] == [
        ("Pets.one", ["/pets/{id}"]),
        ("Pets.add", ["/pets/new"]),
    ]


def test_of_programs_that_use_nearly_the_same_files_the_one_that_runs_more_comes_first(project):
    start = "\n\nif __name__ == '__main__':\n    main()\n"
    files = {
        "shop/__init__.py": "",
        "shop/cart.py": "from shop import price\n\n\ndef add():\n    return price.one()\n",
        "shop/price.py": "from shop import cart\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return cart.add()\n",
        "shop/clear.py": "from shop import cart, price, words\n\n\ndef main():\n    return 0" + start,
        "shop/run.py": "from shop import cart, price\n\n\ndef main():\n    return cart.add() + price.two()" + start,
        "shop/words.py": "TEXT = 'shop'\n",
    }
    found = [one.symbol.path for one in project(files).entry_points(kinds=["main"]).entry_points]
    assert found[:2] == ["shop/run.py", "shop/clear.py"]
