"""Checks where DNS leads the visitors of a link domain."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from backend.domain.domains.dns import DnsPlan, DnsTarget, FoundAddresses, Leads, record_type
from backend.domain.finding import Area, Finding, Findings, SetupStep
from backend.domain.web.host_names import is_ip_address, is_local_name
from backend.settings import Settings
from backend.web.public_suffixes import registrable_part
from backend.web_client.name_servers import DnsSilent, NameServers

_findings = Findings(Area.DOMAINS, SetupStep.DNS)
_configuration = Findings(Area.CONFIGURATION)
_WITHOUT_TARGET = "Make a CNAME, A or AAAA record that leads to the service or to the proxy before it."


async def find_target(names: NameServers, settings: Settings) -> DnsTarget:
    """Where link domains are to lead by these settings: without addresses where DNS knows none just now."""
    named = _named_target(settings)
    if is_ip_address(named):
        return DnsTarget("", (named.strip("[]"),))
    host = target_host(settings)
    try:
        return DnsTarget(host, (await names.find_addresses(host)).addresses if host else ())
    except DnsSilent:
        return DnsTarget(host)


def target_host(settings: Settings) -> str:
    """The host name that link domains are to lead to; "" if these settings name none that others can use."""
    named = _named_target(settings)
    return "" if is_ip_address(named) or is_local_name(named) else named


def _named_target(settings: Settings) -> str:
    return settings.domain_target or urlsplit(settings.base_url).hostname or ""


async def examine_target(names: NameServers, settings: Settings) -> Finding | None:
    """Whether DNS knows where link domains are to lead; None where nobody else can use the service."""
    target = await find_target(names, settings)
    if not target.host:
        return None
    if target.addresses:
        led_to = f"{target.host} ({', '.join(target.addresses)})"
        return _configuration.ok("WAYLINK_DOMAIN_TARGET", f"Link domains are to lead to {led_to}.")
    return _configuration.error(
        "WAYLINK_DOMAIN_TARGET",
        f"Link domains are to lead to {target.host}, for which DNS has no address.",
        "Set it to the host name of the proxy before the service.",
    )


async def plan_of(domain: str, target: DnsTarget) -> DnsPlan:
    """The plan for a domain."""
    return DnsPlan(domain, await registrable_part(domain) or domain, target)


def judge_records(plan: DnsPlan, found: FoundAddresses, leads: Leads) -> Finding:
    """What is to be said of a domain with these records, before it is known what answers there."""
    domain, target, led_to = plan.domain, plan.target, ", ".join(found.addresses)
    match leads:
        case Leads.NOWHERE | Leads.PRIVATE:
            return _findings.error(domain, _why_unreached(found), _advice(plan))
        case Leads.PARTLY_HERE:
            others = [address for address in found.addresses if address not in target.addresses]
            words = f"DNS leads to {led_to}, but the service does not answer at {', '.join(others)}."
            return _findings.error(domain, words, f"Remove {_named(others)}: some visitors end there.")
        case Leads.ELSEWHERE:
            here = ", ".join(target.addresses)
            words = f"DNS leads to {led_to}, where the service does not answer. It does at {here}."
            return _findings.error(domain, words, _advice(plan, found.addresses))
        case Leads.HERE if target.host in found.aliases:
            return _findings.ok(domain, f"DNS leads to {led_to}, by the CNAME record to {target.host}.")
    return _findings.ok(domain, f"DNS leads to {led_to}.")


def _why_unreached(found: FoundAddresses) -> str:
    if found.aliases:
        # The same words for both: the name may be one of the operator's own network.
        return f"Its CNAME record leads to {found.aliases[0]}, which has no address, or a private one."
    if not found.addresses:
        return "DNS has no address for it."
    led_to = ", ".join(found.addresses)
    return f"DNS leads to {led_to}, which is not in the public internet: visitors don't reach it."


def answers_elsewhere(domain: str, found: FoundAddresses) -> Finding:
    """What is to be said of a domain that leads elsewhere, where the service answers nevertheless."""
    led_to = ", ".join(found.addresses)
    return _findings.ok(
        domain, f"DNS leads to {led_to}, a proxy or content delivery network that passes visitors on."
    )


def dns_silent(domain: str, error: DnsSilent) -> Finding:
    """What is to be said where DNS could not be asked."""
    return _findings.warning(
        domain,
        f"DNS {error}, so nothing is known of the domain.",
        "Look again in a few minutes. If it stays so, ask whoever keeps the domain's DNS.",
    )


def _advice(plan: DnsPlan, leads_to: Sequence[str] = ()) -> str:
    if not plan.records:
        return _WITHOUT_TARGET
    entered = " and ".join(f"{record.type} {record.value}" for record in plan.records)
    instead = f", instead of {_named(leads_to)}" if leads_to else ""
    return f"In the DNS of {plan.zone}, enter for {plan.domain}: {entered}{instead}."


def _named(addresses: Sequence[str]) -> str:
    return " and ".join(f"{record_type(address)} {address}" for address in addresses)
