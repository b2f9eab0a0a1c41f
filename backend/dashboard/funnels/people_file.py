"""/funnels/ID/people.csv: everybody whom a number of a funnel counts, as a file.

Who takes it: whoever writes to those who stopped before they paid, by a program that reads their ids.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import tzinfo

from quart import Response

from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.funnels.people import asked_part
from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.funnels.funnel import FunnelQuery
from backend.domain.analytics.funnels.people import FunnelPart, FunnelPerson
from backend.domain.fields.spreadsheets import csv_line
from backend.domain.ids import FunnelId, OrgId
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.query_questions import AskFunnelPeople
from backend.storage.funnels.saved_funnels import get_funnel
from backend.web.current import resources
from backend.web.file_answer import file_answer

_ROWS_PER_PIECE = 5_000
_COLUMNS = ("customer_id", "device_id", "link_id", "link_name", "transaction_id")


@dashboard.get("/funnels/<funnel_id>/people.csv")
@needs(Permission.ANALYTICS_READ, Permission.PERSONS_READ)
async def funnels_people_csv(funnel_id: FunnelId) -> Response:
    """All people that the address names, each with the exact times of the steps that they did."""
    saved = await get_funnel(resources().database, org_id(), funnel_id)
    view, funnel, part = await asked_part(saved)
    query = FunnelQuery(funnel=funnel, period=view.period, now=resources().clock())
    lines = _lines(resources().analytics, org_id(), query, part)
    headers = {"Content-Disposition": 'attachment; filename="waylink-funnel-people.csv"'}
    return await file_answer(lines, "text/csv; charset=utf-8", headers)


async def _lines(
    analytics: Analytics, organization: OrgId, query: FunnelQuery, part: FunnelPart
) -> AsyncGenerator[bytes, None]:
    steps, skipped = len(query.funnel.steps), 0
    yield csv_line([*_COLUMNS, *(f"step_{number}" for number in range(1, steps + 1))]).encode()
    while True:
        question = AskFunnelPeople(query, part, _ROWS_PER_PIECE, skipped)
        found, _ = await analytics.ask(organization, question)
        yield "".join(csv_line(_cells(person, steps, query.period.zone)) for person in found).encode()
        skipped += len(found)
        if len(found) < _ROWS_PER_PIECE:
            return


def _cells(person: FunnelPerson, steps: int, zone: tzinfo) -> list[str | None]:
    """The person's ids, and the time of each step; None for steps that they did not do."""
    times = [at.astimezone(zone).isoformat(timespec="milliseconds") for at in person.times]
    ids = [person.customer_id, person.device_id, person.link_id, person.link_name, person.transaction_id]
    return [*ids, *times, *[None] * (steps - len(times))]
