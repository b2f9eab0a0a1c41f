"""Phones that tap links, install the app and open it, at an address."""

from __future__ import annotations

import html
import re
import uuid
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from backend.app import Service
from backend.domain.accounts.apps import AndroidApp, Apps, IosApp
from backend.storage.driver.mongo import Database
from tests.facts.organizations import TestOrganization
from tests.polling import wait_for_async

APPS = Apps(IosApp("A1B2C3D4E5", "com.shop.app", "123456"), AndroidApp("com.shop.app"))
AGENTS = {
    "ios": "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/17.5 Mobile/15E148 Safari/604.1",
    "android": "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/126.0.0.0 Mobile Safari/537.36",
    "desktop": "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:127.0) Gecko/20100101 Firefox/127.0",
}


@dataclass(frozen=True, slots=True)
class Phone:
    """A visitor at an address: it clicks links, and opens the app."""

    http: httpx.AsyncClient
    database: Database

    async def click(self, short_url: str, platform: str = "ios", method: str = "GET", **headers: str) -> None:
        """Follow a short URL, and wait until its click is in the database."""
        answer = await self.tap(short_url, platform, method, **headers)
        assert answer.status_code == 302

    async def copy(self, short_url: str, **headers: str) -> str:
        """Tap a link on an iPhone, wait until its click is in the database, and copy the page's text."""
        answer = await self.tap(short_url, **headers)
        assert answer.status_code == 200, answer.headers
        return copied_on(answer)

    async def tap(
        self, short_url: str, platform: str = "ios", method: str = "GET", **headers: str
    ) -> httpx.Response:
        """The answer to a tap, once its click is in the database."""
        clicks = self.database["click_blocks"]
        owner = await self.database["domains"].find_one({"_id": urlsplit(short_url).hostname})
        assert owner
        own = {"org_id": owner["org_id"]}
        counted = await clicks.count_documents(own)
        sent = {"user-agent": AGENTS[platform]} | headers
        answer = await self.http.request(method, short_url, headers=sent)
        await wait_for_async(
            lambda: clicks.count_documents(own), "the click is not stored", lambda now: now > counted
        )
        return answer

    async def launch(self, organization: TestOrganization, **fields: Any) -> dict[str, Any]:
        """Open the app for the first time, as a new installation."""
        body = {"platform": "ios", "install_id": str(uuid.uuid4()), "is_first_launch": True} | fields
        answer = await self.http.post(
            "http://localhost:8080/serviceCore/app/v1/open",
            json=body,
            headers={"API-KEY": organization.mobile_key},
        )
        assert answer.status_code == 200
        told: dict[str, Any] = answer.json()
        return told


PhoneFactory = Callable[..., Phone]
LinkMaker = Callable[..., Awaitable[str]]
ServiceFactory = Callable[..., AbstractAsyncContextManager[Service]]


def copied_on(page: httpx.Response) -> str:
    """The text that the button of the page before the App Store copies."""
    found = re.search(r'data-text="([^"]+)"', page.text)
    assert found
    return html.unescape(found[1])
