"""GraphQL over HTTP for the Python client, one request for each operation.

The module uses only the standard library, so that the command line starts fast.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, Final
from urllib.parse import urlsplit

from graphmem import answers, errors
from graphmem.client.decode import decoder
from graphmem.runtime.identity import INDEX_HEADER
from graphmem.runtime.network.paths import GRAPHQL_PATH

_ERRORS: dict[str, type[errors.GraphMemError]] = {
    "BAD_INPUT": errors.BadInputError,
    "LIMIT": errors.LimitError,
    "TIMEOUT": errors.DeadlineError,
    "UNAUTHENTICATED": errors.UnauthenticatedError,
    "FORBIDDEN": errors.ForbiddenError,
    "CONFLICT": errors.StoreBusyError,
}

FOR_EVER: Final = 0.0  # a large index takes minutes, and the server ends hanging requests
_ELSEWHERE = "check the address, and whether the server runs"
_RESTART = "run `graphmem serve` to start it, or to see which process to end first"
_CHECK = "check that it is a graphmem server"
_RETRY = "check the server and try again"


class Wire:
    """Sends requests to one server. Thread-safe.

    Each request has its own connection. Proxies are not used.

    Args:
        address: address of the server.
        token: the token for the server; "" when it needs none.
        timeout_s: maximum wait for the next bytes of an answer.
        index: id of the expected index (see `graphmem.runtime.identity`); "" to expect the index from which the first answer comes. An
            answer from another index is an error.
    """

    def __init__(self, address: str, token: str, timeout_s: float, index: str = "") -> None:
        self.address = address
        self._index = index
        self._advice = _RESTART if index else _ELSEWHERE
        self._parts = urlsplit(address)
        if self._parts.scheme not in ("http", "https") or not self._parts.hostname:
            raise errors.BadInputError(
                f"{address!r} is not the address of a graphmem server; write http://host:port", argument="address", value=address
            )
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._timeout_s = timeout_s

    def ask(
        self, operation: str, timeout_s: float | None = None, more: Mapping[str, object] | None = None, **variables: object
    ) -> dict[str, Any]:
        """Run an operation in `queries/operations` and return its data.

        A variable that is None is not sent, so the operation uses its default.

        Args:
            operation: name of the operation.
            timeout_s: maximum wait for the next bytes; None for the default of this object, 0 for no limit.
            more: variables whose names are keywords in Python.
            **variables: variables by their GraphQL names.

        Raises:
            GraphMemError: the server's error.
            OwnerUnreachableError: the server does not answer.
        """
        with self._request(
            "POST", GRAPHQL_PATH, _body(operation, {**variables, **(more or {})}), "application/json", timeout_s
        ) as response:
            answer = _json(response.read())
        if answer is None:
            raise self._unreachable(f"the server at {self.address} answered {response.status} {response.reason}; {_CHECK}")
        if answer.get("errors"):
            raise error_of(answer["errors"][0])
        return dict(answer["data"])

    def plain(self, path: str, body: Mapping[str, object], timeout_s: float | None = None) -> dict[str, Any]:
        """Send a JSON request to a path; return the whole JSON answer.

        `body` is the request as a mapping, and `timeout_s` the maximum wait for the next bytes. The errors are those of `ask`.
        """
        with self._request("POST", path, json.dumps(body).encode(), "application/json", timeout_s) as response:
            answer = _json(response.read())
        if answer is None:
            raise self._unreachable(f"the server at {self.address} answered {response.status} {response.reason}; {_CHECK}")
        if answer.get("errors"):
            raise error_of(answer["errors"][0])
        return answer

    def post(self, path: str, body: Mapping[str, object], timeout_s: float) -> dict[str, Any]:
        """Send a JSON request to a path; return the object `data` of the answer.

        `body` is the request as a mapping, and `timeout_s` the maximum wait for the next bytes. The method `plain` returns the whole
        answer. Both methods raise the same errors as `ask`.
        """
        return dict(self.plain(path, body, timeout_s)["data"])

    def stream(self, operation: str, **variables: object) -> Iterator[dict[str, Any]]:
        """Yield the data of each event of a subscription, as the server sends it."""
        with self._request("POST", GRAPHQL_PATH, _body(operation, variables), "text/event-stream", 0) as response:
            data: list[bytes] = []
            for raw in response:
                line = raw.rstrip(b"\r\n")
                if line.startswith(b"data:"):
                    data.append(line[5:].lstrip())
                elif not line and data:
                    step = _json(b"\n".join(data))
                    data.clear()
                    if step and step.get("errors"):
                        raise error_of(step["errors"][0])
                    if step and step.get("data"):
                        yield step["data"]

    def lines(self, path: str) -> Iterator[dict[str, Any]]:
        """Yield the JSON objects of a resource with one object in each line."""
        with self._request("GET", path, None, "application/x-ndjson", 0) as response:
            if response.status != 200:
                answer = _json(response.read()) or {}
                raise (
                    error_of(answer["errors"][0])
                    if answer.get("errors")
                    else self._unreachable(f"the server at {self.address} answered {response.status}; {_CHECK}")
                )
            for line in response:
                yield json.loads(line)

    @contextlib.contextmanager
    def _request(self, method: str, path: str, body: bytes | None, accept: str, timeout_s: float | None) -> Iterator[HTTPResponse]:
        kind = HTTPSConnection if self._parts.scheme == "https" else HTTPConnection
        patience = self._timeout_s if timeout_s is None else timeout_s or None
        connection = kind(self._parts.hostname or "", self._parts.port, timeout=patience)
        headers = {"Accept": accept, **self._headers}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if self._index:
            headers[INDEX_HEADER] = self._index
        with contextlib.closing(connection):
            try:
                connection.request(method, self._parts.path.rstrip("/") + path, body, headers)
                response = connection.getresponse()
            except TimeoutError as reason:
                raise self._unreachable(f"the server at {self.address} did not answer within {patience:g} s; {self._advice}") from reason
            except (OSError, HTTPException) as reason:
                raise self._unreachable(
                    f"the server at {self.address} cannot be reached ({str(reason) or type(reason).__name__}); {self._advice}"
                ) from reason
            self._expect_index(response)
            try:
                yield response
            except (OSError, HTTPException) as reason:
                raise self._unreachable(
                    f"the server at {self.address} stopped answering ({str(reason) or type(reason).__name__}); {_RETRY}"
                ) from reason

    def _expect_index(self, response: HTTPResponse) -> None:
        """Check that an answer comes from the expected index.

        Raises:
            WrongIndexError: the answer comes from another index, or from a program that is not a graphmem server.
        """
        found = response.getheader(INDEX_HEADER, "")
        if not self._index:
            self._index = found
        elif found != self._index and (found or response.status < 400):  # what stands in front of a server fails without naming one
            what = "it refused the request" if response.status == 421 else "graphmem ignored its answer"
            raise errors.WrongIndexError(
                f"the server at {self.address} now serves another index, so {what}; repeat the command to find the right server",
                address=self.address,
                expected=self._index,
                found=found,
            )

    def _unreachable(self, message: str) -> errors.OwnerUnreachableError:
        return errors.OwnerUnreachableError(message, address=self.address)


def _body(operation: str, variables: Mapping[str, object]) -> bytes:
    given = {name: value for name, value in variables.items() if value is not None}
    return json.dumps({"operationName": operation, "variables": given}).encode()


def _json(body: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(body)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def error_of(error: Mapping[str, Any]) -> errors.GraphMemError:
    """Convert an error in a server's answer to an exception of graphmem."""
    message = str(error.get("message", "the server refused"))
    facts: dict[str, Any] = {name: value for name, value in dict(error.get("extensions") or {}).items() if name != "code"}
    code = (error.get("extensions") or {}).get("code", "INTERNAL")
    kind = getattr(errors, str(facts.pop("error", "")), None)
    if not (isinstance(kind, type) and issubclass(kind, errors.GraphMemError)):
        kind = _ERRORS.get(code, errors.GraphMemError)  # refused before a verb was called
    if kind is errors.AmbiguousSymbolError:
        facts["candidates"] = [decoder(answers.SymbolInfo)(one) for one in facts.get("candidates", ())]
    return kind(message, **facts)
