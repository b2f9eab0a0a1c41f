"""The people whom a number of a funnel counts, in SQL."""

# ruff: noqa: S608 - all text is of this package, and values are parameters

from __future__ import annotations

from collections.abc import Sequence

from duckdb import DuckDBPyConnection

from backend.domain.analytics.funnels.funnel import FunnelQuery
from backend.domain.analytics.funnels.people import FunnelPart, FunnelPerson
from backend.domain.clicks.block import moment
from backend.domain.ids import CustomerId, DeviceId, LinkId
from backend.storage.analytics.conditions.parameters import SqlParameters
from backend.storage.analytics.funnels.answer import FunnelAnswering
from backend.storage.analytics.funnels.tables import FunnelTables


def find_funnel_people(
    connection: DuckDBPyConnection, query: FunnelQuery, part: FunnelPart, most: int, skipped: int
) -> tuple[list[FunnelPerson], int]:
    """At most `most` of the people, whose first step was last first, and how many there are in all."""
    with FunnelTables(connection) as tables:
        answering = FunnelAnswering(tables, query)
        answering.work_out(has_names=True)
        parameters = SqlParameters()
        text = _people(query, part, answering, parameters)
        limits = {"most": most, "skipped": skipped}
        rows = connection.execute(text, {**parameters.values, **limits}).fetchall()
    return [_person(*row[1:]) for row in rows], rows[0][0] if rows else 0


def _people(
    query: FunnelQuery, part: FunnelPart, answering: FunnelAnswering, parameters: SqlParameters
) -> str:
    source, groups = answering.people(parameters)
    conditions = [
        f"depth = {parameters(part.step + 1)}" if part.stopped else f"depth > {parameters(part.step)}"
    ]
    if part.group:
        kind = part.group.kind and part.group.kind.value
        conditions += [f"value IS NOT DISTINCT FROM {parameters(part.group.value)}::VARCHAR"]
        conditions += [f"apart IS NOT DISTINCT FROM {parameters(kind)}::VARCHAR"]
    times = ", ".join(f"chosen.t{number}" for number in range(len(query.funnel.steps)))
    return f"""
        WITH chosen AS (
            SELECT * FROM (SELECT people.*, {groups} FROM {source}) WHERE {" AND ".join(conditions)}
        )
        SELECT count(*) OVER (), names.customer, names.device, [{times}], links.id, links.link_name,
            sold.transaction_id
        FROM chosen
        LEFT JOIN funnel_names AS names ON names.who = chosen.who
        LEFT JOIN funnel_facts AS began ON began.place = chosen.first
        LEFT JOIN (FROM links WHERE is_kept) AS links ON links.link = began.link
        LEFT JOIN funnel_facts AS ended ON ended.place = chosen.last
        LEFT JOIN records AS sold ON sold.record = ended.record AND sold.kind = 'conversion'
        ORDER BY chosen.t0 DESC, chosen.who LIMIT $most OFFSET $skipped
    """


def _person(
    customer: str | None,
    device: str | None,
    times: Sequence[int | None],
    link: str | None,
    *names: str | None,
) -> FunnelPerson:
    link_name, transaction_id = names
    return FunnelPerson(
        CustomerId(customer) if customer else None,
        DeviceId(device) if device else None,
        [moment(time) for time in times if time is not None],
        LinkId(link) if link else None,
        link_name,
        transaction_id,
    )
