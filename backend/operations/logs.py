"""Logs as JSON, one object per line, with the request's id but without personal data or keys."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, TextIO

# The id of the current request. Its answer has it as X-Request-Id.
request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
# The fields that our loggers may add to a line with `extra`.
_EXTRA = ("method", "route", "status", "milliseconds", "trace")
_LOGGERS = ("waylink", "backend")


class JsonLines(logging.Formatter):
    """Formats a log record as one line of JSON.

    Of an exception, only its type and place are written: messages of database errors contain whole documents.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its line end."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {
            "time": at,
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "request_id": request_id.get(),
        }
        line |= {name: getattr(record, name) for name in _EXTRA if hasattr(record, name)}
        if record.exc_info and record.exc_info[0]:
            line["error"] = record.exc_info[0].__name__
            line["trace"] = _places(record.exc_info[2])
        return json.dumps({name: value for name, value in line.items() if value is not None})


def configure_logs(level: str, stream: TextIO | None = None) -> None:
    """Write the service's logs from this level on as JSON lines; to stderr if `stream` is None."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level.upper())
        logger.propagate = False


def _places(trace: Any) -> list[str]:
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(trace)]
