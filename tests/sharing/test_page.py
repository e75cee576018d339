"""The commands of docs/organisation.md, and the example, run as they are printed."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from commands import environ, git, graphmem
from graphmem.client.remote import RemoteGraphMem

PAGE = Path(__file__).parents[2] / "docs" / "organisation.md"
__all__ = ["environ", "graphmem"]
KEY = "git:0123456789abcdef0123456789abcdef01234567"  # the page has its beginning
ADDRESS = "postgresql://db.example.com/team"


def test_the_pages_commands_share_between_two_clones(tmp_path, url, graphmem) -> None:
    first, second = tmp_path / "first", tmp_path / "another name"
    first.mkdir()
    (first / "price.py").write_text("def total(prices):\n    return sum(prices)\n", encoding="utf-8")
    git(first, "init", "-q")
    git(first, "add", ".")
    git(first, "commit", "-qm", "Begin")
    git(tmp_path, "clone", "-q", str(first), str(second))
    text = PAGE.read_text(encoding="utf-8")
    [block] = re.findall(r"```bash\n(.*?)```", text, re.DOTALL)
    assert ADDRESS in block
    for line in block.replace(ADDRESS, f"'{url}'").splitlines():
        program, *words = shlex.split(line)
        assert program == "graphmem"
        ran = graphmem(*words, cwd=first)
        assert ran.code == 0, ran.said
    answer = json.loads(graphmem("sync", "--json", cwd=second, GRAPHMEM_SYNC_URL=url).out)
    assert (answer["added"], answer["project"][:4]) == (1, "git:")
    findings = {one["name"]: one for one in json.loads(graphmem("doctor", "--json", cwd=second).out)["findings"]}
    assert (findings["sharing"]["level"], findings["sharing"]["data"]["waiting"]) == ("ok", 0)


def test_the_pages_commands_make_an_organisation(tmp_path, url, graphmem) -> None:
    assert graphmem("sync", url, "--key", KEY, cwd=tmp_path).code == 0
    assert graphmem("remember", "Prices are whole cents.", cwd=tmp_path).code == 0
    [block] = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    person = f"ann_{tmp_path.name[-20:].replace('-', '_')}"
    said = []
    for line in block.replace("postgresql://owner@db.example.com/team", f"'{url}'").replace(" ann", f" {person}").splitlines():
        ran = graphmem(*shlex.split(line)[1:], cwd=tmp_path)
        assert ran.code == 0, ran.said
        said.append(ran.out)
    [address] = re.findall(r"GRAPHMEM_SYNC_URL='(.*)'", said[1])
    assert address.startswith(f"postgresql://{person}:")
    assert "1 person, 1 team" in said[3]
    assert f"write in {KEY}" in said[3], "the beginning of the key is enough"
    assert f"curate in {KEY}" in said[3]
    ran = graphmem("sync", "--json", cwd=tmp_path, GRAPHMEM_SYNC_URL=address)
    assert (json.loads(ran.out)["pushed"], json.loads(ran.out)["person"]) == (1, "Ann")
    assert "1 memory learnt" in graphmem("organisation", "news", cwd=tmp_path).out
    for given, message in (
        ("git:9999", "unknown project 'git:9999'"),
        ("shpo", f"use a project of the team's database ({{NAME}} ({KEY}))"),
    ):
        ran = graphmem("organisation", "role", given, "read", "--login", person, "--url", url, cwd=tmp_path)
        assert (ran.code, message.format(NAME=tmp_path.name) in ran.said) == (2, True), ran.said
    ran = graphmem("organisation", "role", tmp_path.name, "admin", "--login", person, "--url", url, cwd=tmp_path)
    assert f"admin in {KEY}" in ran.out, ran.said
    exported = graphmem("organisation", "export", person, "--url", url, cwd=tmp_path)
    assert {"person", "role", "memory", "operation"} <= {json.loads(line)["kind"] for line in exported.out.splitlines()}, exported.said
    assert "no entries that you may see" in graphmem("organisation", "audit", "--url", address, cwd=tmp_path).out
    ran = graphmem("organisation", "erase", person, "--confirm", person, "--url", url, cwd=tmp_path)
    assert "Erased: 1 memory" in ran.out, ran.said


def test_the_example_tells_its_story_and_removes_everything(tmp_path, postgres, graphmem) -> None:
    with tempfile.TemporaryDirectory(prefix="gm-t-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as place:  # a short path
        Path(place).chmod(0o711)
        said = graphmem("organisation", "try", "--once", cwd=tmp_path, TMPDIR=place).out
        assert [*Path(place).iterdir()] == []
    assert "Ben knows: Prices are whole cents" in said
    assert "Ann says: Prices are whole cents; taxes are rounded for each line." in said
    assert "Ben says: Prices are whole cents; taxes are rounded once for each order." in said
    assert "Ann sees: The site moves to another host in May." in said
    assert "Cem sees: Titles of pages are escaped by the caller." in said
    assert "Cem sees: The site moves" not in said
    assert "Ann knows: Prices are whole cents; taxes are rounded once for each order." in said


@pytest.mark.parametrize("ended_by", [signal.SIGTERM, signal.SIGINT])
def test_the_example_ends_its_database_when_it_is_ended(tmp_path, postgres, environ, ended_by) -> None:
    command = [sys.executable, "-m", "graphmem", "organisation", "try"]
    with subprocess.Popen(
        ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", *command],  # as the shell starts a command with `&`
        cwd=tmp_path,
        env={**os.environ, **environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    ) as example:
        try:
            assert example.stdout is not None
            shown = re.compile(r"(http://\S+)/p/shop/explore/news#token=(\S+)")
            address, token = next((found[1], found[2]) for line in example.stdout if (found := shown.search(line)))
            assert "To push a project of yours" in example.stdout.readline()
            words = shlex.split(example.stdout.readline().replace("NAME", "mine"))
            assert words[0] == "graphmem"
            given = subprocess.run(
                [sys.executable, "-m", *words], env={**os.environ, **environ}, capture_output=True, text=True, check=True
            )
            assert given.stdout == "cem: write in mine\n"
            assert f"GRAPHMEM_SERVER_TOKEN={token} graphmem push {address}/p/NAME" in example.stdout.readline()
            assert [one.name for one in RemoteGraphMem(address, token).projects().projects] == ["shop", "site"]
            [one] = RemoteGraphMem(f"{address}/p/shop", token).team_news().disagreements
            assert [side.person for side in one.sides] == ["Ann", "Ben"]
            folder = next(re.findall(r"host=%2F(\S+?)%2Fpg'", line)[0] for line in example.stdout if "postgresql://" in line)
            assert Path("/" + folder.replace("%2F", "/")).is_dir()
            assert "Ctrl-C ends the database" in example.stdout.readline()
            example.send_signal(ended_by)
            assert example.wait(30) == 0
        finally:
            if example.poll() is None:
                example.terminate()
    assert not Path("/" + folder.replace("%2F", "/")).exists()
