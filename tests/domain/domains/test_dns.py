"""Where a link domain leads by its DNS records, and which records lead it here."""

from __future__ import annotations

import pytest

from backend.domain.domains.dns import (
    DnsPlan,
    DnsRecord,
    DnsTarget,
    FoundAddresses,
    Leads,
    where_it_leads,
)
from backend.domain.web.name_servers import parse_name_server

HERE, HERE_6, ELSEWHERE = "93.184.215.14", "2606:2800:21f::14", "1.1.1.1"
TARGET = DnsTarget("links.shop.com", (HERE, HERE_6))
NO_TARGET = DnsTarget()


@pytest.mark.parametrize(
    ("found", "target", "leads"),
    [
        (FoundAddresses(), TARGET, Leads.NOWHERE),
        (FoundAddresses(("links.shop.com",)), TARGET, Leads.NOWHERE),
        (FoundAddresses((), (HERE,)), TARGET, Leads.HERE),
        (FoundAddresses((), (HERE_6, HERE)), TARGET, Leads.HERE),
        (FoundAddresses(("x.shop.com", "links.shop.com"), (ELSEWHERE,)), TARGET, Leads.HERE),
        (FoundAddresses((), (HERE, ELSEWHERE)), TARGET, Leads.PARTLY_HERE),
        (FoundAddresses(("cdn.example",), (ELSEWHERE,)), TARGET, Leads.ELSEWHERE),
        (FoundAddresses((), (ELSEWHERE,)), NO_TARGET, Leads.UNTOLD),
        (FoundAddresses((), (ELSEWHERE,)), DnsTarget("links.shop.com"), Leads.UNTOLD),
        (FoundAddresses((), ("10.0.0.7",)), TARGET, Leads.PRIVATE),
        (FoundAddresses(("links.shop.com",), (HERE, "127.0.0.1")), TARGET, Leads.PRIVATE),
        (FoundAddresses((), ("10.0.0.7",)), DnsTarget("links.shop.com", ("10.0.0.7",)), Leads.HERE),
    ],
)
def test_where_a_domain_leads(found: FoundAddresses, target: DnsTarget, leads: Leads) -> None:
    """By the CNAME record or by the addresses; not into a private network, unless the service is there."""
    assert where_it_leads(found, target) is leads


def test_an_intranet_has_private_addresses() -> None:
    """Where the operator allows them, they are compared as public ones are."""
    found = FoundAddresses((), ("10.0.0.7",))
    assert where_it_leads(found, TARGET, allows_private=True) is Leads.ELSEWHERE


def test_the_records_to_enter() -> None:
    """A CNAME record; addresses for a name that can't have one, and where the target has no name."""
    addresses = [DnsRecord("A", "shop.com", HERE), DnsRecord("AAAA", "shop.com", HERE_6)]
    cname = DnsRecord("CNAME", "go.shop.com", "links.shop.com")
    assert DnsPlan("go.shop.com", "shop.com", TARGET).records == [cname]
    assert DnsPlan("shop.com", "shop.com", TARGET).records == addresses
    assert DnsPlan("shop.com", "com", DnsTarget("", (HERE, HERE_6))).records == addresses
    assert DnsPlan("shop.com", "com", NO_TARGET).records == []


@pytest.mark.parametrize(
    ("text", "server"),
    [
        ("192.0.2.1", ("192.0.2.1", 53)),
        ("192.0.2.1:5353", ("192.0.2.1", 5353)),
        ("2001:db8::1", ("2001:db8::1", 53)),
        ("[2001:db8::1]:54", ("2001:db8::1", 54)),
        ("dns.shop.com", None),
        ("192.0.2.1:99999", None),
    ],
)
def test_addresses_of_name_servers(text: str, server: tuple[str, int] | None) -> None:
    """IPv4 and IPv6, with and without a port; no name, which somebody would have to look up."""
    if server:
        assert parse_name_server(text) == server
    else:
        with pytest.raises(ValueError, match=r"not appear|not a port"):
            parse_name_server(text)
