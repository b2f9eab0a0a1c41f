"""The site of a referrer, in SQL."""

# ruff: noqa: S608 - the list is the service's own

from __future__ import annotations

from functools import cache

from backend.domain.web.referring_sites import ANY_COUNTRY, COUNTRY, PREFIX, site_names


def site_in_sql(host: str) -> str:
    """The expression of domain/web/referring_sites.site_of for what this one gives; null for null.

    It takes a look at the whole list for each host, so it is for hosts that were counted already.
    """
    any_country = f"regexp_replace({host}, '{COUNTRY}', '{ANY_COUNTRY}')"
    ends = " OR ".join(f"ends_with('.' || {known}, '.' || sites.host)" for known in (host, any_country))
    found = f"SELECT arg_max(sites.name, length(sites.host)) FROM ({_sites()}) AS sites WHERE {ends}"
    return f"coalesce(({found}), regexp_replace({host}, '{PREFIX}', '\\1'))"


@cache
def _sites() -> str:
    rows = ", ".join(f"({_text(host)}, {_text(name)})" for host, name in site_names().items())
    return f"SELECT * FROM (VALUES {rows}) AS listed(host, name)"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
