"""Labels that people read in place of the names of fields and values."""

from __future__ import annotations

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
    "color": "Colour",
    "url": "Address",
    "form": "Form",
    "batch_size": "Each request has",
    "types": "What it is told",
    "links": "Links",
    "from": "From",
}
PLATFORMS = {"ios": "iOS", "android": "Android", "desktop": "Desktop"}
