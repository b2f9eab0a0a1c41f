"""What people asked a domain for in vain."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from html import unescape

import httpx

from backend.domain.domains.orphans import DayTally, NotKept, OrphanBatch, PathTally
from backend.storage.driver.mongo import Database
from backend.storage.links.orphans import add_orphan_visits
from backend.system.clock import utc_now
from tests.api.link_calls import create
from tests.dashboard.people import FormsOf, Person
from tests.facts.organizations import TestOrganization


async def test_a_path_becomes_a_link(
    person: Person, organization: TestOrganization, database: Database, client: httpx.AsyncClient
) -> None:
    """The list has its visits, hosts and the link that is most like it, and leads to a filled form."""
    await create(client, organization, selected_path="spring-sale")
    now = utc_now()
    tallies = {
        "spring-sail": PathTally(12, now, Counter({"news.example": 8, "": 4})),
        "flyer,": PathTally(2, now, Counter({"": 2})),
        "spring-sale": PathTally(1, now, Counter({"": 1})),
    }
    day = DayTally(tallies, Counter({NotKept.PROBE: 41}))
    earlier = DayTally({"spring-sail": PathTally(1, now - timedelta(days=2), Counter({"": 1}))})
    domain = organization.domain
    for days_ago, tally in ((0, day), (2, earlier)):
        key = organization.id, domain, now.date() - timedelta(days=days_ago)
        await add_orphan_visits(database, key, OrphanBatch(str(days_ago), tally))
    page = f"/domains/{domain}/orphans"
    shown = unescape((await person.get(page)).text)
    assert shown.index("/spring-sail</th>") < shown.index("/flyer,</th>")
    assert "news.example (8), no page (5)" in shown
    assert f"{domain}" in shown.partition("/spring-sail</th>")[2].partition("/spring-sale+")[0]
    assert "41 visits asked for what scanners ask every server for" in shown
    assert shown.count("Make a link<") == 1 + 1  # of the column's head, and of the path that a link may have
    form = await person.get(f"/links/new?domain={domain}&selected_path=spring-sail")
    fields = FormsOf(form.text).fields_of("/links/new")
    assert (fields["domain"], fields["selected_path"]) == (domain, "spring-sail")
    answer = await person.send(page, f"{page}/forget")
    assert answer.headers["location"] == f"{page}?notice=orphans-forgotten"
    assert "Nobody asked in vain" in (await person.get(page)).text
