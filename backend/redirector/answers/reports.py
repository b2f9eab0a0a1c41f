"""Takes reports of links from visitors, by a form that needs no scripts."""

from __future__ import annotations

from math import ceil
from typing import Any
from urllib.parse import urlsplit

from backend.domain.errors import InvalidField
from backend.domain.links.links import Link
from backend.domain.links.reports import LinkReport, parse_report
from backend.domain.web.short_urls import parse_short_url
from backend.redirector.answers import pages, report_page
from backend.redirector.answers.ahead import SUFFIX
from backend.redirector.answers.answer import Answer, plain
from backend.redirector.answers.report_page import Problem
from backend.redirector.links.cache import LinkCache
from backend.redirector.request.form_body import UnreadableForm, read_form
from backend.redirector.request.visit import Visit
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import StorageError
from backend.storage.links.meant_paths import find_meant_place
from backend.storage.links.reports import add_report
from backend.web.current import Resources

PATH = "report"
_LONGEST_ADDRESS = 1000
_READ_SECONDS = 0.8  # as long as for a link at the path itself


class LinkReports:
    """The form at /report of every link domain, and the reports that visitors send with it.

    If a link has this path, GET follows the link. A POST is a report all the same, unless
    it gives the link's password.
    """

    def __init__(self, resources: Resources, cache: LinkCache) -> None:
        self._resources = resources
        self._cache = cache

    def form(self, visit: Visit) -> Answer:
        """The empty form; the address of the page that the visitor comes from is filled in."""
        return report_page.form(visit, {"link": _came_from(visit)})

    async def take(self, visit: Visit, receive: Any) -> Answer:
        """The answer to a form: thanks, or the form again. Raises StorageError and LinkUnavailable."""
        if visit.headers.get(b"sec-fetch-site", b"same-origin") not in {b"same-origin", b"none"}:
            return plain(403, "Reports are sent from this site's own form.\n")
        try:
            fields = await read_form(visit, receive)
        except UnreadableForm as error:
            return plain(400, f"{error}\n")
        if not fields:  # the button on a page for visitors
            return self.form(visit)
        return await self._check(visit, fields)

    async def _check(self, visit: Visit, fields: dict[str, str]) -> Answer:
        link = await self._find(visit, fields.get("link", ""))
        if link is None:
            return report_page.form(visit, fields, Problem.LINK)
        try:
            report = parse_report(fields.get("reason", ""), fields.get("text", ""), self._resources.clock())
        except InvalidField as error:
            return report_page.form(visit, fields, Problem(error.field))
        return await self._keep(visit, link, report)

    async def _keep(self, visit: Visit, link: Link, report: LinkReport) -> Answer:
        network = self._resources.proxies.visitor_network(visit.scope)
        if seconds := await self._resources.rate_limits.count_report(network):
            return pages.too_many(visit, ceil(seconds))
        try:
            await add_report(self._resources.database, link, report)
        except StorageError:
            return pages.unavailable(visit)
        return pages.thanks(visit)

    async def _find(self, visit: Visit, text: str) -> Link | None:
        """The link of this domain that a visitor names by its short URL or its path, or means by it."""
        address, mark, query = text.strip()[:_LONGEST_ADDRESS].partition("?")
        text = address.removesuffix(SUFFIX) + mark + query
        for address in (text, f"https://{text}", f"https://{visit.host}/{text.lstrip('/')}"):
            place = parse_short_url(address)
            if place and place[0] == visit.host and place[1] and (entry := await self._cache.load(*place)):
                return entry.link
            with deadline(_READ_SECONDS):
                meant = await find_meant_place(self._resources.database, address)
            if meant and meant[0] == visit.host and (entry := await self._cache.load(*meant)):
                return entry.link
        return None


def _came_from(visit: Visit) -> str:
    """The short URL whose page the visitor comes from; "" if it is not a short URL of this domain."""
    referrer = visit.headers.get(b"referer", b"")[:_LONGEST_ADDRESS].decode("latin-1")
    place = parse_short_url(referrer)
    if place is None or place[0] != visit.host or place[1] in {"", PATH}:
        return ""
    return f"{urlsplit(referrer).scheme}://{urlsplit(referrer).netloc}/{place[1].removesuffix(SUFFIX)}"
