"""Credit in SQL: what each touch gets of each sale, by docs/decisions/credit.md.

domain/sales/credit and domain/sales/histories do the same in Python, for one sale at a time. Here it is done
for all sales of a period, in these steps:

- `told_sales`: the sales of the period as they were told by then, with their devices (sales.py)
- `spans`: from when to when a device was which customer's; `sales`: whose the sales are (owners.py).
  Devices and customers are numbers here, since names take several times as much time and memory
- `counted`: of most sales, all visits that devices told count, and nothing else. So it is enough to count
  them, and to find the first or last one (visits.py)
- `odd`: the sales for which servers named visits, those with such a visit among their device's, and those
  with a copy of a touch that their device has no more. Their visits are put in order one by one (odd.py)
- the shares that each model gives (shares.py)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta

from duckdb import DuckDBPyConnection

from backend.domain.sales.credit_rules import CreditRules, CreditTo
from backend.domain.visitors.calls import Kind
from backend.storage.analytics.conditions.sql import Sql
from backend.storage.analytics.credit.identities import first_identities
from backend.storage.analytics.credit.odd import find_odd
from backend.storage.analytics.credit.owners import find_owners
from backend.storage.analytics.credit.sales import find_sales, has_sales
from backend.storage.analytics.credit.shares import NO_SHARES, shares
from backend.storage.analytics.credit.tables import CreditTables
from backend.storage.analytics.credit.visits import count_visits

KINDS = (Kind.LEAD, Kind.CONVERSION, Kind.EVENT)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_DAY = 86_400_000


def credited(
    connection: DuckDBPyConnection,
    rules: CreditRules,
    start: int,
    end: int,
    kinds: Collection[Kind | str] = KINDS,
    *,
    has_customers: bool = True,
) -> Sql:
    """A SELECT of what each touch gets of each sale that the rules know, from `start` until before `end`.

    A row is a share: `weight` of `whole` parts of a sale, which is of one of these kinds. A sale that no
    touch gets has one row, in which `has_touch` is false. Of the kind `identify` are the first identities of
    devices as customers, whose `record` is below 0. Times are milliseconds since 1970. Without
    `has_customers`, nothing is looked up only to say whose the sales are, and `customer` is null.

    It reads temporary tables that are made here: so it is good for this connection, until the next one is
    asked for there or `forget_credit` is called (credit_tables).
    """
    tables = CreditTables(connection, _values(rules, start, end))
    has_people = has_customers or rules.to is CreditTo.CUSTOMER
    sale_kinds = [Kind(kind) for kind in kinds]
    if not has_sales(tables, sale_kinds):
        return Sql(NO_SHARES)
    recorded = [kind for kind in sale_kinds if kind is not Kind.IDENTIFY]
    more = [first_identities(rules)] if Kind.IDENTIFY in sale_kinds else []
    find_sales(tables, rules, recorded, more=more, has_people=has_people, has_customers=has_customers)
    find_owners(tables, rules, has_people=has_people)
    count_visits(tables, rules)
    find_odd(tables, rules)
    return tables.with_values(shares(tables, rules, has_customers=has_customers))


def _values(rules: CreditRules, start: int, end: int) -> Mapping[str, object]:
    values = {"credit_start": start, "credit_end": end}
    if rules.as_of is not None:
        values["credit_as_of"] = -((_EPOCH - rules.as_of) // _MILLISECOND)  # rounded up
    if rules.lookback_days is not None:
        values["credit_lookback"] = rules.lookback_days * _DAY
    return values
