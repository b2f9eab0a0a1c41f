"""Prints files that the analytics process makes."""

from __future__ import annotations

import shutil
import sys

import click

from backend.domain.ids import OrgId
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.files import FileQuestion, MadeFile


def refuse_terminal() -> None:
    """Raise UsageError if stdout is a terminal, which the bytes of a Parquet file would garble."""
    if sys.stdout.isatty():
        raise click.UsageError("--format parquet is no text: write it into a file, as with > report.parquet")


async def print_file(analytics: Analytics, org_id: OrgId, question: FileQuestion) -> MadeFile:
    """Print the file that answers the question on stdout. Returns its description; the file is closed."""
    async with analytics.file(org_id, question) as made:
        shutil.copyfileobj(made.file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return made
