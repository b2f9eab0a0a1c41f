"""The answer of a report of customers over time."""

from __future__ import annotations

from dataclasses import dataclass, replace

from backend.domain.analytics.cohorts.cohorts import CohortTable
from backend.domain.analytics.cohorts.new_customers import NewAndReturning
from backend.domain.analytics.cohorts.time_to_sale import TimeToSale
from backend.domain.analytics.query import Query
from backend.domain.ids import OrgId
from backend.domain.reports.cohorts import CohortTables
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.cohorts.questions import AskCohorts, AskNewAndReturning, AskTimeToSale


@dataclass(frozen=True, slots=True)
class CustomersAnswer:
    """Customers over time: the cohorts, the time to a sale, and new and returning customers.

    `tables` says what is shown of the cohorts.
    """

    tables: CohortTables
    table: CohortTable
    took: TimeToSale
    kinds: NewAndReturning

    @property
    def without_amounts(self) -> CustomersAnswer:
        """The answer for readers who may see no money."""
        return replace(self, table=self.table.without_amounts, kinds=self.kinds.without_amounts)


async def ask_customers(
    analytics: Analytics, org_id: OrgId, by_first: Query, query: Query, tables: CohortTables
) -> CustomersAnswer:
    """The cohorts by the first touch, and what the query says of the rest. Raises as `Analytics.ask_all`."""
    questions = [AskCohorts(by_first, tables.weeks), AskTimeToSale(query), AskNewAndReturning(query)]
    return CustomersAnswer(tables, *await analytics.ask_all(org_id, questions))
