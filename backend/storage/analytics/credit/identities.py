"""Identities as something that is credited, as sales are: when a device became known as a customer's."""

# ruff: noqa: S608 - all text is of this package, and values are parameters

from __future__ import annotations

from backend.domain.sales.credit_rules import CreditRules
from backend.storage.analytics.credit.sales import IN_PERIOD, happened, is_known


def first_identities(rules: CreditRules) -> str:
    """A SELECT of the period's identities, with the columns that sales have.

    Of each device and customer, the first identity counts that was neither taken back nor replaced. Such an
    identity has no row in `records`. Its number is one below 0.
    """
    taken_back, replaced = (happened(rules, column) for column in ("taken_back_at", "replaced_at"))
    return f"""
        SELECT * FROM (
            SELECT -1 - min(rowid) AS record, min("at") AS "at", any_value(device) AS device, customer,
                false AS is_same
            FROM identities WHERE customer <> '' AND NOT {taken_back} AND NOT {replaced} AND {is_known(rules)}
            GROUP BY entry, customer
        ) WHERE {IN_PERIOD}
    """
