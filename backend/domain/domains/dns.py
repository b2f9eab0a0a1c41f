"""What DNS says of a link domain, where that leads, and which records its owner enters."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address

from backend.domain.web.public_addresses import is_public


@dataclass(frozen=True, slots=True)
class DnsRecord:
    """A DNS record as somebody enters it: its type, its whole name, its value."""

    type: str
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class FoundAddresses:
    """What DNS answers for a name: the names that its CNAME records lead to, in order, and its addresses."""

    aliases: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DnsTarget:
    """Where link domains are to lead: a host name, "" if there is none to name, and the addresses it has."""

    host: str = ""
    addresses: tuple[str, ...] = ()


class Leads(StrEnum):
    """Where a name leads, by its records alone. What stands there may pass visitors on."""

    NOWHERE = "nowhere"
    PRIVATE = "private"
    HERE = "here"
    PARTLY_HERE = "partly_here"
    ELSEWHERE = "elsewhere"
    UNTOLD = "untold"  # there is no target to compare with


def where_it_leads(found: FoundAddresses, target: DnsTarget, *, allows_private: bool = False) -> Leads:
    """Where a name with these records leads.

    Addresses of the target itself are always allowed; others that are not public only with `allows_private`.
    """
    own = set(target.addresses)
    if not found.addresses:
        return Leads.NOWHERE
    if not allows_private and any(
        not is_public(address) for address in found.addresses if address not in own
    ):
        return Leads.PRIVATE
    if target.host in found.aliases or own.issuperset(found.addresses):
        return Leads.HERE
    if not target.addresses:
        return Leads.UNTOLD
    return Leads.PARTLY_HERE if own.intersection(found.addresses) else Leads.ELSEWHERE


@dataclass(frozen=True, slots=True)
class DnsPlan:
    """Where a link domain is to lead. `zone` is the registered name in whose DNS its records are entered."""

    domain: str
    zone: str
    target: DnsTarget

    @property
    def records(self) -> list[DnsRecord]:
        """The records to enter; none if there is no target.

        A name that has a zone of its own (`shop.com`) can't have a CNAME record, so it gets the addresses.
        """
        if self.target.host and self.domain != self.zone:
            return [DnsRecord("CNAME", self.domain, self.target.host)]
        return [DnsRecord(record_type(address), self.domain, address) for address in self.target.addresses]


def record_type(address: str) -> str:
    """The type of the record that holds this IP address."""
    return "A" if ip_address(address).version == 4 else "AAAA"
