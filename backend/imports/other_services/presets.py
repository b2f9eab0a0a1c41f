"""What other services call the fields of a link, and which of them have no place in one of ours.

docs/moving-in.md names for each service where its names were read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_NO_PHONE_ADDRESS = "phones go to the destination; a fallback is only for links that open an app"
_NO_COUNTRIES = "every country goes to the same destination"
_NO_SPLIT = "all visitors go to the same destination"
_NO_CLOAKING = "links redirect; they show no page of another in a frame"
_NO_NOTE = "links have no notes"
_NO_FOLDER = "folders are tags here, and the file has the folder's id only"


@dataclass(frozen=True, slots=True)
class Preset:
    """A service and the form of its links.

    `named` maps our columns to names of theirs, of which the first that has a value counts. `no_place` says
    why a field is left out. `silent` are fields that say nothing about what the link does: ids, owners, times
    of change, and what repeats another field. `list_at` leads to the links in an answer of the API.
    """

    service: str
    named: Mapping[str, tuple[str, ...]]
    no_place: Mapping[str, str] = field(default_factory=dict)
    silent: tuple[str, ...] = ()
    list_at: tuple[str, ...] = ()
    # A field with more short URLs of the same link, and the hosts that only the service itself can serve.
    more_places: str = ""
    shared_hosts: tuple[str, ...] = ()
    # What stands between two tags; besides commas, which lists of an API's answers are joined by.
    between_tags: str = ","
    # Columns of ours that are only taken over while a flag of theirs is set.
    only_with: Mapping[str, str] = field(default_factory=dict)


PRESETS: Mapping[str, Preset] = {
    "bitly": Preset(
        "Bitly",
        {
            "short_url": ("link", "id"),
            "destination_url": ("long_url", "Destination URL"),
            "link_name": ("title",),
            "is_disabled": ("archived",),
            "created_time": ("created_at",),
            "tags": ("tags",),
        },
        {"deeplinks": "apps belong to a domain, not to a link: waylink app set"},
        ("id", "references", "created_by", "client_id", "modified_at", "custom_bitlinks", "Custom Link"),
        ("links",),
        more_places="custom_bitlinks",
        shared_hosts=("bit.ly",),
    ),
    "shortio": Preset(
        "Short.io",
        {
            "short_url": ("secureShortURL", "shortURL"),
            "destination_url": ("originalURL",),
            "link_name": ("title",),
            "is_disabled": ("archived",),
            "created_time": ("createdAt",),
            "utm_source": ("utmSource",),
            "utm_medium": ("utmMedium",),
            "utm_campaign": ("utmCampaign",),
            "utm_term": ("utmTerm",),
            "utm_content": ("utmContent",),
            "expires_at": ("expiresAt",),
            "expired_url": ("expiredURL",),
            "max_clicks": ("clicksLimit",),
            "password": ("password",),
            "has_password": ("hasPassword",),
            "tags": ("tags",),
        },
        {
            "ttl": "expiresAt says when a link ends",
            "passwordContact": "visitors are not told whom to ask for the password",
            "iphoneURL": _NO_PHONE_ADDRESS,
            "androidURL": _NO_PHONE_ADDRESS,
            "cloaking": _NO_CLOAKING,
            "splitURL": _NO_SPLIT,
            "splitPercent": _NO_SPLIT,
            "FolderId": _NO_FOLDER,
        },
        (
            "idString", "path", "DomainId", "OwnerId", "updatedAt", "shortURL", "secureShortURL",
            "source", "duplicate", "redirectType", "User", "id", "email", "name", "photoURL", "icon",
        ),
        ("links",),
    ),
    "rebrandly": Preset(
        "Rebrandly",
        {
            "short_url": ("shortUrl",),
            "destination_url": ("destination",),
            "link_name": ("title",),
            "created_time": ("createdAt",),
            "imported_clicks": ("clicks",),
            "tags": ("tags",),
        },
        {
            "description": _NO_NOTE,
            "status": "its values are not documented: look whether the link still redirects there",
            "scripts": "scripts of others are not run on the way",
            "forwardParameters": "query parameters are always forwarded",
        },
        (
            "id", "slashtag", "linkId", "domain", "domainId",
            "domainName", "updatedAt", "lastClickAt", "lastClickDate", "favourite", "https", "isPublic",
        ),
    ),
    "dub": Preset(
        "Dub",
        {
            "short_url": ("shortLink", "link"),
            "destination_url": ("url", "Destination URL"),
            "link_name": ("title",),
            "is_disabled": ("archived",),
            "created_time": ("createdAt",),
            "imported_clicks": ("clicks",),
            "utm_source": ("utm_source",),
            "utm_medium": ("utm_medium",),
            "utm_campaign": ("utm_campaign",),
            "utm_term": ("utm_term",),
            "utm_content": ("utm_content",),
            "expires_at": ("expiresAt",),
            "expired_url": ("expiredUrl",),
            "password": ("password",),
            "social_title": ("title",),
            "social_description": ("description",),
            "social_image_url": ("image",),
            "tags": ("tags",),
        },
        {
            "ios": _NO_PHONE_ADDRESS,
            "android": _NO_PHONE_ADDRESS,
            "geo": _NO_COUNTRIES,
            "testVariants": _NO_SPLIT,
            "rewrite": _NO_CLOAKING,
            "comments": _NO_NOTE,
            "folderId": _NO_FOLDER,
            "video": "previews have no video",
            "ref": "links have no ref parameter: write it into the destination",
            "leads": "only clicks are kept as history",
            "conversions": "only clicks are kept as history",
            "sales": "only clicks are kept as history",
            "saleAmount": "only clicks are kept as history",
            "Revenue": "only clicks are kept as history",
        },
        (
            "id", "Link ID", "domain", "key", "externalId", "tenantId", "programId", "partnerId",
            "trackConversion", "identifier", "publicStats", "proxy", "description", "image", "tagId",
            "qrCode", "userId", "workspaceId", "projectId", "lastClicked", "updatedAt", "doIndex",
            "webhookIds", "testStartedAt", "testCompletedAt",
        ),
        only_with={"social_title": "proxy", "social_description": "proxy", "social_image_url": "proxy"},
    ),
    "kutt": Preset(
        "Kutt",
        {
            "short_url": ("link", "link.url"),
            "destination_url": ("target",),
            "link_name": ("description",),
            "is_disabled": ("banned",),
            "created_time": ("created_at",),
            "imported_clicks": ("visit_count",),
            "expires_at": ("expire_in",),
            "has_password": ("password",),
        },
        {},
        (
            "id", "address", "domain", "updated_at", "icon", "relative_created_at",
            "relative_expire_in",
        ),
        ("data",),
    ),
    "yourls": Preset(
        "YOURLS",
        {
            "short_url": ("shorturl",),
            "selected_path": ("keyword", "source"),
            "destination_url": ("url", "target"),
            "link_name": ("title",),
            "created_time": ("timestamp",),
            "imported_clicks": ("clicks", "hits"),
        },
        {},
        ("ip",),
        ("links",),
    ),
    "shlink": Preset(
        "Shlink",
        {
            "short_url": ("shortUrl",),
            "destination_url": ("longUrl",),
            "link_name": ("title",),
            "created_time": ("dateCreated", "createdAt"),
            "starts_at": ("meta.validSince",),
            "expires_at": ("meta.validUntil",),
            "max_clicks": ("meta.maxVisits",),
            "imported_clicks": ("visitsSummary.total", "visitsCount", "visits"),
            "tags": ("tags",),
        },
        {
            "hasRedirectRules": _NO_SPLIT,
        },
        (
            "shortCode", "domain", "crawlable", "forwardQuery", "visitsSummary",
        ),
        ("shortUrls", "data"),
        between_tags="|",
    ),
}  # fmt: skip
