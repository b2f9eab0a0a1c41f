"""Claims: an organization says that a domain is its own, and shows it by a record in the domain's DNS."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from backend.domain.domains.dns import DnsRecord
from backend.domain.errors import InvalidField
from backend.domain.fields.rules import HostName, Schema
from backend.domain.ids import OrgId
from backend.domain.web.host_names import LONGEST_NAME, is_ip_address, is_local_name

# Domains and claims of an organization. The operator's command line adds more.
MOST_DOMAINS = 100
# After the last look at it.
KEPT = timedelta(days=30)
_LABEL = "_waylink"
_KEY = "waylink="


@dataclass(frozen=True, slots=True)
class DomainClaim:
    """What an organization enters in the DNS of a domain that it says is its own. Nobody guesses `token`."""

    org_id: OrgId
    domain: str
    token: str

    @property
    def record(self) -> DnsRecord:
        """The record to enter."""
        return DnsRecord("TXT", f"{_LABEL}.{self.domain}", f"{_KEY}{self.token}")

    def is_proved_by(self, texts: Iterable[str]) -> bool:
        """Whether one of the values of the TXT records is this claim's."""
        return self.record.value in {text.strip() for text in texts}


class ClaimedName(HostName):
    """The rule for the name of a domain that an organization adds: one that the world's DNS can have."""

    _LONGEST = LONGEST_NAME - len(_LABEL) - 1

    def parse(self, field: str, value: object) -> str:
        """The host name in its normal form. Raises InvalidField."""
        name = super().parse(field, value)
        if len(name) > self._LONGEST:
            raise InvalidField(field, f"must be a host name of at most {self._LONGEST} characters")
        if "." not in name or is_ip_address(name) or is_local_name(name):
            raise InvalidField(field, "must be a name in the DNS, such as go.shop.com")
        return name

    def schema(self) -> Schema:
        """JSON Schema of the text."""
        return {"type": "string", "minLength": 1, "maxLength": self._LONGEST}
