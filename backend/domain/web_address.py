"""The web address that a click leads to: the link's destination with what the visitor and the link add."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote_plus

from backend.domain.host_names import InvalidHostName, in_ascii
from backend.domain.links import UTM_FIELDS, Link

LINK_ID_PARAMETER = "cl_link_id"
# What may stand in a URI as it is (RFC 3986), and % since the text is percent-encoded already.
_URI_CHARACTERS = "%:/?#[]@!$&'()*+,;=-._~"
_AUTHORITY = re.compile(r"(?P<scheme>[^:/?#]+://)(?P<userinfo>[^/?#]*@)?(?P<host>\[[^\]]*\]|[^:/?#]*)")


def web_address(link: Link, visitor_query: str = "") -> str:
    """Where a click on the link leads in the web, as the ASCII text of a Location header.

    `visitor_query` is the short URL's query string, as sent. The destination's own parameters come first,
    then the visitor's, both in order and unchanged, with repeats and valueless keys; then the link's UTM
    parameters and `cl_link_id`. For a UTM parameter, the link's own value stands over the visitor's, the
    visitor's over the destination's (decisions, "Redirect"). The stored destination is not changed.
    """
    address, hash_sign, fragment = link.destination_url.partition("#")
    base, _, query = address.partition("?")
    theirs = [part for part in _parts(visitor_query) if _key(part) not in {*link.utm, LINK_ID_PARAMETER}]
    overridden = {LINK_ID_PARAMETER, *link.utm, *(_key(part) for part in theirs if _key(part) in UTM_FIELDS)}
    own = [part for part in _parts(query) if _key(part) not in overridden]
    added = [f"{name}={quote(value, safe='')}" for name, value in link.utm.items()]
    joined = "&".join([*own, *theirs, *added, f"{LINK_ID_PARAMETER}={quote(link.id, safe='')}"])
    return f"{_ascii_base(base)}?{_ascii(joined).replace('#', '%23')}{hash_sign}{_ascii(fragment)}"


def _parts(query: str) -> list[str]:
    return query.split("&") if query else []


def _key(part: str) -> str:
    """The decoded name of a parameter, since `utm%5Fsource` is the same parameter as `utm_source`."""
    name = part.partition("=")[0]
    return unquote_plus(name) if "%" in name or "+" in name else name


def _ascii(text: str) -> str:
    """Percent-encode what a URI can't hold, and nothing else."""
    return quote(text, safe=_URI_CHARACTERS, errors="replace")


def _ascii_base(base: str) -> str:
    """A destination without query: an IDN host in punycode, the rest percent-encoded where it must be."""
    if base.isascii():
        return _ascii(base)
    return _ascii(_AUTHORITY.sub(_with_ascii_host, base, count=1))


def _with_ascii_host(match: re.Match[str]) -> str:
    host = match["host"]
    try:
        host = in_ascii(host)
    except InvalidHostName:
        host = quote(host)
    return f"{match['scheme']}{match['userinfo'] or ''}{host}"
