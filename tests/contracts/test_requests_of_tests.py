"""Tests that build an address before they request it are tests of its handler, in `impact` and in `review`."""

from __future__ import annotations

import pytest

DJANGO = {
    "manage.py": "",
    "shop/urls.py": """\
from django.urls import include, path

from shop import views

prefix = "" if not settings.ROOT else f"{settings.ROOT}/"
items = [path("", views.items), path("log", views.log)]
api = [
    path("carts/<uuid:code>", views.cart, name="cart"),
    path("carts/<uuid:code>/pay", views.pay, name="carts.pay"),
    path("tills/<uuid:code>/pay", views.unused, name="tills.pay"),
    path("carts/<uuid:code>/items/", include(items)),
    path("badges/", views.badges),
]
urlpatterns = [path("api/v1/", include(api)), path("api/v2/", include(api)), path(f"{prefix}help/", views.help)]
""",
    "shop/views.py": "".join(
        f"def {name}(request, code=None): ...\n\n\n" for name in ("items", "log", "cart", "badges", "help", "pay", "unused")
    ),
    "shop/tests/test_shop.py": """\
from django.test import TestCase
from django.urls import reverse


class Base(TestCase):
    help_url = "/help/"


class CartTests(Base):
    def setUp(self) -> None:
        self.code = make().code
        self.url = f"/api/v1/carts/{self.code}"
        self.named = reverse("cart", args=[self.code])

    def post(self, v: int = 1) -> Response:
        url = f"/api/v{v}/carts/{self.code}/items/log"
        return self.client.post(url, {})

    def badges(self, qs: str = "") -> Response:
        return self.client.get("/api/v1/badges/" + qs)

    def test_field(self) -> None:
        self.client.get(self.url)

    def test_query(self) -> None:
        self.client.get(self.url + "?page=2")

    def test_name(self) -> None:
        self.client.get(self.named)

    def test_dots(self) -> None:
        self.client.post(reverse("shop:carts.pay", args=[1]))

    def test_below(self) -> None:
        self.client.get(f"{self.url}/items/")

    def test_helper(self) -> None:
        self.post()

    def test_default(self) -> None:
        self.badges()

    def test_base(self) -> None:
        self.client.get(self.help_url)
""",
}


@pytest.fixture
def written(tmp_path, open_memory):
    """Return a function that writes a project, and returns its open index."""

    def write(files):
        for name, text in files.items():
            path = tmp_path / "repo" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        memory = open_memory()
        memory.index(tmp_path / "repo")
        return memory

    return write


def cases(memory, target):
    """Return the names of the tests in the answer to the default question."""
    return {one.symbol.name for one in memory.impact(target).tests if one.symbol.is_runnable}


def test_addresses_in_fields_helpers_and_names_lead_to_the_views_of_django(written):
    memory = written(DJANGO)
    assert cases(memory, "shop/views.py:cart") == {"test_field", "test_query", "test_name"}
    assert cases(memory, "shop/views.py:pay") == {"test_dots"}
    assert cases(memory, "shop/views.py:items") == {"test_below"}
    assert cases(memory, "shop/views.py:log") == {"test_helper"}
    assert cases(memory, "shop/views.py:badges") == {"test_default"}
    assert cases(memory, "shop/views.py:help") == {"test_base"}
    assert cases(memory, "shop/views.py:unused") == set()
    assert {one.name for one in memory.tests_to_run("shop/views.py:log").tests} == {"CartTests.test_helper"}


LARAVEL = {
    "composer.json": "{}",
    "routes/web.php": """\
<?php
Route::get('/carts/{cart}', [CartController::class, 'show'])->middleware('auth')->name('carts.show');
Route::resource('items', ItemController::class);
""",
    "app/CartController.php": "<?php\nclass CartController\n{\n    public function show() {}\n}\n",
    "app/ItemController.php": "<?php\nclass ItemController\n{\n    public function index() {}\n\n    public function store() {}\n}\n",
    "tests/Feature/CartTest.php": """\
<?php
class CartTest extends TestCase
{
    public function test_show(): void
    {
        $this->get(route('carts.show', 7))->assertOk();
    }

    public function test_store(): void
    {
        $this->url = route('items.store');
        $this->actingAs($user)->post($this->url);
    }
}
""",
}


def test_names_of_routes_lead_to_the_controllers_of_laravel(written):
    memory = written(LARAVEL)
    assert cases(memory, "CartController.show") == {"test_show"}
    assert cases(memory, "ItemController.store") == {"test_store"}
    assert cases(memory, "ItemController.index") == set()


RAILS = {
    "config/routes.rb": """\
Rails.application.routes.draw do
  resources :carts do
    resources :line_items, only: [:index]
  end
end
""",
    "app/controllers/carts_controller.rb": "class CartsController\n  def index\n  end\n\n  def edit\n  end\n\n  def destroy\n  end\nend\n",
    "app/controllers/line_items_controller.rb": "class LineItemsController\n  def index\n  end\nend\n",
    "test/integration/carts_test.rb": """\
class CartsTest < ActionDispatch::IntegrationTest
  def test_list
    get carts_path
  end

  def test_edit
    get edit_cart_url(1)
  end

  def test_items
    get cart_line_items_path(1), params: {}
  end
end
""",
}


def test_helpers_named_after_routes_lead_to_the_actions_of_rails(written):
    memory = written(RAILS)
    assert cases(memory, "CartsController.index") == {"test_list"}
    assert cases(memory, "CartsController.edit") == {"test_edit"}
    assert cases(memory, "LineItemsController.index") == {"test_items"}
    assert cases(memory, "CartsController.destroy") == set()


