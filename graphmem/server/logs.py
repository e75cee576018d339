"""Formats of the log: lines for people, or JSON lines for machines.

Log records never contain a token, a memory's text or a file's content.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, TextIO

from graphmem.runtime.texts.safe_text import inert, inert_json, inert_lines


class LineFormatter(logging.Formatter):
    """Formats a log record as one line, followed by its traceback if any."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - its name in the library
        """Return a log record as one line, without its traceback."""
        return inert(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802 - its name in the library
        """Return the traceback of a log record as text.

        `ei` is the result of `sys.exc_info()`.
        """
        return inert_lines(super().formatException(ei))


class JsonFormatter(logging.Formatter):
    """Formats a log record as one JSON object.

    The fields are time (ISO 8601, UTC), level, logger, message, thread, and the traceback if there is one.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return a log record as one JSON line."""
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "thread": record.threadName,
            "pid": record.process,
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return inert_json(json.dumps(line, ensure_ascii=False, default=str))


def log_to(stream: TextIO | None, level: str, form: str) -> None:
    """Send this process's log to a stream.

    Args:
        stream: the stream to write to; None for the current stderr.
        level: lowest level to write: debug, info, warning or error.
        form: format of the lines, text or json.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else LineFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level.upper(), handlers=[handler])
