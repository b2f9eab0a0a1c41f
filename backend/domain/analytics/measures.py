"""What analytics counts: a row for each measure, from which everything else about it follows.

What other languages call a row stands in `mail/languages/`; the SQL of a sum stands in `storage/analytics/`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum, auto

from backend.domain.analytics.formulas import Formula, Less, Per, Sum


class Unit(Enum):
    """What numbers of a measure are, by which they are rounded and written."""

    COUNT = auto()
    CREDIT = auto()  # a count with fractions where several touches share the credit
    SHARE = auto()  # that people read in percent
    AMOUNT = auto()  # by currency, as all that follow
    AMOUNT_PER_CLICK = auto()  # with more decimals than its currency has
    RETURN = auto()  # a plain number, as an amount by an amount is


class MeasureKind(Enum):
    """What a measure counts, or is made of."""

    CLICKS = auto()  # requests and opens of links, each once
    VISITORS = auto()
    INSTALLS = auto()
    SALES = auto()  # leads, conversions, events and identities
    PEOPLE = auto()  # different people behind them, each once
    COSTS = auto()


_REVENUE, _REFUNDS, _COST = (Sum(name, (name,)) for name in ("revenue", "refunds", "cost"))
_CLICKS = Sum("clicks", ("clicks",))
_CONVERSIONS_OF_LINKS = Sum("conversions_of_links", ("conversions",))
_REVENUE_OF_LINKS = Sum("revenue_of_links", ("revenue",))
# Of campaigns whose cost is known, by its currency.
_CLICKS_WITH_COST = Sum("clicks_with_cost", ("clicks",))
_CONVERSIONS_WITH_COST = Sum("conversions_with_cost", ("conversions",))
_REVENUE_WITH_COST = Sum("revenue_with_cost", ("revenue",))


@dataclass(frozen=True, slots=True)
class MeasureDefinition:
    """What people call a measure, what it means, what it counts, and how it is worked out.

    Without a formula, it is the sum of its own name.
    """

    label: str
    meaning: str
    kind: MeasureKind
    unit: Unit = Unit.COUNT
    formula: Formula | None = None


class Measure(StrEnum):
    """What is counted."""

    label: str
    meaning: str
    kind: MeasureKind
    unit: Unit
    formula: Formula

    # The definition is None where a measure is looked up by its name.
    def __new__(cls, name: str, definition: MeasureDefinition | None = None) -> Measure:
        """Make the member of a definition."""
        assert definition
        member = str.__new__(cls, name)
        member._value_ = name
        member.label, member.meaning = definition.label, definition.meaning
        member.kind, member.unit = definition.kind, definition.unit
        member.formula = definition.formula or Sum(name, (name,))
        return member

    CLICKS = (
        "clicks",
        MeasureDefinition(
            "Clicks",
            "Visits of links by people, without crawlers, previews and pages that were loaded ahead; opens "
            "of apps by links are among them.",
            MeasureKind.CLICKS,
        ),
    )
    VISITORS = (
        "visitors",
        MeasureDefinition(
            "Visitors", "Different browsers, each once on each day in UTC.", MeasureKind.VISITORS
        ),
    )
    NOT_COUNTED = (
        "not_counted",
        MeasureDefinition("Not counted", "Requests for links that are no clicks.", MeasureKind.CLICKS),
    )
    OPENS = (
        "opens",
        MeasureDefinition(
            "App opens",
            "Clicks of links that opened an installed app at once, as apps tell it.",
            MeasureKind.CLICKS,
        ),
    )
    INSTALLS = "installs", MeasureDefinition("Installs", "Installs of apps.", MeasureKind.INSTALLS)
    LEADS = (
        "leads",
        MeasureDefinition("Leads", "Leads that were told, each once.", MeasureKind.SALES, Unit.CREDIT),
    )
    CONVERSIONS = (
        "conversions",
        MeasureDefinition(
            "Conversions",
            "Sales that were told, each once; with a currency, those in it.",
            MeasureKind.SALES,
            Unit.CREDIT,
        ),
    )
    EVENTS = (
        "events",
        MeasureDefinition(
            "Events", "Custom events that were told, each once.", MeasureKind.SALES, Unit.CREDIT
        ),
    )
    IDENTITIES = (
        "identities",
        MeasureDefinition(
            "Identities",
            "Devices that became known as a customer's: each once for each customer, at first.",
            MeasureKind.SALES,
            Unit.CREDIT,
        ),
    )
    CUSTOMERS = (
        "customers",
        MeasureDefinition("Customers", "Different customers who bought.", MeasureKind.PEOPLE),
    )
    CONTACTS = (
        "contacts",
        MeasureDefinition(
            "Contacts",
            "Different customers with a lead or a sale: customers, and who is only known so far.",
            MeasureKind.PEOPLE,
        ),
    )
    REVENUE = (
        "revenue",
        MeasureDefinition("Revenue", "What was paid, before refunds.", MeasureKind.SALES, Unit.AMOUNT),
    )
    REFUNDS = (
        "refunds",
        MeasureDefinition(
            "Refunded",
            "What was paid back of the revenue, at the time of its sale.",
            MeasureKind.SALES,
            Unit.AMOUNT,
        ),
    )
    NET_REVENUE = (
        "net_revenue",
        MeasureDefinition(
            "Net revenue",
            "The revenue less what was paid back.",
            MeasureKind.SALES,
            Unit.AMOUNT,
            formula=Less(_REVENUE, _REFUNDS),
        ),
    )
    CONVERSION_RATE = (
        "conversion_rate",
        MeasureDefinition(
            "Conversion rate",
            "Conversions that came of links, by clicks: what no link led to is left out.",
            MeasureKind.SALES,
            Unit.SHARE,
            formula=Per(_CONVERSIONS_OF_LINKS, _CLICKS),
        ),
    )
    REVENUE_PER_CLICK = (
        "revenue_per_click",
        MeasureDefinition(
            "Revenue per click",
            "Revenue that came of links, by clicks: what no link led to is left out.",
            MeasureKind.SALES,
            Unit.AMOUNT_PER_CLICK,
            formula=Per(_REVENUE_OF_LINKS, _CLICKS),
        ),
    )
    COST = (
        "cost",
        MeasureDefinition(
            "Cost",
            "What campaigns cost, as you told it; nothing where nothing was told.",
            MeasureKind.COSTS,
            Unit.AMOUNT,
        ),
    )
    RETURN_ON_AD_SPEND = (
        "return_on_ad_spend",
        MeasureDefinition(
            "Return on ad spend",
            "Revenue of campaigns whose cost is known, by that cost, in its currency: 2 is "
            "twice as much as they cost.",
            MeasureKind.COSTS,
            Unit.RETURN,
            formula=Per(_REVENUE_WITH_COST, _COST),
        ),
    )
    COST_PER_CLICK = (
        "cost_per_click",
        MeasureDefinition(
            "Cost per click",
            "Cost by the clicks of the campaigns whose cost is known.",
            MeasureKind.COSTS,
            Unit.AMOUNT_PER_CLICK,
            formula=Per(_COST, _CLICKS_WITH_COST),
        ),
    )
    COST_PER_CONVERSION = (
        "cost_per_conversion",
        MeasureDefinition(
            "Cost per conversion",
            "Cost by the conversions of the campaigns whose cost is known.",
            MeasureKind.COSTS,
            Unit.AMOUNT,
            formula=Per(_COST, _CONVERSIONS_WITH_COST),
        ),
    )
    CHANCE_OF_BEST = (
        "chance_of_best",
        MeasureDefinition(
            "Chance to be the best",
            "The chance that a variant converts better than the others it stood beside.",
            MeasureKind.SALES,
            Unit.SHARE,
            formula=Sum("chance_of_best", ("conversions", "clicks")),
        ),
    )

    @property
    def is_money(self) -> bool:
        """Whether it is by currency: an amount, or made of amounts."""
        return self.unit in {Unit.AMOUNT, Unit.AMOUNT_PER_CLICK, Unit.RETURN}

    @property
    def is_rate(self) -> bool:
        """Whether it is what came of links by their clicks: what came of no link is in none."""
        return isinstance(self.formula, Per) and self.formula.by is _CLICKS

    @property
    def needed(self) -> frozenset[Measure]:
        """What has to be counted for it: itself, if it is a sum."""
        return frozenset(Measure(name) for part in self.formula.sums for name in part.counted_with)


class ByCurrency(StrEnum):
    """What answers without a currency show beside a measure: how much of it is in each currency."""

    CONVERSIONS = "conversions_by_currency"

    @property
    def measure(self) -> Measure:
        """The measure that it divides."""
        return Measure(self.name.lower())


# What answers show.
Shown = Measure | ByCurrency
