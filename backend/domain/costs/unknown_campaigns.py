"""Campaigns of costs that nothing else has, such as those with a typing error."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches

# Comparing takes time: whoever has more unknown names than these has to look at the whole file.
_MOST_COMPARED, _MOST_KNOWN = 20, 2_000
_LEAST_LIKENESS = 0.75


def unknown_campaigns(named: Iterable[str], known: Collection[str]) -> dict[str, str | None]:
    """Those of the named campaigns that are not known, each with the known one that it is most like, if any.

    Names are compared exactly, as figures compare them; for likeness, upper and lower case are the same.
    """
    unknown = [name for name in dict.fromkeys(named) if name not in known]
    by_key = {name.casefold(): name for name in sorted(known)[:_MOST_KNOWN]}
    return {
        name: _closest(name.casefold(), by_key) if number < _MOST_COMPARED else None
        for number, name in enumerate(unknown)
    }


def unknown_words(closest: str | None) -> str:
    """What people are told about an unknown campaign, as a sentence."""
    return "No link and no visit has this campaign" + (f". Is it {closest}?" if closest else ".")


def _closest(key: str, by_key: dict[str, str]) -> str | None:
    found = get_close_matches(key, by_key, n=1, cutoff=_LEAST_LIKENESS)
    return by_key[found[0]] if found else None
