"""POST /open: an app reports that it was opened.

Records installs, and returns the link that the app is to show.
"""

from __future__ import annotations

from typing import Any

from backend.app_api.blueprint import app_api, calling_org_id
from backend.app_api.first_launch import record_first_launch
from backend.app_api.link_of_open import as_opened, find_named_link
from backend.app_api.link_visit import store_link_visit
from backend.domain.apps.installs import Match, parse_open
from backend.domain.links.destinations.policy import leads_to
from backend.domain.links.links import SOCIAL_FIELDS, UTM_FIELDS, Link, LinkState
from backend.json_api.json_body import read_json_object
from backend.web.current import resources


@app_api.post("/open")
async def open_app() -> dict[str, Any]:
    """Record the first launch, and the click that an open by a link is, and return the link.

    `is_counted` says whether this open is a click of its link. `match` says how the link was found. If there
    is no link, or it leads nowhere now (disabled, expired, held), `match` is `none`, and `destination_url`
    and `link` are null.
    """
    opened = parse_open(await read_json_object())
    matched, is_new = await find_named_link(opened, calling_org_id()), False
    if opened.is_first_launch:
        matched, is_new = await record_first_launch(opened, calling_org_id(), matched)
    is_counted = await store_link_visit(opened, matched)
    link = as_opened(matched.link, opened) if matched.link else None
    shown = link if link and _leads_somewhere(link) else None
    return {
        "is_new_install": is_new,
        "is_counted": is_counted,
        "match": (matched.match if shown else Match.NONE).value,
        "destination_url": shown.destination_url if shown else None,
        "link": _link_data(shown) if shown else None,
    }


def _leads_somewhere(link: Link) -> bool:
    """Whether apps are told where the link leads: not past limits, which hold for visitors in browsers."""
    if link.state_at(resources().clock()) is not LinkState.ENABLED or link.limits.stays_in_browser:
        return False
    return not leads_to(link, resources().block_list.current)


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
