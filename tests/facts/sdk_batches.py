"""Batches as the browser SDK sends them, for tests."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from backend.domain.ids import DeviceId, OrgId
from backend.domain.visitors.batches import ArrivedCall, Batch
from backend.domain.visitors.calls import parse_call
from backend.domain.visitors.sources import Source
from tests.facts.organizations import TestOrganization

BATCH = "/serviceCore/sdk/v1/batch"
Call = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Visitor:
    """A browser on an organization's site: what it sends, as the SDK would."""

    client: httpx.AsyncClient
    organization: TestOrganization
    device_id: DeviceId = field(default_factory=lambda: DeviceId(str(uuid.uuid4())))

    async def post(
        self, *calls: Any, headers: dict[str, str] | None = None, **changes: Any
    ) -> httpx.Response:
        """Send a batch; `changes` replace fields of the envelope, None leaves one out."""
        return await self.send(json.dumps(self.envelope(*calls, **changes)).encode(), **(headers or {}))

    async def send(self, body: bytes, **headers: str) -> httpx.Response:
        """Send a body as it is."""
        given = {"Origin": self.organization.origin, "Content-Type": "text/plain;charset=UTF-8"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.post(BATCH, content=body, headers={k: v for k, v in given.items() if v})

    async def results(self, *calls: Any, **changes: Any) -> list[dict[str, Any]]:
        """The results of a batch that must be answered."""
        response = await self.post(*calls, **changes)
        assert response.status_code == 200, response.text
        results: list[dict[str, Any]] = response.json()["results"]
        return results

    async def result(self, call: Any, **changes: Any) -> dict[str, Any]:
        """The result of one call."""
        return (await self.results(call, **changes))[0]

    def envelope(self, *calls: Any, **changes: Any) -> dict[str, Any]:
        """The body of a batch with these calls, as the SDK sends it; `changes` replace fields."""
        envelope = {
            "api_key": self.organization.web_key,
            "device_id": self.device_id,
            "sdk": "js/test",
            "sent_at": timestamp(),
            "calls": list(calls),
        }
        return {name: value for name, value in (envelope | changes).items() if value is not None}


def call(kind: str, *, ago: timedelta = timedelta(), **fields: Any) -> Call:
    """A call of this kind that happened so long ago."""
    return {
        "kind": kind,
        "call_id": str(uuid.uuid4()),
        "occurred_at": timestamp(ago),
        "page": "https://shop.example/kites",
        **fields,
    }


def check(*, ago: timedelta = timedelta(), **signals: str) -> Call:
    """An attribution check of an address with these signals."""
    return call("attribution", ago=ago, signals=signals)


def conversion(**fields: Any) -> Call:
    """A conversion of 19.99 EUR, unless told otherwise."""
    given: dict[str, Any] = {"revenue": 19.99, "currency": "EUR"} | fields
    return call("conversion", **given)


def timestamp(ago: timedelta = timedelta()) -> str:
    """A time as browsers write it."""
    return (datetime.now(UTC) - ago).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def by_browser(org_id: OrgId, device_id: DeviceId, campaign: str, *calls: Call) -> Batch:
    """A visit of the device from this campaign, and these calls after it."""
    now = datetime.now(UTC)
    visit = parse_call(check(ago=timedelta(seconds=1)))
    later = (ArrivedCall(parse_call(item)) for item in calls)
    arrived = (ArrivedCall(visit, Source(utm={"utm_source": campaign})), *later)
    return Batch(org_id, device_id, now, now, arrived)
