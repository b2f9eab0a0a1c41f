"""Labels that people read in place of the names of fields and values."""

from __future__ import annotations

from backend.domain.web.client import PLATFORM_NAMES

LABELS = {
    "domain": "Domain",
    "selected_path": "Path",
    "destination_url": "Destination",
    "link_name": "Name",
    "ios_behavior": "On iPhone and iPad",
    "android_behavior": "On Android",
    "utm_source": "UTM source",
    "utm_medium": "UTM medium",
    "utm_campaign": "UTM campaign",
    "utm_term": "UTM term",
    "utm_content": "UTM content",
    "social_title": "Preview: title",
    "social_description": "Preview: description",
    "social_image_url": "Preview: image",
    "ios_fallback_url": "iOS without the app",
    "android_fallback_url": "Android without the app",
    "desktop_url": "Desktop",
    "custom_data": "Custom data",
    "tags": "Tags",
    "more_tags": "More tags",
    "utm_template": "Template",
    "name": "Name",
    "segment_name": "Name of the segment",
    "filters": "Filters",
    "color": "Colour",
    "url": "Address",
    "form": "Form",
    "batch_size": "Each request has",
    "types": "What it is told",
    "links": "Links",
    "from": "From",
    "by": "A row for each",
    "measures": "Columns",
    "password": "Password",
    "expires_at": "Open until",
    "embed_origins": "Sites that may show it in a frame",
    "report_id": "Report",
    "address": "Address",
    "frequency": "How often",
    "language": "Language",
    "timezone": "Time zone",
    "text": "What happened",
    "day": "Day",
    "time": "Time",
    "link": "Shown in",
    "background": "Background",
    "qr_text": "Text below the code",
    "image": "Image",
}


def device_in_words(platform: str, system: str | None, browser: str | None) -> str:
    """The platform of a visit, its system where that has another name, and the browser."""
    shown = PLATFORM_NAMES.get(platform, platform)
    facts = (shown, system if system != shown else "", browser)
    return ", ".join(fact for fact in facts if fact)
