"""Whether the association files of a domain have room for its links."""

from __future__ import annotations

from collections.abc import AsyncIterator

from backend.domain.accounts.apps import Apps
from backend.domain.finding import Area, Finding, Findings, SetupStep
from backend.domain.taps.path_rules import Listing
from backend.domain.web.client import Platform
from backend.storage.driver.mongo import Database
from backend.storage.links.path_rules import FileFill, find_file_fill

_findings = Findings(Area.DOMAINS, SetupStep.APPS)
_FILES = {Platform.IOS: "apple-app-site-association", Platform.ANDROID: "assetlinks.json"}
_ADVICE = "Give links that open the app and links that stay in the browser domains of their own."


async def examine_fill(database: Database, domain: str, apps: Apps) -> AsyncIterator[Finding]:
    """A finding for each file that the domain has."""
    for platform, app in ((Platform.IOS, apps.ios), (Platform.ANDROID, apps.android)):
        if app:
            fill = await find_file_fill(database, domain, platform)
            yield _finding(f"{domain} {_FILES[platform]}", fill)


def _finding(subject: str, fill: FileFill) -> Finding:
    """What is to be said of a file that is so full."""
    if fill.listing is Listing.SOME_APP_LINKS:
        return _findings.error(
            subject,
            f"It is full: of the links that open the app, it names the newest {fill.named:,}, and "
            f"{fill.left_out:,} others open the browser.",
            _ADVICE,
        )
    share = f"{fill.share:.0%}"
    if fill.listing is Listing.APP_LINKS:
        return _findings.warning(
            subject,
            "The links that stay in the browser do not fit, so it names those that open the app, which take "
            f"{share} of the room: a new one opens the app only on phones that have read the file since.",
            _ADVICE,
        )
    if fill.is_nearly_full:
        return _findings.warning(
            subject,
            f"Its {fill.named:,} links that stay in the browser take {share} of the room. Beyond it, the "
            "file names the links that open the app, and new ones open it only once phones have read that.",
            _ADVICE,
        )
    return _findings.ok(subject, f"Its links take {share} of the room.")
