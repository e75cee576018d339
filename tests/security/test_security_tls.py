"""On other addresses than loopback nothing is said in clear unless somebody says so; servers as people start them."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.error import HTTPError, URLError

import pytest
from cryptography.hazmat.primitives import serialization

from certificates import certificate
from graphmem.api.serve import Tls
from graphmem.cli.listening import expect_protection, is_loopback
from graphmem.client.remote import RemoteGraphMem
from graphmem.errors import ForbiddenError, SettingsError, UnauthenticatedError
from graphmem.server import owner
from graphmem.settings import Settings

TOKEN = "open sesame"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return certificate(tmp_path_factory.mktemp("tls"), "server")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHMEM_")}
    return {**kept, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data"), "GRAPHMEM_EMBEDDER": "none", "GRAPHMEM_WORKERS": "1"}


Begin = Callable[..., tuple[subprocess.Popen[str], str]]


@pytest.fixture
def begin(environ: Mapping[str, str], bank: Path, tmp_path: Path) -> Iterator[Begin]:
    """Start `graphmem serve` with arguments and wait for its address; what it says instead when it does not start."""
    started: list[subprocess.Popen[str]] = []

    def start(*args: str | Path, **variables: str) -> tuple[subprocess.Popen[str], str]:
        command = [sys.executable, "-m", "graphmem", "serve", str(bank), "--db", str(tmp_path / "index"), "--port", "0", "--quiet"]
        process = subprocess.Popen(
            [*command, *map(str, args)], env={**environ, **variables}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        return process, line or process.communicate(timeout=60)[1]

    yield start
    for process in started:
        process.terminate()
        process.communicate(timeout=60)


def test_a_server_speaks_tls_to_others_and_its_own_machine_finds_its_way(
    begin: Begin, pair: tuple[Path, Path], environ: Mapping[str, str], bank: Path, tmp_path: Path
) -> None:
    cert, key = pair
    _, address = begin("--host", "0.0.0.0", "--tls-cert", cert, "--tls-key", key, GRAPHMEM_TOKEN=TOKEN)
    assert address.startswith("https://")

    trusting = ssl.create_default_context(cafile=str(cert))
    asked = urllib.request.Request(
        f"{address}/graphql",
        json.dumps({"query": "{ project { name } }"}).encode(),
        {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"},
    )
    with urllib.request.urlopen(asked, context=trusting) as response:
        assert json.load(response) == {"data": {"project": {"name": "bank"}}}
    with pytest.raises(HTTPError) as anonymous:
        urllib.request.urlopen(f"{address}/export.jsonl", context=trusting)
    assert anonymous.value.code == 401
    anonymous.value.close()

    with pytest.raises(URLError):  # somebody who does not know the certificate does not go on
        urllib.request.urlopen(f"{address}/health")
    with pytest.raises((URLError, ConnectionError, OSError)):  # nor does the port speak in clear
        urllib.request.urlopen(address.replace("https", "http") + "/health", timeout=10)
    found = owner.read(tmp_path / "index" / "owner.json")
    assert found is not None
    assert found.address.startswith("http://127.0.0.1:")
    assert found.address.rpartition(":")[2] != address.rpartition(":")[2]
    assert found.token not in ("", TOKEN)
    assert RemoteGraphMem(found.address, found.token).project().name == "bank"
    with pytest.raises(HTTPError) as here:
        urllib.request.urlopen(f"{found.address}/export.jsonl")
    assert here.value.code == 401, "in clear on this machine, but not without a token"
    here.value.close()

    command = [sys.executable, "-m", "graphmem"]
    place = ["--db", str(tmp_path / "index")]
    made = subprocess.run(
        [*command, "token", "create", "ci", *place, "-q"], env=environ, capture_output=True, text=True, check=True, cwd=bank
    )
    remote = RemoteGraphMem(found.address, made.stdout.strip())
    assert remote.symbol("Account.withdraw").symbol.name == "withdraw"
    with pytest.raises(ForbiddenError):
        remote.remember("Something a reader may not write into the graph.")
    listed = subprocess.run([*command, "token", "list", *place], env=environ, capture_output=True, text=True, check=True, cwd=bank).stdout
    assert "ci" in listed
    assert made.stdout.strip() not in listed
    subprocess.run([*command, "token", "revoke", "ci", *place], env=environ, capture_output=True, check=True, cwd=bank)
    with pytest.raises(UnauthenticatedError):
        remote.project()


@pytest.mark.parametrize(("host", "token", "said"), [("0.0.0.0", "", "graphmem token create"), ("::", TOKEN, "--insecure-behind-proxy")])
def test_what_is_not_protected_is_not_served(begin: Begin, host: str, token: str, said: str) -> None:
    process, refusal = begin("--host", host, **({"GRAPHMEM_TOKEN": token} if token else {}))
    assert process.wait(60) == 2
    assert said in refusal
    assert refusal.count("\n") == 1, "one sentence"


def test_files_that_make_no_tls_are_refused_before_anything_is_opened(pair: tuple[Path, Path], tmp_path: Path) -> None:
    cert, key = map(str, pair)
    _, other = certificate(tmp_path, "other")
    (tmp_path / "words.pem").write_text("no certificate")
    for one, its, said in (
        (cert, "", "invalid TLS setting tls_key: the path is missing"),
        ("", key, "invalid TLS setting tls_cert: the path is missing"),
        (cert, str(other), "its own private key"),
        (key, key, "cannot be used for TLS"),
        (str(tmp_path / "words.pem"), key, "cannot be used for TLS"),
        ("nowhere.pem", key, "not a file"),
        (str(tmp_path), key, "not a file"),
    ):
        with pytest.raises(SettingsError) as refused:
            Tls.load(one, its)
        assert said in refused.value.message


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.9.1"])
def test_loopback_needs_neither(host: str) -> None:
    assert is_loopback(host)
    expect_protection(Settings(host=host), loopback=True, has_tokens=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "example.org", "", "127.0.0.1.example.org", "localhost.example.org"])
def test_everything_else_needs_both(host: str) -> None:
    assert not is_loopback(host)
    for settings in (Settings(host=host), Settings(host=host, token=TOKEN), Settings(host=host, insecure_behind_proxy=True)):
        with pytest.raises(SettingsError):
            expect_protection(settings, loopback=False, has_tokens=False)
    expect_protection(Settings(host=host, insecure_behind_proxy=True), loopback=False, has_tokens=True)


def test_a_key_with_a_pass_phrase_is_refused_and_nobody_is_asked_for_it(tmp_path: Path, pair) -> None:
    key = serialization.load_pem_private_key(pair[1].read_bytes(), None)
    locked = tmp_path / "locked.key"
    encryption = serialization.BestAvailableEncryption(b"secret")
    locked.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption))
    with pytest.raises(SettingsError):
        Tls.load(str(pair[0]), str(locked))
