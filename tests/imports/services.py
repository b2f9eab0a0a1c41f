"""Files as other services write them, for tests: the fields, their order and the forms of their values.

docs/moving-in.md says for each where that was read. `DOMAIN` stands for the organization's domain.
"""

from __future__ import annotations

import json

DOMAIN = "go.service.example"

# GET /v4/groups/{group_guid}/bitlinks
BITLY = json.dumps({
    "links": [
        {
            "created_at": "2023-04-01T09:30:00+0000",
            "id": f"{DOMAIN}/3kXyZ1a",
            "link": f"https://{DOMAIN}/3kXyZ1a",
            "custom_bitlinks": [f"https://{DOMAIN}/spring"],
            "long_url": "https://shop.example/sale?utm_source=mail",
            "title": "Spring sale",
            "archived": False,
            "created_by": "jane",
            "client_id": "a5e8cebb233c5d07e5c553e917dffb92fec5264d",
            "tags": ["spring", "mail"],
            "deeplinks": [],
            "references": {"group": "https://api-ssl.bitly.com/v4/groups/Ba1bc23dE4F"},
        },
        {
            "created_at": "2022-01-01T00:00:00+0000",
            "id": f"{DOMAIN}/2old",
            "link": f"https://{DOMAIN}/2old",
            "custom_bitlinks": [],
            "long_url": "https://shop.example/old",
            "archived": True,
            "tags": [],
            "deeplinks": [],
            "references": {},
        },
    ],
    "pagination": {"prev": "", "next": "", "size": 50, "page": 1, "total": 2},
})  # fmt: skip

# GET https://api.short.io/api/links
SHORTIO = json.dumps({
    "count": 2,
    "links": [
        {
            "idString": "lnk_abc_XYZ",
            "path": "spring",
            "title": "Spring sale",
            "icon": None,
            "archived": False,
            "originalURL": "https://shop.example/sale",
            "iphoneURL": "https://apps.apple.com/app/id1",
            "androidURL": None,
            "splitURL": None,
            "expiresAt": "2030-01-01T00:00:00.000Z",
            "expiredURL": None,
            "redirectType": None,
            "cloaking": False,
            "source": "website",
            "createdAt": "2023-04-01T09:30:00.000Z",
            "updatedAt": "2023-05-01T00:00:00.000Z",
            "OwnerId": 7,
            "tags": ["spring"],
            "DomainId": 42,
            "secureShortURL": f"https://{DOMAIN}/spring",
            "shortURL": f"https://{DOMAIN}/spring",
            "utmSource": "mail",
            "utmMedium": "email",
            "utmCampaign": "spring",
            "utmTerm": None,
            "utmContent": None,
        },
        {
            "idString": "lnk_abc_OLD",
            "path": "old",
            "title": None,
            "archived": True,
            "originalURL": "https://shop.example/old",
            "cloaking": False,
            "createdAt": "2022-01-01T00:00:00.000Z",
            "OwnerId": 7,
            "tags": [],
            "DomainId": 42,
            "secureShortURL": f"https://{DOMAIN}/old",
            "shortURL": f"http://{DOMAIN}/old",
        },
    ],
    "nextPageToken": None,
})  # fmt: skip

# GET https://api.rebrandly.com/v1/links
REBRANDLY = json.dumps([
    {
        "id": "ffs24cc5b6ee4a5gh7897b06ac2d16d4",
        "title": "Spring sale",
        "slashtag": "spring",
        "destination": "https://shop.example/sale",
        "shortUrl": f"{DOMAIN}/spring",
        "domain": {"id": "8f104cc5b6ee4a4ba7897b06ac2ddcfb", "fullName": DOMAIN},
        "tags": [{"id": "b1", "name": "spring", "color": "ff0000"}],
        "status": "active",
        "createdAt": "2023-04-01T09:30:00.000Z",
        "updatedAt": "2023-04-01T09:30:00.000Z",
        "clicks": 42,
        "lastClickAt": "2023-07-13T10:55:13.000Z",
        "favourite": False,
    }
])  # fmt: skip

