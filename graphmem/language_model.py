"""A small client of a language model, for all features that use one.

The client uses only chat completions of the OpenAI-compatible protocol over HTTP/1.1, and only if a model is configured. Answers are
untrusted data. The client limits sizes, times and attempts, and validates JSON answers against a schema. The caller decides how to use an
answer. Redirects are never followed, so texts and the key are sent only to the configured host.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from graphmem.errors import LanguageModelError, SettingsError
from graphmem.runtime.network.outbound import Outbound, OutboundError

if TYPE_CHECKING:
    from graphmem.settings import Settings

MAX_REQUEST: Final = 131_072  # bytes of one request
MAX_ANSWER: Final = 262_144  # bytes of one response, with its text
FAILURES: Final = 3  # consecutive failures before a pause
REST_S: Final = 60.0  # seconds of that pause

_log = logging.getLogger(__name__)


class LanguageModel:
    """A configured language model. Thread-safe.

    Args:
        url: base address of the service, as in its documentation: `https://host/v1`.
        name: name of the model.
        key: sent as a bearer token; "" to send no token.
        timeout_s: time limit of one request with all its attempts.
        clock: monotonic clock in seconds; for tests.

    Raises:
        SettingsError: the address is invalid or contains a password, or the key would be sent unencrypted.
    """

    def __init__(self, url: str, name: str, key: str = "", *, timeout_s: float = 20.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._outbound = Outbound(url, "/chat/completions", key, setting="model_url", timeout_s=timeout_s, most=MAX_ANSWER, clock=clock)
        if not name:
            raise SettingsError("the setting model_url is set but model_name is not; set model_name", setting="model_name", value="")
        self.name = name
        self.host = self._outbound.host
        self.timeout_s = timeout_s
        self._clock = clock
        self._lock = threading.Lock()
        self._failed = 0
        self._rests_until = float("-inf")

    @property
    def calls(self) -> int:
        """Number of requests that this client has sent."""
        return self._outbound.calls

    def text(self, instructions: str, data: str, *, max_tokens: int = 800, timeout_s: float | None = None) -> str:
        """Ask the model to do a task; return the text of its answer.

        Args:
            instructions: the task, from graphmem.
            data: the input of the task, which is not trusted as an instruction.
            max_tokens: maximum length of the answer.
            timeout_s: time limit of this request with all its attempts; at most the client's own limit, which is the default.

        Raises:
            LanguageModelError: `reason` is resting (paused after failures), too_large, unreachable, timeout, refused, malformed or
                redirected.
        """
        seconds = min(timeout_s if timeout_s is not None else self.timeout_s, self.timeout_s)
        until = self._clock() + seconds
        with self._lock:
            if self._clock() < self._rests_until:
                raise self._error(
                    "resting",
                    f"the language model failed {self._failed} times in a row, so graphmem pauses requests for a minute; try again later",
                )
        body = json.dumps(
            {
                "model": self.name,
                "messages": [{"role": "system", "content": instructions}, {"role": "user", "content": data}],
                "temperature": 0,
                "max_tokens": max_tokens,
                "stream": False,
            }
        ).encode()
        if len(body) > MAX_REQUEST:
            raise self._error("too_large", f"the request to the language model has {len(body):,} bytes; send at most {MAX_REQUEST:,}")
        try:
            said = self._ask(body, until)
        except LanguageModelError:
            with self._lock:
                self._failed += 1
                if self._failed >= FAILURES:
                    self._rests_until = self._clock() + REST_S
            raise
        with self._lock:
            self._failed = 0
        return said

    def json(
        self, instructions: str, data: str, schema: Mapping[str, object], *, max_tokens: int = 800, timeout_s: float | None = None
    ) -> Any:
        """Ask the model to do a task; return JSON that matches a schema.

        `schema` is a JSON Schema. The other arguments are those of `text`.

        Raises:
            LanguageModelError: as for `text`; also `malformed` if the answer is not JSON or does not match the schema.
        """
        said = self.text(instructions, data, max_tokens=max_tokens, timeout_s=timeout_s)
        from jsonschema import Draft202012Validator

        try:
            value = json.loads(_unfenced(said))
        except (ValueError, RecursionError) as error:
            raise self._error("malformed", "the language model did not answer in JSON; set model_name to another model") from error
        wrong = next(iter(Draft202012Validator(dict(schema)).iter_errors(value)), None)
        if wrong is not None:
            where = "/".join(map(str, wrong.absolute_path)) or "the whole value"
            raise self._error(
                "malformed",
                f"{where} in the answer of the language model does not match the requested schema; set model_name to another model",
            )
        return value

    # ---- one request

    def _ask(self, body: bytes, until: float) -> str:
        try:
            return self._content(self._outbound.post(body, until))
        except OutboundError as error:
            raise self._error(error.reason, error.what) from error

    def _content(self, raw: bytes) -> str:
        try:
            said = json.loads(raw)["choices"][0]["message"]["content"]
        except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
            raise self._error(
                "malformed", "the language model server did not answer in OpenAI's chat protocol; check the setting model_url"
            ) from error
        if not isinstance(said, str) or not said.strip():
            raise self._error("malformed", "the answer of the language model has no text; set model_name to another model")
        return said.strip()

    def _error(self, reason: str, what: str) -> LanguageModelError:
        error = LanguageModelError(
            f"{what} (language model at {self.host}; graphmem works without it meanwhile)",
            host=self.host,
            reason=reason,
        )
        _log.warning("%s", error)
        return error


def configured(settings: Settings) -> LanguageModel | None:
    """The language model that the settings name; None if they name none.

    Raises:
        SettingsError: the settings of the model are invalid.
    """
    if not settings.model_url:
        return None
    return LanguageModel(settings.model_url, settings.model_name, settings.model_key, timeout_s=float(settings.model_seconds))


def _unfenced(answer: str) -> str:
    """The JSON in a model's answer, without a code fence around it."""
    if answer.startswith("```"):
        answer = answer.partition("\n")[2].rpartition("```")[0]
    return answer.strip()
