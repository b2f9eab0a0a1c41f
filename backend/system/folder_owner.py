"""Lets root work as the owner of a folder, who can read afterwards whatever was left there."""

from __future__ import annotations

import ctypes
import os
import pwd
from dataclasses import dataclass
from pathlib import Path

# From <linux/prctl.h> and <linux/capability.h>.
_PR_SET_KEEPCAPS = 8
_CAPABILITY_VERSION = 0x20080522
_CAP_CHOWN, _CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH, _CAP_FOWNER = 1 << 0, 1 << 1, 1 << 2, 1 << 3


@dataclass(frozen=True, slots=True)
class _Caller:
    """Who started this process, before it took another user."""

    uid: int
    gid: int


_caller: _Caller | None = None


def owner_of(folder: Path) -> int:
    """The user that the folder belongs to. Raises OSError where it is not there, or can't be looked at."""
    return folder.stat().st_uid


def future_owner_of(folder: Path) -> int:
    """The user that the folder belongs to, or the one that it will be made in."""
    absolute = folder.absolute()
    return owner_of(next(path for path in (absolute, *absolute.parents) if path.exists()))


def take_owner(owner: int, *, opens_callers_files: bool) -> None:
    """Go on as this user, the owner of a folder, for good. The child processes are the owner's, too.

    With `opens_callers_files`, files that the caller names can be opened wherever they are; this right is
    not passed on to child processes. Raises OSError where this process may not do so.
    """
    global _caller  # noqa: PLW0603 - as the user of a process is
    caller = _Caller(os.geteuid(), os.getegid())
    libc = ctypes.CDLL(None, use_errno=True)
    keeps = opens_callers_files and hasattr(libc, "capset") and not libc.prctl(_PR_SET_KEEPCAPS, 1, 0, 0, 0)
    _become(owner)
    if keeps:
        # With the last one, files that were given to the caller get their names in folders such as /tmp.
        _keep_capabilities(libc, _CAP_CHOWN | _CAP_DAC_OVERRIDE | _CAP_DAC_READ_SEARCH | _CAP_FOWNER)
    _caller = caller


def give_to_caller(descriptor: int, path: Path) -> None:
    """Let a new file or folder that the caller named belong to the caller, not to whom this process became.

    In a folder of that user, who may go on with it, it stays that user's.
    """
    is_made = os.fstat(descriptor).st_uid == os.geteuid()
    if _caller and is_made and owner_of(path.absolute().parent) != os.geteuid():
        os.fchown(descriptor, _caller.uid, _caller.gid)


def make_folder(path: Path, mode: int) -> None:
    """Make the folder and those above it that are missing, for whom a new file there would belong to.

    Raises OSError.
    """
    if path.is_dir():
        return
    make_folder(path.parent, mode)
    path.mkdir(mode=mode, exist_ok=True)
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        give_to_caller(descriptor, path)
    finally:
        os.close(descriptor)


def _become(owner: int) -> None:
    """Take the user, with its groups and its home."""
    try:
        user = pwd.getpwuid(owner)
    except KeyError:  # as in containers
        os.setgroups([])
        os.setresgid(owner, owner, owner)
    else:
        os.initgroups(user.pw_name, user.pw_gid)
        os.setresgid(user.pw_gid, user.pw_gid, user.pw_gid)
        os.environ["HOME"] = user.pw_dir
    os.setresuid(owner, owner, owner)


def _keep_capabilities(libc: ctypes.CDLL, wanted: int) -> None:
    """Have these rights of root, as far as this process had them, and no others."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    had = (ctypes.c_uint32 * 6)()  # twice: effective, permitted, inheritable
    libc.capget(header, had)
    kept = wanted & had[1]
    libc.capset(header, (ctypes.c_uint32 * 6)(kept, kept, 0, 0, 0, 0))
