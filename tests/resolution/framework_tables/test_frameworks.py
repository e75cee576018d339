"""Frameworks: tables, entry points, and edges that follow edits."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphmem.errors import GrammarError
from graphmem.model import ENTRY_RULES
from graphmem.parsing.contracts.ends import ends_of
from graphmem.parsing.extract import extract
from graphmem.parsing.language import language_of_path, languages
from graphmem.resolution.framework_tables.frameworks import Frameworks, frameworks_of
from graphmem.resolution.interfaces.layout import Script, read_layout
from graphmem.resolution.resolver import Resolver
from graphmem.resolution.rules import RULES
from graphmem.runtime.data.resources import data_root

FIXTURES = ["handed_over", "requests", "signals", "wrappers"]


def rows_of(resolver, paths):
    return {path: resolver.resolve(path) for path in sorted(paths)}


def entry_points(resolve, files):
    return {f"{row.path}:{row.qualname}": row.entry_point for row in resolve(files).symbols.values() if row.entry_point}


@pytest.mark.parametrize("name", FIXTURES)
def test_after_any_line_goes_and_comes_back_the_edges_are_those_of_a_fresh_start(name, annotated_files):
    texts = annotated_files(Path(__file__).parents[1] / "python" / f"{name}.txt")
    facts = {path: extract(path, text.encode(), "python", "") for path, text in texts.items()}
    kept = Resolver("p")
    current = rows_of(kept, kept.update(facts, ()))
    for path, text in texts.items():
        lines = text.splitlines(keepends=True)
        for number in range(len(lines)):
            shorter = extract(path, "".join(lines[:number] + lines[number + 1 :]).encode(), "python", "")
            current |= rows_of(kept, kept.update({path: shorter}, ()))
            fresh = Resolver("p")
            assert current == rows_of(fresh, fresh.update(facts | {path: shorter}, ())), f"{path} without line {number + 1}"
            current |= rows_of(kept, kept.update({path: facts[path]}, ()))
    fresh = Resolver("p")
    assert current == rows_of(fresh, fresh.update(facts, ()))


def test_every_language_names_tables_that_are_there_and_rules_that_exist():
    folders = {spec.frameworks for spec in languages().values()} - {""}
    assert folders == {path.parent.name for path in Path(str(data_root() / "grammars")).glob("*/frameworks.toml")}
    for folder in folders:
        assert {row.rule for row in frameworks_of(folder).hands_over} <= {*ENTRY_RULES, "module"}
    assert set(ENTRY_RULES) <= set(RULES)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"hand_over": []}, "unknown tables hand_over"),
        ({"hands_over": [{"rule": "route", "function": [1]}]}, "unknown keys function"),
        ({"hands_over": [{"rule": "rout", "functions": [1]}]}, "unknown resolution rule 'rout'"),
    ],
)
def test_a_table_that_is_not_right_says_what_is_wrong(raw, said):
    with pytest.raises(GrammarError, match=said):
        Frameworks(raw, "grammars/x/frameworks.toml")


def test_what_a_framework_calls_is_an_entry_point_of_its_kind(graph_of, annotated_files):
    view = graph_of(annotated_files(Path(__file__).parents[1] / "python" / "handed_over.txt"))
    kinds = {info.ref: info.entry_point for info in view.infos(range(view.n))}
    assert kinds["shop/views.py:index"] == kinds["shop/views.py:Basket.get"] == "route"
    assert (kinds["commands.py:run"], kinds["commands.py:stop"]) == ("command", "event")
    assert kinds["shop/views.py:unused"] == kinds["shop/views.py:Basket.helper"] == ""
    node = view.index_of[next(info.id for info in view.infos(range(view.n)) if info.ref == "aio.py:get_user")]
    assert view.is_entry_point[node]
    assert view.entry_point(node) == "route"


SERVICE = {
    "shop/views.py": """
