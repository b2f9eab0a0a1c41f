"""Asks questions of analytics of the process that answers them, and of DuckDB directly."""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import duckdb

from backend.storage.analytics.client import Analytics
from backend.storage.analytics.files import FileQuestion
from backend.storage.analytics.question import Question
from backend.storage.columns.tables.written_columns import show_clicks
from benchmarks.data.kept_year import Year
from benchmarks.measuring.analytics_process import AnalyticsProcess, until_ready


@dataclass(slots=True)
class Taken:
    """Seconds by the clock that answers took, and of processor time."""

    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The median of seconds by the clock."""
        return statistics.median(self.seconds)

    @property
    def used(self) -> float:
        """The median of processor time."""
        return statistics.median(self.processor)


@dataclass(frozen=True, slots=True)
class Asking:
    """Who can be asked: the process, by `analytics`, and copies of its files."""

    year: Year
    process: AnalyticsProcess
    analytics: Analytics
    directly: duckdb.DuckDBPyConnection

    def ask_directly(self, sql: str, values: Mapping[str, object], taken: Taken) -> list[Any]:
        """All rows that DuckDB gives, as tuples."""
        began, used = time.perf_counter(), time.process_time()
        rows = self.directly.execute(sql, dict(values)).fetchall()
        taken.seconds.append(time.perf_counter() - began)
        taken.processor.append(time.process_time() - used)
        return rows

    async def ask(self, question: Question[Any] | FileQuestion, taken: Taken) -> list[Any]:
        """The answer of the process, or the lines of the file that it is, without headings.

        Its processor time and that of this one count. Raises NoAnswer.
        """
        began, used = time.perf_counter(), self._processor()
        answer: list[Any]
        if isinstance(question, FileQuestion):
            async with self.analytics.file(self.year.org_id, question) as made:
                answer = made.file.read().splitlines()[1:]
        else:
            answer = [await self.analytics.ask(self.year.org_id, question)]
        taken.seconds.append(time.perf_counter() - began)
        taken.processor.append(self._processor() - used)
        return answer

    def _processor(self) -> float:
        return time.process_time() + self.process.cpu_seconds


@asynccontextmanager
async def asking(year: Year) -> AsyncIterator[Asking]:
    """The process and copies of its files, once all facts are there."""
    process, analytics = AnalyticsProcess(year.settings.data_dir), Analytics(year.database, year.settings)
    await until_ready(analytics, year.org_id)
    await analytics.close()
    await process.until_gone()
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as folder:
        copies = [shutil.copy(path, folder) for path in process.files(year.org_id)]
        memory = f"{year.settings.analytics_memory}MB"
        bounds: dict[str, Any] = {"threads": year.settings.analytics_threads, "memory_limit": memory}
        with duckdb.connect(config=bounds) as directly:
            for number, copy in enumerate(copies):
                directly.execute(f"ATTACH '{copy}' AS file_{number} (READ_ONLY)")
            directly.execute("USE file_0")
            show_clicks(directly, [f"file_{number}" for number in range(1, len(copies))])
            await until_ready(analytics, year.org_id)  # starts it again
            yield Asking(year, process, analytics, directly)
            await analytics.close()
