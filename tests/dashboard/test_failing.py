"""Background work that fails for one thing: its page says so, in its organization."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from backend.domain.archives.archive import ArchiveState
from backend.domain.ids import LinkId
from backend.storage.driver.mongo import Database
from backend.storage.mail.mails import queue_mail
from backend.storage.processes.failing_items import note_failure
from backend.storage.processes.work import Work
from backend.storage.reports.reports import create_report
from backend.storage.schema.work_item import WorkItem
from backend.storage.webhooks.endpoints import create_endpoint
from backend.system.clock import utc_now
from tests.alert_watch.test_round import rule_of
from tests.conftest import OrganizationFactory
from tests.dashboard.mails.conftest import QUERY, confirmed
from tests.dashboard.people import Person
from tests.destination_watch.test_step import link_to
from tests.facts.archives import store_archive
from tests.facts.organizations import TestOrganization
from tests.facts.stored_links import insert_links
from tests.mail.conftest import mail_to

Thing = Callable[[Database, TestOrganization], Awaitable[str]]


async def archive(database: Database, organization: TestOrganization) -> str:
    """The id of an archive that is to be made."""
    return (await store_archive(database, organization.id, utc_now(), ArchiveState.IN_PROGRESS)).id


async def rule(database: Database, organization: TestOrganization) -> str:
    """The id of an alert rule."""
    return (await rule_of(database, organization, "limits")).id


async def webhook(database: Database, organization: TestOrganization) -> str:
    """The id of an endpoint."""
    fields = {"url": "https://crm.example/"}
    return (await create_endpoint(database, organization.id, fields, utc_now())).id


async def link(database: Database, organization: TestOrganization) -> str:
    """The id of a link."""
    unlooked = link_to(organization, 1, "https://shop.example/", domain=organization.domain)
    unlooked = replace(unlooked, id=LinkId(organization.id))
    await insert_links(database, [unlooked])
    return unlooked.id


async def reader(database: Database, organization: TestOrganization) -> str:
    """The id of a reader of a report."""
    values = {"name": "Spring", "query": QUERY, "shows_revenue": False}
    report = await create_report(database, organization.id, values, utc_now())
    return (await confirmed(database, report, utc_now())).id


async def mail(database: Database, organization: TestOrganization) -> str:
    """The id of a mail that waits."""
    await queue_mail(database, mail_to("ada@shop.example", "test", organization.id), utc_now())
    return f"{organization.id}/test"


@pytest.mark.parametrize(
    ("work", "make", "path"),
    [
        (Work.ARCHIVES, archive, "/archives"),
        (Work.ALERTS, rule, "/alerts"),
        (Work.WEBHOOKS, webhook, "/webhooks/{id}"),
        (Work.DESTINATIONS, link, "/destinations/broken"),
        (Work.FIGURES_BY_MAIL, reader, "/mails"),
        (Work.MAILS, mail, "/mails"),
    ],
    ids=lambda value: value.name if isinstance(value, Work) else "",
)
async def test_the_page_of_what_fails_says_so(
    person: Person,
    database: Database,
    organization: TestOrganization,
    make_organization: OrganizationFactory,
    work: Work,
    make: Thing,
    path: str,
) -> None:
    """With the error and the number of tries; nothing is said of another organization's, or before."""
    own_id, other = await make(database, organization), await make_organization()
    page = path.format(id=own_id)
    await note_failure(database, work, WorkItem(own_id, other.id, lambda: None), "ValueError")
    assert "An error of Waylink stops this" not in (await person.get(page)).text
    await database["failing_items"].delete_one({"item": own_id})
    for _ in range(3):
        await note_failure(database, work, WorkItem(own_id, organization.id, lambda: None), "KeyError: kind")
    text = " ".join((await person.get(page)).text.split())
    assert text.count("An error of Waylink stops this: KeyError: kind. It happened 3 times since") == 1
