"""People of a real server of many projects, who ask every operation through every interface, and the rules for what they may see.

Each memory has a word of its own, and each branch has one in its name and one in its code. Every answer, refusals too, is searched for
these words, and each word must be one that the rules give to the caller. A branch that the caller may not see must answer like one that
does not exist. `WALLS` switches each protection off; then the search must find something.
"""

from __future__ import annotations

import contextlib
import json
import random
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import httpx

from graphmem.api.requests.ids import cursor, global_id
from graphmem.mcp_server.tools import TOOLS
from graphmem.operations.declare import camel, pascal
from graphmem.operations.marks import Filled, Local
from graphmem.operations.registry import registry
from graphmem.project.hosted.branches import Branches
from graphmem.projection.memories.index import MemoryIndex
from graphmem.runtime.network.pushes import BRANCH_HEADER, address_of
from graphmem.security import access as access_rules
from graphmem.security.guarded import Guarded
from graphmem.security.memory_owners import MemoryOwners
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


class KnownBranch(NamedTuple):
    """A branch that somebody pushed: a word in its name, and another one in its code."""

    project: str
    name: str
    word: str
    code: str
    author: str
    private: bool


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
        self.branches: list[KnownBranch] = []
        self._words: dict[str, Known | KnownBranch] = {}
        self.calls = self.words = 0
        self.missing: list[str] = []
        self.http = httpx.Client(timeout=120, trust_env=False)
        with indexed(root / "shop", SHOP) as own:
            for name in self.projects:
                own.push_index(server.project(name))
        self.people = [self._person(n, teams) for n in range(people)]
        for one in self.people:
            self._write(one)
        for project in self.projects:
            self._push_branches(root, project)

    def close(self) -> None:
        self.http.close()

    def sees(self, one: Asker, known: Known | KnownBranch) -> bool:
        """The rule, said once more and in other words than in the program."""
        if known.project not in one.levels:
            return False
        if isinstance(known, KnownBranch):
            return not known.private or known.author == one.login
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
        seen = set(WORD.findall(self._graphql(one, project, "memories") + self._graphql(one, project, "projects")))
        every = [*self.memories, *self.branches]
        wanted = {known.word for known in every if known.project == project and self.sees(one, known)}
        self.missing += [f"{one.login} in {project} does not see {word}" for word in wanted - seen]

    def _answers(self, one: Asker, project: str, operations: Any) -> Iterator[tuple[str, str]]:
        for name in operations:
            if registry()[name].hints.root:
                yield f"GraphQL {name}", self._graphql(one, project, name)
        if len(operations) < len(registry()):
            return
        for name, given in DOCUMENTS.items():
            yield f"document {name}", self._document(one, project, name, given)
        yield from self._on_branches(one, project)
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

    def _on_branches(self, one: Asker, project: str) -> Iterator[tuple[str, str]]:
        """Ask branches that the caller may and may not see; the second must answer like branches that do not exist."""
        there = [known for known in self.branches if known.project == project]
        names = [name for name in registry() if registry()[name].hints.root]
        for known in there:
            if self.sees(one, known):
                for name in names:
                    yield f"GraphQL {name} on {known.name}", self._graphql(one, project, name, known.name)
                yield from self._tools(one, project, known.name)
                continue
            missing = "b/zzzzzzzzzzzz"
            for way, ask in (
                *((f"GraphQL {name}", partial(self._graphql, one, project, name)) for name in names),
                ("addresses", partial(self._addresses, one, project)),
                ("projects", partial(self._of_projects, one, project)),
                ("tools", lambda branch: str(list(self._tools(one, project, branch)))),
            ):
                said, unknown = (_unnamed(ask(branch), branch) for branch in (known.name, missing))
                yield f"{way} on {known.name}", said
                if said != unknown:
                    yield f"{way} on {known.name}, unlike an unknown branch, which", known.word

    def _addresses(self, one: Asker, project: str, branch: str) -> str:
        head = {"Authorization": f"Bearer {one.token}"}
        address = self.server.project(address_of(project, branch))
        said = [self.http.get(address + path, headers=head).text for path in ("/export.jsonl", "/ready")]
        body = {"operationName": "DropBranch", "variables": {"name": branch}}
        said += [self._post(at + "/graphql", body, one.token) for at in (address, self.server.project(project))]
        said.append(self._post(self.server.project(project) + "/graphql", body, one.token, **{BRANCH_HEADER: branch}))
        return "\n".join(said)

    def _of_projects(self, one: Asker, project: str, branch: str) -> str:
        place = f"{project}@{branch}"
        several = (
            ("SearchProjects", {"query": "prices", "projects": [place]}),
            ("ImpactProjects", {"target": "rounded", "inProject": place}),
        )
        bodies = [{"operationName": name, "variables": variables} for name, variables in several]
        return "\n".join(self._post(self.server.address + "/graphql", body, one.token) for body in bodies)

    def _graphql(self, one: Asker, project: str, name: str, branch: str = "") -> str:
        operation = registry()[name]
        hidden = self._hidden(one, project)
        given: dict[str, Any] = {}
        for parameter in operation.parameters:
            if parameter.has(Filled) or parameter.has(Local) or not (parameter.is_required or parameter.name in ASKED):
                continue
            value = ASKED.get(parameter.name, "prices rounded late")
            given[camel(parameter.name)] = self._filled(value, hidden)
        given = self._filled(OF[name], hidden) if name in OF else given
        if operation.hints.packed is not None:
            given = {"input": {"content": "Prices are rounded late in the shop, says nobody.", **given}}
        body = {"operationName": pascal(name), "variables": given, **({"extensions": {"branch": branch}} if branch else {})}
        return self._post(self.server.project(project) + "/graphql", body, one.token)

    def _document(self, one: Asker, project: str, name: str, given: Mapping[str, Any]) -> str:
        """Ask a stored document that is not derived from an operation."""
        hidden = self._hidden(one, project)
        variables = {**self._filled(given, hidden)}
        if name == "Nodes":
            variables = {"ids": [global_id("Memory", hidden)]}
        return self._post(self.server.project(project) + "/graphql", {"operationName": name, "variables": variables}, one.token)

    def unexercised(self) -> list[str]:
        """Return operations and documents that even an administrator is refused because of the arguments given here."""
        one = self.people[0]
        project = sorted(one.levels)[0]
        self.server.people.role(project, "admin", login=one.login)
        names = [name for name in registry() if registry()[name].hints.root]
        said = {name: self._graphql(one, project, name) for name in names}
        said |= {name: self._document(one, project, name, given) for name, given in DOCUMENTS.items()}
        return [f"{name}: {text[:300]}" for name, text in said.items() if name not in REFUSED and '"code":"BAD_INPUT"' in text]

    def _post(self, address: str, body: Any, token: str, **headers: str) -> str:
        return self.http.post(address, json=body, headers={"Authorization": f"Bearer {token}", **headers}).text

    def _tools(self, one: Asker, project: str, branch: str = "") -> Iterator[tuple[str, str]]:
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
            if branch:
                given["branch"] = branch
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
    def _by_word(self) -> dict[str, Known | KnownBranch]:
        if not self._words:
            self._words = {known.word: known for known in (*self.memories, *self.branches)}
            self._words |= {known.code: known for known in self.branches}
        return self._words

    def _person(self, n: int, teams: int) -> Asker:
        people, login, team = self.server.people, f"p{n}", f"t{n % teams}"
        code = people.invite(login, team=team)
        levels = {}
        for project in self.random.sample(self.projects, max(1, len(self.projects) // 4)):
            levels[project] = self.random.choice(LEVELS)
            people.role(project, levels[project], login=login)
        return Asker(login, team, levels, people.redeem(code, "walls")[1])

    def _word(self) -> str:
        return f"zq{''.join(self.random.choices('abcdefghijklmnop', k=6))}qz"

    def _push_branches(self, root: Path, project: str) -> None:
        """Push a branch that all see and a private one, and write a memory about the code of each."""
        writers = [one for one in self.people if one.levels.get(project, "read") != "read"]
        for number, one in enumerate(writers[:2]):
            word, code = self._word(), self._word()
            known = KnownBranch(project, f"b/{word}", word, code, one.login, private=not number)
            with indexed(root / known.code / "shop", {**SHOP, "shop/more.py": f"def {code}(prices):\n    return len(prices)\n"}) as own:
                own.push_index(self.server.project(project), one.token, known.name, known.private)
            text = "The branch of `{}` counts prices, says {}."
            for level, about in (("personal", code), ("project", "more.py" if known.private else code)):
                said, id_ = self._word(), f"m{self.random.getrandbits(64):016x}"
                item = {"content": text.format(about, said), "visibility": level, "files": ["shop/more.py"], "id": id_}
                body = {"operationName": "RememberMany", "variables": {"items": [item]}, "extensions": {"branch": known.name}}
                answer = self._post(self.server.project(project) + "/graphql", body, one.token)
                assert '"errors"' not in answer, answer
                self.memories.append(Known(project, said, id_, one.login, "", level))
            self.branches.append(known)

    def _write(self, one: Asker) -> None:
        for project, level in one.levels.items():
            if level == "read":
                continue
            words = [self._word() for _ in VISIBILITIES]
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


_DIFF = (
    "diff --git a/shop/price.py b/shop/price.py\n--- a/shop/price.py\n+++ b/shop/price.py\n@@ -1,2 +1,2 @@\n"
    " def rounded(cents):\n-    return round(cents)\n+    return round(cents, 0)\n"
)
# Arguments of operations for which the values above do not fit.
OF: dict[str, dict[str, Any]] = {
    "memories": {"first": 1_000},
    "folder": {"path": "shop"},
    "module": {"ref": "shop/price.py"},
    "module_dependency": {"src": "shop/app.py", "dst": "shop/price.py"},
    "impact_of_diff": {"diff": _DIFF},
    "review": {"diff": _DIFF},
    "export_view": {"view": "MODULES"},
    "update_memory": {"id": "HIDDEN", "changes": {"title": "Prices"}},
    "context": {"point": "PROMPT", "text": "prices rounded late"},
    "step_limit": {"module": "shop", "base": 3},
    "set_trust_level": {"level": "AUTO"},
    "set_learning": {"state": "ON"},
    "choose_search_weights": {"choice": "BUILT_IN"},
    "choose_phase_weights": {"choice": "BUILT_IN"},
    "decide_disagreement": {"id": "HIDDEN", "field": "text", "side": 0},
}
# Operations that a pushed project refuses whatever is given, and those whose object does not exist there.
REFUSED = {"check_architecture", "drift", "drop_branch", "restore", "commits", "CommitList"}
# Stored documents that are not derived from one operation.
DOCUMENTS: dict[str, dict[str, Any]] = {
    "AtCursor": {"file": "shop/price.py", "line": 1},
    "CommitList": {},
    "ImpactOverview": {"targets": ["rounded"]},
    "Margin": {"path": "shop/price.py"},
    "MemoryMarks": {},
    "ModuleNames": {},
    "ModuleUses": {},
    "MoreEdges": {"ref": "rounded", "after": cursor(0), "callers": True},
    "Nodes": {},
    "Place": {"ref": "rounded"},
    "ReviewCommands": {"diff": _DIFF},
    "Subgraph": {"seeds": ["rounded"]},
    "Symbol": {"ref": "rounded"},
    "TestCommands": {"targets": ["rounded"]},
}


def _unnamed(said: str, branch: str) -> str:
    """An answer without the name of the branch that the caller gave."""
    for name in (branch, branch.replace("/", "~")):
        said = said.replace(name, "BRANCH")
    return said


@contextlib.contextmanager
def _patched(target: Any, name: str, value: Any) -> Iterator[None]:
    with mock.patch.object(target, name, value):
        yield


def _everything(owners: MemoryOwners, project: str, login: str, teams: frozenset[str]) -> Mapping[str, frozenset[str]]:
    every = frozenset(row[0] for row in owners._file.rows("SELECT memory FROM owner WHERE project = ?", project))
    return {"personal": every, "team": every}


# Protection -> what switches it off.
WALLS: dict[str, Any] = {
    "rows of the memories": lambda: _patched(MemoryIndex, "_hidden", lambda self: frozenset()),
    "memories of a person and a team": lambda: _patched(MemoryOwners, "seen", _everything),
    "roles in a project": lambda: _patched(People, "level", lambda self, login, teams, project: "admin"),
    "branches of a person": lambda: _patched(Branches, "seen_by", lambda self, login: self.all()),
    "operations over every memory": lambda: _patched(access_rules.Access, "sees_all", property(lambda self: True)),
    "memories named by id": lambda: _patched(Guarded, "_see", lambda self, memory: self._service.memory(memory)),
}
