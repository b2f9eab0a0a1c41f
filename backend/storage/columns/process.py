"""The process of a host that has organizations' facts in columns, and answers questions over a socket.

It starts when somebody asks (client.py), and ends when nobody is connected, or has asked anything for a
while.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import json
import os
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import IO

from backend.storage.analytics.messages import LOCK, Start
from backend.system.niceness import give_way

_NICENESS = 5  # redirects come first
# New objects until the next search for garbage. A hundred thousand rows are millions of objects that stay:
# with Python's own threshold, such searches take half of an answer's time.
_OBJECTS_BETWEEN_COLLECTIONS = 200_000
SERVER = "backend.storage.columns.question_server"  # only where it is to run: it imports much


def _hold(folder: Path) -> IO[bytes] | None:
    """The lock of the one process that has the folder; None if another has it."""
    lock = (folder / LOCK).open("ab")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    return lock


def main() -> None:
    """Answer questions until nobody asks any more. The line on stdin is a `Start` as JSON.

    Where that can't be, one on stdout says why.
    """
    # Ctrl-C, and what stops a whole group of processes, is for the service, which ends this one in order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    start = Start(**json.loads(sys.stdin.readline()))
    give_way(_NICENESS)
    try:
        _answer(start)
    except Exception as error:
        with contextlib.suppress(OSError):  # whoever started it may have gone
            print(f"{type(error).__name__}: {error}", flush=True)
        raise


def _answer(start: Start) -> None:
    if lock := _hold(Path(start.folder)):
        with lock:
            gc.disable()  # nothing that is imported becomes garbage
            server = import_module(SERVER)
            gc.freeze()
            gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
            gc.enable()
            server.run(start)
        sys.stderr.flush()
        os._exit(0)  # all is closed: to take apart what was imported takes a tenth of a start


if __name__ == "__main__":
    main()