import typer
from celery import shared_task
from fastapi import APIRouter
from unittest import mock
router = APIRouter()
other = APIRouter()
cache = {}
cli = typer.Typer()
@router.get("")
def listed(): ...
@other.patch("/basket")
def changed(): ...
@cache.get("basket")
def kept(): ...
@mock.patch("/basket")
def doubled(): ...
@requests_mock.get("/basket")
def requested(): ...
@shared_task
def mailed(): ...
@cli.command()
def cleaned(): ...
""",
    "shop/management/commands/tidy.py": """
from django.core.management.base import BaseCommand
class Command(BaseCommand):
    def handle(self, *args, **options): ...
    def helper(self): ...
""",
    "shop/schema.py": """
import graphene
import strawberry
class Base(graphene.Mutation):
    class Meta:
        abstract = True
class Buy(Base):
    @classmethod
    def mutate(cls, root, info): ...
    def helper(self): ...
class Internal(Base):
    @classmethod
    def mutate(cls, root, info): ...
class Mutations(graphene.ObjectType):
    buy = Buy.Field()
    internal = graphene.Field(Internal)
@strawberry.type
class Mutation:
    @strawberry.mutation
    def sell(self) -> int: ...
@strawberry.type
class Query:
    @strawberry.field
    def offers(self) -> int: ...
@strawberry.type
class Offer:
    @strawberry.field
    def price(self) -> int: ...
""",
    "tests/test_views.py": """
from unittest import mock
from unittest.mock import patch
import pytest
from shop.views import router
@mock.patch("shop.views.listed")
def test_listed(m): ...
@router.get("/in-a-test")
def test_route(): ...
@patch.object(router, "get")
@pytest.fixture
def prepared(): ...
class TestShop:
    @mock.patch("/shop")
    def test_changed(self, m): ...
""",
}


def test_the_ways_into_a_service_are_its_routes_commands_tasks_and_mutations_and_no_test(graph_of):
    view = graph_of(SERVICE)
    assert {info.ref: info.entry_point for info in view.infos(range(view.n)) if info.entry_point} == {
        "shop/views.py:listed": "route",
        "shop/views.py:changed": "route",
        "shop/views.py:mailed": "task",
        "shop/views.py:cleaned": "command",
        "shop/management/commands/tidy.py:Command.handle": "command",
        "shop/schema.py:Buy": "route",
        "shop/schema.py:Buy.mutate": "route",
        "shop/schema.py:Mutation.sell": "route",
        "shop/schema.py:Query.offers": "route",
        "tests/test_views.py:test_listed": "test",
        "tests/test_views.py:test_route": "test",
        "tests/test_views.py:prepared": "fixture",
        "tests/test_views.py:TestShop.test_changed": "test",
    }


def test_what_a_test_hands_to_a_framework_is_not_a_way_in(graph_of):
    view = graph_of(
        {
            "shop.py": "def page(): ...\n",
            "tests/test_shop.py": "from django.urls import path\nfrom shop import page\nurlpatterns = [path('', page)]\n",
        }
    )
    assert not [info.ref for info in view.infos(range(view.n)) if info.entry_point == "route"]


@pytest.mark.parametrize(
    ("path", "text", "ways"),
    [
        (
            "src/Shop.java",
            'class Shop {\n  @GetMapping("/a") void page() {}\n  @Mapping(target = "b") void copied() {}\n}\n',
            {"src/Shop.java:Shop.page": "route"},
        ),
        (
            "src/Shop.kt",
            'class Shop {\n  @GetMapping("/a") fun page() {}\n  @Mapping(target = "b") fun copied() {}\n}\n',
            {"src/Shop.kt:Shop.page": "route"},
        ),
    ],
)
def test_a_mapper_of_objects_is_not_a_route(path, text, ways, resolve):
    assert entry_points(resolve, {path: text}) == ways


def test_scripts_and_plug_ins_are_read_from_every_kind_of_configuration_file():
    layout, failures = read_layout(
        {
            "pyproject.toml": """
