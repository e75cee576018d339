"""Several servers behind HAProxy, used by several people, while they are killed and upgraded.

    python -m benchmarks servers [--people 4] [--seconds 12] [--out FILE]

Three servers keep their graphs in one PostgreSQL. HAProxy provides TLS, with the configuration that docs/server.md prints. Each person logs
in with OpenID Connect, and then asks for impact, remembers a sentence and lists memories, again and again, with the session's cookie. The
phases, each of `--seconds`: quiet; the server that has the project open is killed with SIGKILL; a laptop pushes a changed file; a server
of a newer graphmem, whose migration changes the tables, takes the place of the killed one; the other two are ended with SIGTERM and
started again, one after the other.

* lost: an acknowledged sentence that a server lacks at the end;
* doubled: a sentence that a server has twice;
* failed: requests of a phase that got no answer of graphmem;
* pause: the longest time between two answers of one person in a phase.

The exit code is 1 if anything is lost or doubled, or if a person gets no answer after the end of a phase.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import httpx
import report

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from certificates import certificate
from graphmem.client.remote import RemoteGraphMem
from graphmem.security.people import People
from graphmem.sharing.local_postgres import LocalPostgres
from hosted import SHOP, indexed
from openid_provider import Provider
from server_processes import Servers, newer_graphmem

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "server.md"
NAMES: Final = ("ann", "ben", "cho", "dee", "eve", "fay")
REMEMBER: Final = 'mutation ($c: String!) { remember(input: {content: $c, type: "decision"}) { memory { id } } }'
IMPACT: Final = '{ impact(targets: ["rounded"]) { total } }'
MEMORIES: Final = "{ memories(first: 20) { edges { node { content } } } }"
HOST: Final = "graphs.example.com"


class Person(threading.Thread):
    """A person whose browser asks and remembers through the load balancer."""

    def __init__(self, name: str, site: str, cert: Path, session: str, ending: threading.Event) -> None:
        super().__init__(name=name, daemon=True)
        self._ending = ending
        self._address = f"{site}/p/shop/graphql"
        self._client = httpx.Client(
            verify=str(cert),
            trust_env=False,
            timeout=60,
            headers={"cookie": f"__Host-graphmem={session}", "host": HOST, "origin": f"https://{HOST}"},
        )
        self.acknowledged: list[str] = []
        self.answers: list[tuple[float, float]] = []  # when, and seconds
        self.failures: list[tuple[float, str]] = []

    def run(self) -> None:
        """Ask until the end."""
        number = 0
        while not self._ending.is_set():
            number += 1
            text = f"{self.name} noticed fact number {number} about carts."
            if self._ask(REMEMBER, {"c": text}):
                self.acknowledged.append(text)
            self._ask(IMPACT)
            self._ask(MEMORIES)

    def _ask(self, query: str, variables: dict[str, str] | None = None) -> bool:
        begun = time.monotonic()
        try:
            found = self._client.post(self._address, json={"query": query, "variables": variables or {}})
            answer = found.json() if found.headers.get("content-type", "").startswith("application/") else {}
            wrong = "" if "data" in answer and "errors" not in answer else f"{found.status_code} {found.text[:200]}"
        except httpx.HTTPError as error:
            wrong = f"{type(error).__name__}: {error}"
        now = time.monotonic()
        if wrong:
            self.failures.append((now, wrong))
            time.sleep(0.1)
            return False
        self.answers.append((now, now - begun))
        return True


def free_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def balanced(folder: Path, ports: list[int], cert: Path, key: Path) -> Iterator[str]:
    """Run HAProxy with the configuration of the page; yield its address."""
    found = re.search(r"```haproxy\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None, f"{PAGE} has no configuration of HAProxy"
    port, both = free_port(), folder / "graphmem.pem"
    both.write_bytes(cert.read_bytes() + key.read_bytes())
    text = found[1].replace("bind :443", f"bind 127.0.0.1:{port}").replace("/etc/haproxy/graphmem.pem", str(both))
    for named, own in zip((8421, 8422, 8423), ports, strict=True):
        text = text.replace(f"127.0.0.1:{named} ", f"127.0.0.1:{own} ")
    (folder / "haproxy.cfg").write_text(text, encoding="utf-8")
    command = [shutil.which("haproxy") or "/usr/sbin/haproxy", "-db", "-f", str(folder / "haproxy.cfg")]
    with (folder / "haproxy.log").open("wb") as log, subprocess.Popen(command, stderr=log, stdout=log) as process:
        try:
            yield f"https://127.0.0.1:{port}"
        finally:
            process.terminate()


def logged_in(site: str, cert: Path, provider: Provider, name: str) -> str:
    """Log in as a browser does; return the secret of the session."""
    provider.person = {"sub": name, "email": f"{name}@example.com", "email_verified": True}
    with httpx.Client(verify=str(cert), trust_env=False, headers={"host": HOST}) as client:
        begun = client.get(f"{site}/login")
        assert begun.status_code == 303, begun.text
        back = provider.consent(begun.headers["location"]).replace(f"https://{HOST}", site)
        ended = client.get(back, headers={"cookie": begun.headers["set-cookie"].partition(";")[0], "sec-fetch-site": "cross-site"})
    found = re.search(r"__Host-graphmem=([^;]+)", "\n".join(ended.headers.get_list("set-cookie")))
    assert found is not None, ended.text
    return found[1]


class Trial:
    """Three servers, their people, and the phases."""

    def __init__(self, folder: Path, life: ExitStack, people: int, seconds: float) -> None:
        self.folder, self._seconds = folder, seconds
        postgres = LocalPostgres(Path(life.enter_context(tempfile.TemporaryDirectory(prefix="gm-pg-"))), durable=True)
        postgres.start()
        life.callback(postgres.stop)
        provider = Provider()
        life.callback(provider.http.shutdown)
        environ = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHMEM_")}
        own = {"EMBEDDER": "none", "WORKERS": "1", "HOSTS": HOST, "SITE": f"https://{HOST}"}
        oidc = {"OIDC_ISSUER": provider.issuer, "OIDC_CLIENT": "graphmem", "OIDC_SECRET": "s3cret"}
        (folder / "srv").mkdir()
        settings = {f"GRAPHMEM_{name}": value for name, value in (own | oidc).items()}
        self.servers = Servers(folder / "srv", environ | settings, postgres.make("graphs"))
        life.callback(self.servers.end)
        self.ports = [free_port() for _ in range(3)]
        self.addresses = [self.servers.start(port) for port in self.ports]
        self.cert, key = certificate(folder, "site")
        self.site = life.enter_context(balanced(folder, self.ports, self.cert, key))
        known = People(folder / "srv")
        for name in NAMES[:people]:
            known.invite(name, email=f"{name}@example.com", project="shop")
        self.token = known.token(NAMES[0], "laptop")
        known.close()
        self.own = life.enter_context(indexed(folder / "shop", SHOP))
        self.own.push_index(f"{self.addresses[0]}/p/shop", self.token)
        self._ending = threading.Event()
        sessions = {name: logged_in(self.site, self.cert, provider, name) for name in NAMES[:people]}
        self.people = [Person(name, self.site, self.cert, session, self._ending) for name, session in sessions.items()]
        self.rows: list[dict[str, Any]] = []

    def run(self) -> None:
        """Run all phases."""
        for one in self.people:
            one.start()
        self._phase("quiet", lambda: None)
        self._phase("a server is killed", lambda: self.servers.kill(self.addresses[0]))
        self._phase("a laptop pushes", self._push)
        later = newer_graphmem(self.folder / "newer")
        self._phase("a newer server starts", lambda: self._start(0, later))
        self._phase("the others are replaced", lambda: [self._replace(one, later) for one in (1, 2)])
        self._ending.set()
        for one in self.people:
            one.join(120)

    def result(self) -> dict[str, Any]:
        """Compare what was acknowledged with what each server has."""
        said = [text for one in self.people for text in one.acknowledged]
        lost = doubled = 0
        for address in self.addresses:
            found = RemoteGraphMem(f"{address}/p/shop", self.token).memories(limit=100_000)
            there = Counter(one.content for one in found.memories)
            lost += sum(there[text] == 0 for text in said)
            doubled += sum(there[text] > 1 for text in said)
        return {"people": len(self.people), "acknowledged": len(said), "lost": lost, "doubled": doubled, "phases": self.rows}

    # ---- steps

    def _phase(self, name: str, act: Any) -> None:
        begun = time.monotonic()
        act()
        time.sleep(self._seconds)
        for one in self.people:
            end, count = time.monotonic() + 60, len(one.answers)
            while len(one.answers) == count:
                if time.monotonic() > end:
                    raise TimeoutError(f"{one.name} gets no answer ({one.failures[-1:]}); read haproxy.log")
                time.sleep(0.05)
        over = time.monotonic()
        times = [seconds for one in self.people for at, seconds in one.answers if begun <= at <= over]
        failed = [wrong for one in self.people for at, wrong in one.failures if begun <= at <= over]
        row = {
            "phase": name,
            "answers": len(times),
            "failed": len(failed),
            "p50, ms": round(report.percentile(times, 0.5) * 1000),
            "p99, ms": round(report.percentile(times, 0.99) * 1000),
            "pause, s": round(max(self._pause(one, begun, over) for one in self.people), 1),
        }
        self.rows.append(row)
        print(row, sorted(set(failed))[:3], flush=True)

    @staticmethod
    def _pause(one: Person, begun: float, over: float) -> float:
        moments = [begun, *(at for at, _ in one.answers if begun <= at <= over), over]
        return max(later - earlier for earlier, later in pairwise(moments))

    def _push(self) -> None:
        place = self.folder / "shop" / "shop" / "price.py"
        place.write_text(SHOP["shop/price.py"] + "\n\ndef more():\n    return rounded(1)\n", encoding="utf-8")
        self.own.index(self.folder / "shop")
        environ = {**os.environ, "SSL_CERT_FILE": str(self.cert), "GRAPHMEM_SERVER_TOKEN": self.token, "GRAPHMEM_EMBEDDER": "none"}
        site = self.site.replace("127.0.0.1", "localhost")
        self.own.close()
        subprocess.run([sys.executable, "-m", "graphmem", "push", f"{site}/p/shop"], cwd=self.folder / "shop", env=environ, check=True)

    def _start(self, number: int, more: dict[str, str]) -> None:
        self.addresses[number] = self.servers.start(self.ports[number], **more)

    def _replace(self, number: int, more: dict[str, str]) -> None:
        process = self.servers.running.pop(self.addresses[number])
        process.terminate()
        process.communicate(timeout=60)
        self._start(number, more)
        time.sleep(self._seconds / 2)


def main() -> int:
    """Run the trial and publish what was seen."""
    parser = report.parser(__doc__)
    parser.add_argument("--people", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=12)
    options = parser.parse_args()
    with ExitStack() as life:
        folder = Path(life.enter_context(tempfile.TemporaryDirectory(prefix="gm-servers-")))
        trial = Trial(folder, life, options.people, options.seconds)
        trial.run()
        result = trial.result()
    report.publish("servers", result, options.out)
    report.table(list(result["phases"][0]), [list(row.values()) for row in result["phases"]])
    print({name: result[name] for name in ("people", "acknowledged", "lost", "doubled")})
    return int(bool(result["lost"] or result["doubled"]))


if __name__ == "__main__":
    raise SystemExit(main())
