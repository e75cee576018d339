"""Send the index of a project to a server of several projects.

The server keeps a digest (a hash of the rows in the graph) for each file. Only rows of files with a different digest are sent, with the
text of these files. So a laptop and a CI runner can push alternately, from different indexes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Final, TypedDict
from urllib.parse import urlsplit
from uuid import uuid4

from graphmem.answers.projects import Pushed
from graphmem.contracts import rows as contracts
from graphmem.errors import (
    BadInputError,
    ForbiddenError,
    GenerationChangedError,
    GraphMemError,
    OwnerUnreachableError,
    UnauthenticatedError,
)
from graphmem.history.change_log import GIT, HistoryLog
from graphmem.model import GENERATED
from graphmem.parsing.contents import read_regular
from graphmem.parsing.discovery import content_hash
from graphmem.project.hosted.pushed_branch import checked_out, holds, own_commit
from graphmem.project.hosted.pushed_commits import digest_of, lacking
from graphmem.project.hosted.pushed_rows import FileRows, external_rows, rows_by_file
from graphmem.project.team.sharing import choose_key, kept_key
from graphmem.runtime.lazy import Lazy
from graphmem.runtime.network.outbound import cut_after
from graphmem.runtime.network.pushes import BRANCH_MARK, COMMITS_PATH, FORMAT, KEY_HEADER, PART_BYTES, PUSH_PATH, address_of, is_branch
from graphmem.store.wire import packed

if TYPE_CHECKING:
    from graphmem.project.graph.graph_source import GraphSource
    from graphmem.store.base import GraphStore

TIMEOUT_S: Final = 600.0  # for the server to take a part of the index, or to apply all parts
READ_S: Final = 60.0  # for the server to say what it has
ATTEMPTS: Final = 3  # when another push was faster
LARGEST: Final = 64 << 20  # bytes of a file whose text is sent
META: Final = ("indexed_at", "made_by", "project", "run", "evidence", GENERATED)
_ERRORS: Final[Mapping[str, type[GraphMemError]]] = {
    "UNAUTHENTICATED": UnauthenticatedError,
    "FORBIDDEN": ForbiddenError,
    "BAD_INPUT": BadInputError,
}


class _Part(TypedDict):
    """A part of a pushed index, which is sent in one request."""

    rows: dict[str, list[Any]]  # by table
    externals: dict[str, list[Any]]  # rows of symbols of packages, by id
    texts: dict[str, Any]  # files' texts, by path


@dataclass(eq=False, repr=False)
class Pushing:
    """Sends a project's index to a server of several projects."""

    graph: GraphSource
    store: GraphStore
    log: Lazy[HistoryLog]
    data_dir: Path

    def push_index(self, address: str, token: str = "", branch: str = "", private: bool = False) -> Pushed:
        self.graph.view()
        root = self.graph.root()
        here = checked_out(root)
        branch = "" if (branch or here.branch) == here.main else branch or here.branch
        if branch and not is_branch(branch):
            raise BadInputError(
                f"{branch[:80]!r} cannot be the name of a branch; use a name that Git allows", argument="branch", value=branch[:80]
            )
        if private and not branch:
            raise BadInputError(
                "--private applies only to branches, because everybody in the project can see what is pushed without a branch; "
                "omit --private, or name a branch with --branch",
                argument="private",
            )
        server = _Server(address, token, kept_key(self.data_dir) or choose_key(self.data_dir, root), branch, here.main)
        for attempt in range(ATTEMPTS):
            try:
                return self._push(server, root, private=private)
            except GenerationChangedError:
                if attempt + 1 == ATTEMPTS:
                    raise
        raise AssertionError(
            "every attempt to push ended without an answer and without an error; report this defect to the authors of graphmem"
        )

    def _push(self, server: _Server, root: Path, *, private: bool) -> Pushed:
        held = server.ask("GET", "")
        meta = self.store.meta()
        name = held["project"]
        if name and name != meta.get("project", ""):
            raise BadInputError(
                f"the server got this project from a directory named {name!r}, and yours is named "
                f"{meta.get('project', '')!r}, but ids contain this name; index the project in a directory named "
                f"{name!r}",
                argument="address",
            )
        commits = self._push_commits(server, held.get("commits"))
        known: dict[str, str] = held["files"]
        digests, parts = self._push_files(server, known)
        removed = len(known.keys() - digests.keys())
        merged = [] if server.branch else [name for name, commit in held.get("branches", {}).items() if holds(root, commit)]
        if not parts.files and not removed and known and not merged and not server.branch:
            return Pushed(server.project, held["generation"], 0, 0, len(digests), commits, server.sent, "", [])
        published = contracts.read(self.data_dir)
        keys = [list(one) for one in self.store.framework_keys()]
        last = {
            "format": FORMAT,
            "base": held["generation"],
            "parts": parts.number,
            "digests": digests,
            "meta": {name: meta.get(name, "") for name in META},
            "contracts": {path: [list(row) for row in rows] for path, rows in published.rows.items()} if published is not None else {},
            "handles": keys,
            "commit": own_commit(root) if server.branch else "",
            "private": private,
            "merged": merged,
        }
        answer = parts.end(last)
        return Pushed(
            *(server.project, answer["generation"], parts.files, removed, len(digests) - parts.files, commits, server.sent),
            *(server.branch, answer.get("dropped", [])),
        )

    def _push_files(self, server: _Server, known: Mapping[str, str]) -> tuple[dict[str, str], _Parts]:
        """Send the files that the server lacks.

        `known` has the digests (hashes of the rows) of the server's files.

        Returns:
            The digest of each file by its path, and the sent parts.
        """
        parts = _Parts(server, external_rows(self.store))
        digests: dict[str, str] = {}
        for one in self._files():
            digests[one.path] = one.digest
            if known.get(one.path) != one.digest:
                parts.add(one, self._text(one.path, one.content_hash))
        parts.send()
        return digests, parts

    def _push_commits(self, server: _Server, known: str | None) -> int:
        """Send the commits that the server lacks; return their number.

        Args:
            server: the server.
            known: hash of the server's commits, from `digest_of`; None for a server that takes no commits.
        """
        log = self.log()
        keys = log.keys(GIT)
        if known is None or not keys or known == digest_of(keys):
            return 0
        there: list[str] = server.ask("GET", COMMITS_PATH)["keys"]
        return sum(int(server.ask("POST", COMMITS_PATH, packed(part))["added"]) for part in lacking(log, there))

    def _files(self) -> Iterator[FileRows]:
        """Yield the graph rows of all files of the newest graph, sorted by path.

        The rows of a file are its nodes and the edges that start at them.
        """
        yield from rows_by_file(self.store, self.graph.view(), sorted(self.store.file_hashes()))

    def _text(self, path: str, wanted: str) -> str | None:
        """Return the text of a file as it was indexed; None if it has changed.

        `wanted` is the content hash in the index, with which the file is compared.
        """
        try:
            data = read_regular(str(self.graph.root() / path), LARGEST)
        except OSError:
            return None
        if not isinstance(data, bytes) or content_hash(data) != wanted:
            return None
        return data.decode("utf-8", "surrogateescape")


