"""The web address that a click leads to: the destination plus parameters of the visitor and the link."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import quote, unquote_plus

from backend.domain.fields.addresses.signed_addresses import is_signed
from backend.domain.links.links import UTM_FIELDS, Link, QueryPrecedence
from backend.domain.web.host_names import InvalidHostName, in_ascii

LINK_ID_PARAMETER = "cl_link_id"
VARIANT_PARAMETER = "cl_variant"
CLICK_ID_PARAMETER = "cl_click_id"
# Only the redirect sets these: the same parameters of visitors and destinations are left out.
_RESERVED_PARAMETERS = frozenset({LINK_ID_PARAMETER, VARIANT_PARAMETER, CLICK_ID_PARAMETER})
# Characters that a URI may contain (RFC 3986), and %, since the text is percent-encoded already.
_URI_CHARACTERS = "%:/?#[]@!$&'()*+,;=-._~"
_AUTHORITY = re.compile(r"(?P<scheme>[^:/?#]+://)(?P<userinfo>[^/?#]*@)?(?P<host>\[[^\]]*\]|[^:/?#]*)")


def web_address(link: Link, visitor_query: str = "", variant: str | None = None) -> str:
    """The web address for a click on the link, as ASCII text for a Location header.

    `visitor_query` is the query string of the short URL, as it was sent. The address has the destination's
    own parameters first, then the visitor's, both unchanged and in order (also repeats and names without a
    value), then the link's UTM parameters, `cl_link_id`, and `cl_variant` where a split decided. If a UTM
    parameter is given more than once, the link's value wins over the visitor's, and the visitor's over the
    destination's (decisions, "Redirect"). Of other equal names, `query_precedence` says whose arrive. A link
    that adds no link id leaves its address as it is.
    """
    if not link.adds_link_id:
        return encoded_address(link.destination_url)
    address, hash_sign, fragment = link.destination_url.partition("#")
    base, _, query = address.partition("?")
    fixed = {*link.utm, *_RESERVED_PARAMETERS}
    from_visitor = [parameter for parameter in _parameters(visitor_query) if _key(parameter) not in fixed]
    overridden = {*fixed, *(key for key in map(_key, from_visitor) if key in UTM_FIELDS)}
    from_destination = [parameter for parameter in _parameters(query) if _key(parameter) not in overridden]
    if from_visitor and link.query_precedence is QueryPrecedence.VISITOR:
        from_destination = _without(from_destination, from_visitor)
    elif from_visitor and link.query_precedence is QueryPrecedence.DESTINATION:
        from_visitor = _without(from_visitor, from_destination)
    added = [f"{name}={quote(value, safe='')}" for name, value in link.utm.items()]
    added.append(f"{LINK_ID_PARAMETER}={quote(link.id, safe='')}")
    if variant is not None:
        added.append(f"{VARIANT_PARAMETER}={quote(variant, safe='')}")
    joined = "&".join([*from_destination, *from_visitor, *added])
    return f"{_ascii_base(base)}?{_ascii(joined).replace('#', '%23')}{hash_sign}{_ascii(fragment)}"


def leading_to(link: Link, url: str) -> Link:
    """The link with this destination, as of a rule or a fallback. Nothing is added to a signed address."""
    return replace(link, destination_url=url, adds_link_id=link.adds_link_id and not is_signed(url))


def with_click_id(address: bytes, click_id: bytes) -> bytes:
    """An address made by `web_address`, with the id of the click after its other parameters."""
    whole, hash_sign, fragment = address.partition(b"#")
    return b"%s&cl_click_id=%s%s%s" % (whole, click_id, hash_sign, fragment)


def query_with_click_id(query: str, click_id: bytes | None) -> str:
    """The query of a short URL as an app gets it: with the id of the click, if any, and without another."""
    others = [parameter for parameter in _parameters(query) if _key(parameter) != CLICK_ID_PARAMETER]
    own = [f"{CLICK_ID_PARAMETER}={click_id.decode('ascii')}"] if click_id else []
    return "&".join([*others, *own])


def encoded_address(url: str) -> str:
    """A web address as it is, as ASCII text for a Location header."""
    address, hash_sign, fragment = url.partition("#")
    base, question_mark, query = address.partition("?")
    return f"{_ascii_base(base)}{question_mark}{_ascii(query)}{hash_sign}{_ascii(fragment)}"


def _parameters(query: str) -> list[str]:
    return query.split("&") if query else []


def _without(parameters: list[str], others: list[str]) -> list[str]:
    """The parameters whose names none of the others has."""
    names = set(map(_key, others))
    return [parameter for parameter in parameters if _key(parameter) not in names]


def _key(parameter: str) -> str:
    """The decoded name of a parameter: `utm%5Fsource` is the same as `utm_source`."""
    name = parameter.partition("=")[0]
    return unquote_plus(name) if "%" in name or "+" in name else name


def _ascii(text: str) -> str:
    """The text with only those characters percent-encoded that a URI can't contain."""
    return quote(text, safe=_URI_CHARACTERS, errors="replace")


def _ascii_base(base: str) -> str:
    """A destination, without its query, in ASCII: punycode for its host, percent-encoding for the rest."""
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
