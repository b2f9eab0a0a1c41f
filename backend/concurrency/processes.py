"""What Linux's /proc says about other processes of this machine. On other systems, nothing is known."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from pathlib import Path

_PROCESSES = Path("/proc")
_STOPPED = {"T", "t"}  # by a signal, and by a debugger


def is_stopped(pid: int) -> bool:
    """Whether the process was stopped from outside: by SIGSTOP, Ctrl-Z or a debugger."""
    with contextlib.suppress(OSError):
        # Behind the name, which is in parentheses and may have any character.
        return (_PROCESSES / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] in _STOPPED
    return False


def who_locks(file: Path) -> int | None:
    """The process that has the `flock` on this file; None if none has it, or that is not known."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        status = file.stat()
        place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
        for line in (_PROCESSES / "locks").read_text().splitlines():
            _, kind, _, _, pid, where, *_ = line.split()
            if (kind, where) == ("FLOCK", place) and int(pid) > 0:
                return int(pid)
    return None


def peer_of(connection: socket.socket) -> int | None:
    """The process at the other end of a connection on this machine; None if that is not known here."""
    with contextlib.suppress(OSError, AttributeError):  # only Linux has the option
        told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        pid, _, _ = struct.unpack("3i", told)
        return pid or None  # 0 is a process of another container
    return None
