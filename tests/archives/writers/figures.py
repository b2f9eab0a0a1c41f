"""Writers of what organizations keep to read figures."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from backend.domain.alerts.finding import AlertCause
from backend.domain.alerts.input import RULE_NAME
from backend.domain.alerts.rule import AlertKind
from backend.domain.analytics.funnels.funnel import MOST_STEPS
from backend.domain.analytics.funnels.saved import SAVED_FUNNELS
from backend.domain.costs.cost import LONGEST_CAMPAIGN, ToldCost
from backend.domain.fields.rules import Text
from backend.domain.links.input import REQUIRED
from backend.domain.reports.input import REPORT_NAME
from backend.domain.reports.recipient import RECIPIENT_DEFAULTS, Frequency
from backend.domain.resources.resource import Resource
from backend.storage.alerts.firing import tell as tell_alerts
from backend.storage.alerts.rules import create_rule
from backend.storage.costs.costs import tell_costs
from backend.storage.reports.recipients import ask_recipient
from backend.storage.reports.reports import create_report
from backend.storage.resources.things import Things
from tests.archives.longest import long_text, longest
from tests.archives.writers.place import Place, Writer
from tests.facts.feeds import place_all
from tests.facts.fired_alerts import CHANNELS
from tests.resources.examples import EXAMPLES, LINK


async def write_alerts(place: Place) -> None:
    link = await place.link(link_name=place.draw(longest(REQUIRED["link_name"])))
    fields = {"name": place.draw(longest(RULE_NAME)), "kind": AlertKind.LIMITS, "webhooks": True}
    rule = await create_rule(place.database, place.org_id, fields, place.now)
    figures = {"clicks": 4, "max_clicks": 5}
    cause = AlertCause(f"clicks/nearly/{link.id}", "5", place.now, figures, link.id)
    await tell_alerts(place.database, CHANNELS, rule, [cause], place.now)
    await place_all(place.database, place.org_id)


async def write_reports(place: Place) -> str:
    campaigns = [place.draw(long_text(LONGEST_CAMPAIGN, "aZ0 _-")) for _ in range(25)]
    query = {"filters": {"campaign": [*campaigns, "\x07", None]}, "period": "last_28_days"}
    origins = tuple(f"https://{n}.{'x' * 60}.example" for n in range(20))
    fields = {"name": place.draw(longest(REPORT_NAME)), "query": query, "embed_origins": origins}
    made = await create_report(place.database, place.org_id, fields, place.now)
    return made.id


async def write_recipients(place: Place) -> None:
    address = f"{'a' * 60}@{'.'.join(['x' * 60] * 3)}.io"
    values = {"report_id": await write_reports(place), "address": address, "frequency": Frequency.WEEKLY}
    await ask_recipient(place.database, place.org_id, {**RECIPIENT_DEFAULTS, **values}, place.now)


async def write_funnels(place: Place) -> None:
    steps = [
        {"kind": "click", "filters": {"campaign": [place.draw(long_text(LONGEST_CAMPAIGN)), "\x07"]}}
        for _ in range(MOST_STEPS)
    ]
    given = {"name": place.draw(longest(SAVED_FUNNELS.told["name"])), "steps": steps}
    parsed = {name: SAVED_FUNNELS.told[name].parse(name, value) for name, value in given.items()}
    await Things(SAVED_FUNNELS).add(place.database, place.org_id, parsed, place.now)


def writer_of(resource: Resource[Any]) -> Writer:
    """A writer of the resource's example, with texts that are as long as they may be."""

    async def write(place: Place) -> None:
        told = {
            name: place.draw(longest(rule)) if isinstance(rule, Text) else rule.parse(name, given[name])
            for name, rule in resource.told.items()
            if given[name] != LINK
        }
        await Things(resource).add(place.database, place.org_id, told, place.now)

    given = EXAMPLES[resource.collection].new

    return write


async def write_alert_rules(place: Place) -> None:
    fields = {"name": place.draw(longest(RULE_NAME)), "kind": AlertKind.LIMITS, "webhooks": False}
    await create_rule(place.database, place.org_id, fields, place.now)


async def write_costs(place: Place) -> None:
    campaign = place.draw(long_text(LONGEST_CAMPAIGN))
    cost = ToldCost(campaign, place.now.date(), Decimal("999999999.99"), "EUR")
    await tell_costs(place.database, place.org_id, [cost], place.now)
    await place_all(place.database, place.org_id)
