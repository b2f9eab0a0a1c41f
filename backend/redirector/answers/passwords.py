"""Asks visitors for the password of a link, and lets those who gave it through for a while."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from math import ceil
from typing import Any

from backend.concurrency.fair_thread import TooManyWait
from backend.domain.links.links import Link
from backend.domain.links.password_passes import is_pass, make_pass
from backend.redirector.answers import pages
from backend.redirector.answers.answer import Answer, plain
from backend.redirector.request.form_body import UnreadableForm, read_form
from backend.redirector.request.visit import Visit
from backend.storage.accounts.users.passwords import HASHING, is_password
from backend.storage.driver.mongo import StorageError
from backend.visitor_pages.pages import Refused
from backend.web.current import Resources


class LinkPasswords:
    """Checks passwords, of each organization in turn, and the passes of visitors who gave the right one."""

    def __init__(self, resources: Resources) -> None:
        self._clock = resources.clock
        self._proxies = resources.proxies
        self._rate_limits = resources.rate_limits.link_passwords
        self._short_url_form = resources.short_url_form

    def has_pass(self, visit: Visit, link: Link) -> bool:
        """Whether the visitor has given the link's password a while ago."""
        cookie_name = _cookie_name(link)
        now = self._clock()
        return any(
            name == cookie_name and is_pass(value, link.id, link.limits.password_hash or "", now)
            for name, value in visit.cookies
        )

    async def refuse(self, visit: Visit, link: Link, receive: Any) -> Answer | None:
        """The answer to a wrong password, or to one try too many; None if the password is right."""
        try:
            password = (await read_form(visit, receive)).get("password", "")
        except UnreadableForm as error:
            return plain(400, f"{error}\n")
        try:
            return await self._check(visit, link, password)
        except (StorageError, TooManyWait):  # without their count, tries would have no limit
            return pages.unavailable(visit)

    async def _check(self, visit: Visit, link: Link, password: str) -> Answer | None:
        owner = ("visitors", link.org_id)
        with HASHING.admitted(owner):  # before the try is counted
            return await self._check_of(owner, visit, link, password)

    async def _check_of(self, owner: Hashable, visit: Visit, link: Link, password: str) -> Answer | None:
        address = self._proxies.visitor_address(visit.scope)
        if seconds := await self._rate_limits.begin_try(link.id, address):
            wait = [(b"retry-after", b"%d" % ceil(seconds))]
            return pages.password(visit, Refused.LATER, 429, wait)
        async with self._rate_limits.trying(link.id, address):
            is_right = await is_password(password, link.limits.password_hash, owner)
        if not is_right:
            return pages.password(visit, Refused.WRONG, 403)
        await self._rate_limits.succeeded(link.id, address)
        return None

    def remember(self, link: Link, answer: Answer) -> Answer:
        """The answer to a visitor who gave the password, with a pass for this browser and this path only."""
        is_https = self._short_url_form.write(link.domain, link.path).startswith("https:")
        cookie = (
            f"{_cookie_name(link)}={make_pass(link.id, link.limits.password_hash or '', self._clock())}; "
            f"Path=/{link.path}; HttpOnly; SameSite=Lax{'; Secure' if is_https else ''}"
        )
        return replace(answer, headers=[*answer.headers, (b"set-cookie", cookie.encode())])


def _cookie_name(link: Link) -> str:
    """A name of the link's own: a browser sends the cookie of /a to /a/b too."""
    return f"link_{link.id.replace('-', '')}"
