"""Checks the endpoints of an organization's webhooks: whether they take what is sent to them."""

from __future__ import annotations

from collections.abc import AsyncIterator

from backend.domain.accounts.organizations import Organization
from backend.domain.finding import Area, Finding, Findings
from backend.domain.webhooks.endpoint import Endpoint, EndpointState
from backend.domain.webhooks.retries import RETRY_PERIOD
from backend.storage.driver.mongo import Database
from backend.storage.webhooks.endpoints import list_endpoints

_findings = Findings(Area.WEBHOOKS)


async def examine_webhooks(database: Database, organization: Organization) -> AsyncIterator[Finding]:
    """Findings on an organization's endpoints; none where it has none."""
    for endpoint in await list_endpoints(database, organization.id):
        if finding := _about(organization, endpoint):
            yield finding


def _about(organization: Organization, endpoint: Endpoint) -> Finding | None:
    subject = f"{organization.name}: {endpoint.url} ({endpoint.id})"
    if endpoint.state is EndpointState.SLEEPING:
        return _findings.error(
            subject,
            f"It sleeps since {endpoint.slept_at:%Y-%m-%d %H:%M}, and gets nothing: {endpoint.last_error}.",
            'Mend the receiver and say "go on": all that waited arrives, in order.',
        )
    if endpoint.state is EndpointState.FAILING:
        return _findings.warning(
            subject,
            f"It fails since {endpoint.failing_since:%Y-%m-%d %H:%M}: {endpoint.last_error}.",
            f"Mend the receiver: {RETRY_PERIOD.days} days after the first failure the endpoint sleeps.",
        )
    if endpoint.state is EndpointState.ACTIVE:
        return _findings.ok(subject, "It takes what is sent to it.")
    return None
