"""People of a real server of many projects, who ask every operation through every interface, and the rules for what they may see.

Each memory has a word of its own. Every answer, refusals too, is searched for these words, and each word must be one that the rules give
to the caller. `WALLS` switches each protection off; then the search must find something.
"""

from __future__ import annotations

import contextlib
import json
import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import httpx

from graphmem.mcp_server.tools import TOOLS
from graphmem.operations.declare import Filled, Local, camel, pascal
from graphmem.operations.registry import registry
from graphmem.projection.memories import MemoryIndex
from graphmem.security import access as access_rules
from graphmem.security.access import Guarded
from graphmem.security.people import People
from hosted import SHOP, Hosted, indexed

VISIBILITIES = ("personal", "team", "project", "organization")
LEVELS = ("read", "write", "write", "write", "curate", "admin")
WORD = re.compile(r"zq[a-z]{6}qz")
# Reading operations, asked by everybody in every project.
READING = (
    *("memories", "search", "review_queue", "timeline", "impact", "hover", "outline", "symbol", "ask", "rules"),
    *("export_memories", "audit"),
)
_TEXT = "Prices are rounded late in the shop, says {word}."


class Known(NamedTuple):
    """A memory that somebody wrote."""

    project: str
    word: str
    id: str
    author: str
    team: str
    visibility: str


class Asker(NamedTuple):
    """A person with the roles that the rules give."""

    login: str
    team: str
    levels: Mapping[str, str]
    token: str


