"""The facts of a funnel: who did something that can be a step, and when, each person's in one order."""

# ruff: noqa: S608 - all text is of this package, and values are parameters

from __future__ import annotations

from backend.domain.analytics.event_properties import event_fields
from backend.domain.analytics.funnels.funnel import Funnel
from backend.domain.analytics.query import CLICK_FIELDS, Field
from backend.storage.analytics.conditions.parameters import SqlParameters
from backend.storage.analytics.credit.odd import find_odd
from backend.storage.analytics.credit.shares import shares
from backend.storage.analytics.credit.tables import CreditTables
from backend.storage.analytics.credit.visits import count_visits
from backend.storage.analytics.funnels.steps import StepConditions
from backend.storage.analytics.funnels.tables import FunnelTables
from backend.storage.analytics.measures.shares import clicks_of

_UTM = ("campaign", "source", "medium", "term", "content")
_NO_UTM = ", ".join(f"NULL::VARCHAR AS {name}" for name in _UTM)
# `tie` and `more_tie` tell facts of one kind and time apart, the same way in each file.
_CLICKS = f"""
    SELECT NULL::BIGINT AS record, who, 'click' AS kind, clicks."at", NULL::VARCHAR AS name,
        clicks.link, {_NO_UTM},
        clicks.variant, clicks.click_at, true AS has_touch, ranks.rank::UBIGINT AS tie,
        clicks.click_mark AS more_tie
    FROM funnel_clicks AS clicks
    JOIN (SELECT link, row_number() OVER (ORDER BY id) AS rank FROM links) AS ranks USING (link)
"""
_NOT_CREDITED = f"""
    SELECT record, who, records.kind, owned."at", records.name, NULL::INTEGER AS link, {_NO_UTM},
        NULL::VARCHAR AS variant, NULL::BIGINT AS click_at, false AS has_touch, records.key AS tie,
        NULL::BIGINT AS more_tie
    FROM funnel_records AS owned JOIN records USING (record) WHERE who IS NOT NULL
"""
_JOIN_EVENTS = """
    LEFT JOIN (SELECT record AS told_record, metadata FROM records WHERE kind = 'event') AS told
        ON told.told_record = shares.record
"""
_JOIN_LINKS = "LEFT JOIN (FROM links WHERE is_kept) AS links ON links.link = shares.link"
_JOIN_EARNING = "LEFT JOIN earning ON earning.link = shares.link AND earning.clicked_at = shares.click_at"


def find_facts(
    tables: FunnelTables, credit: CreditTables, funnel: Funnel, conditions: StepConditions
) -> None:
    """Make the table `facts` of `funnel_clicks` and `funnel_records`, in the order of `place`.

    `s0`, `s1` and so on say which steps a fact can be; `record` is null for clicks. Facts of a person at one
    time stand in the order of the first steps that they can be, then by kind, links by their ids and records
    by their keys.
    """
    parameters, numbers = SqlParameters(), range(len(funnel.steps))
    records = _NOT_CREDITED
    if funnel.credited_fields:
        records = _credited(credit, funnel, parameters)
    click_fields = (funnel.asked_fields & CLICK_FIELDS) - {Field.VARIANT}
    touches = "shares" if funnel.credited_fields & click_fields else "funnel_clicks"
    earning = f", earning AS ({clicks_of(touches)})" if click_fields else ""
    any_step = " OR ".join(f"s{number}" for number in numbers)
    lowest = " ".join(f"WHEN s{number} THEN {number}" for number in numbers)
    order = f'who, "at", CASE {lowest} END, kind, tie, more_tie'
    steps = ", ".join(f"s{number}" for number in numbers)
    select = f"""
        WITH shares AS ({_CLICKS} UNION ALL {records}) {earning}
        SELECT row_number() OVER (ORDER BY {order}) AS place, who, "at", kind, {steps}, value, apart, link,
            record
        FROM (
            SELECT shares.record, shares.who, shares."at", shares.kind, shares.tie, shares.more_tie,
                shares.link,
                {conditions.value(parameters)} AS value, {conditions.apart} AS apart,
                {", ".join(conditions.columns(parameters))}
            FROM shares {_JOIN_LINKS} {_JOIN_EARNING if earning else ""}
                {_JOIN_EVENTS if event_fields(funnel.asked_fields) else ""}
        ) WHERE {any_step}
    """
    tables.make("facts", select, parameters.values)
    tables.drop("clicks", "records")


def _credited(credit: CreditTables, funnel: Funnel, parameters: SqlParameters) -> str:
    """The records with the touch that gets the credit for each; of a record, one gets all of it."""
    count_visits(credit, funnel.rules)
    find_odd(credit, funnel.rules)
    text = parameters.take(credit.with_values(shares(credit, funnel.rules, has_customers=False)))
    utm = ", ".join(f"credited.{name}" for name in _UTM)
    return f"""
        SELECT record, who, credited.kind, owned."at", credited.name, credited.link, {utm},
            credited.variant, credited.click_at, credited.has_touch, records.key AS tie,
            NULL::BIGINT AS more_tie
        FROM funnel_records AS owned JOIN records USING (record) JOIN ({text}) AS credited USING (record)
        WHERE who IS NOT NULL
    """
