"""A client of a route may be deleted: the next index run has neither the file nor its edges."""

from __future__ import annotations

from pathlib import Path

from hosted import indexed

FILES = {
    "server.py": 'from fastapi import FastAPI\n\napp = FastAPI()\n\n\n@app.get("/carts/{name}")\ndef cart(name: str):\n    return name\n',
    "client.py": 'import requests\n\n\ndef cart_of(name):\n    return requests.get(f"http://shop/carts/{name}").json()\n',
    "other.py": "def other():\n    return 1\n",
}


def test_a_deleted_client_leaves_the_index(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    with indexed(root, FILES) as opened:
        assert "client.py" in {hit.symbol.path for hit in opened.impact("cart").hits}
        (root / "client.py").unlink()
        opened.index(root)
        assert "client.py" not in {hit.symbol.path for hit in opened.impact("cart").hits}
        assert {one.path for one in opened.symbols("").symbols} == {"server.py", "other.py"}