def _empty() -> _Part:
    return {"rows": {}, "externals": {}, "texts": {}}


class _Server:
    """HTTP client of the server that receives a pushed index."""

    def __init__(self, address: str, token: str, key: str, branch: str, main: str) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname or "/p/" not in parts.path:
            raise BadInputError(
                f"{address[:200]!r} is not the address of a project on a server; write https://host/p/NAME", argument="address"
            )
        if token and parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
            raise BadInputError("the token would be sent unencrypted; use an https address", argument="address")
        self.project = parts.path.rstrip("/").rpartition("/")[2]
        if BRANCH_MARK in self.project:
            raise BadInputError("the address names a branch; give the project's address, and the branch with --branch", argument="address")
        self.branch, self._main = branch, main or "main"
        self.sent = 0
        self._parts = parts
        self._path = parts.path.rstrip("/") + address_of("", branch)
        self._headers = {"Accept": "application/json", "Content-Type": "application/octet-stream", KEY_HEADER: key}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def ask(self, method: str, path: str, body: bytes = b"") -> dict[str, Any]:
        """Send a request and return the JSON object of its answer.

        `path` is appended to the address to which indexes are pushed.

        Raises:
            GraphMemError: the server refuses the request, or cannot be reached.
        """
        from http.client import HTTPConnection, HTTPException, HTTPSConnection

        kind = HTTPSConnection if self._parts.scheme == "https" else HTTPConnection
        patience = TIMEOUT_S if method == "POST" else READ_S
        late = Event()
        with closing(kind(self._parts.hostname or "", self._parts.port, timeout=patience)) as connection:
            try:
                connection.connect()
                with cut_after(connection, patience) as late:
                    connection.request(method, self._path + PUSH_PATH + path, body, self._headers)
                    answer = connection.getresponse()
                    found = json.loads(answer.read())
            except (OSError, HTTPException) as error:
                raise OwnerUnreachableError(self._failure(error, patience, is_late=late.is_set()), address=self._parts.netloc) from error
            except ValueError as error:
                if late.is_set():
                    raise OwnerUnreachableError(self._failure(error, patience, is_late=True), address=self._parts.netloc) from error
                raise OwnerUnreachableError(
                    f"{self._parts.netloc} is not a graphmem server; check the address", address=self._parts.netloc
                ) from error
        self.sent += len(body)
        if answer.status == HTTPStatus.NOT_FOUND and self.branch:
            raise BadInputError(
                f"the branch cannot be pushed, because the server has no project {self.project!r} that you may use; "
                f"push the main branch, {self._main!r}, first, or push the current files as {self._main!r} with `--branch {self._main}`",
                argument="branch",
            )
        if found.get("errors"):
            raise _error(found["errors"][0])
        return dict(found)

    def _failure(self, error: Exception, patience: float, *, is_late: bool) -> str:
        """Return the error message for a request without a complete answer.

        `error` is the reason. `patience` is the time limit in seconds, and `is_late` says that it has passed.
        """
        from http.client import HTTPException

        server = f"the server at {self._parts.netloc}"
        if is_late or isinstance(error, TimeoutError):
            return f"{server} did not answer completely in {patience:g} s; check its load and its log, then push again"
        if isinstance(error, HTTPException):
            return f"{server} closed the connection before the end of its answer; check its log, then push again"
        return f"{server} cannot be reached ({error}); check the address and try again"


