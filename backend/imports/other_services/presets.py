"""What other services call the fields of a link, and which of them have no place in one of ours.

`read_at` says where a service's names and their meaning are documented; docs/moving-in.md says what could not
be verified.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from backend.domain.web.client import Platform

_NO_SPLIT = "all visitors go to the same destination: set a rule with a split, if they shall not"
_NO_CLOAKING = "links redirect; they show no page of another in a frame"
_NO_NOTE = "links have no notes"
_PASSED_ON = "query parameters of the short URL are passed on here; forwards_query says which"
_NO_FOLDER = "folders are tags here, and the file has the folder's id only"


@dataclass(frozen=True, slots=True)
class Preset:
    """A service and the form of its links.

    `read_at` are public pages that document its fields. `named` maps our columns to
    names of theirs, of which the first that has a value counts. `no_place` says why a field is left out.
    `told_if_false` are fields that say something only where they are false, with what it is. `silent` are
    fields that say nothing about what the link does: ids, owners, times of change, and what repeats another
    field. `list_at` leads to the links in an answer of the API.
    """

    service: str
    read_at: tuple[str, ...]
    named: Mapping[str, tuple[str, ...]]
    no_place: Mapping[str, str] = field(default_factory=dict)
    told_if_false: Mapping[str, str] = field(default_factory=dict)
    silent: tuple[str, ...] = ()
    list_at: tuple[str, ...] = ()
    # A field with more short URLs of the same link, and the hosts that only the service itself can serve.
    more_places: str = ""
    shared_hosts: tuple[str, ...] = ()
    # What stands between two tags; besides commas, which lists of an API's answers are joined by.
    between_tags: str = ","
    # Columns of ours that are only taken over while a flag of theirs is set.
    only_with: Mapping[str, str] = field(default_factory=dict)
    # Fields with an address for a platform of ours, and an object of addresses by country. They become rules,
    # in this order, as the service has it.
    by_platform: Mapping[Platform, str] = field(default_factory=dict)
    by_country: str = ""


PRESETS: Mapping[str, Preset] = {
    "bitly": Preset(
        "Bitly",
        # That its archived links go on working is in none of Bitly's pages that we could read.
        read_at=("https://dev.bitly.com/api-reference",),
        named={
            "short_url": ("link", "id"),
            "destination_url": ("long_url", "Destination URL"),
            "link_name": ("title",),
            "is_archived": ("archived",),
            "created_time": ("created_at",),
            "tags": ("tags",),
        },
        no_place={"deeplinks": "apps belong to a domain, not to a link: waylink app set"},
        silent=(
            "id", "references", "created_by", "client_id", "modified_at", "custom_bitlinks", "Custom Link",
        ),
        list_at=("links",),
        more_places="custom_bitlinks",
        shared_hosts=("bit.ly",),
    ),
    "shortio": Preset(
        "Short.io",
        read_at=(
            "https://developers.short.io/reference/post_links-public",
            "https://developers.short.io/docs/archiving-a-short-url",
            "https://docs.short.io/articles/features/features/how-to-set-up-link-expiration-or-temporary-url",
            "https://github.com/Short-io/client-node/blob/master/src/types/link.ts",
        ),
        named={
            "short_url": ("secureShortURL", "shortURL"),
            "destination_url": ("originalURL",),
            "link_name": ("title",),
            "is_archived": ("archived",),
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
        no_place={
            "ttl": "expiresAt is taken for the end of a link: set one, where it ends by this",
            "skipQS": _PASSED_ON,
            "passwordContact": "visitors are not told whom to ask for the password",
            "cloaking": _NO_CLOAKING,
            "splitURL": _NO_SPLIT,
            "splitPercent": _NO_SPLIT,
            "FolderId": _NO_FOLDER,
        },
        silent=(
            "idString", "path", "DomainId", "OwnerId", "updatedAt", "shortURL", "secureShortURL",
            "source", "duplicate", "redirectType", "User", "id", "email", "name", "photoURL", "icon",
        ),
        list_at=("links",),
        by_platform={Platform.IOS: "iphoneURL", Platform.ANDROID: "androidURL"},
    ),
    "rebrandly": Preset(
        "Rebrandly",
        read_at=("https://developers.rebrandly.com/docs/link-entity",),
        named={
            "short_url": ("shortUrl",),
            "destination_url": ("destination",),
            "link_name": ("title",),
            "created_time": ("createdAt",),
            "imported_clicks": ("clicks",),
            "tags": ("tags",),
        },
        no_place={
            "description": _NO_NOTE,
            "status": "its values are not documented: look whether the link still redirects there",
            "scripts": "scripts of others are not run on the way",
        },
        told_if_false={"forwardParameters": _PASSED_ON},
        silent=(
            "id", "slashtag", "linkId", "domain", "domainId",
            "domainName", "updatedAt", "lastClickAt", "lastClickDate", "favourite", "https", "isPublic",
        ),
    ),
    "dub": Preset(
        "Dub",
        read_at=(
            "https://dub.co/docs/api-reference/links/list",
            "https://github.com/dubinc/dub/blob/main/apps/web/lib/zod/schemas/links.ts",
            "https://github.com/dubinc/dub/blob/main/apps/web/lib/middleware/link.ts",
            "https://github.com/dubinc/dub/blob/main/apps/web/ui/modals/archive-link-modal.tsx",
        ),
        named={
            "short_url": ("shortLink", "link"),
            "destination_url": ("url", "Destination URL"),
            "link_name": ("title",),
            "is_archived": ("archived",),
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
        no_place={
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
        silent=(
            "id", "Link ID", "domain", "key", "externalId", "tenantId", "programId", "partnerId",
            "trackConversion", "identifier", "publicStats", "proxy", "description", "image", "tagId",
            "qrCode", "userId", "workspaceId", "projectId", "lastClicked", "updatedAt", "doIndex",
            "webhookIds", "testStartedAt", "testCompletedAt",
        ),
        only_with={"social_title": "proxy", "social_description": "proxy", "social_image_url": "proxy"},
        by_platform={Platform.IOS: "ios", Platform.ANDROID: "android"},
        by_country="geo",
    ),
    "kutt": Preset(
        "Kutt",
        read_at=(
            "https://github.com/thedevs-network/kutt/blob/main/server/handlers/links.handler.js",
            "https://github.com/thedevs-network/kutt/blob/main/server/utils/utils.js",
        ),
        named={
            "short_url": ("link", "link.url"),
            "destination_url": ("target",),
            "link_name": ("description",),
            "is_disabled": ("banned",),
            "created_time": ("created_at",),
            "imported_clicks": ("visit_count",),
            "expires_at": ("expire_in",),
            "has_password": ("password",),
        },
        silent=(
            "id", "address", "domain", "updated_at", "icon", "relative_created_at",
            "relative_expire_in",
        ),
        list_at=("data",),
    ),
    "yourls": Preset(
        "YOURLS",
        read_at=(
            "https://github.com/YOURLS/YOURLS/blob/master/includes/functions-api.php",
            "https://github.com/GautamGupta/YOURLS-Import-Export/blob/master/fileio/csv.php",
        ),
        named={
            "short_url": ("shorturl",),
            "selected_path": ("keyword", "source"),
            "destination_url": ("url", "target"),
            "link_name": ("title",),
            "created_time": ("timestamp",),
            "imported_clicks": ("clicks", "hits"),
        },
        silent=("ip",),
        list_at=("links",),
    ),
    "shlink": Preset(
        "Shlink",
        read_at=(
            "https://github.com/shlinkio/shlink/blob/develop/docs/swagger/definitions/ShortUrl.json",
            "https://github.com/shlinkio/shlink/blob/develop/docs/swagger/definitions/ShortUrlEdition.json",
            "https://github.com/shlinkio/shlink/blob/develop/docs/swagger/definitions/ShortUrlMeta.json",
            "https://github.com/shlinkio/shlink-web-component/blob/main/src/short-urls/helpers/ExportShortUrlsBtn.tsx",
        ),
        named={
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
        no_place={
            "hasRedirectRules": "the list does not have the rules themselves: set them as rules here",
        },
        told_if_false={"forwardQuery": _PASSED_ON},
        silent=(
            "shortCode", "domain", "crawlable", "visitsSummary",
        ),
        list_at=("shortUrls", "data"),
        between_tags="|",
    ),
}  # fmt: skip
