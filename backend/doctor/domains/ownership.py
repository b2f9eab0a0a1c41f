"""Checks whether an organization has shown that a domain is its own."""

from __future__ import annotations

from backend.domain.domains.claims import DomainClaim
from backend.domain.finding import Area, Finding, Findings, SetupStep
from backend.web_client.name_servers import DnsSilent, NameServers

_findings = Findings(Area.DOMAINS, SetupStep.OWNERSHIP)
_LATER = "DNS servers may take up to an hour to tell of a new record. Then check again."


async def examine_claim(names: NameServers, claim: DomainClaim) -> Finding:
    """Whether the record of the claim is in the domain's DNS. Nothing else is asked of a name that may be
    another's."""
    record = claim.record
    try:
        texts = await names.find_texts(record.name)
    except DnsSilent as error:
        return _findings.warning(claim.domain, f"DNS {error}.", "Check again in a few minutes.")
    if claim.is_proved_by(texts):
        return _findings.ok(claim.domain, f"The TXT record {record.name} is there.")
    if texts:
        return _findings.error(
            claim.domain,
            f"The TXT record {record.name} has another value, {texts[0]}.",
            f"Replace it with {record.value}, or enter that as one more TXT record.",
        )
    return _findings.error(claim.domain, f"There is no TXT record {record.name} yet.", _LATER)