[project.scripts]
one = "pkg.cli:main"
[project.gui-scripts]
two = "pkg.gui:Window.run [extra]"
[project.entry-points.pytest11]
three = "pkg.plugin"
[tool.poetry.scripts]
four = { reference = "pkg.four:main", type = "console" }
""",
            "old/setup.cfg": """
[options.entry_points]
console_scripts =
    five = old.cli:main
    six=old.cli:other
flask.commands =
    x = old.x:cli
""",
            "older/setup.py": """
from setuptools import setup
setup(name="older", entry_points={
    "console_scripts": ["seven = older.cli:main", 'eight=older.cli:second'],
    "plugins": "nine = older.plugin:Plugin",
})
raise SystemExit("never run")
""",
        }
    )
    assert not failures
    assert set(layout.scripts) == {
        Script("", "pkg.cli", "main", "command"),
        Script("", "pkg.gui", "Window.run", "command"),
        Script("", "pkg.plugin", "", "export"),
        Script("", "pkg.four", "main", "command"),
        Script("old", "old.cli", "main", "command"),
        Script("old", "old.cli", "other", "command"),
        Script("old", "old.x", "cli", "export"),
        Script("older", "older.cli", "main", "command"),
        Script("older", "older.cli", "second", "command"),
        Script("older", "older.plugin", "Plugin", "export"),
    }


@pytest.mark.parametrize(
    "text",
    [
        "[project]\nscripts = 3\nentry-points = []\n",
        "[project.scripts]\na = 1\nb = 'not a target'\nc = ''\n[tool]\npoetry = 1\n",
        "[project.entry-points]\nx = 'y'\n",
    ],
)
def test_scripts_of_another_shape_are_passed_over(text):
    layout, failures = read_layout({"pyproject.toml": text})
    assert (layout.scripts, failures) == ((), {})


def test_a_setup_cfg_that_cannot_be_read_is_a_failure_of_that_file_alone():
    layout, failures = read_layout({"setup.cfg": "no section\n", "pyproject.toml": "[project.scripts]\na = 'b:c'\n"})
    assert list(failures) == ["setup.cfg"]
    assert layout.scripts == (Script("", "b", "c", "command"),)


def test_scripts_mark_the_function_and_lead_on_from_a_package_that_only_passes_it_on(resolve):
    files = {
        "pyproject.toml": "[project.scripts]\none = 'pkg:main'\ntwo = 'pkg.cli:other'\nthree = 'pkg.gone:x'\n",
        "src/pkg/__init__.py": "from .cli import main\n",
        "src/pkg/cli.py": "def main(): ...\ndef other(): ...\ndef helper(): ...\n",
        "src/pkg/__main__.py": "from .cli import main\nmain()\n",
        "elsewhere/pkg/cli.py": "def helper(): ...\n",
    }
    assert entry_points(resolve, files) == {"src/pkg/cli.py:other": "command", "src/pkg/__main__.py:<module>": "main"}
    found = resolve(files)
    assert ("src/pkg/__init__.py:<module>", "src/pkg/cli.py:main") in found.edges("REFERENCES")
    assert {edge.rule for edge in found.results["src/pkg/__init__.py"].edges if edge.kind == "REFERENCES"} == {"command"}


def test_files_a_package_json_names_are_entry_points(resolve):
    files = {
        "package.json": '{"name": "x", "bin": {"x": "./bin/x.js"}, "main": "dist/index.js", '
        '"exports": {"./more": {"import": "./dist/more.mjs"}}}',
        "bin/x.js": "require('../src/index')\n",
        "src/index.ts": "export function f() {}\n",
        "src/more.ts": "export function g() {}\n",
        "src/other.ts": "export function h() {}\n",
    }
    assert entry_points(resolve, files) == {
        "bin/x.js:<module>": "command",
        "src/index.ts:<module>": "export",
        "src/more.ts:<module>": "export",
    }


def test_a_module_that_a_page_loads_is_a_program(resolve):
    page = '<!-- <script type="module" src="old.ts"></script> -->\n<script src="legacy.js"></script>\n'
    files = {
        "web/index.html": page + '<script type="module" src="/src/main.ts"></script><script type=module src=./admin.js></script>\n',
        "docs/index.html": '<script type="module" src="https://cdn.example.org/main.ts"></script>\n',
        **{f"web/{name}": "document.title = 'shop'\n" for name in ("src/main.ts", "admin.js", "legacy.js", "old.ts")},
        "main.ts": "document.title = 'shop'\n",
    }
    assert entry_points(resolve, files) == {"web/src/main.ts:<module>": "main", "web/admin.js:<module>": "main"}


def test_programs_of_a_package_are_found_in_the_sources_from_which_they_are_built(resolve):
    files = {
        "package.json": '{"name": "x", "bin": {"x": "./cli.js", "y": "./bin/y.js", "z": "bin/z.js"}}',
        "bin/z.js": "#!/usr/bin/env node\nrequire('../dist/run.js').run()\n",
        "src/run.ts": "export function run() {}\n",
        "src/cli.ts": "run()\n",
        "src/bin/y.ts": "run()\n",
        "src/other.ts": "run()\n",
        "packages/b/package.json": '{"name": "b", "bin": "./dist/index.js"}',
        "packages/b/src/index.ts": "run()\n",
    }
    assert entry_points(resolve, files) == {
        "bin/z.js:<module>": "command",
        "packages/b/src/index.ts:<module>": "command",
        "src/bin/y.ts:<module>": "command",
        "src/cli.ts:<module>": "command",
    }
    assert ("bin/z.js:<module>", "src/run.ts:run") in resolve(files).edges("CALLS")  # it loads what a build writes


@pytest.mark.parametrize("text", ['{"bin": 3, "main": [], "exports": [1, null]}', '{"exports": {"./*": "./src/*.js"}}', "[]", "3"])
def test_a_package_json_of_another_shape_names_nothing(resolve, text):
    assert entry_points(resolve, {"package.json": text, "src/a.js": "function f() {}\n"}) == {}


def test_decorators_of_frameworks_make_entry_points(resolve):
    text = """
