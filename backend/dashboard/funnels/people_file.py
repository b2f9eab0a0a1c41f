"""/funnels/ID/people.csv: everybody whom a number of a funnel counts, as a file.

Who takes it: whoever writes to those who stopped before they paid, by a program that reads their ids.
"""

from __future__ import annotations

from datetime import tzinfo
from functools import partial

from quart import Response

from backend.dashboard.analytics.answers import csv_of_pages
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.funnels.people import asked_part
from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.funnels.funnel import FunnelQuery
from backend.domain.analytics.funnels.people import FunnelPerson
from backend.domain.analytics.funnels.saved import SAVED_FUNNELS
from backend.domain.ids import FunnelId
from backend.storage.analytics.query_questions import AskFunnelPeople
from backend.storage.resources.things import Things
from backend.web.current import resources

_COLUMNS = ("customer_id", "device_id", "link_id", "link_name", "transaction_id")


@dashboard.get("/funnels/<funnel_id>/people.csv")
@needs(Permission.ANALYTICS_READ, Permission.PERSONS_READ)
async def funnels_people_csv(funnel_id: FunnelId) -> Response:
    """All people that the address names, each with the exact times of the steps that they did."""
    saved = await Things(SAVED_FUNNELS).get(resources().database, org_id(), funnel_id)
    view, funnel, part = await asked_part(saved)
    query = FunnelQuery(funnel=funnel, period=view.period, now=resources().clock())
    steps = len(funnel.steps)
    columns = [*_COLUMNS, *(f"step_{number}" for number in range(1, steps + 1))]

    def lines_of(person: FunnelPerson) -> list[list[str | None]]:
        return [_cells(person, steps, view.zone)]

    return await csv_of_pages(
        "waylink-funnel-people", columns, partial(AskFunnelPeople, query, part), lines_of
    )


def _cells(person: FunnelPerson, steps: int, zone: tzinfo) -> list[str | None]:
    """The person's ids, and the time of each step; None for steps that they did not do."""
    times = [at.astimezone(zone).isoformat(timespec="milliseconds") for at in person.times]
    ids = [person.customer_id, person.device_id, person.link_id, person.link_name, person.transaction_id]
    return [*ids, *times, *[None] * (steps - len(times))]
