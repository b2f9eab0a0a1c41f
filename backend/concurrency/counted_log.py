"""Log lines about what happens to many requests: one a minute of each kind, with how often it happened."""

from __future__ import annotations

import asyncio
import logging
import traceback
from dataclasses import dataclass

_SECONDS = 60.0


@dataclass(slots=True)
class _Line:
    """The last line of a kind, and how often it was not written since the one before."""

    level: int
    text: str
    error: BaseException | None
    times: int = 0


class CountedLog:
    """Writes the first line of a kind at once, and of further ones the last one, with their number.

    A thousand requests that fail alike would write a thousand lines, in which nobody finds anything, onto the
    disk that clicks need. Used from the event loop alone.
    """

    def __init__(self, logger: logging.Logger, seconds: float = _SECONDS) -> None:
        self._logger = logger
        self._seconds = seconds
        self._lines: dict[str, _Line] = {}

    def warning(self, kind: str, text: str = "") -> None:
        """Log a warning. Its text is the kind, unless it has another one."""
        self._add(logging.WARNING, kind, text or kind)

    def error(self, kind: str, text: str = "", error: BaseException | None = None) -> None:
        """Log an error in the same way, with the traceback of `error`.

        The place where it was raised is a part of the kind, so that no fault hides another.
        """
        self._add(logging.ERROR, f"{kind} {_place_of(error)}" if error else kind, text or kind, error)

    def _add(self, level: int, kind: str, text: str, error: BaseException | None = None) -> None:
        line = _Line(level, text, error)
        if before := self._lines.get(kind):
            line.times = before.times + 1
        else:
            self._logger.log(level, text, exc_info=error)
            self._tell_later(kind)
        self._lines[kind] = line

    def _tell_later(self, kind: str) -> None:
        asyncio.get_running_loop().call_later(self._seconds, self._tell, kind)

    def _tell(self, kind: str) -> None:
        line = self._lines[kind]
        if not line.times:  # nothing came since
            del self._lines[kind]
            return
        text = f"{line.text} (so {line.times:,} more times within {self._seconds:g} s)"
        self._logger.log(line.level, text, exc_info=line.error)
        line.times, line.error = 0, None
        self._tell_later(kind)


def _place_of(error: BaseException) -> str:
    """The error's class, and the line of code that raised it."""
    frames = list(traceback.walk_tb(error.__traceback__))
    where = f"{frames[-1][0].f_code.co_filename}:{frames[-1][1]}" if frames else ""
    return f"{type(error).__name__} {where}"
