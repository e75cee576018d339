"""A real server of several projects in a thread, and small projects that are pushed to it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from graphmem.api.app import ServerOptions, keys_of
from graphmem.api.projects.entrance import entrance
from graphmem.api.projects.hub import HubApp
from graphmem.api.projects.rights import PeopleRights
from graphmem.api.serve import Server
from graphmem.client.remote import RemoteGraphMem
from graphmem.mcp_server.mount import McpApp
from graphmem.project.graphmem import GraphMem
from graphmem.security.openid import OpenId
from graphmem.security.people import People
from graphmem.server.hosting import BETWEEN, Hosting
from graphmem.settings import Settings

SETTINGS = Settings(embedder="none", workers=1, max_db_gb=1, git_history=False, seeds=False)
SHOP = {
    "shop/price.py": "def rounded(cents):\n    return round(cents)\n\n\ndef total(prices):\n    return rounded(sum(prices))\n",
    "shop/app.py": (
        "from flask import Flask\n\nfrom shop.price import total\n\napp = Flask(__name__)\n\n\n"
        '@app.route("/carts/<cart>")\ndef show_cart(cart):\n    return str(total([1, 2]))\n'
    ),
}
SITE = {
    "site/client.py": (
        'import requests\n\n\ndef cart_of(name):\n    return requests.get(f"http://shop/carts/{name}").json()\n\n\n'
        "def page(name):\n    return cart_of(name)\n"
    ),
}


def written(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@contextmanager
def indexed(root: Path, files: Mapping[str, str] | None = None) -> Iterator[GraphMem]:
    """An index of a directory, after its files were written."""
    with GraphMem.open(repo=written(root, files or {}), settings=SETTINGS) as opened:
        opened.index(root)
        yield opened


class Hosted:
    """A running server."""

    def __init__(self, address: str, app: HubApp, hosting: Hosting, people: People) -> None:
        self.address, self.app, self.hosting, self.people = address, app, hosting, people

    def enter(self, login: str, project: str = "shop", level: str = "write", team: str = "") -> str:
        """Invite a person; return a token."""
        code = self.people.invite(login, project=project, level=level)
        if team:
            self.people.join(team, login)
        return self.people.redeem(code, "test")[1]

    def wait_until_closed(self, name: str) -> None:
        """Wait until the server closes an unused project with its branches; for a server with a short `idle_s`."""
        end = time.monotonic() + 30
        while any(one == name or one.startswith(f"{name}{BETWEEN}") for one in list(self.hosting._open)):
            assert time.monotonic() < end
            time.sleep(0.05)

    def project(self, name: str) -> str:
        return f"{self.address}/p/{name}"


@contextmanager
def hosted(folder: Path, settings: Settings = SETTINGS, openid: OpenId | None = None, site: str = "", **limits: float) -> Iterator[Hosted]:
    hosting = Hosting(folder, settings, **limits)
    options, people = ServerOptions(), People(folder)
    app = HubApp(hosting, options, PeopleRights(people, keys_of(options)), McpApp, RemoteGraphMem, entrance(people, openid, options, site))
    server, ready = Server(app, "127.0.0.1", 0), threading.Event()
    thread = threading.Thread(target=server.run, args=(lambda host, port: ready.set(),))
    thread.start()
    try:
        assert ready.wait(20)
        yield Hosted(f"http://127.0.0.1:{server.port}", app, hosting, people)
    finally:
        server.stop()
        thread.join(20)
        hosting.close()
        people.close()
        assert not thread.is_alive()
