"""Sites that visitors come from: the hosts and apps of one service are one site, by its name.

The list is Waylink's own, in static/referring_sites.json. Lists that others keep are under licenses that this
one can't be put under.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

# What hosts in countries end with is written so in the list: google.* is google.com, google.de, google.co.uk.
ANY_COUNTRY = ".*"
# The countries whose registry gives out names below com and co there, by the Public Suffix List. Anybody can
# have google below com.de, which is a name like any other.
_WITH_COM = (
    "ac|af|ag|ai|al|am|ar|au|aw|az|ba|bb|bd|bh|bi|bj|bm|bn|bo|br|bs|bt|by|bz|ci|ck|"
    "cm|cn|co|cu|cv|cw|cy|dm|do|dz|ec|ee|eg|er|es|et|fj|fk|fm|fr|ge|gh|gi|gl|gn|gp|"
    "gr|gt|gu|gy|hk|hn|hr|ht|im|in|io|iq|jm|jo|kg|kh|ki|km|kp|kw|ky|kz|la|lb|lc|lk|"
    "lr|lv|ly|mg|mk|ml|mm|mo|ms|mt|mu|mv|mw|mx|my|na|nf|ng|ni|np|nr|om|pa|pe|pf|pg|"
    "ph|pk|pl|pr|ps|pt|py|qa|re|ro|sa|sb|sc|sd|sg|sh|sl|sn|so|ss|st|sv|sy|tj|tm|tn|"
    "to|tr|tt|tw|ua|ug|uy|uz|vc|ve|vi|vn|vu|ws|ye|zm"
)
_WITH_CO = (
    "ae|ag|am|ao|at|az|bb|bd|bi|bj|bw|bz|ci|ck|cl|cm|cr|dm|er|fk|gg|gl|gy|hu|id|il|"
    "im|in|io|ir|it|je|jm|jp|ke|kr|lc|ls|ma|me|mg|mm|mu|mw|mz|na|ni|np|nz|om|pg|pn|"
    "rs|rw|ss|st|sz|th|tj|tm|tt|tz|ug|uk|us|uz|ve|vi|za|zm|zw"
)
# In the syntax that RE2 has too, for DuckDB.
COUNTRY = rf"\.(?:com(?:\.(?:{_WITH_COM}))?|co\.(?:{_WITH_CO})|net|org|[a-z]{{2}})$"
# What a site that is not in the list puts before its name for some visitors, if a name is left without it.
PREFIX = r"^(?:www[0-9]?|m|mobile|amp|l|lm)\.(.+\..+)$"
_COUNTRY, _PREFIX = re.compile(COUNTRY), re.compile(PREFIX)


@cache
def site_names() -> Mapping[str, str]:
    """The name of the site by each host in the list, which may end with ANY_COUNTRY.

    A host stands for all below it that are not in the list themselves.
    """
    sites = _listed()["mail"] | _listed()["others"]
    return {host: name for name, hosts in sites.items() for host in hosts}


def site_of(host: str) -> str:
    """The site with this host, such as a referrer's: its name in the list, or else the host itself, without
    www and the like."""
    return _listed_site(host) or _PREFIX.sub(r"\1", host)


def is_of_mail(host: str) -> bool:
    """Whether it is a host of a mail program, or of a service that sends mail and counts what is tapped."""
    return _listed_site(host) in _listed()["mail"]


def _listed_site(host: str) -> str | None:
    return next((site_names()[name] for name in _names_of(host) if name in site_names()), None)


def _names_of(host: str) -> Iterator[str]:
    """What the list may have for this host: the longest names first."""
    ending = _COUNTRY.search(host)
    stem = host[: ending.start()] if ending else None
    while host:
        yield host
        if stem:
            yield f"{stem}{ANY_COUNTRY}"
        host = host.partition(".")[2]
        stem = stem.partition(".")[2] if stem else None


@cache
def _listed() -> dict[str, Any]:
    text = files("backend.domain.web").joinpath("static/referring_sites.json").read_text(encoding="utf-8")
    listed: dict[str, Any] = json.loads(text)
    return listed
