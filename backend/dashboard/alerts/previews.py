"""What rules would have sent in the last seven days, as pages show it."""

from __future__ import annotations

from backend.dashboard.alerts.shown import ShownPreview, count_words, shown_preview
from backend.dashboard.analytics.time_zone import zone_of_browser
from backend.dashboard.frame.blueprint import org_id
from backend.domain.alerts.rule import AlertRule
from backend.storage.alerts.sources import AlertSources
from backend.storage.analytics.question import FactsNotReady, NoAnswer
from backend.storage.links.links import find_links
from backend.web.current import resources

_NOT_KNOWN = "The figures can't be had just now."


async def preview_of(sources: AlertSources, rule: AlertRule) -> ShownPreview:
    """What the rule would have sent, in words."""
    try:
        preview = await sources.preview(rule)
    except (FactsNotReady, NoAnswer):
        return ShownPreview("", _NOT_KNOWN, ())
    link_ids = {finding.link_id for finding in preview.findings if finding.link_id}
    links = await find_links(resources().database, sorted(link_ids), org_id())
    return shown_preview(rule, preview, links, zone_of_browser())


async def preview_in_short(sources: AlertSources, rule: AlertRule) -> str:
    """How many alerts the rule would have sent, or why that is not known."""
    try:
        return f"would have sent {count_words(await sources.preview(rule))}"
    except (FactsNotReady, NoAnswer):
        return _NOT_KNOWN
