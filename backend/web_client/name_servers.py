"""Asks DNS servers for the records of a name."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from backend.domain.domains.dns import FoundAddresses
from backend.domain.web.host_names import is_local_name
from backend.domain.web.name_servers import parse_name_server

if TYPE_CHECKING:
    from dns.asyncresolver import Resolver
    from dns.message import Message
    from dns.rdatatype import RdataType

SECONDS = 5.0
_MOST_RECORDS = 20  # of each type: of more, nobody reads a list
_LONGEST_TEXT = 300
_LOOPBACK = FoundAddresses(addresses=("127.0.0.1", "::1"))


class DnsSilent(Exception):
    """The servers could not say what the records of a name are. The message completes "DNS ..."."""


class NameServers:
    """The DNS servers at these addresses, each with or without a port; without any, those of the system."""

    def __init__(self, servers: Sequence[str] = ()) -> None:
        self.servers = tuple(servers)

    async def find_addresses(self, name: str) -> FoundAddresses:
        """The CNAME records on the way from this name, and the addresses at its end. Raises DnsSilent."""
        if is_local_name(name):
            return _LOOPBACK
        ipv4, ipv6 = await asyncio.gather(self._ask(name, "A"), self._ask(name, "AAAA"))
        aliases = dict.fromkeys(_aliases(ipv4) + _aliases(ipv6))
        return FoundAddresses(tuple(aliases), tuple(_values(ipv4, "A") + _values(ipv6, "AAAA")))

    async def find_texts(self, name: str) -> tuple[str, ...]:
        """The values of the TXT records of this name. Raises DnsSilent."""
        return tuple(_values(await self._ask(name, "TXT"), "TXT"))

    async def _ask(self, name: str, record_type: str) -> Message | None:
        """The answer, which may have no record of this type; None where the name is known to lead nowhere."""
        from dns import exception, resolver  # noqa: PLC0415 - only who examines domains needs them

        if f".{name}".endswith(".invalid"):  # as RFC 6761 wants it
            return None
        try:
            answer = await self._resolver().resolve(name, record_type, raise_on_no_answer=False, search=False)
            return answer.response
        except resolver.NXDOMAIN as error:
            return next(iter(error.kwargs["responses"].values()), None)
        except resolver.LifetimeTimeout:
            raise DnsSilent(f"did not answer within {SECONDS:.0f} seconds") from None
        except resolver.NoNameservers:
            raise DnsSilent("could not be asked: the servers of this name fail, or refuse") from None
        except (exception.DNSException, OSError) as error:
            raise DnsSilent(f"could not be asked ({type(error).__name__})") from None

    def _resolver(self) -> Resolver:
        from dns.asyncresolver import Resolver  # noqa: PLC0415
        from dns.nameserver import Do53Nameserver  # noqa: PLC0415

        resolver = Resolver(configure=not self.servers)
        if self.servers:
            resolver.nameservers = [Do53Nameserver(*parse_name_server(server)) for server in self.servers]
        resolver.lifetime = SECONDS
        return resolver


def _aliases(answer: Message | None) -> list[str]:
    """The names that CNAME records lead to, in their order."""
    from dns.exception import DNSException  # noqa: PLC0415
    from dns.message import QueryMessage  # noqa: PLC0415

    if not isinstance(answer, QueryMessage):
        return []
    try:
        chain = answer.resolve_chaining().cnames
    except DNSException:  # a circle, or too many
        return []
    return [str(cname[0].target).rstrip(".").lower() for cname in chain]


def _values(answer: Message | None, record_type: str) -> list[str]:
    from dns import rdatatype  # noqa: PLC0415

    wanted: RdataType = rdatatype.from_text(record_type)
    records = [
        record for rrset in (answer.answer if answer else ()) if rrset.rdtype == wanted for record in rrset
    ]
    if record_type == "TXT":
        texts = [b"".join(record.strings) for record in records]
        return [text[:_LONGEST_TEXT].decode("utf-8", "replace") for text in texts][:_MOST_RECORDS]
    return [record.address for record in records][:_MOST_RECORDS]
