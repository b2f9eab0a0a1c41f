"""Checks whether this host has figures, who has its files of them, and whether they had trouble lately."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import datetime

from backend.domain.accounts.organizations import Organization
from backend.domain.finding import Area, Finding, Findings
from backend.domain.ids import OrgId
from backend.settings import Settings
from backend.storage.analytics.clicks.latest_clicks import FirstDay
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.file_troubles import FileTrouble, FileTroubles, Remedy
from backend.storage.analytics.hello import AnotherVersion
from backend.storage.analytics.messages import folder_in
from backend.storage.analytics.process_search import look_for_another_version
from backend.storage.analytics.question import FactsNotReady, NoAnswer
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database

_findings = Findings(Area.STORAGE)
_SECONDS = 20.0  # that an answer may take, with the start of the process that gives it
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


async def examine_figures(database: Database, settings: Settings, organization: Organization) -> Finding:
    """Whether a question about an organization is answered here."""
    analytics = Analytics(database, settings)
    try:
        with deadline(_SECONDS):
            await analytics.ask(organization.id, FirstDay())
    except FactsNotReady as not_ready:
        return _findings.info("figures", str(not_ready))
    except NoAnswer as error:
        return _findings.error(
            "figures",
            f"A question about {organization.name} is not answered: {error}",
            "Look at the service's log. Give its user the folder `analytics` in WAYLINK_DATA_DIR, and let it "
            "start processes.",
        )
    finally:
        await analytics.close()
    return _findings.ok("figures", f"A question about {organization.name} is answered.")


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
