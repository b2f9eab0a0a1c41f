"""How soon a thread gets the interpreter from the event loop."""

from __future__ import annotations

import sys
import threading
from types import TracebackType

# With each answer of MongoDB, a thread asks for the interpreter three or four times. While the event loop has
# work, the thread waits this long each time.
_SWITCH_SECONDS = 0.0002


class _QuickSwitches:
    """`with QUICK_SWITCHES:` threads take turns at shorter intervals, as long as any block like this runs.

    Not always: where threads compete that have much to do, as on Granian, each switch costs processor time.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._usual = 0.0

    def __enter__(self) -> None:
        with self._lock:
            if not self._users:
                self._usual = sys.getswitchinterval()
                sys.setswitchinterval(_SWITCH_SECONDS)
            self._users += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                sys.setswitchinterval(self._usual)


QUICK_SWITCHES = _QuickSwitches()