class _Parts:
    """Sends files in parts of limited size.

    Attributes:
        files: number of files.
        number: number of sent parts.
    """

    def __init__(self, server: _Server, externals: Mapping[str, Sequence[object]]) -> None:
        self.files = 0
        self.number = 0
        self._server = server
        self._externals = externals
        self._push = uuid4().hex
        self._part = _empty()
        self._size = 0

    def add(self, one: FileRows, text: str | None) -> None:
        """Add the rows of a file, and its text if it is known."""
        self.files += 1
        for table, rows in one.rows.items():
            self._part["rows"].setdefault(table, []).extend(rows)
        targets = {row[2] for row in one.rows.get("edges", ())}
        self._part["externals"].update((id_, list(self._externals[id_])) for id_ in targets & self._externals.keys())
        if text is not None:
            self._part["texts"][one.path] = text
        self._size += sum(len(str(row)) for rows in one.rows.values() for row in rows) + len(text or "")
        if self._size >= PART_BYTES:
            self.send()

    def send(self) -> None:
        """Send the files that were added since the last part, if any."""
        if self._part["rows"]:
            self._server.ask("POST", f"/{self._push}/{self.number}", packed(self._part))
            self._part, self._size, self.number = _empty(), 0, self.number + 1

    def end(self, last: Mapping[str, object]) -> dict[str, Any]:
        """Tell the server that all parts were sent; return its answer (JSON data).

        `last` describes the whole push, for example its number of parts.
        """
        return self._server.ask("POST", f"/{self._push}/end", packed(last))


def _error(error: Mapping[str, Any]) -> GraphMemError:
    facts = {name: value for name, value in dict(error.get("extensions") or {}).items() if name not in ("code", "error")}
    named = (error.get("extensions") or {}).get("error", "")
    if named == GenerationChangedError.__name__:
        return GenerationChangedError(str(error.get("message")), **facts)
    return _ERRORS.get((error.get("extensions") or {}).get("code", ""), GraphMemError)(str(error.get("message")), **facts)
