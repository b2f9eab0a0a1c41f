"""Countries by their ISO 3166 codes, from the table that comes with the list of time zones."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

# Not in the standard, but in tables of addresses: Kosovo.
_BESIDE = {"XK": "Kosovo"}


@lru_cache(maxsize=1)
def countries() -> Mapping[str, str]:
    """The names of countries by their codes, such as DE: Germany."""
    table = files("tzdata").joinpath("zoneinfo", "iso3166.tab").read_text(encoding="utf-8")
    rows = (line.partition("\t") for line in table.splitlines() if not line.startswith("#"))
    return {code: name for code, _, name in rows} | _BESIDE
