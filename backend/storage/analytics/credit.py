"""Credit in SQL: what each touch gets of each sale, by docs/decisions/credit.md.

domain/credit and domain/histories say the same in Python. There, a sale at a time is looked at; here all
sales of a period are, in these steps, each of which is a common table:

- `told`: the sales of the period, as they were told by then (credit_sales)
- `spans`: from when to when a device was which customer's; `sales`: whose the sales are (credit_owners).
  From here on, devices and customers are numbers: names would take several times as much memory
- `counted`: of most sales, all visits that a device told count, and nothing else. So it is enough to count
  them, and to find the first or last one (credit_visits)
- `odd`: the sales for which servers named visits, those with such a visit among their device's, and those
  with a copy of a touch that its device has no more. Their visits are put in order one by one (credit_odd)
- the shares that each model gives (credit_shares)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta

from backend.domain.calls import Kind
from backend.domain.credit_rules import CreditRules
from backend.storage.analytics.credit_odd import odd_tables
from backend.storage.analytics.credit_owners import owner_tables
from backend.storage.analytics.credit_sales import sale_tables
from backend.storage.analytics.credit_shares import share_tables, shares
from backend.storage.analytics.credit_visits import visit_tables
from backend.storage.analytics.sql import Sql

KINDS = (Kind.LEAD, Kind.CONVERSION, Kind.EVENT)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_DAY = 86_400_000


def credited(
    rules: CreditRules,
    start: int,
    end: int,
    kinds: Collection[Kind | str] = KINDS,
    *,
    has_customers: bool = True,
) -> Sql:
    """A SELECT of what each touch gets of each sale that the rules know, from `start` until before `end`.

    A row is a share: `weight` of `whole` parts of a sale, which is of one of these kinds. A sale that no
    touch gets has one row, in which `has_touch` is false. Times are milliseconds since 1970. Without
    `has_customers`, nothing is looked up to say whose the sales are, and `customer` is null.
    """
    tables = {
        **sale_tables(rules, [Kind(each) for each in kinds]),
        **owner_tables(rules, has_customers=has_customers),
        **visit_tables(rules),
        **odd_tables(rules),
        **share_tables(rules),
    }
    named = ",\n".join(f"{name} AS {text}" for name, text in tables.items())
    return Sql(f"WITH {named}\n{shares(has_customers=has_customers)}", _values(rules, start, end))


def _values(rules: CreditRules, start: int, end: int) -> Mapping[str, object]:
    values = {"credit_start": start, "credit_end": end}
    if rules.as_of is not None:
        values["credit_as_of"] = -((_EPOCH - rules.as_of) // _MILLISECOND)  # rounded up
    if rules.lookback_days is not None:
        values["credit_lookback"] = rules.lookback_days * _DAY
    return values
