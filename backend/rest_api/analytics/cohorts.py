"""POST /analytics/cohorts, /time-to-sale and /new-and-returning: customers over time (docs/cohorts.md)."""

from __future__ import annotations

from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.cohorts.cohorts import DEFAULT_WEEKS
from backend.domain.analytics.cohorts.input import (
    COHORT_FIELDS,
    CUSTOMER_FIELDS,
    parse_cohorts,
    parse_customers,
)
from backend.domain.analytics.cohorts.json_form import (
    cohorts_json,
    new_and_returning_json,
    time_to_sale_json,
)
from backend.json_api import error_table
from backend.json_api.json_body import read_json_object
from backend.rest_api.analytics.query import MOST_BYTES, within_reach
from backend.rest_api.analytics.schemas import MEANINGS, body_schema
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.operation import Operation
from backend.storage.analytics.cohorts.questions import AskCohorts, AskNewAndReturning, AskTimeToSale
from backend.storage.driver.deadlines import lift_deadline
from backend.web.current import resources

_MEANINGS = MEANINGS | {
    "weeks": f"How many weeks after the first touch are counted; by default {DEFAULT_WEEKS}.",
    "currency": "Conversions in this currency only.",
    "model": "Which touch gets the credit: only models that credit a sale to one touch.",
}
_ERRORS = (error_table.QUERY_INVALID, error_table.FIGURES_UNAVAILABLE)


_OF_COHORTS = body_schema(COHORT_FIELDS, _MEANINGS)
_OF_CUSTOMERS = body_schema(CUSTOMER_FIELDS, _MEANINGS)


@Operation(
    method="POST",
    path="/analytics/cohorts",
    summary="Customers by the week of their first touch, and what they bought in the weeks after",
    needs=(Permission.ANALYTICS_READ,),
    holds_reach=True,
    body=_OF_COHORTS,
    answer="CohortTable",
    errors=_ERRORS,
)
async def query_cohorts() -> dict[str, Any]:
    """The cohorts of the weeks between `from` and `to`. Filters go by the customers' first touches."""
    query, weeks = parse_cohorts(await read_json_object(MOST_BYTES), resources().clock())
    question = AskCohorts(within_reach(query), weeks)
    lift_deadline()
    return cohorts_json(await resources().analytics.ask(caller().org_id, question))


@Operation(
    method="POST",
    path="/analytics/time-to-sale",
    summary="How long it takes from a click to a sale",
    needs=(Permission.ANALYTICS_READ,),
    holds_reach=True,
    body=_OF_CUSTOMERS,
    answer="TimeToSale",
    errors=_ERRORS,
)
async def query_time_to_sale() -> dict[str, Any]:
    """The time from the click that gets the credit to each conversion of the period."""
    query = within_reach(parse_customers(await read_json_object(MOST_BYTES), resources().clock()))
    lift_deadline()
    return time_to_sale_json(await resources().analytics.ask(caller().org_id, AskTimeToSale(query)))


@Operation(
    method="POST",
    path="/analytics/new-and-returning",
    summary="Customers who bought for the first time, and who had bought before",
    needs=(Permission.ANALYTICS_READ,),
    holds_reach=True,
    body=_OF_CUSTOMERS,
    answer="NewAndReturning",
    errors=_ERRORS,
)
async def query_new_and_returning() -> dict[str, Any]:
    """What new and returning customers bought in the period."""
    query = within_reach(parse_customers(await read_json_object(MOST_BYTES), resources().clock()))
    lift_deadline()
    return new_and_returning_json(await resources().analytics.ask(caller().org_id, AskNewAndReturning(query)))
