"""/webhooks: the organization's webhooks, and forms to add and change one."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from quart import Response

from backend.dashboard.analytics.time_zone import zone_of_browser
from backend.dashboard.frame.blueprint import dashboard, needs, org_id, permissions
from backend.dashboard.frame.form import field
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.once import once
from backend.dashboard.frame.page import page
from backend.dashboard.frame.saw import is_unchanged, of_stored, stored_fields
from backend.dashboard.links.by_text import link_named
from backend.dashboard.webhooks.shown import FORMS, TYPES, ShownWebhook, batch_words, shown_webhooks
from backend.dashboard.webhooks.webhook import webhook_page
from backend.domain.accounts.permissions import Permission
from backend.domain.errors import FieldError, InvalidField, collect_errors
from backend.domain.fields.rules import parse_fields
from backend.domain.ids import EndpointId, LinkId
from backend.domain.webhooks.endpoint import Endpoint
from backend.domain.webhooks.endpoint_fields import MOST_IN_BATCH, endpoint_rules
from backend.storage.links.links import find_links
from backend.storage.webhooks.chosen_tags import tag_names, with_tag_ids
from backend.storage.webhooks.endpoints import change_endpoint, create_endpoint, get_endpoint, list_endpoints
from backend.web.current import resources

_NEW_FIELDS = {"url": "", "form": "json", "batch_size": "1", "links": "", "tags": ""}
_TYPE_PREFIX = "type-"
_LONGEST_NUMBER = 5  # digits
# The form's names for fields that have other names in REST.
_FORM_NAMES = {"link_ids": "links", "tag_ids": "tags"}
Problems = dict[str, str]


def new_fields() -> dict[str, str]:
    """The text of each field for a new webhook."""
    return _NEW_FIELDS | {_TYPE_PREFIX + event_type: "" for event_type in TYPES}


async def fields_of(endpoint: Endpoint) -> dict[str, str]:
    """The text of each field for an existing one."""
    database, write = resources().database, resources().short_url_form.write
    links = await find_links(database, endpoint.link_ids, org_id())
    tags = await tag_names(database, org_id(), [endpoint])
    lines = [
        write(links[link_id].domain, links[link_id].path) if link_id in links else link_id
        for link_id in endpoint.link_ids
    ]
    return new_fields() | {
        "url": endpoint.url,
        "form": endpoint.form.value,
        "batch_size": str(endpoint.batch_size),
        "links": "\n".join(lines),
        # one that was deleted stands there with its id: without it, the webhook would seem to be of all links
        "tags": ", ".join(tags.get(tag_id, tag_id) for tag_id in endpoint.tag_ids),
        **{_TYPE_PREFIX + event_type: "on" for event_type in endpoint.types},
    }


def sent_fields() -> dict[str, str]:
    """The text of each field from the current request, to be shown again."""
    return {name: field(name) for name in new_fields()}


async def read_fields(
    fields: dict[str, str], problems: Problems, unchanged: Container[str] = ()
) -> dict[str, Any]:
    """The fields of an endpoint, without links or tags that are `unchanged`: they may be deleted by now.

    What is wrong with a field of the form is added to `problems`.
    """
    errors: list[FieldError] = []
    size = fields["batch_size"]
    values: dict[str, object] = {
        "url": fields["url"],
        "types": [event_type.value for event_type in TYPES if fields[_TYPE_PREFIX + event_type]],
        "tags": [name.strip() for name in fields["tags"].split(",") if name.strip()],
        "form": fields["form"],
        "batch_size": int(size) if size.isdecimal() and len(size) < _LONGEST_NUMBER else size,
    }
    rules = endpoint_rules(allows_loopback=resources().settings.allows_loopback_receivers)
    parsed = parse_fields(rules, values, errors)
    if "links" not in unchanged:
        with collect_errors(errors):
            lines = [line.strip() for line in fields["links"].split("\n") if line.strip()]
            parsed["link_ids"] = rules["link_ids"].parse("link_ids", [await _link(line) for line in lines])
    if "tags" in unchanged:
        parsed.pop("tags", None)
    with collect_errors(errors):
        parsed = await with_tag_ids(resources().database, org_id(), parsed)
    add_problems(errors, problems)
    return parsed


def add_problems(errors: Iterable[FieldError], problems: Problems) -> None:
    """Add each error to `problems`, by the name of the form's field. The first error of a field stays."""
    for error in errors:
        problems.setdefault(_FORM_NAMES.get(error.field, error.field), error.rule)


