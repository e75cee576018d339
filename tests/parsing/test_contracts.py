"""Routes, clients, topics and schemas: `contracts.txt` has source, and after each line what it must give."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graphmem.parsing.contracts.paths import address, route_path
from graphmem.parsing.discovery import FoundFile
from graphmem.parsing.worker import parse_file

FIXTURE = (Path(__file__).parent / "contracts.txt").read_text(encoding="utf-8")
CASES = [re.match(r"(\w+) (\S+)\n(.*)", part, re.DOTALL).groups() for part in FIXTURE.split("== ")[1:]]


@pytest.mark.parametrize(("language", "name", "text"), CASES, ids=[name for _, name, _ in CASES])
def test_a_file_gives_exactly_the_ends_that_are_named(tmp_path, language, name, text):
    lines = text.splitlines(keepends=True)
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("".join(line for line in lines if not line.startswith("#! ")))
    ends = parse_file(FoundFile(name, str(tmp_path / name), 0, "", language), "project").facts.ends
    wanted = sorted(line[3:].strip() for line in lines if line.startswith("#! "))
    shown = [end for end in ends if end[0] in ("offers", "asks", "declares") or (end[0] == "mounts" and end[6])]
    assert sorted(" ".join((*end[:3], *(part for part in end[5:6] if "." in part))) for end in shown) == wanted


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("/users/<int:id>", "/users/{}"),
        ("users/:id?", "/users/{}"),
        (r"^a/(?P<pk>\d+)/$", "/a/{}"),
        ("/files/{path:path}", "/files/**"),
        ("/owners/*/pets", "/owners/{}/pets"),
        ("/by/{name:minlength(1)}", "/by/{}"),
        ("", "/"),
    ],
)
def test_routes_of_all_frameworks_have_one_form(written, normal):
    assert route_path(written) == normal


def test_an_address_needs_a_path_that_is_known() -> None:
    assert address("http://{}:8080/users/{}", relative=False) == ("{}:8080", "/users/{}")
    assert address("{}/users", relative=False) == ("", "/users")
    assert address("{}", relative=True) is None
    assert address("http://host/", relative=True) is None
