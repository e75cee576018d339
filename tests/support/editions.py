"""Two editions of one index, and the committed GraphQL questions to both: a graph in a file, and one in PostgreSQL."""

from __future__ import annotations

import base64
import http.client
import json
import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from graphql import GraphQLEnumType, ListTypeNode, NonNullTypeNode, OperationDefinitionNode, OperationType, parse

from graphmem.api.app import build_app
from graphmem.api.execution.persisted import load_operations
from graphmem.api.requests.limits import ServerLimits
from graphmem.api.schema import build_schema
from graphmem.api.serve import Server
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

# These report on the process, its files, its engine or the hashes of its journal.
OF_THE_EDITION: Final = {"Audit", "Backups", "Cypher", "Doctor", "Health", "Project", "Report", "SharingStatus", "VerifyIndex"}
RULES: Final = '[[rule]]\nname = "one"\nfrom = "*"\nmay_not_use = ["tests/*"]\n'
ALSO: Final = {"CheckArchitecture": {"rules": RULES}, "ImpactOfDiff": {"base": "HEAD~1"}, "Review": {"base": "HEAD~1"}}
MEMORY: Final = "taught-one"
_MOMENT: Final = re.compile(rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?")
_UUID: Final = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_SALTED: Final = re.compile(rb'"name":"[0-9a-f]{12}"')  # a person, by a salt of the index directory
_SHARE: Final = re.compile(rb"-?\d+\.\d+(e-?\d+)?")
_SECONDS: Final = re.compile(rb'"(seconds|tookMs|ms)":[0-9.e-]+')


class Question(NamedTuple):
    """A committed document with values for its required variables."""

    document: str
    variables: dict[str, Any]


class Served:
    """A server over an open index, in this process."""

    def __init__(self, service: GraphMem) -> None:
        self.service = service
        ready = threading.Event()
        self._server = Server(build_app(service), "127.0.0.1", 0)
        self._thread = threading.Thread(target=self._server.run, args=(lambda host, port: ready.set(),))
        self._thread.start()
        assert ready.wait(20)
        self._http = http.client.HTTPConnection("127.0.0.1", self._server.port, timeout=120)

    def ask(self, question: Question) -> bytes:
        """The body of the answer."""
        body = json.dumps({"operationName": question.document, "variables": question.variables})
        self._http.request("POST", "/graphql", body, {"content-type": "application/json"})
        return self._http.getresponse().read()

    def close(self) -> None:
        self._http.close()
        self._server.stop()
        self._thread.join(20)


@contextmanager
def editions(tree: Path, folder: Path, url: str) -> Iterator[tuple[Served, Served]]:
    """Index a tree twice, with the same memory; serve both."""
    with ExitStack() as stack:
        served = []
        for name, store in (("embedded", ""), ("shared", url)):
            settings = Settings(embedder="hashed", workers=1, store=store, seeds=False, git_lessons=False)
            service = stack.enter_context(GraphMem.open(folder / name, repo=tree, settings=settings))
            service.index(tree)
            service.remember("Values are checked before they are used.", type="gotcha", id=MEMORY, tags=["checks"])
            service.fill_vectors(background=False)
            service.wait_until_ready(60)
            service.parts.store.set_meta({"indexed_at": "2026-01-01T00:00:00+00:00"})
            one = Served(service)
            stack.callback(one.close)
            served.append(one)
        yield served[0], served[1]


def questions(service: GraphMem, samples: int) -> list[Question]:
    """Every committed query that has an answer, about some symbols and files of the index."""
    symbols = [row for row in service.parts.store.tables().symbols.to_pylist() if row["kind"] in ("function", "method", "class")]
    chosen = symbols[:: max(1, len(symbols) // samples)][:samples]
    found: dict[str, Question] = {}
    schema = build_schema(ServerLimits()).graphql
    operations = load_operations(schema)
    for name in operations.names:
        node = next(
            one for one in parse(operations.find({"operationName": name}).text).definitions if isinstance(one, OperationDefinitionNode)
        )
        if node.operation is not OperationType.QUERY or name in OF_THE_EDITION:
            continue
        wanted = [(one.variable.name.value, one.type) for one in node.variable_definitions or ()]
        for at, row in enumerate(chosen):
            optional = {"targets": [row["id"]]} if name == "ExportView" else ALSO.get(name, {})
            values = {
                key: _value(name, key, kind.type, row, chosen[at - 1], at, schema)
                for key, kind in wanted
                if isinstance(kind, NonNullTypeNode)
            }
            question = Question(name, {**values, **optional})
            found.setdefault(json.dumps(question), question)
    return list(found.values())


def _value(name: str, key: str, kind: Any, row: dict[str, Any], other: dict[str, Any], at: int, schema: Any) -> Any:
    """A value for a required variable, by its name and type."""
    ref, path = row["id"], row["path"]
    files = {"file": path, "path": path, "module": path}
    if name == "Folder":
        return path.rpartition("/")[0]
    if name == "Module":
        return path
    if isinstance(kind, ListTypeNode):
        of_node = base64.b64encode(f"Symbol:{ref}".encode()).decode()
        return [{"files": path, "paths": path, "ids": of_node}.get(key, ref)]
    if kind.name.value in schema.type_map and isinstance(schema.type_map[kind.name.value], GraphQLEnumType):
        names = list(schema.type_map[kind.name.value].values)
        return names[at % len(names)]
    if kind.name.value == "String":
        texts = {**files, "ref": ref, "source": ref, "target": other["id"], "id": MEMORY, "query": row["name"], "base": "HEAD"}
        texts |= {"question": f"what does {row['name']} do", "task": f"change {row['name']}", "text": row["name"], "before": "explore"}
        return {**texts, "to": "implement"}.get(key, "")
    numbers = {
        "line": row["name_line"],
        "column": row["name_column"],
        "offset": 0,
        "maxDepth": 5,
        "depth": 2,
        "minSessions": 1,
        "commits": 60,
    }
    shares = {"minConfidence": 0.3, "similarity": 0.8, "waitS": 0.0}
    return {"Int": numbers.get(key, 20), "Float": shares.get(key, 0.5), "Boolean": key in ("source", "explain")}[kind.name.value]


class Compared(NamedTuple):
    """Result of a comparison."""

    asked: int
    documents: int
    identical: int  # byte for byte
    moments: int  # but for moments, new ids, durations, and scores beyond the third digit
    refused: int  # among the equal ones: both editions refuse with the same words
    different: list[str]


def compare(one: Served, other: Served, samples: int) -> Compared:
    """Ask both editions every question."""
    asked = questions(one.service, samples)
    identical = moments = refused = 0
    different = []
    for question in asked:
        first, second = one.ask(question), other.ask(question)
        identical += first == second
        moments += first != second and plain(first) == plain(second)
        refused += b'"errors"' in first
        if plain(first) != plain(second):
            different.append(f"{question}\n  {first.decode()[:400]}\n  {second.decode()[:400]}")
    return Compared(len(asked), len({one.document for one in asked}), identical, moments, refused, different)


def plain(answer: bytes) -> bytes:
    """An answer without moments, new ids, salted names and durations."""
    for pattern in (_MOMENT, _UUID, _SALTED, _SECONDS):
        answer = pattern.sub(b"~", answer)
    return _SHARE.sub(lambda found: b"%.3f" % float(found[0]), answer)  # the age of a memory counts in its score
