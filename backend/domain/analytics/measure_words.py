"""What each measure counts, in a sentence (decisions, "words-of-reports"): one for the dashboard and REST."""

from __future__ import annotations

from backend.domain.analytics.query import Measure

MEANINGS: dict[Measure, str] = {
    Measure.CLICKS: "Visits of links by people, without crawlers, previews and pages that were loaded ahead; "
    "opens of apps by links are among them.",
    Measure.VISITORS: "Different browsers, each once on each day in UTC.",
    Measure.NOT_COUNTED: "Requests for links that are no clicks.",
    Measure.OPENS: "Clicks of links that opened an installed app at once, as apps tell it.",
    Measure.INSTALLS: "Installs of apps.",
    Measure.LEADS: "Leads that were told, each once.",
    Measure.CONVERSIONS: "Sales that were told, each once; with a currency, those in it.",
    Measure.EVENTS: "Custom events that were told, each once.",
    Measure.IDENTITIES: "Devices that became known as a customer's: each once for each customer, at first.",
    Measure.CUSTOMERS: "Different customers who bought.",
    Measure.CONTACTS: "Different customers with a lead or a sale: customers, and who is only known so far.",
    Measure.REVENUE: "What was paid, before refunds.",
    Measure.REFUNDS: "What was paid back of the revenue, at the time of its sale.",
    Measure.NET_REVENUE: "The revenue less what was paid back.",
    Measure.CONVERSION_RATE: "Conversions that came of links, by clicks: what no link led to is left out.",
    Measure.REVENUE_PER_CLICK: "Revenue that came of links, by clicks: what no link led to is left out.",
    Measure.COST: "What campaigns cost, as you told it; nothing where nothing was told.",
    Measure.RETURN_ON_AD_SPEND: "Revenue of campaigns whose cost is known, by that cost, in its currency: 2 "
    "is twice as much as they cost.",
    Measure.COST_PER_CLICK: "Cost by the clicks of the campaigns whose cost is known.",
    Measure.COST_PER_CONVERSION: "Cost by the conversions of the campaigns whose cost is known.",
    Measure.CHANCE_OF_BEST: "The chance that a variant converts better than the others it stood beside.",
}
