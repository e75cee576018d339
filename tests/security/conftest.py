"""A small project with memories of every visibility, and real servers over it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from graphmem.api.app import ServerOptions, build_app
from graphmem.api.serve import Server
from graphmem.mcp_server.mount import McpApp
from graphmem.project.graphmem import GraphMem
from graphmem.security.access import VISIBILITIES
from graphmem.security.tokens import FILE, TokenFile
from graphmem.settings import Settings

FILES = {
    "bank/account.py": (
        "class Account:\n    def withdraw(self, amount):\n        check(amount)\n        self.balance -= amount\n\n\n"
        "def check(amount):\n    if amount < 0:\n        raise ValueError(amount)\n"
    ),
    "bank/teller.py": "from bank.account import Account\n\n\ndef serve(person):\n    Account().withdraw(person.wish)\n",
}

SAID = {
    "personal": "Account.withdraw is the part of the bank I am afraid of; the zanzibar clause is mine alone.",
    "project": "Account.withdraw must never be called with a negative amount, check() raises ValueError.",
    "team": "The team reviews every change of Account.withdraw in pairs on Tuesdays.",
    "organization": "All departments log withdrawals of an Account for seven years.",
}
"""What is remembered, by visibility."""


@pytest.fixture(scope="session")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("security") / "bank"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def service(bank: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphMem]:
    settings = Settings(embedder="none", workers=1, git_history=False, cypher=True)
    with GraphMem.open(tmp_path_factory.mktemp("index"), repo=bank, settings=settings) as memory:
        memory.index(bank)
        for level in VISIBILITIES:
            memory.remember(SAID[level], type="gotcha", visibility=level, id=f"of-{level}", source="user_taught")
        yield memory


class Client:
    """Asks a server, with a token or without."""

    def __init__(self, address: str, token: str = "", name: str = "") -> None:
        self.address = address
        self.name = name  # of the token
        headers = {"authorization": f"Bearer {token}"} if token else {}
        self.http = httpx.Client(base_url=address, timeout=30, trust_env=False, headers=headers)

    def answer(self, query: str, **variables: Any) -> dict[str, Any]:
        """The whole body."""
        found: dict[str, Any] = self.http.post("/graphql", json={"query": query, "variables": variables}).json()
        return found

    def data(self, query: str, **variables: Any) -> dict[str, Any]:
        """The data of an answer without errors."""
        body = self.answer(query, **variables)
        assert "errors" not in body, body["errors"]
        found: dict[str, Any] = body["data"]
        return found

    def code(self, query: str, **variables: Any) -> str:
        """The code of the first refusal, or ""."""
        errors = self.answer(query, **variables).get("errors", [])
        return str(errors[0]["extensions"]["code"]) if errors else ""


class Guarded:
    """A server that asks for tokens, and the file that holds them."""

    def __init__(self, address: str, tokens: TokenFile) -> None:
        self.address = address
        self.tokens = tokens
        self.made: list[Client] = []

    def client(self, *scopes: str, sees: tuple[str, ...] = VISIBILITIES[1:], **more: Any) -> Client:
        """A client with a new token."""
        name = f"token-{len(self.made) + 1}"
        self.made.append(Client(self.address, self.tokens.create(name, scopes or ("read",), sees, **more).token, name))
        return self.made[-1]


Start = Callable[..., Guarded]


@contextmanager
def _starting(service: GraphMem, folder: Path) -> Iterator[Start]:
    with ExitStack() as stack:

        def begin(guarded: Any = service, **options: Any) -> Guarded:
            tokens = TokenFile(folder / FILE)
            app = build_app(guarded, ServerOptions(tokens=tokens.path, **options), McpApp(guarded))
            server = Server(app, "127.0.0.1", 0)
            ready = threading.Event()
            thread = threading.Thread(target=server.run, args=(lambda host, port: ready.set(),))
            thread.start()
            stack.callback(thread.join, 20)
            stack.callback(server.stop)
            assert ready.wait(20)
            found = Guarded(f"http://127.0.0.1:{server.port}", tokens)
            stack.callback(lambda: [client.http.close() for client in found.made])
            return found

        yield begin


@pytest.fixture
def start(service: GraphMem, tmp_path: Path) -> Iterator[Start]:
    """Servers that end with the test."""
    with _starting(service, tmp_path) as begin:
        yield begin


@pytest.fixture(scope="module")
def guarded(service: GraphMem, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """One server for the tests of a file that bring tokens of their own."""
    with _starting(service, tmp_path_factory.mktemp("tokens")) as begin:
        yield begin(token_required=True)