class Walls:
    """An organisation on a server."""

    def __init__(self, server: Hosted, root: Path, people: int, teams: int, projects: int, seed: int = 1) -> None:
        self.server, self.random = server, random.Random(seed)
        self.projects = [f"shop{n}" for n in range(projects)]
        self.memories: list[Known] = []
        self._words: dict[str, Known] = {}
        self.calls = self.words = 0
        self.missing: list[str] = []
        self.http = httpx.Client(timeout=120, trust_env=False)
        with indexed(root / "shop", SHOP) as own:
            for name in self.projects:
                own.push_index(server.project(name))
        self.people = [self._person(n, teams) for n in range(people)]
        for one in self.people:
            self._write(one)

    def close(self) -> None:
        self.http.close()

    def sees(self, one: Asker, known: Known) -> bool:
        """The rule, said once more and in other words than in the program."""
        if known.project not in one.levels:
            return False
        if known.visibility == "personal":
            return known.author == one.login
        if known.visibility == "team":
            return known.author == one.login or known.team == one.team
        return True

    # ---- asking

    def leaks(self, askers: list[Asker] | None = None) -> list[str]:
        """Ask everything as everybody; return what was shown against the rules."""
        return list(self._leaks(askers or self.people))

    def is_leaking(self, askers: list[Asker]) -> bool:
        """Whether anything is shown against the rules; ask until it is found."""
        return next(self._leaks(askers), None) is not None

    def rights(self) -> list[tuple[Asker, str]]:
        """Return a person and a project for each distinct right, chosen at random.

        A right is a role (or none) in a project, with a team. Two people with the same right differ in the memories that they wrote.
        """
        found: dict[tuple[str, str], list[tuple[Asker, str]]] = {}
        for one in self.people:
            for project in self.projects:
                found.setdefault((one.levels.get(project, ""), one.team), []).append((one, project))
        return [self.random.choice(some) for _, some in sorted(found.items())]

    def leaks_by_right(self) -> list[str]:
        """Ask everything once with each distinct right, and for the list of memories as everybody in every project.

        The lists must equal the rules in both directions, so people with one right differ only in what the rules give.
        """
        found = [said for one, project in self.rights() for said in self._shown(one, project, registry())]
        for one in self.people:
            for project in self.projects:
                found += self._shown(one, project, ("memories",))
                self._expect_all(one, project)
        return found

    def _leaks(self, askers: list[Asker]) -> Iterator[str]:
        for number, one in enumerate(askers):
            mine = sorted(one.levels)[number % len(one.levels)]
            for project in self.projects:
                yield from self._shown(one, project, registry() if project == mine else READING)
                self._expect_all(one, project)

    def _shown(self, one: Asker, project: str, operations: Any) -> Iterator[str]:
        for name, said in self._answers(one, project, operations):
            self.calls += 1
            for word in set(WORD.findall(said)):
                self.words += 1
                known = self._by_word[word]
                if not self.sees(one, known):
                    yield f"{one.login} in {project} by {name}: {known}"

    def _expect_all(self, one: Asker, project: str) -> None:
        seen = set(WORD.findall(self._graphql(one, project, "memories")))
        wanted = {known.word for known in self.memories if known.project == project and self.sees(one, known)}
        self.missing += [f"{one.login} in {project} does not see {word}" for word in wanted - seen]

    def _answers(self, one: Asker, project: str, operations: Any) -> Iterator[tuple[str, str]]:
        for name in operations:
            if registry()[name].hints.root:
                yield f"GraphQL {name}", self._graphql(one, project, name)
        if len(operations) < len(registry()):
            return
        head = {"Authorization": f"Bearer {one.token}"}
        for path in ("/export.jsonl", "/metrics", "/push", "/ready"):
            yield path, self.http.get(self.server.project(project) + path, headers=head).text
        document = {"content": "- x", "path": "a.md"}
        yield "/import", self.http.post(self.server.project(project) + "/import", json=document, headers=head).text
        several: dict[str, dict[str, Any]] = {
            "Projects": {},
            "SearchProjects": {"query": "prices rounded late", "limit": 50},
            "ImpactProjects": {"target": "rounded", "inProject": project},
        }
        for name, variables in several.items():
            yield f"server {name}", self._post(self.server.address + "/graphql", {"operationName": name, "variables": variables}, one.token)
        yield from self._tools(one, project)

    def _graphql(self, one: Asker, project: str, name: str) -> str:
        operation = registry()[name]
        hidden = self._hidden(one, project)
        given: dict[str, Any] = {}
        for parameter in operation.parameters:
            if parameter.has(Filled) or parameter.has(Local) or not (parameter.is_required or parameter.name in ASKED):
                continue
            value = ASKED.get(parameter.name, "prices rounded late")
            given[camel(parameter.name)] = self._filled(value, hidden)
        if name == "memories":
            given = {"first": 1_000}
        if operation.hints.packed is not None:
            given = {"input": {"content": "Prices are rounded late in the shop, says nobody.", **given}}
        return self._post(self.server.project(project) + "/graphql", {"operationName": pascal(name), "variables": given}, one.token)

    def _post(self, address: str, body: Any, token: str, **headers: str) -> str:
        return self.http.post(address, json=body, headers={"Authorization": f"Bearer {token}", **headers}).text

    def _tools(self, one: Asker, project: str) -> Iterator[tuple[str, str]]:
        address = self.server.project(project) + "/mcp"
        headers = {"Authorization": f"Bearer {one.token}", "Accept": "application/json, text/event-stream"}
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "walls", "version": "1"}}
        begun = self.http.post(address, json={"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client}, headers=headers)
        if begun.status_code != 200:
            yield "MCP initialize", begun.text
            return
        headers["Mcp-Session-Id"] = begun.headers["mcp-session-id"]
        self.http.post(address, json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=headers)
        hidden = self._hidden(one, project)
        for name, tool in TOOLS.items():
            known = tool.schema["properties"]
            needed = [key for key in known if key in tool.schema.get("required", ())]
            given = {key: self._filled(ASKED.get(key, "prices rounded late"), hidden) for key in needed}
            call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": given}}
            yield f"MCP {name}", self.http.post(address, json=call, headers=headers).text
            if "everywhere" in known:
                given["everywhere"] = True
                yield f"MCP {name} everywhere", self.http.post(address, json=call, headers=headers).text
        self.http.delete(address, headers=headers)

    @staticmethod
    def _filled(value: Any, hidden: str) -> Any:
        return json.loads(json.dumps(value).replace("HIDDEN", hidden))

    def _hidden(self, one: Asker, project: str) -> str:
        """The id of a memory that the caller may not see, to try it."""
        return next((known.id for known in self.memories if known.project == project and not self.sees(one, known)), "none")

    # ---- the organisation

    @property
    def _by_word(self) -> dict[str, Known]:
        if len(self._words) < len(self.memories):
            self._words = {known.word: known for known in self.memories}
        return self._words

    def _person(self, n: int, teams: int) -> Asker:
        people, login, team = self.server.people, f"p{n}", f"t{n % teams}"
        code = people.invite(login, team=team)
        levels = {}
        for project in self.random.sample(self.projects, max(1, len(self.projects) // 4)):
            levels[project] = self.random.choice(LEVELS)
            people.role(project, levels[project], login=login)
        return Asker(login, team, levels, people.redeem(code, "walls")[1])

    def _write(self, one: Asker) -> None:
        for project, level in one.levels.items():
            if level == "read":
                continue
            words = [f"zq{''.join(self.random.choices('abcdefghijklmnop', k=6))}qz" for _ in VISIBILITIES]
            ids = [f"m{self.random.getrandbits(64):016x}" for _ in VISIBILITIES]  # without the words, which refusals repeat
            items = [
                {"content": _TEXT.format(word=word), "visibility": visibility, "symbols": ["rounded"], "id": id_}
                for id_, word, visibility in zip(ids, words, VISIBILITIES, strict=True)
            ]
            body = {"operationName": "RememberMany", "variables": {"items": items}}
            said = self._post(self.server.project(project) + "/graphql", body, one.token)
            assert '"errors"' not in said, said
            self.memories += [
                Known(project, word, id_, one.login, one.team if visibility == "team" else "", visibility)
                for id_, word, visibility in zip(ids, words, VISIBILITIES, strict=True)
            ]


ASKED: dict[str, Any] = {
    "query": "prices rounded late",
    "question": "which prices are rounded late",
    "task": "round prices late",
    "text": "prices are rounded late",
    "content": "Prices are rounded late, says nobody.",
    "id": "HIDDEN",
    "ids": ["HIDDEN"],
    "keep": "HIDDEN",
    "over": "HIDDEN",
    "ref": "rounded",
    "refs": ["rounded"],
    "seeds": ["rounded"],
    "targets": ["rounded"],
    "target": "rounded",
    "source": "total",
    "symbol": "rounded",
    "file": "shop/price.py",
    "files": ["shop/price.py"],
    "paths": ["shop/price.py"],
    "path": "shop/price.py",
    "module": "shop",
    "line": 1,
    "column": 4,
    "items": [{"content": "Prices are rounded late, says nobody else.", "derivedFrom": ["HIDDEN"]}],
    "events": [],
    "payload": "{}",
    "address": "http://127.0.0.1:9/p/x",
}


@contextlib.contextmanager
def _patched(target: Any, name: str, value: Any) -> Iterator[None]:
    with mock.patch.object(target, name, value):
        yield


def _everything(people: People, project: str, login: str, teams: frozenset[str]) -> Mapping[str, frozenset[str]]:
    every = frozenset(row[0] for row in people._rows("SELECT memory FROM owner WHERE project = ?", project))
    return {"personal": every, "team": every}


# Protection -> what switches it off.
WALLS: dict[str, Any] = {
    "rows of the memories": lambda: _patched(MemoryIndex, "_hidden", lambda self: frozenset()),
    "memories of a person and a team": lambda: _patched(People, "seen", _everything),
    "roles in a project": lambda: _patched(People, "level", lambda self, login, teams, project: "admin"),
    "operations over every memory": lambda: _patched(access_rules.Access, "sees_all", property(lambda self: True)),
    "memories named by id": lambda: _patched(Guarded, "_see", lambda self, memory: self._service.memory(memory)),
}
