"""Checks who has this host's files of figures, and whether they had trouble lately."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import datetime

from backend.domain.finding import Area, Finding, Findings
from backend.domain.ids import OrgId
from backend.settings import Settings
from backend.storage.analytics.file_troubles import FileTrouble, FileTroubles, Remedy
from backend.storage.analytics.hello import AnotherVersion
from backend.storage.analytics.messages import folder_in
from backend.storage.analytics.process_search import look_for_another_version

_findings = Findings(Area.STORAGE)
_PASSED = "Nothing is lost. If it comes again, look at the disk and at the log."
_ADVICE = {
    Remedy.OPENED_AGAIN: _PASSED,
    Remedy.MADE_ANEW: _PASSED,
    Remedy.NONE: "The file may be good, so it stays. Give the service its rights and room back, or end the "
    "program that has the file open: the next question uses it again.",
}


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
            subject, advice = f"figures of {trouble.org_id}", _ADVICE[trouble.remedy]
            message = (
                f"The file {trouble.file} had trouble {trouble.times} times, last on {trouble.at:%Y-%m-%d} "
                f"at {trouble.at:%H:%M} UTC, and was {_done(trouble)}: {trouble.why}."
            )
            find = _findings.error if trouble.remedy is Remedy.NONE else _findings.warning
            yield find(subject, message, advice)


def _done(trouble: FileTrouble) -> str:
    is_made_anew = trouble.made_anew and trouble.remedy is Remedy.OPENED_AGAIN
    return (Remedy.MADE_ANEW if is_made_anew else trouble.remedy).value
