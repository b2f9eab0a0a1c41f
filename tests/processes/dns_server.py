"""A DNS server whose records a test enters. It answers as the resolver of a provider: with whole chains."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from dnslib import QTYPE, RCODE, RR, DNSRecord
from dnslib.server import BaseResolver, DNSLogger, DNSServer

_LONGEST_CHAIN = 8


@dataclass(slots=True)
class Zone(BaseResolver):  # type: ignore[misc]
    """What the server knows. `failing` are names that it can't find out, `asked` is all that it was asked."""

    address: str = ""
    failing: set[str] = field(default_factory=set)
    asked: list[tuple[str, str]] = field(default_factory=list)
    _records: defaultdict[str, list[RR]] = field(default_factory=lambda: defaultdict(list))

    def enter(self, name: str, kind: str, value: str) -> None:
        """Enter a record, as a zone file would have it."""
        text = f'"{value}"' if kind == "TXT" else f"{value}." if kind == "CNAME" else value
        self._records[name] += RR.fromZone(f"{name}. 60 IN {kind} {text}")

    def remove(self, name: str) -> None:
        """Remove all records of a name."""
        self._records.pop(name, None)

    def resolve(self, request: DNSRecord, handler: Any) -> DNSRecord:
        """The answer to a question."""
        reply, kind = request.reply(), request.q.qtype
        name = str(request.q.qname).rstrip(".").lower()
        self.asked.append((name, QTYPE[kind]))
        for _ in range(_LONGEST_CHAIN):
            if name in self.failing:
                reply.header.rcode = RCODE.SERVFAIL
                return reply
            records = self._records.get(name)
            if records is None:
                reply.header.rcode = RCODE.NXDOMAIN
                return reply
            reply.add_answer(*(record for record in records if record.rtype in {kind, QTYPE.CNAME}))
            alias = next((record for record in records if record.rtype == QTYPE.CNAME), None)
            if alias is None:
                return reply
            name = str(alias.rdata).rstrip(".").lower()
        return reply


@contextmanager
def dns_server() -> Iterator[Zone]:
    """Such a server on this machine, at the zone's `address`, for the length of the block."""
    zone = Zone()
    server = DNSServer(
        zone, address="127.0.0.1", port=0, logger=DNSLogger("-request,-reply,-truncated,-error")
    )
    server.start_thread()
    try:
        zone.address = f"127.0.0.1:{server.server.server_address[1]}"
        yield zone
    finally:
        server.stop()
        server.server.server_close()
