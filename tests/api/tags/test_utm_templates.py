"""UTM templates, and links that they fill."""

from __future__ import annotations

from typing import Any

import httpx

from tests.api.link_calls import API, link_body, wrong
from tests.api.whole_links import Links
from tests.conftest import OrganizationFactory

UTM = ("utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content")


async def template(links: Links, method: str, name: str = "", body: object = None) -> httpx.Response:
    """A call about templates with the organization's key."""
    return await links.client.request(
        method, f"{API}/utm-templates{name}", json=body, headers=links.organization.headers
    )


def utm_of(shown: dict[str, Any]) -> dict[str, Any]:
    """The UTM fields that are set."""
    return {name: shown[name] for name in UTM if shown[name] is not None}


async def test_a_template_from_making_to_deleting(links: Links) -> None:
    """It is made, listed, renamed, changed field by field, and deleted; links that it filled stay."""
    made = await template(links, "POST", body={"name": "Mail", "utm_source": "mail", "utm_term": ""})
    assert (made.status_code, utm_of(made.json())) == (201, {"utm_source": "mail"})
    link = await links.make(utm_template="mail")
    changes = {"name": "Newsletter", "utm_source": None, "utm_medium": "email"}
    changed = await template(links, "PATCH", "/MAIL", changes)
    assert (changed.status_code, utm_of(changed.json())) == (200, {"utm_medium": "email"})
    listed = (await template(links, "GET")).json()["utm_templates"]
    assert [(item["name"], utm_of(item)) for item in listed] == [("Newsletter", {"utm_medium": "email"})]
    assert (await template(links, "DELETE", "/newsletter")).status_code == 204
    assert (await template(links, "GET")).json() == {"utm_templates": []}
    assert utm_of(await links.get(link["id"])) == {"utm_source": "mail"}


async def test_a_template_fills_a_new_link(links: Links) -> None:
    """It gives what the body does not, also in a bulk; a link that is brought up to date stays as it is."""
    await template(links, "POST", body={"name": "Mail", "utm_source": "mail", "utm_medium": "email"})
    own: dict[str, Any] = {"utm_template": "MAIL", "utm_medium": None, "utm_campaign": "spring"}
    assert utm_of(await links.make(**own)) == {"utm_source": "mail", "utm_campaign": "spring"}
    fields = link_body(links.organization, external_id="a", **own)
    upsert = {"op": "upsert", "link": fields}
    later = {"op": "upsert", "link": fields | {"utm_campaign": "autumn"}}
    unknown = {"op": "create", "link": link_body(links.organization, utm_template="none")}
    answer = await links.call("POST", "/bulk", {"operations": [upsert, later, unknown]})
    results = answer.json()["results"]
    assert [result["status"] for result in results] == ["created", "updated", "rejected"]
    assert results[2]["error"] == wrong("utm_template was not found: none")
    filled = {"utm_source": "mail", "utm_campaign": "autumn"}
    assert utm_of(await links.get(results[0]["id"])) == filled
    refused = await links.call("PATCH", f"/{results[0]['id']}", {"utm_template": "mail"})
    assert refused.json() == wrong("utm_template is not a field of this request")


async def test_another_organization_s_template_is_not_found(
    links: Links, client: httpx.AsyncClient, make_organization: OrganizationFactory
) -> None:
    """It fills no link, is not listed, and can't be changed or deleted."""
    theirs = Links(client, await make_organization())
    await template(theirs, "POST", body={"name": "secret", "utm_source": "secret"})
    refused = await links.post(utm_template="secret")
    assert refused.json() == wrong("utm_template was not found: secret")
    assert (await template(links, "GET")).json() == {"utm_templates": []}
    for answer in [
        await template(links, "PATCH", "/secret", {"utm_source": "mine"}),
        await template(links, "DELETE", "/secret"),
    ]:
        assert (answer.status_code, answer.json()["code"]) == (404, 103)
    assert utm_of(await theirs.make(utm_template="secret")) == {"utm_source": "secret"}