@app.errorhandler(404)
def lost(error): ...
@shared_task
def mail(): ...
@receiver(saved)
def on_saved(): ...
@app.get("/x")
def read(): ...
@property
def get(self): ...
"""
    assert entry_points(resolve, {"a.py": text}) == {
        "a.py:lost": "event",
        "a.py:mail": "task",
        "a.py:on_saved": "event",
        "a.py:read": "route",
    }


def test_a_function_inside_a_test_is_not_a_test_unless_it_is_registered_as_one(resolve):
    inner = "    def test_inner():\n        pass\n\n    class TestInner:\n        def test_m(self):\n            pass\n"
    python = f"def test_outer():\n{inner}\n\nclass TestA:\n    def test_m(self):\n        pass\n"
    script = 'describe("outer", () => {\n  const helper = () => 1;\n  it("works", () => { function inner() {} });\n});\n'
    rows = resolve({"tests/test_a.py": python, "a.test.ts": script}).symbols.values()
    assert {row.qualname for row in rows if row.entry_point == "test"} == {"test_outer", "TestA.test_m", "outer", "outer.works"}


CONVENTIONS = {
    "app/controllers/baskets_controller.rb": "class BasketsController < ApplicationController\n  def index\n  end\nend\n",
    "app/models/basket.rb": "class Basket\n  def index\n  end\nend\n",
    "app/jobs/mail_job.rb": "class MailJob\n  def perform\n  end\n  def other\n  end\nend\n",
    "src/Shop.php": """<?php
