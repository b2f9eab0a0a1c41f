"""What links pass on of what visitors add, over REST: set, changed, read back, refused."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.apps.test_open import open_body, post
from tests.api.whole_links import Links


async def test_it_is_read_back_and_cleared(links: Links) -> None:
    """POST and PATCH set both fields, null clears the names, and what is not sent stays; so in a copy."""
    made = await links.make(forwards_path=True, forwards_query=["ref", "ref", "a b"])
    assert (made["forwards_path"], made["forwards_query"]) == (True, ["ref", "a b"])
    copy = (await links.call("POST", f"/{made['id']}/duplicate", {})).json()
    assert (copy["forwards_path"], copy["forwards_query"]) == (True, ["ref", "a b"])
    changed = (await links.call("PATCH", f"/{made['id']}", {"forwards_query": None})).json()
    assert (changed["forwards_path"], changed["forwards_query"]) == (True, None)
    changed = (await links.call("PATCH", f"/{made['id']}", {"forwards_path": False})).json()
    assert (changed["forwards_path"], changed["forwards_query"]) == (False, None)
    assert changed == await links.get(made["id"])


async def test_a_signed_destination(links: Links) -> None:
    """Nothing is added to it, as a note says; the link may say otherwise, and a copy does as its link."""
    signed = "https://b.s3.amazonaws.com/f.pdf?X-Amz-Date=20260101T000000Z&X-Amz-Signature=ab"
    made = await links.make(destination_url=signed)
    assert (made["adds_link_id"], len(made["notes"])) == (False, 1)
    asked = await links.make(destination_url=signed, adds_link_id=True, query_precedence="visitor")
    assert (asked["adds_link_id"], asked["query_precedence"], "notes" in asked) == (True, "visitor", False)
    copy = (await links.call("POST", f"/{asked['id']}/duplicate", {})).json()
    assert (copy["adds_link_id"], copy["query_precedence"]) == (True, "visitor")
    changed = (await links.call("PATCH", f"/{asked['id']}", {"query_precedence": None})).json()
    assert (changed["adds_link_id"], changed["query_precedence"]) == (True, None)
    refused = await links.call("PATCH", f"/{asked['id']}", {"query_precedence": "first"})
    assert "query_precedence must be one of destination, visitor" in refused.text


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"forwards_path": 1}, "forwards_path must be true or false"),
        (
            {"forwards_query": "ref"},
            "forwards_query must be null, or a list of at most 50 names of parameters",
        ),
        ({"forwards_query": [""]}, "forwards_query[0] must not be empty"),
        (
            {"destination_url": "https://shop.example/{path}"},
            "destination_url must not contain {path}, unless",
        ),
        (
            {"destination_url": "https://{query.host}/"},
            "destination_url must have placeholders such as {path}",
        ),
        ({"desktop_url": "https://shop.example/{x}"}, "desktop_url must not contain {x}: possible are"),
        ({"expired_url": "https://shop.example/{path}"}, "expired_url must be an absolute http or https URL"),
        (
            {"rules": [{"if": {}, "then": {"destination_url": "https://shop.example/{path}"}}]},
            "rules[0].then.destination_url must not contain {path}, unless",
        ),
    ],
)
async def test_what_is_refused(links: Links, fields: dict[str, Any], message: str) -> None:
    """The error names the field and the rule, of a new link and of a change."""
    made = await links.make()
    for answer in (await links.post(**fields), await links.call("PATCH", f"/{made['id']}", fields)):
        assert answer.status_code == 400
        assert answer.json()["error"]["errorMessage"].startswith(message)


async def test_visitors_never_lead_themselves_in_a_circle(links: Links) -> None:
    """A link whose path visitors fill in leads to no domain of short URLs, however it comes to that;
    parameters in a query may."""
    there = f"https://{links.organization.domain}/other"
    rule = (
        "destination_url must not lead to a domain of short URLs, since visitors fill in a part of the path"
    )
    plain = await links.make(destination_url=there)
    for answer in (
        await links.post(destination_url=there, forwards_path=True),
        await links.post(destination_url=f"{there}/{{query.a}}", selected_path="x"),
        await links.call("PATCH", f"/{plain['id']}", {"forwards_path": True}),
    ):
        assert (answer.status_code, answer.json()["error"]["errorMessage"]) == (400, rule)
    assert (await links.post(destination_url=f"{there}?a={{query.a}}")).status_code == 201


async def test_apps_get_what_visitors_added(links: Links, client: httpx.AsyncClient) -> None:
    """An app that tells the short URL it was opened with gets the address that the browser would have got."""
    made = await links.make(
        destination_url="https://shop.example/{path}?ref={query.ref}", forwards_path=True, link_name="Kites"
    )
    for short_url, expected in (
        (f"{made['short_url']}/red%20ones/?ref=a%26b", "https://shop.example/red%20ones/?ref=a%26b"),
        (made["short_url"], "https://shop.example/?ref="),
        (f"{made['short_url']}?ref={'x' * 3000}", "https://shop.example/?ref="),
    ):
        opened = (await post(client, links.organization, open_body(short_url=short_url))).json()
        assert opened["destination_url"] == expected
        assert opened["link"]["id"] == made["id"]
    opened = (
        await post(client, links.organization, open_body(link_id=made["id"], short_url="http://["))
    ).json()
    assert opened["destination_url"] == "https://shop.example/?ref="
