"""`python -m tests.processes.system_call_filter UNIT COMMAND…`: a command under the filter of a systemd unit.

It has the unit's SystemCallFilter and SystemCallErrorNumber, where no systemd runs that starts the unit. The
names of its groups are systemd's own.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_REFUSE, _ALLOW = 0x00050000, 0x7FFF0000  # SCMP_ACT_ERRNO(0) and SCMP_ACT_ALLOW


def allowed_calls(unit: Path) -> set[str]:
    """The names of the system calls that the unit lets its processes make."""
    allowed: set[str] = set()
    for line in re.findall(r"^SystemCallFilter=(.*)$", unit.read_text(), re.MULTILINE):
        names = {name for word in line.removeprefix("~").split() for name in _calls_of(word)}
        allowed = allowed - names if line.startswith("~") else allowed | names
    return allowed


def _calls_of(word: str) -> Iterator[str]:
    """A call's own name, or those of a group and of the groups in it."""
    if not word.startswith("@"):
        yield word
        return
    command = ["systemd-analyze", "syscall-filter", word]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines()[1:]:
        name = line.strip()
        if name and not name.startswith("#"):
            yield from _calls_of(name)


def load(unit: Path) -> None:
    """Let this process, and those that it starts, make no other system calls."""
    [name] = re.findall(r"^SystemCallErrorNumber=(\w+)$", unit.read_text(), re.MULTILINE)
    library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    library.seccomp_init.restype = ctypes.c_void_p
    rules = ctypes.c_void_p(library.seccomp_init(_REFUSE | getattr(errno, name)))
    for call in sorted(allowed_calls(unit)):
        number = library.seccomp_syscall_resolve_name(call.encode())
        if number >= 0:  # else it is another architecture's
            assert library.seccomp_rule_add(rules, _ALLOW, number, 0) == 0, call
    assert library.seccomp_load(rules) == 0


if __name__ == "__main__":
    load(Path(sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])