# GET https://api.dub.co/links
DUB = json.dumps([
    {
        "id": "clv3o9p9q000au1h0mc7r6l63",
        "domain": DOMAIN,
        "key": "spring",
        "url": "https://shop.example/sale",
        "trackConversion": False,
        "externalId": None,
        "archived": False,
        "expiresAt": "2030-01-01T00:00:00.000Z",
        "expiredUrl": None,
        "password": "sesame",
        "proxy": True,
        "title": "Spring sale",
        "description": "Everything must go",
        "image": "https://shop.example/sale.png",
        "video": None,
        "rewrite": False,
        "doIndex": False,
        "ios": "https://apps.apple.com/app/id1",
        "android": None,
        "geo": {"DE": "https://shop.example/de"},
        "publicStats": False,
        "tags": [{"id": "t1", "name": "spring", "color": "red"}],
        "comments": None,
        "shortLink": f"https://{DOMAIN}/spring",
        "qrCode": f"https://api.dub.co/qr?url=https://{DOMAIN}/spring?qr=1",
        "utm_source": "mail",
        "utm_medium": None,
        "utm_campaign": "spring",
        "utm_term": None,
        "utm_content": None,
        "userId": "u1",
        "workspaceId": "ws_1",
        "clicks": 1042,
        "lastClicked": "2024-05-01T00:00:00.000Z",
        "leads": 0,
        "sales": 0,
        "saleAmount": 0,
        "createdAt": "2023-04-01T09:30:00.000Z",
        "updatedAt": "2023-04-02T09:30:00.000Z",
    },
    {
        "id": "clv3o9p9q000au1h0mc7r6l64",
        "domain": DOMAIN,
        "key": "old",
        "url": "https://shop.example/old",
        "archived": True,
        "proxy": False,
        "title": "A title that no preview shows",
        "tags": [],
        "shortLink": f"https://{DOMAIN}/old",
        "clicks": 0,
        "createdAt": "2022-01-01T00:00:00.000Z",
    },
])  # fmt: skip

# The export of Dub's dashboard: GET /api/links/export, with all its columns.
DUB_CSV = (
    "Short link,Destination URL,Clicks,Leads,Conversions,Revenue,Created at,Link ID,Updated at,Tags,"
    "Archived\n"
    f"https://{DOMAIN}/spring,https://shop.example/sale,1042,3,0,0,2023-04-01T09:30:00.000Z,clv3o,"
    '2023-04-02T09:30:00.000Z,"spring, mail",No\n'
    f"https://{DOMAIN}/old,https://shop.example/old,0,0,0,0,2022-01-01T00:00:00.000Z,clv3p,"
    "2022-01-01T00:00:00.000Z,,Yes\n"
)

# GET /api/v2/links
KUTT = json.dumps({
    "total": 2,
    "limit": 10,
    "skip": 0,
    "data": [
        {
            "id": "7f1a8a0e-5a5a-4a3b-8d1e-0c5a1c2b3d4e",
            "address": "spring",
            "banned": False,
            "created_at": "2023-04-01T09:30:00.000Z",
            "updated_at": "2023-04-01T09:30:00.000Z",
            "password": True,
            "description": "Spring sale",
            "expire_in": "2030-01-01T00:00:00.000Z",
            "target": "https://shop.example/sale",
            "visit_count": 17,
            "domain": DOMAIN,
            "link": f"https://{DOMAIN}/spring",
        },
        {
            "id": "7f1a8a0e-5a5a-4a3b-8d1e-0c5a1c2b3d4f",
            "address": "old",
            "banned": True,
            "created_at": "2022-01-01T00:00:00.000Z",
            "updated_at": "2022-01-01T00:00:00.000Z",
            "password": False,
            "description": None,
            "expire_in": None,
            "target": "https://shop.example/old",
            "visit_count": 0,
            "domain": None,
            "link": f"https://{DOMAIN}/old",
        },
    ],
})  # fmt: skip

# yourls-api.php?action=stats&format=json
YOURLS = json.dumps({
    "links": {
        "link_1": {
            "shorturl": f"http://{DOMAIN}/spring",
            "url": "https://shop.example/sale",
            "title": "Spring sale",
            "timestamp": "2023-04-01 09:30:00",
            "ip": "203.0.113.7",
            "clicks": "1042",
        }
    },
    "stats": {"total_links": "1", "total_clicks": "1042"},
    "statusCode": 200,
    "message": "success",
})  # fmt: skip

# The export of the plugin YOURLS-Import-Export.
YOURLS_CSV = "source,target,hits\r\n/spring/,https://shop.example/sale,1042\r\n"

# GET /rest/v3/short-urls
SHLINK = json.dumps({
    "shortUrls": {
        "data": [
            {
                "shortCode": "spring",
                "shortUrl": f"https://{DOMAIN}/spring",
                "longUrl": "https://shop.example/sale",
                "dateCreated": "2023-04-01T11:30:00+02:00",
                "tags": ["spring"],
                "meta": {"validSince": None, "validUntil": "2030-01-01T00:00:00+00:00", "maxVisits": 2000},
                "domain": None,
                "title": "Spring sale",
                "crawlable": False,
                "forwardQuery": True,
                "hasRedirectRules": False,
                "visitsSummary": {"total": 1042, "nonBots": 1000, "bots": 42},
            }
        ],
        "pagination": {"currentPage": 1, "pagesCount": 1, "itemsPerPage": 10, "totalItems": 1},
    }
})  # fmt: skip

# The export of Shlink's web client.
SHLINK_CSV = (
    "createdAt,domain,shortCode,shortUrl,longUrl,title,tags,visits\n"
    f"2023-04-01T11:30:00+02:00,{DOMAIN},spring,https://{DOMAIN}/spring,https://shop.example/sale,"
    "Spring sale,spring|mail,1042\n"
)
