"""POST /open: an app was opened. It records installs, and tells the app where its link leads."""

from __future__ import annotations

from typing import Any

from backend.app_api.blueprint import app_api, calling_org_id
from backend.app_api.link_of_open import find_link_of_open
from backend.current import resources
from backend.domain.installs import AppOpen, Install, parse_open
from backend.domain.links import SOCIAL_FIELDS, UTM_FIELDS, Link
from backend.json_api.json_body import read_json_object
from backend.storage.installs import record_install


@app_api.post("/open")
async def open_app() -> dict[str, Any]:
    """Record an install at the first launch, once for ever, and give the link that led to this open.

    `destination_url` and `link` are null without a link, and for one that is disabled.
    """
    opened = parse_open(await read_json_object())
    link = await find_link_of_open(opened, calling_org_id())
    is_new = opened.is_first_launch and await _record(opened, link)
    shown = link if link and link.is_enabled else None
    return {
        "is_new_install": is_new,
        "destination_url": shown.destination_url if shown else None,
        "link": _link_data(shown) if shown else None,
    }


async def _record(opened: AppOpen, link: Link | None) -> bool:
    install = Install(
        org_id=calling_org_id(),
        install_id=opened.install_id,
        platform=opened.platform,
        link_id=link.id if link else None,
        at=resources().clock(),
    )
    return await record_install(resources().database, install)


def _link_data(link: Link) -> dict[str, Any]:
    return {
        "id": link.id,
        "short_url": resources().short_url_form.write(link.domain, link.path),
        "destination_url": link.destination_url,
        "link_name": link.link_name,
        "custom_data": link.custom_data,
        **{name: link.utm.get(name) for name in UTM_FIELDS},
        **{name: link.social.get(name) for name in SOCIAL_FIELDS},
    }
