"""The single sales, leads and events that a query counts, with the touches that get them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from backend.domain.analytics.event_properties import check_marked
from backend.domain.analytics.query import Query
from backend.domain.clicks.block import moment
from backend.domain.fields.money import of_units
from backend.domain.ids import LinkId
from backend.storage.analytics.question import Facts, Question


@dataclass(frozen=True, slots=True)
class SingleSale:
    """What one touch gets of a sale, a lead or an event: `part` of it, or 1.

    `name` is that of an event. Amounts are of the whole sale. `is_credited`: a touch gets it, which was of a
    link unless `link_id` is None. `country` and `platform` are those of the click, if it is known.
    """

    at: datetime
    name: str | None
    transaction_id: str | None
    customer: str | None
    currency: str | None
    revenue: Decimal | None
    refunded: Decimal | None
    part: Fraction
    is_credited: bool
    link_id: LinkId | None
    link_name: str | None
    campaign: str | None
    country: str | None
    platform: str | None


class SingleSalesPage(NamedTuple):
    """Some of the sales, the newest first, and how many there are in all."""

    sales: Sequence[SingleSale]
    total: int


@dataclass(frozen=True, slots=True)
class SingleSales(Question[SingleSalesPage]):
    """At most `most` of what the query's measures count of visitors' sales, leads or events."""

    query: Query
    most: int
    skipped: int = 0

    def answer(self, facts: Facts) -> SingleSalesPage:
        """The page. Raises InvalidField for a property that is not marked."""
        # Those who ask have no use for what answers.
        from backend.storage.analytics.conditions.moment_answers import execute_parsed  # noqa: PLC0415
        from backend.storage.analytics.conditions.queried_period import QueriedPeriod  # noqa: PLC0415
        from backend.storage.analytics.measures.sales import single_sales_of  # noqa: PLC0415

        check_marked(self.query.group_by, self.query.filters, facts.event_properties)
        period = QueriedPeriod.without_groups(facts.connection, self.query)
        statement = single_sales_of(facts.connection, period)
        limits = {"most": self.most, "skipped": self.skipped}
        rows = execute_parsed(facts.connection, statement.text, {**statement.values, **limits})
        return SingleSalesPage([_sale(*row[1:]) for row in rows], rows[0][0] if rows else 0)


def _sale(  # noqa: PLR0917 - the columns of `single_sales_of`
    at: int, name: str | None, transaction_id: str | None, customer: str | None, currency: str | None,
    digits: int | None, amount: int | None, refunded: int | None, weight: int, whole: int,
    is_credited: bool, link_id: LinkId | None, link_name: str | None, *click: str | None,
) -> SingleSale:  # fmt: skip
    campaign, country, platform = click

    def in_main_unit(units: int | None) -> Decimal | None:
        return None if units is None or currency is None else of_units(units, digits or 0)

    return SingleSale(
        moment(at), name, transaction_id, customer, currency, in_main_unit(amount), in_main_unit(refunded),
        Fraction(weight, whole), is_credited, link_id, link_name, campaign,
        country, platform,
    )  # fmt: skip
