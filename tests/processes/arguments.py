"""What anybody on the machine can read in its list of processes."""

from __future__ import annotations

import contextlib
from pathlib import Path


def processes_that_show(secret: str) -> list[str]:
    """The command lines of the processes that have this text among their arguments."""
    found = []
    for arguments in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended
            if secret in (text := arguments.read_text(errors="replace")):
                found.append(text.replace("\0", " "))
    return found