namespace Shop;
class Shop
{
    #[Route("/basket", name: "basket")]
    public function basket() {}
    public function helper() {}
}
class CleanCommand { public function execute() {} }
""",
    "app/Http/Controllers/HomeController.php": "<?php class HomeController { public function home() {} private function helper() {} }",
    "Web/Controllers/Home.cs": "class HomeController { public void Home() { } void Helper() { } }",
    "Web/Basket.cs": "class Basket { [HttpGet] public void Home() { } public void Helper() { } }",
    "Web/Program.cs": """using Microsoft.AspNetCore.Builder;
class Program
{
    static void Start(WebApplication app) { app.MapGet("/home", Home); app.Other("/x", Other); }
    static string Home() { return ""; }
    static string Other() { return ""; }
}
""",
    "app.rb": 'get "/baskets" do\n  load_all\nend\n\nget "/plain"\n',
    "src/App.kt": 'fun Application.module() {\n  routing {\n    post("/baskets") { save() }\n  }\n}\n',
    "src/Listener.kt": "class Listener {\n  @EventListener fun on() {}\n  fun off() {}\n}\n",
}


def test_frameworks_of_ruby_php_csharp_and_kotlin_have_ways_in(graph_of):
    view = graph_of(CONVENTIONS)
    assert {info.ref: info.entry_point for info in view.infos(range(view.n)) if info.entry_point} == {
        "app/controllers/baskets_controller.rb:BasketsController.index": "route",
        "app/jobs/mail_job.rb:MailJob.perform": "task",
        "src/Shop.php:Shop.basket": "route",
        "src/Shop.php:CleanCommand.execute": "command",
        "app/Http/Controllers/HomeController.php:HomeController.home": "route",
        "Web/Controllers/Home.cs:HomeController.Home": "route",
        "Web/Basket.cs:Basket.Home": "route",
        "Web/Program.cs:Program.Home": "route",
        "src/Listener.kt:Listener.on": "event",
        "app.rb:GET /baskets": "route",
        "src/App.kt:Application.module.POST /baskets": "route",
    }


def test_the_path_of_a_file_makes_its_handlers_routes(resolve):
    files = {
        "src/app/api/carts/[id]/route.ts": "export async function GET() {}\nexport const POST = async () => {};\nfunction PUT() {}\n",
        "src/app/carts/page.tsx": "export default function Carts() {}\nexport function helper() {}\n",
        "src/app/homepage.tsx": "export default function Home() {}\n",
        "pages/api/ping.js": "export default function handler() {}\n",
        "src/routes/items/+server.ts": "export function DELETE() {}\n",
        "src/lib/verbs.ts": "export function GET() {}\n",
    }
    assert entry_points(resolve, files) == {
        "src/app/api/carts/[id]/route.ts:GET": "route",
        "src/app/api/carts/[id]/route.ts:POST": "route",
        "src/app/carts/page.tsx:Carts": "route",
        "pages/api/ping.js:handler": "route",
        "src/routes/items/+server.ts:DELETE": "route",
    }
    found = {row.name for result in resolve(files).results.values() for row in result.handles}
    assert found == {"/api/carts/{}", "/api/ping", "/items"}


@pytest.mark.parametrize("language", ["java", "kotlin"])
def test_what_spring_runs_by_time_or_message_is_an_entry_point(resolve, language):
    ending, function = ("java", "void") if language == "java" else ("kt", "fun")
    annotations = ["Scheduled(fixedRate = 5)", 'KafkaListener(topics = "a")', "EventListener", "Bean"]
    body = "".join(f"  @{annotation}\n  {function} run{number}() {{}}\n" for number, annotation in enumerate(annotations))
    found = entry_points(resolve, {f"src/main/{language}/Jobs.{ending}": f"class Jobs {{\n{body}}}\n"})
    assert {name.rpartition(".")[2]: kind for name, kind in found.items()} == {"run0": "task", "run1": "task", "run2": "event"}


@pytest.mark.parametrize("language", ["java", "kotlin"])
def test_servlets_commands_and_hooks_of_a_container_are_entry_points(resolve, language):
    ending, function = ("java", "void") if language == "java" else ("kt", "fun")
    servlet = f"class CartServlet {{\n  {function} doGet() {{}}\n  {function} total() {{}}\n}}\n"
    cache = f"class Cache {{\n  @PostConstruct\n  {function} fill() {{}}\n  {function} doGet() {{}}\n}}\n"
    command = f'@Command(name = "add")\nclass Add {{\n  @CommandLine.Command(name = "all")\n  {function} all() {{}}\n}}\n'
    found = entry_points(resolve, {f"src/main/{language}/Shop.{ending}": servlet + cache + command})
    assert {name.rpartition(":")[2]: kind for name, kind in found.items()} == {
        "CartServlet.doGet": "route",
        "Cache.fill": "event",
        "Add": "command",
        "Add.all": "command",
    }


@pytest.mark.parametrize(
    ("path", "text", "keys"),
    [
        (
            "Pets.java",
            '@RequestMapping("/owners/{ownerId}")\nclass Pets {\n  @GetMapping("/pets/{id}") void one() {}\n'
            '  @GetMapping({ "/pets", "/all" }) void all() {}\n}\n',
            {
                ("Pets.one", "/owners/{}/pets/{id}"),
                ("Pets.all", "/owners/{}/pets"),
                ("Pets.all", "/owners/{}/all"),
            },
        ),
        (
            "items.py",
            'router = APIRouter(prefix="/items")\n@router.get("/{item_id}")\ndef item(item_id): ...\n@router.post("")\ndef make(): ...\n',
            {("item", "/items/{item_id}"), ("make", "/items")},
        ),
        ("app.py", '@app.route("/a/<int:n>")\n@app.route("/b")\ndef both(n=0): ...\n', {("both", "/a/<int:n>"), ("both", "/b")}),
    ],
)
def test_the_key_of_a_route_has_the_prefix_of_its_class_or_router(path, text, keys):
    language = language_of_path(path)
    facts = extract(path, text.encode(), language, "")
    resolver = Resolver("p")
    resolver.update({path: facts._replace(ends=ends_of(facts, text.encode()))}, ())
    names = {row.id: row.qualname for row in resolver.symbols(path)}
    assert {(names[row.symbol_id], row.name) for row in resolver.resolve(path).handles} == keys


GO = {
    "go.mod": "module shop\n\ngo 1.22\n",
    "api.go": """\
package shop

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/gorilla/mux"
)

type API struct{}

func (a *API) Routes() http.Handler {
	r := chi.NewRouter()
	r.Route("/tills", func(r chi.Router) {
		r.With(limit).Post("/", a.addTill)
	})
	http.HandleFunc("/health", health)
	mux.NewRouter().Path("/about").Methods("GET").HandlerFunc(about)
	gin.New().Group("/v1").GET("/stats", guard, stats)
	cache.Get("/stats", fallback)
	return r
}

func (a *API) addTill(w http.ResponseWriter, r *http.Request) {}
func health(w http.ResponseWriter, r *http.Request)           {}
func about(w http.ResponseWriter, r *http.Request)            {}
func limit(next http.Handler) http.Handler                    { return next }
func guard(c *gin.Context)                                    {}
func stats(c *gin.Context)                                    {}
func fallback()                                               {}
""",
}


def test_handlers_that_go_registers_with_a_router_are_ways_in(graph_of):
    view = graph_of(GO)
    assert {info.ref: info.entry_point for info in view.infos(range(view.n)) if info.entry_point} == {
        "api.go:API.addTill": "route",
        "api.go:health": "route",
        "api.go:about": "route",
        "api.go:guard": "route",
        "api.go:stats": "route",
    }
