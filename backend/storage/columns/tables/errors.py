"""What an error of DuckDB says: of the file, of the machine, or of the statement alone."""

from __future__ import annotations

import re

import duckdb

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
_FULL = re.compile(r"no space left|disk quota|file too large", re.IGNORECASE)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether there is too little memory for it now."""
    return isinstance(error, duckdb.OutOfMemoryException)


def is_disk_full(error: BaseException) -> bool:
    """Whether there is no room to write, which no other file mends."""
    return _FULL.search(str(error)) is not None


def is_of_file(error: BaseException) -> bool:
    """Whether the file, or the handle of it that is open, may be to blame."""
    is_other = is_out_of_memory(error) or isinstance(error, _OF_STATEMENTS)
    return isinstance(error, duckdb.Error) and not is_other
