"""The sales of a period, as the rules know them: their time, device, and the customer they were told of."""

# ruff: noqa: S608 - all text is of this package, and values are parameters

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backend.domain.calls import Kind
from backend.domain.credit_rules import CreditRules

_IN_PERIOD = '"at" >= $credit_start AND "at" < $credit_end'
_SEVERAL = "MATERIALIZED (SELECT DISTINCT record FROM tellings WHERE number > 0)"


def known(rules: CreditRules, known_at: str = "known_at") -> str:
    """The condition that the service had been told of a row by then."""
    return "true" if rules.as_of is None else f"{known_at} < $credit_as_of"


def sale_tables(rules: CreditRules, kinds: Sequence[Kind]) -> Mapping[str, str]:
    """The table `told` of the sales, and those that it is made of.

    `is_same`: what they are known to be of is the device that they are of by all tellings.
    """
    # As of a moment, a record may be known to have been at another time.
    at = f" AND {_IN_PERIOD}" if rules.as_of is None else ""
    return {
        # Nearly all are told once; of these, the telling is all there is to know.
        "several": _SEVERAL,
        "wanted": f"(SELECT record FROM records WHERE {_of_kinds(kinds)}{at})",
        "told_once": f"""(
            SELECT record, "at", device, customer, true AS is_same
            FROM tellings ANTI JOIN several USING (record) SEMI JOIN wanted USING (record)
            WHERE number = 0 AND {_IN_PERIOD} AND {known(rules)}
        )""",
        "tellings_of_several": f"""MATERIALIZED (
            SELECT *, {known(rules)} AS is_known FROM tellings SEMI JOIN several USING (record)
            SEMI JOIN wanted USING (record)
        )""",
        "names_of_several": f"""(
            SELECT record, {_said("device")} AS device_of_all, {_said("device", "is_known")} AS device,
                {_said("customer", "is_known")} AS customer
            FROM tellings_of_several GROUP BY record HAVING bool_or(is_known)
        )""",
        "told_again": """(
            SELECT record, min(each."at") AS "at", names.device, names.customer,
                names.device IS NOT DISTINCT FROM names.device_of_all AS is_same
            FROM tellings_of_several AS each JOIN names_of_several AS names USING (record)
            WHERE is_known AND (names.device IS NULL OR each.device = names.device)
            GROUP BY ALL
        )""",
        "told": f"""NOT MATERIALIZED (
            FROM told_once UNION ALL FROM told_again WHERE {_IN_PERIOD}
        )""",
    }


def _of_kinds(kinds: Sequence[Kind]) -> str:
    names = ", ".join(f"'{each.value}'" for each in kinds)
    return f"kind IN ({names})" if kinds else "false"


def _said(column: str, condition: str = "true") -> str:
    """What servers say, else browsers; of several the earliest, and of these the one that sorts first."""
    said = f"{{'is_browser': NOT is_server, 'at': \"at\", 'name': {column}}}"
    return f"(min({said}) FILTER (WHERE {column} IS NOT NULL AND {condition})).name"
