"""Requests that took the service long to read: raw bytes of HTTP, by what is long in them."""

from __future__ import annotations

import json
import uuid
from typing import Any

from tests.api.link_calls import API, link_body
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import BATCH, call, conversion, timestamp

LIGATURES = "ﬃ" * 15_000
# Each of the most characters that a path may have.
LONG_PATHS = ["x" * 506 + f"{number:06}" for number in range(4)]


def slow_inputs(organization: TestOrganization) -> dict[str, bytes]:
    """Each is sent to a service that has LONG_PATHS and more links on the organization's domain."""
    rest, app = {"API-KEY": organization.rest_key}, {"API-KEY": organization.mobile_key}
    domain = organization.domain
    return {
        **{f"{name} as host": request("GET", "/", host) for name, host in hosts().items()},
        **{
            f"short URL with {name} as host": request(
                "POST", f"{API}/links/info", "localhost", rest, {"shortUrl": f"https://{host}/x"}
            )
            for name, host in hosts().items()
        },
        "an open with ligatures": request(
            "POST", "/serviceCore/app/v1/open", "localhost", app,
            {"platform": "ios", "install_id": str(uuid.uuid4()), "short_url": f"https://{LIGATURES[:8000]}/x"},
        ),
        "a link on ligatures": request(
            "POST", f"{API}/create-link", "localhost", rest, link_body(organization, domain=LIGATURES)
        ),
        "a link to ligatures": request(
            "POST", f"{API}/create-link", "localhost", rest,
            link_body(organization, destination_url=f"https://{LIGATURES[:2500]}/"),
        ),
        **{
            f"metadata of {levels} levels": batch(organization, "[" * levels + "]" * levels)
            for levels in (500, 950, 5_000, 30_000)
        },
        "metadata with a text that never ends": batch(organization, "[" * 2_000 + '"' + '\\"' * 28_000),
        "metadata with many numbers": batch(organization, json.dumps([0.5] * 12_000)),
        "Apple's association file": request("GET", "/.well-known/apple-app-site-association", domain),
        "Google's association file": request("GET", "/.well-known/assetlinks.json", domain),
        **{
            f"{kind} of QR code {number}": request("GET", f"/{path}.qr.{kind}", domain)
            for number, path in enumerate(LONG_PATHS)
            for kind in ("svg", "png")
        },
        **{
            f"User-Agent of {text[:12]!r}": request("GET", f"/{LONG_PATHS[0]}", domain, {"User-Agent": text})
            for text in ("a" * 512, "a1" * 256, "bo" * 256, "got " * 128, "(" * 512, "cuVersion/1rl" * 39)
        },
        "many languages": request("GET", "/nothing", domain, {"Accept-Language": "en;q=0.1," * 5_000}),
        "a long Referer": request("GET", f"/{LONG_PATHS[0]}", domain, {"Referer": f"https://{LIGATURES}/"}),
        "many proxies": request("GET", f"/{LONG_PATHS[0]}", domain, {"X-Forwarded-For": "::1," * 9_000}),
        "a preflight with a long Origin": request(
            "OPTIONS", BATCH, "localhost", {"Origin": f"https://{LIGATURES}"}
        ),
    }  # fmt: skip


def hosts() -> dict[str, str]:
    """Host names that take long to write in punycode, or to look at."""
    return {
        "ligatures": LIGATURES,
        "one long label": "ü" * 20_000,
        "many labels": "ü." * 15_000 + "de",
        "many ASCII labels": "a." * 20_000 + "de",
        "many colons": ":" * 40_000,
    }


def request(
    method: str, target: str, host: str, headers: dict[str, str] | None = None, body: Any = None
) -> bytes:
    """A request after which the connection ends; `body` is sent as JSON."""
    content = b"" if body is None else json.dumps(body, ensure_ascii=False).encode()
    return raw_request(method, target, host, headers or {}, content)


def raw_request(method: str, target: str, host: str, headers: dict[str, str], content: bytes) -> bytes:
    """A request with this body."""
    sent = {"Host": host, "Connection": "close", "Content-Length": str(len(content)), **headers}
    if content:
        sent.setdefault("Content-Type", "application/json")
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {text}" for name, text in sent.items())]
    return "\r\n".join([*lines, "", ""]).encode() + content


def batch(organization: TestOrganization, metadata: str) -> bytes:
    """A batch with this text as metadata of a call, and a sale behind it."""
    body = json.dumps(
        {
            "api_key": organization.web_key,
            "device_id": str(uuid.uuid4()),
            "sdk": "js/test",
            "sent_at": timestamp(),
            "calls": [call("event", name="e", metadata={"a": "deep"}), conversion()],
        }
    ).replace('"deep"', metadata)
    headers = {"Origin": organization.origin, "Content-Type": "text/plain"}
    return raw_request("POST", BATCH, "localhost", headers, body.encode())