ALIAS = {
    "shop/urls.py": """\
from django.urls import path
from shop.views import style as style_view, till

urlpatterns = [path("style/", style_view), path("tills/", till)]
""",
    "shop/views.py": "def till(request): ...\n\n\ndef style(request):\n    paint()\n\n\ndef paint(): ...\n",
    "shop/tests/test_style.py": 'def test_style(client):\n    url = "/style/"\n    client.get(url)\n',
}


def test_a_request_leads_to_a_handler_that_is_imported_under_another_name(written):
    memory = written(ALIAS)
    assert cases(memory, "shop/views.py:paint") == {"test_style"}
    assert cases(memory, "shop/views.py:till") == set()


CLASSES = {
    "shop/urls.py": """\
from django.urls import include, path
from rest_framework.routers import SimpleRouter

from shop import views

carts = SimpleRouter()
carts.register("", views.Carts, basename="cart")
tills = SimpleRouter()
tills.register("tills", views.TillViewSet)
urlpatterns = [
    path("api/carts/", include(carts.urls)),
    path("api/", include(tills.urls)),
    path("orders/<int:pk>/", views.OrderList.as_view()),
    path("search/", views.search, name="search"),
]
""",
    "shop/views.py": """\
from django.views.generic import ListView
from rest_framework.decorators import action
from rest_framework.viewsets import ModelViewSet


class Carts(ModelViewSet):
    def get_queryset(self): ...

    @action(methods=["post"], detail=False)
    def pay_all(self, request): ...


class TillViewSet(ModelViewSet):
    def get_queryset(self): ...


class OrderList(ListView):
    def get_queryset(self): ...


def search(request): ...
""",
    "shop/tests/test_classes.py": """\
from django.test import Client, TestCase
from django.urls import reverse


class ClassTests(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.c = Client()

    def fetch(self, url):
        return self.client.get(url)

    def test_list(self):
        self.client.get(reverse("shop:cart-list"))

    def test_pay(self):
        self.fetch(reverse("shop:cart-pay-all"))

    def test_till(self):
        self.fetch(reverse("till-detail", args=[1]))

    def test_order(self):
        self.c.get("/orders/{}/".format(1))

    def test_search(self):
        self.fetch(reverse("search"))

    def test_unknown(self):
        self.fetch(reverse("cart"))
""",
}


def test_requests_lead_to_classes_that_a_router_or_a_route_registers(written):
    memory = written(CLASSES)
    assert cases(memory, "Carts.get_queryset") == {"test_list", "test_pay"}
    assert "test_pay" in cases(memory, "Carts.pay_all")
    assert cases(memory, "TillViewSet.get_queryset") == {"test_till"}
    assert cases(memory, "OrderList.get_queryset") == {"test_order"}


def test_a_test_that_gives_a_route_s_path_to_its_helper_is_a_test_of_the_handler(written):
    assert cases(written(CLASSES), "shop/views.py:search") == {"test_search"}


KOA = {
    "package.json": '{"devDependencies": {"vitest": "1"}, "scripts": {"test": "vitest run"}}',
    "server/web.ts": """\
import Koa from "koa";
import mount from "koa-mount";
import api from "./routes/api";

export function web(app = new Koa()) {
  app.use(mount("/api", api));
  return app;
}
""",
    "server/routes/api/index.ts": """\
import Router from "koa-router";
import carts from "./carts";

const router = new Router();
router.use("/", carts.routes());
export default router;
""",
    "server/routes/api/carts.ts": """\
import Router from "koa-router";
import { guard } from "../../guards";
import { presentCart, presentItem } from "../../presenters";

const router = new Router();
router.post("carts.info", guard(), async (ctx) => {
  ctx.body = presentCart(ctx.input);
});
router.post("carts.items", async (ctx) => {
  ctx.body = presentItem(ctx.input);
});
export default router;
""",
    "server/guards.ts": "export function guard() {\n  return (ctx, next) => next();\n}\n",
    "server/presenters.ts": """\
export function presentCart(cart) {
  return { id: cart.id };
}

export function presentItem(item) {
  return { id: item.id };
}
""",
    "server/routes/api/carts.test.ts": """\
import { getTestServer } from "../../testing";

const server = getTestServer();
it("shows a cart", async () => {
  const answer = await server.post("/api/carts.info", user, { body: { id: 1 } });
  expect(answer.status).toEqual(200);
});
it("shows its items", async () => {
  const answer = await server.post("/api/carts.items", user);
  expect(answer.status).toEqual(200);
});
it("knows nobody", async () => {
  expect((await server.post("/api/tills.info")).status).toEqual(404);
});
""",
}


def test_requests_to_a_projects_own_test_server_lead_to_the_routes_of_koa(written):
    memory = written(KOA)
    assert cases(memory, "server/presenters.ts:presentCart") == {"shows a cart"}
    assert cases(memory, "server/presenters.ts:presentItem") == {"shows its items"}
    assert cases(memory, "server/guards.ts:guard") == {"shows a cart"}


def test_a_route_whose_handler_stands_in_the_call_is_an_entry_point(written):
    memory = written(KOA)
    routes = {(one.symbol.name, one.symbol.path) for one in memory.entry_points(kinds=["route"]).entry_points}
    assert routes == {("POST carts·info", "server/routes/api/carts.ts"), ("POST carts·items", "server/routes/api/carts.ts")}