async def form_page(
    fields: dict[str, str], problems: Problems, shown: ShownWebhook | None = None
) -> Response:
    """The form with these fields; `shown` is the webhook that it changes, None for a new one."""
    sizes = sorted({"1", str(MOST_IN_BATCH), fields["batch_size"]} - {""}, key=_number)
    return await page(
        "webhooks/form.html",
        422 if problems else 200,
        fields=fields,
        problems=problems,
        shown=shown,
        types=TYPES,
        forms=FORMS,
        sizes=[(size, batch_words(_number(size)).capitalize()) for size in sizes if _number(size)],
        is_local=resources().settings.allows_loopback_receivers,
    )


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < _LONGEST_NUMBER else 0


async def _link(text: str) -> LinkId:
    """The id of the organization's link with this short URL or id. Raises InvalidField."""
    link = await link_named(text)
    if link is None:
        raise InvalidField("link_ids", f"has a line that is no short URL or id of a link of yours: {text}")
    return link.id


async def _stored(webhook_id: EndpointId) -> dict[str, str]:
    return await fields_of(await get_endpoint(resources().database, org_id(), webhook_id))


@dashboard.get("/webhooks")
@needs(Permission.SETTINGS_READ)
async def webhooks() -> Response:
    """All webhooks, each with its state and the time up to which it has its events."""
    return await page("webhooks/webhooks.html", later=_rows, zone=zone_of_browser())


async def _rows() -> dict[str, Any]:
    return {"rows": await shown_webhooks(await list_endpoints(resources().database, org_id()))}


@dashboard.get("/webhooks/new")
@needs(Permission.SETTINGS_WRITE, Permission.FEED_READ)
async def webhooks_new() -> Response:
    """The form for a new one."""
    return await form_page(new_fields(), {})


@dashboard.post("/webhooks")
@needs(Permission.SETTINGS_WRITE, Permission.FEED_READ)
@once
async def webhooks_add() -> Response:
    """Make a webhook, and show its secret for once."""
    fields, problems = sent_fields(), Problems()
    endpoint_fields = await read_fields(fields, problems)
    if problems:
        return await form_page(fields, problems)
    try:
        made = await create_endpoint(
            resources().database, org_id(), endpoint_fields, resources().clock(), permissions()
        )
    except InvalidField as error:  # a link or a tag was deleted a moment ago
        add_problems([error], problems)
    return await form_page(fields, problems) if problems else await webhook_page(made, secret=made.secret)


@dashboard.get("/webhooks/<webhook_id>/change")
@needs(Permission.SETTINGS_WRITE, Permission.FEED_READ)
@of_stored(_stored)
async def webhooks_edit(webhook_id: EndpointId) -> Response:
    """The form with the webhook's fields."""
    endpoint = await get_endpoint(resources().database, org_id(), webhook_id)
    (shown,) = await shown_webhooks([endpoint])
    return await form_page(dict(stored_fields()), {}, shown)


@dashboard.post("/webhooks/<webhook_id>/change")
@needs(Permission.SETTINGS_WRITE, Permission.FEED_READ)
@of_stored(_stored)
async def webhooks_change(webhook_id: EndpointId) -> Response:
    """Change the webhook."""
    endpoint = await get_endpoint(resources().database, org_id(), webhook_id)
    fields, problems = sent_fields(), Problems()
    unchanged = list(filter(is_unchanged, ("links", "tags")))
    changes = await read_fields(fields, problems, unchanged)
    if changes.get("url") == endpoint.url:
        del changes["url"]  # storing the same address would make a failing webhook be tried at once
    if not problems:
        try:
            await change_endpoint(resources().database, org_id(), webhook_id, changes, permissions())
            return redirect_with_notice("webhooks_one", "webhook-changed", webhook_id=webhook_id)
        except InvalidField as error:
            add_problems([error], problems)
    (shown,) = await shown_webhooks([endpoint])
    return await form_page(fields, problems, shown)
