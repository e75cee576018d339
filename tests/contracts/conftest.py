"""A shop of three services in three languages, and an index over it."""

from __future__ import annotations

import pytest

from small_index import open_memory as open_memory

FILES = {
    "catalogue/server.js": """\
const express = require('express');
const app = express();
app.get('/products', (req, res) => list(res));
app.get('/product/:sku', showProduct);
app.get('/health', (req, res) => res.send('ok'));
function showProduct(req, res) { return res.json(req.params.sku); }
function list(res) { return res.json([]); }
""",
    "orders/src/main/java/shop/OrderController.java": """\
package shop;

@RestController
@RequestMapping("/api/v1/orders")
public class OrderController {
    @GetMapping(path = "/{id}")
    public Order order(@PathVariable String id) { return new Order(id); }

    @PostMapping
    public Order create(@RequestBody Order order) { return order; }

    @GetMapping("/health")
    public String health() { return "ok"; }
}
""",
    "web/shop.py": """\
import os
import requests

CATALOGUE = os.getenv("CATALOGUE_HOST", "catalogue")
ORDERS = "http://orders:8080/api/v1/orders"


def product(sku):
    return requests.get("http://{}:8080/product/{}".format(CATALOGUE, sku)).json()


def buy(body):
    return requests.post(ORDERS, json=body)


def order(number):
    return requests.get(f"{ORDERS}/{number}")


def nothing(path):
    requests.get(path)
    requests.get("https://api.example.com/product/7")
    requests.delete("http://orders:8080/api/v1/orders/7")
    {}.get("/products")
""",
}


@pytest.fixture
def shop(tmp_path):
    root = tmp_path / "shop"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root
