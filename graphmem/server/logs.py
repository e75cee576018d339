"""Log lines for people, or one JSON object a line for machines. Neither ever holds a token, a memory's text or a file's content."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, TextIO

from graphmem.runtime.safe_text import inert, inert_json, inert_lines


class LineFormatter(logging.Formatter):
    """A line for people; one record is one line, but for its traceback."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - its name in the library
        """The line without the traceback."""
        return inert(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802 - its name in the library
        """The traceback."""
        return inert_lines(super().formatException(ei))


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time in ISO 8601 UTC, level, logger, message, thread and, where there is one, the traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
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
    """Send what is logged in this process to a stream.

    Args:
        stream: default stderr, as it is now.
        level: debug, info, warning or error.
        form: text or json.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else LineFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level.upper(), handlers=[handler])
