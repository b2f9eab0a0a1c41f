"""The process that answers questions of analytics, as the system sees it, and waiting for it."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path

from backend.concurrency.processes import who_locks
from backend.domain.ids import LinkId, OrgId
from backend.storage.analytics.clicks.click_windows import ClickWindow
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.messages import LOCK, folder_in
from backend.storage.analytics.question import FactsNotReady
from backend.storage.columns.tables.column_files import delete_all, paths_of
from backend.system.clock import utc_now
from benchmarks.measuring.servers import cpu_seconds_of, memory_of

_NO_LINK = LinkId("none")


@dataclass(frozen=True, slots=True)
class AnalyticsProcess:
    """The process of a data folder, which comes with the first question and goes when nobody asks."""

    data_dir: Path

    @property
    def pid(self) -> int | None:
        """Its number; None if there is none."""
        return who_locks(self.data_dir / "analytics" / LOCK)

    @property
    def cpu_seconds(self) -> float:
        """The processor time that it has used, in user and system mode together."""
        return cpu_seconds_of(self.pid) if self.pid else 0.0

    @property
    def megabytes(self) -> float:
        """Its resident memory, in millions of bytes."""
        return memory_of(self.pid) / 1e6 if self.pid else 0.0

    @property
    def most_megabytes(self) -> float:
        """The most resident memory that it has had, in millions of bytes."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line) * 1024 / 1e6

    def files(self, org_id: OrgId) -> list[Path]:
        """The columns of an organization: the first file, and those of clicks."""
        return paths_of(folder_in(self.data_dir), org_id)

    def delete_files(self, org_id: OrgId) -> None:
        """Delete these columns, so that they are made again."""
        delete_all(folder_in(self.data_dir), org_id)

    async def until_gone(self) -> None:
        """Wait until it has ended: its files are whole at any time, but only then in one piece."""
        while self.pid:  # noqa: ASYNC110 - another process ends
            await asyncio.sleep(0.05)


async def until_ready(analytics: Analytics, org_id: OrgId) -> float:
    """Wait until the organization's facts are all there. Returns the seconds."""
    began = time.monotonic()
    while True:
        try:
            await analytics.ask(org_id, ClickWindow(_NO_LINK, utc_now()))
        except FactsNotReady as error:
            print(f"\r  {error.clicks or 0:,} clicks in columns", end="", flush=True)
        else:
            print("\r", end="")
            return time.monotonic() - began
