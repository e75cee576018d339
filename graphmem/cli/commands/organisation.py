"""`graphmem sync` and `organisation try`: share memories with a team."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from graphmem.cli.command import command
from graphmem.cli.context import CommandContext
from graphmem.cli.output import plural
from graphmem.cli.rendering import rendering_of, show
from graphmem.errors import OwnerUnreachableError
from graphmem.runtime.process.system import wait_for_signal
from graphmem.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphmem.answers.sharing import SharingAnswer
    from graphmem.cli.output import Output
    from graphmem.project.graphmem import GraphMem

# Two example projects: name -> files.
PROJECTS: Final = {
    "shop": {
        "shop/price.py": "def rounded(cents):\n    return round(cents)\n\n\ndef total(prices):\n    return rounded(sum(prices))\n",
        "shop/cart.py": "from shop.price import total\n\n\ndef checkout(cart):\n    return total(cart)\n",
    },
    "site": {"site/page.py": "def page(title):\n    return f'<h1>{title}</h1>'\n"},
}
SHOWN: Final = "bold"


@command()
def sync(
    here: CommandContext,
    url: Annotated[
        str, typer.Argument(metavar="[URL]", help="Address of the database, postgresql://host/name; default: the setting sync_url.")
    ] = "",
    *,
    key: Annotated[
        str,
        typer.Option(
            "--key",
            help="Identifier of the project in the team's database, chosen before the first "
            "exchange; default: hash of the first Git commit.",
        ),
    ] = "",
) -> None:
    """Exchange memories with your team.

    The exchange goes through the team's PostgreSQL database.

    Personal memories stay on this machine. Nothing is overwritten: if two people changed the same memory, both versions are shown.
    """
    show(here.output, here.service(create=True).sync_memories(url, key), rendering_of("sync_memories"))


@command(without=("path", "project", "db", "home", "as_json", "quiet"))
def try_(
    here: CommandContext,
    *,
    once: Annotated[bool, typer.Option("--once", help="Exit when the demonstration is complete, instead of waiting for Ctrl-C.")] = False,
) -> None:
    """Demonstrate sharing on a temporary PostgreSQL database.

    Two example people, Ann and Ben, share two projects, each from their own machine. Then a second database shows how people and roles
    control access, and a server answers for both projects until Ctrl-C. Everything is in a temporary directory, which is removed at the
    end.
    """
    from graphmem.sharing.local_postgres import LocalPostgres

    output = here.output
    with tempfile.TemporaryDirectory(prefix="gm-try-", dir=_place()) as folder:
        Path(folder).chmod(0o711)  # the account of PostgreSQL must reach its own directory inside
        server = LocalPostgres(Path(folder) / "pg", durable=False)
        # By default SIGTERM ends this process at once and leaves the database; a shell starts background commands without SIGINT.
        before = {one: signal.signal(one, _interrupt) for one in (signal.SIGTERM, signal.SIGINT)}
        try:
            server.start()
            url = server.make("organisation")
            output.line("A PostgreSQL was started for this example. It listens on a socket alone.")
            _story(output, Path(folder), url)
            _people(output, Path(folder), server.make("people"))
            if not once:
                with contextlib.suppress(KeyboardInterrupt), _serving(output, Path(folder), server.make("graphs")):
                    output.line()
                    output.line("It still runs. To share a project of yours, run there, in another terminal:")
                    output.line((f"  graphmem sync '{url}'", SHOWN))
                    output.line("Ctrl-C ends the database and removes it.")
                    while True:
                        wait_for_signal()
        finally:
            server.stop()
            for one, handler in before.items():
                signal.signal(one, handler)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _place() -> str:
    """Return a directory for temporary files with a short path.

    A socket is created in the directory. The path of a socket may have only about a hundred characters.
    """
    if given := os.environ.get("TMPDIR"):
        return given
    return "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else "/tmp"  # noqa: S108 - private directories are made in it


def _story(output: Output, folder: Path, url: str) -> None:
    """Demonstrate how two people share memories; print what they do and see."""
    from graphmem.sharing.postgres import SharedLog

    with _machine(folder, "shop", "Ann") as ann, _machine(folder, "shop", "Ben") as ben:
        output.line()
        output.line(("1. Ann remembers something, and both run `graphmem sync`", SHOWN))
        told = ann.remember("Prices are whole cents; `rounded` is called once, in `total`.", "decision", source="user_taught").memory
        _exchanged(output, "Ann", ann.sync_memories(url, "example:shop"))
        _exchanged(output, "Ben", ben.sync_memories(url, "example:shop"))
        for hit in ben.memories().memories:
            output.line(f"   Ben knows: {hit.content}  ({', '.join(sorted(one.name for one in hit.about)) or 'about no code'})")
        output.line()
        output.line(("2. Both are offline and change the text", SHOWN))
        ann.update_memory(told.id, content="Prices are whole cents; taxes are rounded for each line.")
        ben.update_memory(told.id, content="Prices are whole cents; taxes are rounded once for each order.")
        ann.sync_memories(url)
        answer = ben.sync_memories(url)
        ann.sync_memories(url)
        for one in answer.disagreements:
            for side in one.sides:
                output.line(f"   {side.person} says: {side.value}")
        output.line("   Both texts are kept, until a person decides with `graphmem memory resolve`.")
        for one in answer.disagreements:
            ben.resolve_conflict(one.sides[1].memory, one.sides[0].memory, note="Ben asked the accountants")
        ben.sync_memories(url)
        ann.sync_memories(url)
        output.line(f"   Ben decides, and Ann knows: {ann.memories().memories[0].content}")
    with _machine(folder, "site", "Ann") as site:
        site.remember("Titles of pages are escaped by the caller.", "gotcha", source="user_taught")
        site.sync_memories(url, "example:site")
    with SharedLog(url, "example:site") as log:
        output.line()
        output.line(("3. The database has both projects", SHOWN))
        output.rows([(one.name, plural(one.operations, "operation")) for one in log.projects()], indent=3)


def _people(output: Output, folder: Path, url: str) -> None:
    """Demonstrate a database with accounts and roles, as two users see it."""
    from graphmem.sharing.organisation import OrganisationDesk

    key, addresses = "example:site", {}
    with OrganisationDesk(url, new=True) as desk:
        desk.found()
        for person, team in (("Ann", "core"), ("Cem", "")):
            addresses[person] = desk.invite(person.lower(), person, team=team, project=key, level="write", admin=False).address
    output.line()
    output.line(("4. Another database has people: Ann is in the team core, Cem is not", SHOWN))
    with _machine(folder / "people", "site", "Ann") as ann, _machine(folder / "people", "site", "Cem") as cem:
        ann.remember("Titles of pages are escaped by the caller.", "gotcha", source="user_taught")
        ann.remember("The site moves to another host in May.", "decision", source="user_taught", visibility="team")
        ann.sync_memories(addresses["Ann"], key)
        cem.sync_memories(addresses["Cem"], key)
        for person, machine in (("Ann", ann), ("Cem", cem)):
            for hit in machine.memories().memories:
                output.line(f"   {person} sees: {hit.content}")


def _colleagues(output: Output, folder: Path, address: str) -> None:
    """Invite three people; two of them store memories that contradict.

    The function prints both opinions, and the address of the page on which the third person decides.
    """
    from graphmem.client.remote import RemoteGraphMem
    from graphmem.security.people import People

    people, tokens = People(folder), {}
    for person, level in (("Ann", "write"), ("Ben", "write"), ("Cem", "curate")):
        code = people.invite(person.lower(), person, project="shop", level=level)
        people.role("site", level, login=person.lower())
        tokens[person] = people.redeem(code, "example")[1]
    people.close()
    output.line()
    output.line(("6. People are invited to the server (`graphmem server invite`), and remember there", SHOWN))
    project = f"{address}/p/shop"
    RemoteGraphMem(project, tokens["Ann"]).remember("`rounded` always returns whole cents.", "decision", source="user_taught")
    RemoteGraphMem(project, tokens["Ben"]).remember("`rounded` never returns whole cents.", "decision", source="user_taught")
    for one in RemoteGraphMem(project, tokens["Cem"]).team_news().disagreements:
        for side in one.sides:
            output.line(f"   Cem reads: {side.person} says {side.value}")
    output.line("   Cem curates the project, and decides on the page News. Open it in a browser, as Cem:")
    output.line((f"   {project}/explore/news#token={tokens['Cem']}", SHOWN))
    output.line("   To push a project of yours as NAME, run in it, in another terminal:")
    output.line((f"   graphmem server role NAME write --login cem --projects {shlex.quote(str(folder))}", SHOWN))
    output.line((f"   graphmem index && GRAPHMEM_SERVER_TOKEN={tokens['Cem']} graphmem push {address}/p/NAME", SHOWN))


@contextlib.contextmanager
def _serving(output: Output, folder: Path, url: str) -> Iterator[None]:
    """Serve both example projects while the block runs.

    The server keeps the graphs in the PostgreSQL database at `url`. The function also prints the steps of the demonstration.
    """
    from graphmem.client.remote import RemoteGraphMem

    command = [sys.executable, "-m", "graphmem", "serve", "--projects", str(folder / "served"), "--store", url, "--port", "0", "--quiet"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHMEM_")} | {"GRAPHMEM_EMBEDDER": "none"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as serving:
        try:
            address = serving.stdout.readline().strip() if serving.stdout is not None else ""
            if not address:
                raise OwnerUnreachableError(
                    "the server of the example organisation ended unexpectedly; correct the error that it printed "
                    "above, and run the command again",
                    address="",
                )
            output.line()
            output.line(("5. Both projects are pushed to a server, which keeps their graphs in PostgreSQL", SHOWN))
            for project in PROJECTS:
                with _machine(folder, project, "Ann") as ann:
                    sent = ann.push_index(f"{address}/p/{project}")
                output.line(f"   {project}: {plural(sent.sent, 'file')} sent")
            for hit in RemoteGraphMem(address).search_projects("total price", limit=1).hits:
                output.line(f"   A search of both finds {hit.hit.qualname} in {hit.project}")
            _colleagues(output, folder / "served", address)
            yield
        finally:
            serving.terminate()


@contextlib.contextmanager
def _machine(folder: Path, project: str, person: str) -> Iterator[GraphMem]:
    """Write and index the example `project` for one person; yield it open.

    Each person gets separate files and a separate index, as on a separate machine.
    """
    from graphmem.project.graphmem import GraphMem

    root = folder / person / project
    for name, text in PROJECTS[project].items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    settings = Settings(embedder="none", workers=1, sync_person=person, git_history=False)
    with GraphMem.open(repo=root, settings=settings) as opened:
        opened.index(str(root))
        yield opened


def _exchanged(output: Output, person: str, answer: SharingAnswer) -> None:
    output.line(f"   {person}: {plural(answer.pushed, 'operation')} sent, {plural(answer.added, 'new memory', 'new memories')}")
