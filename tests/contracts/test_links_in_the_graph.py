"""Calls over the network are edges like any other: found, followed by impact, and right after every edit."""

from __future__ import annotations

import pytest

from graphmem.contracts.endpoints import linked_endpoints
from graphmem.contracts.rows import FILE, ContractRow


def links(memory):
    """(rule, caller, callee) of the edges between services."""
    view = memory.parts.projections.graph()
    names = view.arrays.nodes.qualname.to_pylist()
    return {
        (view.rules[rule], names[src], names[dst])
        for src, dst, rule in zip(view.src.tolist(), view.dst.tolist(), view.edge_rule.tolist(), strict=True)
        if view.rules[rule] in ("endpoint", "rpc", "topic")
    }


def indexed(open_memory, root, files):
    """Write files and index them; return the open memory."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    memory = open_memory()
    memory.index(root)
    return memory


def replace(path, old, new):
    """Replace a string that a file contains."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


EXPECTED = {
    ("endpoint", "product", "showProduct"),
    ("endpoint", "buy", "OrderController.create"),
    ("endpoint", "order", "OrderController.order"),
}


def test_clients_lead_to_the_handlers_they_ask_and_nowhere_else(shop, open_memory):
    memory = open_memory()
    memory.index(shop)
    assert links(memory) == EXPECTED


def test_impact_crosses_services(shop, open_memory):
    memory = open_memory()
    memory.index(shop)
    found = memory.impact("showProduct")
    assert ("product", "endpoint") in [(one.symbol.qualname, one.path[0].rule) for one in found.hits]


GO_TESTS = """\
package app

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
)

func answer(c *gin.Context) {
	c.Status(200)
}

func setUp() *httptest.Server {
	router := gin.New()
	router.GET("/shared", answer)
	return httptest.NewServer(router)
}

func TestOwnRoute(t *testing.T) {
	router := gin.New()
	router.GET("/own", func(c *gin.Context) { c.Status(200) })
	server := httptest.NewServer(router)
	http.Get(server.URL + "/own")
}

func TestSharedRoute(t *testing.T) {
	server := setUp()
	http.Get(server.URL + "/shared")
	http.Get(server.URL + "/own")
}
"""


def test_a_test_does_not_reach_the_route_of_another_test(tmp_path, open_memory):
    memory = indexed(open_memory, tmp_path / "repo", {"app_test.go": GO_TESTS})
    assert links(memory) == {("endpoint", "TestSharedRoute", "answer")}


TWO_HANDLERS = {
    "api/carts.go": "package api\n\ntype Carts struct{}\n\nfunc (c *Carts) Create(ctx any) {}\n",
    "api/users.go": "package api\n\ntype Users struct{}\n\nfunc (u *Users) Create(ctx any) {}\n"
    "\nfunc (u *Users) Login() any { return nil }\n",
    "router/router.go": """\
package router

import (
	"example.org/shop/api"
	"github.com/gin-gonic/gin"
)

func Routes() {
	router := gin.New()
	carts := api.Carts{}
	users := new(api.Users)
	router.POST("/carts", carts.Create)
	router.POST("/users", users.Create)
	router.GET("/login", users.Login())
}
""",
    "go.mod": "module example.org/shop\n",
    "web/shop.ts": """\
export const cart = () => fetch("/carts", {method: "POST"});
export const user = () => fetch("/users", {method: "POST"});
export const login = () => fetch("/login");
""",
}


def test_routes_lead_to_the_method_of_the_object_that_they_name(tmp_path, open_memory):
    right = {("endpoint", "cart", "Carts.Create"), ("endpoint", "user", "Users.Create"), ("endpoint", "login", "Users.Login")}
    root = tmp_path / "repo"
    memory = indexed(open_memory, root, TWO_HANDLERS)
    assert links(memory) == right
    gone = ("endpoint", "cart", "Carts.Create")
    for name, old, new in (("router/router.go", '"/carts", carts', '"/carts", users'), ("api/carts.go", "Create", "Make")):
        replace(root / name, old, new)
        memory.index()
        assert gone not in links(memory)
        if name == "router/router.go":
            assert links(memory) == right - {gone} | {("endpoint", "cart", "Users.Create")}
        replace(root / name, new, old)
        memory.index()
        assert links(memory) == right


@pytest.mark.parametrize("lost", [False, True])
def test_links_follow_edits_of_either_side(shop, open_memory, lost):
    memory = open_memory()
    memory.index(shop)
    memory.close()
    if lost:
        (shop.parent / "index" / FILE).unlink()
    server = shop / "catalogue" / "server.js"
    replace(server, "/product/:sku", "/item/:sku")
    memory = open_memory()
    assert memory.index().mode == "incremental"
    assert links(memory) == EXPECTED - {("endpoint", "product", "showProduct")}
    replace(server, "/item/:sku", "/product/:sku")
    memory.index()
    assert links(memory) == EXPECTED
    (shop / "orders/src/main/java/shop/OrderController.java").unlink()
    memory.index()
    assert links(memory) == {("endpoint", "product", "showProduct")}


