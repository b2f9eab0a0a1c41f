"""What an error of DuckDB says: of the file, of the machine, or of the statement alone."""

from __future__ import annotations

import errno
import os
import re

import duckdb

from backend.storage.analytics.messages import SPILLS

# A statement is to blame, or whoever gave it up, and not the file.
_OF_STATEMENTS = (
    duckdb.InterruptException,
    duckdb.ConversionException,
    duckdb.OutOfRangeException,
    duckdb.InvalidInputException,
    duckdb.InvalidTypeException,
    duckdb.TypeMismatchException,
    duckdb.SyntaxException,
    duckdb.ParserException,
    duckdb.BinderException,
    duckdb.NotImplementedException,
    duckdb.PermissionException,
)
_FULL = {os.strerror(code) for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)}
# What systems say when they refuse something. DuckDB cites it behind a colon. An input/output error is not
# among it: a disk says that of sectors that it can't read, and other ones may do.
_REFUSALS = re.compile(
    "|".join(f": {re.escape(os.strerror(code))}" for code in errno.errorcode if code != errno.EIO)
    # by another program, and by this one
    + "|Could not set lock on file|already attached"
)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether there is too little memory for it now."""
    return isinstance(error, duckdb.OutOfMemoryException)


def is_disk_full(error: BaseException) -> bool:
    """Whether there is no room to write."""
    return any(why in str(error) for why in _FULL)


def is_of_machine(error: BaseException) -> bool:
    """Whether the machine refuses to open, read or write the file, which may be good: there is no room, no
    right, or another program has it."""
    if isinstance(error, OSError):
        return error.errno != errno.EIO
    return _REFUSALS.search(str(error)) is not None


def is_of_file(error: BaseException) -> bool:
    """Whether the file, or the handle of it that is open, may be to blame."""
    is_other = is_out_of_memory(error) or isinstance(error, _OF_STATEMENTS) or _is_of_spills(error)
    return isinstance(error, duckdb.Error) and not is_other


def _is_of_spills(error: BaseException) -> bool:
    """Whether it is about files with what does not fit into memory."""
    return f"/{SPILLS}/" in str(error)
