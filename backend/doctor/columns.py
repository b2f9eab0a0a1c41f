"""Checks who has this host's files of figures, and whether they had trouble lately."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import datetime

from backend.domain.finding import Area, Finding, Findings
from backend.domain.ids import OrgId
from backend.settings import Settings
from backend.storage.analytics.file_troubles import FileTroubles
from backend.storage.analytics.hello import AnotherVersion
from backend.storage.analytics.messages import folder_in
from backend.storage.analytics.process_search import look_for_another_version

_findings = Findings(Area.STORAGE)


async def examine_process(settings: Settings) -> AsyncIterator[Finding]:
    """Whether another version of Waylink answers questions here. Nothing is no finding."""
    try:
        await look_for_another_version(folder_in(settings.data_dir))
    except AnotherVersion as another:
        hello = another.hello
        yield _findings.error(
            "figures",
            f"Another version of Waylink ({hello.version}, process {hello.pid}) answers questions about "
            f"{settings.data_dir}. Services of this version are answered 503 until it has ended.",
            "Restart the services that still run the other version.",
        )


def examine_columns(settings: Settings, org_id: OrgId | None, now: datetime) -> Iterator[Finding]:
    """What befell files in the last seven days, of all organizations or one. Nothing is no finding."""
    for trouble in FileTroubles(folder_in(settings.data_dir)).read(now).values():
        if org_id in {None, trouble.org_id}:
            done = "opened again" if not trouble.made_anew else "made anew from what MongoDB has"
            yield _findings.warning(
                f"figures of {trouble.org_id}",
                f"The file {trouble.file} had trouble {trouble.times} times, last on {trouble.at:%Y-%m-%d} "
                f"at {trouble.at:%H:%M} UTC, and was {done}: {trouble.why}.",
                "Nothing is lost. If it comes again, look at the disk and at the log.",
            )