SERVICE = {
    "app/__init__.py": "",
    "app/routers.py": "from fastapi import APIRouter\n\n\nclass UserRouter(APIRouter):\n    pass\n",
    "app/users.py": """\
from app.routers import UserRouter

router = UserRouter(prefix="/users")


@router.get("")
def all_users(): ...


@router.get("/{user_id}")
def one_user(user_id): ...


@router.post("/{user_id}/image")
def set_image(user_id): ...
""",
    "app/main.py": """\
from fastapi import APIRouter

from . import users

prefix = "/api"
router = APIRouter()
router.include_router(users.router, prefix=prefix)
""",
    "other/users.py": "from fastapi import APIRouter\n\nrouter = APIRouter()\n\n\n@router.get('/nothing')\ndef nothing(): ...\n",
    "tests/paths.py": """\
prefix = "/api"
USERS = "/api/users"


def user(user_id):
    return f"{prefix}/users/{user_id}"
""",
    "tests/test_users.py": """\
from tests import paths
from tests.paths import USERS as LIST


def test_all(client):
    client.get(paths.USERS)


def test_renamed(client):
    client.get(LIST)


def test_one(client):
    client.get(paths.user(3))


def test_image(client):
    client.post(f"{paths.user(3)}/image")


def test_nothing(client):
    client.get(paths.missing)
""",
    "web/routes.ts": "export const routes = {\n  users: '/api/users',\n  user: (id: string) => `/api/users/${id}`,\n};\n",
    "web/users.ts": """\
import { routes } from "./routes";

export function load(http: Client, id: string) {
  return http.get(routes.user(id));
}
""",
}


def test_paths_that_another_module_names_lead_to_their_handlers(tmp_path, open_memory):
    memory = indexed(open_memory, tmp_path / "repo", SERVICE)
    assert links(memory) == {
        ("endpoint", "test_all", "all_users"),
        ("endpoint", "test_renamed", "all_users"),
        ("endpoint", "test_one", "one_user"),
        ("endpoint", "test_image", "set_image"),
        ("endpoint", "load", "one_user"),
    }
    replace(tmp_path / "repo/tests/paths.py", 'USERS = "/api/users"', 'USERS = "/api/nobody"')
    memory.index(tmp_path / "repo")
    assert {rule[1] for rule in links(memory)} == {"test_one", "test_image", "load"}


BASE_PATH = {
    "src/app/api/carts/[id]/route.ts": "export async function GET(request: Request) { return new Response(); }\n",
    "src/app/api/v1/items/route.ts": "export async function POST(request: Request) { return new Response(); }\n",
    "src/app/api/teams/carts/route.ts": "export async function GET(request: Request) { return new Response(); }\n",
    "src/hooks.ts": """\
import { useApi } from "./api";

export function useCart(id: string) {
  const { get } = useApi();
  return get(`/carts/${id}`);
}

export function useItems() {
  const { post } = useApi();
  return post("/items", {});
}

export function useNothing() {
  const { get } = useApi();
  return get("/carts") ?? get("/cards/1");
}
""",
}


def test_a_client_may_add_the_base_path_elsewhere(tmp_path, open_memory):
    memory = indexed(open_memory, tmp_path / "repo", BASE_PATH)
    assert links(memory) == {("endpoint", "useCart", "GET"), ("endpoint", "useItems", "POST")}
    assert {one.symbol.qualname for one in memory.impact("src/app/api/carts/[id]/route.ts:GET").hits} == {"useCart"}


def test_a_version_that_is_known_only_at_run_time_fits_every_version_but_not_every_word():
    def row(role, name, path):
        return ContractRow(role, "http", name, path, path, path, 1)

    offers = [row("offers", "GET /v1/feeds", "feeds.go"), row("offers", "GET /admin/feeds", "admin.go")]
    for asked, found in (("GET /v{}/feeds", ["feeds.go"]), ("GET /x{}/feeds", []), ("GET /v{}", [])):
        assert [one.offers.path for one in linked_endpoints(offers, [row("asks", asked, "client.py")], {})] == found


GATEWAY = {
    "web/client.js": """\
const client = axios.create({ baseURL: "/api" });

export function useOrders() {
  return client.get("/orders");
}
""",
    "gateway/app.js": """\
const endpoints = require("./endpoints");
const app = express();
const router = express.Router();

function list(req, res) { return req.client("get:orders").get(endpoints.orders + "/open"); }
function each(req, res) {}
function login(req, res) { return http.get("/login"); }

router.get("/orders", list);
router.get("/orders*", each);
router.get("/login", login);
app.use("/api", router);
""",
    "gateway/endpoints.js": "module.exports = { orders: `${process.env.ORDERS_URL}/orders` };\n",
    "gateway/mock/orders.js": 'function fake(req, res) {}\nrouter.get("/orders/open", fake);\n',
    "orders/app.js": """\
function all(req, res) {}
function open(req, res) {}

app.get("/orders", all);
app.get("/orders/open", open);
""",
}


def test_the_base_of_a_client_leads_to_the_gateway_and_mocks_answer_nobody(tmp_path, open_memory):
    memory = indexed(open_memory, tmp_path / "repo", GATEWAY)
    assert links(memory) == {("endpoint", "useOrders", "list"), ("endpoint", "list", "open")}


RAILS = {
    "config/routes.rb": """\
Rails.application.routes.draw do
  resources :carts, only: [:show] do
    post "upvote"
  end
  get "/mine" => "people/carts#show"
end
""",
    "app/controllers/carts_controller.rb": "class CartsController\n  def show\n  end\n\n  def upvote\n  end\nend\n",
    "app/controllers/lines_controller.rb": "class LinesController\n  def show\n  end\nend\n",
    "spec/support/requests.rb": """\
module Requests
  def look
    get "/carts/7"
  end

  def vote
    post "/carts/7/upvote"
  end
end
""",
}


def test_requests_of_specs_lead_to_the_actions_of_rails(tmp_path, open_memory):
    for name, text in RAILS.items():
        path = tmp_path / "repo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    memory = open_memory()
    memory.index(tmp_path / "repo")
    assert links(memory) == {("endpoint", "Requests.look", "CartsController.show"), ("endpoint", "Requests.vote", "CartsController.upvote")}
