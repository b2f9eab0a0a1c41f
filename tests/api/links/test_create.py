"""POST /create-link (contract, "Create link")."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from typing import Any

import httpx
import pytest

from tests.api.link_calls import API, CONTRACT_FIELDS, create, info, invalid, link_body, missing
from tests.facts.organizations import TestOrganization


async def post(
    client: httpx.AsyncClient, organization: TestOrganization, body: Any, **headers: str
) -> httpx.Response:
    """Send a create-link body."""
    return await client.post(f"{API}/create-link", json=body, headers=organization.headers | headers)


async def test_the_contract_s_example(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """A link with every field of the contract is made, and the answer gives its short URL."""
    answer = await post(
        client,
        organization,
        CONTRACT_FIELDS | {"domain": organization.domain},
    )
    assert (answer.status_code, answer.json()) == (
        201,
        {
            "status": "success",
            "message": "Link created successfully",
            "short_url": f"https://{organization.domain}/spring/sale",
        },
    )


async def test_a_generated_path(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """Without selected_path the path has 6 characters that nobody mistakes for one another."""
    short_url = await create(client, organization)
    assert re.fullmatch(
        rf"https://{re.escape(organization.domain)}/[2-9a-hj-km-np-zA-HJ-NP-Z]{{6}}", short_url
    )


async def test_a_new_link_is_enabled(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """A link that was just made works."""
    link = await info(client, organization, await create(client, organization))
    assert link["is_enabled"] is True
    assert link["createdTime"] == link["modifiedTime"]


@pytest.mark.parametrize("field", ["domain", "destination_url", "link_name"])
@pytest.mark.parametrize("absent", [True, False])
async def test_a_required_field(
    client: httpx.AsyncClient, organization: TestOrganization, field: str, absent: bool
) -> None:
    """Without a required field, or with null for it, no link is made."""
    body = link_body(organization) | {field: None}
    if absent:
        del body[field]
    answer = await post(client, organization, body)
    assert (answer.status_code, answer.json()) == (400, missing(field))


PATH_RULE = (
    "selected_path must be segments of letters, digits and - _ . ~, separated by single slashes, "
    "and no segment may be . or .."
)
HOST_RULE = "domain must be a host name: letters, digits and hyphens, separated by dots"
LENGTH_RULE = "selected_path must have at most 8 segments and 512 characters"
BEHAVIOR_RULE = "must be 1 (open in browser) or 2 (open in app)"
URL_RULE = "must be an absolute http or https URL"


BAD: list[tuple[Any, ...]] = [
    ("domain", 5, "domain must be a string"),
    (
        "domain",
        "not a host",
        HOST_RULE,
    ),
    ("domain", "someone.else.example", "domain is not configured for the organization"),
    ("selected_path", "", PATH_RULE),
    ("selected_path", "/a", PATH_RULE),
    ("selected_path", "a//b", PATH_RULE),
    ("selected_path", "a/../b", PATH_RULE),
    ("selected_path", "a%2Fb", PATH_RULE),
    ("selected_path", "ä", PATH_RULE),
    ("selected_path", "a\n", PATH_RULE),
    (
        "selected_path",
        "1/2/3/4/5/6/7/8/9",
        LENGTH_RULE,
    ),
    ("selected_path", "a" * 513, LENGTH_RULE),
    ("selected_path", "robots.txt", "selected_path must not be robots.txt, which is reserved"),
    (
        "selected_path",
        ".well-known/x",
        "selected_path must not be .well-known/x, which is reserved",
    ),
    ("destination_url", "", "destination_url must not be empty"),
    ("destination_url", ["https://a.example"], "destination_url must be a string"),
    ("destination_url", "javascript:alert(1)", f"destination_url {URL_RULE}"),
    ("destination_url", "shop/sale", f"destination_url {URL_RULE}"),
    ("destination_url", "https://", f"destination_url {URL_RULE}"),
    ("destination_url", "https://a.example:99999/", f"destination_url {URL_RULE}"),
    ("destination_url", "https://[::1/", f"destination_url {URL_RULE}"),
    (
        "destination_url",
        "https://a.example/\r\nX-Bad: 1",
        f"destination_url {URL_RULE}, without a line end (U+000D): take it out",
    ),
    (
        "destination_url",
        "https://a.example\\@b.example",
        f"destination_url {URL_RULE}, without \\: write / or %5C",
    ),
    (
        "destination_url",
        "https://a.example/" + "x" * 8192,
        "destination_url must have at most 8192 bytes",
    ),
    ("link_name", "", "link_name must not be empty"),
    ("link_name", "  ", "link_name must not be empty"),
    ("link_name", {"$ne": None}, "link_name must be a string"),
    ("link_name", "a\x00b", "link_name must not contain control characters"),
    ("link_name", "x" * 1025, "link_name must have at most 1024 characters"),
    ("ios_behavior", 3, f"ios_behavior {BEHAVIOR_RULE}"),
    ("ios_behavior", True, f"ios_behavior {BEHAVIOR_RULE}"),
    ("android_behavior", "1", f"android_behavior {BEHAVIOR_RULE}"),
    ("android_behavior", 10**400, f"android_behavior {BEHAVIOR_RULE}"),
    ("utm_source", 1, "utm_source must be a string"),
    ("utm_source", "a\r\nSet-Cookie: x=1", "utm_source must not contain control characters"),
    ("social_image_url", "data:image/png;base64,", f"social_image_url {URL_RULE}"),
    ("custom_data", [], "custom_data must be a JSON object"),
    ("custom_data", {"a": "x" * 4096}, "custom_data must have at most 4096 bytes as JSON"),
    ("custom_data", {"a": 2**63}, "custom_data must not hold integers of more than 64 bits"),
    (
        "custom_data",
        {"a": {"$ref": "x"}},
        "custom_data must not have names that begin with $ or contain NUL",
    ),
    ("utm_sorce", "x", "utm_sorce is not a field of this request"),
    ("$where", "1", "$where is not a field of this request"),
]


async def test_a_bad_value(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """A value that breaks its field's rule is refused with the field and the rule, and no link is made."""
    for field, value, message in BAD:
        answer = await post(client, organization, link_body(organization, **{field: value}))
        assert (answer.status_code, answer.json()) == (400, invalid(message))
        listed = await client.get(f"{API}/links/page", headers=organization.headers)
        assert listed.json()["links"] == [], (field, value)


async def test_lone_surrogates(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """A text that no encoding can hold is refused by name, as value and as field name."""
    for body in (
        link_body(organization, link_name="\ud800"),
        link_body(organization, custom_data={"\udfff": 1}),
        link_body(organization, **{"\ud800": 1}),
    ):
        answer = await client.post(
            f"{API}/create-link",
            content=json.dumps(body),
            headers=organization.headers | {"Content-Type": "application/json"},
        )
        assert answer.status_code == 400
        assert answer.json()["error"]["fieldName"] == "INVALID_VALUE"


async def test_optional_fields_may_be_empty(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """Null, and the empty text, stand for an optional field that is not set."""
    await create(client, organization, ios_behavior=None, utm_source="", custom_data=None, selected_path=None)


async def test_nested_paths_beside_each_other(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """/a and /a/b are two links, and so are /a and /A."""
    urls = [await create(client, organization, selected_path=path) for path in ("a", "a/b", "A")]
    links = [await info(client, organization, url) for url in urls]
    assert [link["short_url"] for link in links] == urls
    assert len({link["id"] for link in links}) == 3


async def test_a_path_that_is_taken(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """A path is used once on a domain."""
    await create(client, organization, selected_path="sale")
    answer = await post(client, organization, link_body(organization, selected_path="sale"))
    assert (answer.status_code, answer.json()) == (
        400,
        invalid("selected_path is already in use on this domain"),
    )


async def test_another_organization_s_domain(client: httpx.AsyncClient, make_organization: Any) -> None:
    """Nobody makes links on the domain of another."""
    one, other = await make_organization(), await make_organization()
    answer = await post(client, one, link_body(other))
    assert (answer.status_code, answer.json()) == (
        400,
        invalid("domain is not configured for the organization"),
    )


@pytest.mark.parametrize("path", ["circle/", "CIRCLE", "circle,", "circle%20", "//circle"])
async def test_a_link_to_what_means_itself(
    client: httpx.AsyncClient, organization: TestOrganization, path: str
) -> None:
    """An address that finds the link because no other has it is a circle, too."""
    target = f"https://{organization.domain}/{path}"
    body = link_body(organization, selected_path="circle", destination_url=target)
    answer = await post(client, organization, body)
    message = "destination_url must not lead back to the link's own short URL"
    assert (answer.status_code, answer.json()) == (400, invalid(message))


async def test_a_link_to_a_path_that_means_itself_and_is_another_s(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """The link that has the path itself wins there, so it is no circle."""
    other = link_body(organization, selected_path="dots.")
    assert (await post(client, organization, other)).status_code == 201
    target = f"https://{organization.domain}/dots."
    body = link_body(organization, selected_path="dots", destination_url=target)
    assert (await post(client, organization, body)).status_code == 201


async def test_a_circle_through_links_in_other_case(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """Each address on the way counts as the link that visitors get there; of two alike they get none."""

    async def made(path: str, target: str) -> httpx.Response:
        url = f"https://{organization.domain}/{target}"
        return await post(
            client, organization, link_body(organization, selected_path=path, destination_url=url)
        )

    for path, target in (("one", "two"), ("first", "ONE"), ("three", "nothing"), ("Three", "nothing")):
        assert (await made(path, target)).status_code == 201
    refused = await made("two", "FIRST")
    message = "destination_url must not lead back to the link's own short URL"
    assert (refused.status_code, refused.json()) == (400, invalid(message))
    assert (await made("nothing", "THREE")).status_code == 201


@pytest.mark.parametrize("scheme", ["https", "http", "HTTP"])
async def test_a_link_to_itself(
    client: httpx.AsyncClient, organization: TestOrganization, scheme: str
) -> None:
    """A link that would send visitors round for ever is refused, over one link or several."""
    body = link_body(
        organization, selected_path="a", destination_url=f"{scheme}://{organization.domain}/a?x=1"
    )
    answer = await post(client, organization, body)
    message = "destination_url must not lead back to the link's own short URL"
    assert (answer.status_code, answer.json()) == (400, invalid(message))
    there = await create(
        client, organization, selected_path="b", destination_url=f"https://{organization.domain}/a"
    )
    answer = await post(
        client, organization, link_body(organization, selected_path="a", destination_url=there)
    )
    assert (answer.status_code, answer.json()) == (400, invalid(message))


async def test_a_hundred_at_once(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """Of 100 parallel requests for one path exactly one gets it; the others are told that it is taken."""
    body = link_body(organization, selected_path="only/one")
    answers = await asyncio.gather(*(post(client, organization, body) for _ in range(100)))
    assert Counter(answer.status_code for answer in answers) == {201: 1, 400: 99}
    refused = [answer.json() for answer in answers if answer.status_code == 400]
    assert refused == [invalid("selected_path is already in use on this domain")] * 99


async def test_a_hundred_generated_at_once(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """Generated paths do not meet."""
    urls = await asyncio.gather(*(create(client, organization) for _ in range(100)))
    assert len(set(urls)) == 100


async def test_the_same_idempotency_key(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """A request that is sent again under its key gets the first one's answer, and makes no second link."""
    body = link_body(organization)
    first = await post(client, organization, body, **{"Idempotency-Key": "k-1"})
    again = await post(client, organization, body, **{"Idempotency-Key": "k-1"})
    assert first.status_code == again.status_code == 201
    assert first.json() == again.json()
    listed = await client.get(f"{API}/links/page", headers=organization.headers)
    assert listed.json()["pagination"]["total_items"] == 1


async def test_an_idempotency_key_with_another_body(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """An Idempotency-Key that comes again with another body is refused."""
    await post(client, organization, link_body(organization), **{"Idempotency-Key": "k"})
    answer = await post(
        client, organization, link_body(organization, link_name="B"), **{"Idempotency-Key": "k"}
    )
    assert (answer.status_code, answer.json()) == (
        400,
        invalid("Idempotency-Key was already used with another request body"),
    )


async def test_an_idempotency_key_fifty_times_at_once(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """Parallel requests under one key make one link, and all get its short URL."""
    body = link_body(organization)
    answers = await asyncio.gather(
        *(post(client, organization, body, **{"Idempotency-Key": "k"}) for _ in range(50))
    )
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["short_url"] for answer in answers}) == 1
    listed = await client.get(f"{API}/links/page", headers=organization.headers)
    assert listed.json()["pagination"]["total_items"] == 1


async def test_a_refused_request_does_not_use_up_its_key(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """After a 400 the corrected request may be sent under the same key."""
    await create(client, organization, selected_path="taken")
    refused = await post(
        client, organization, link_body(organization, selected_path="taken"), **{"Idempotency-Key": "k"}
    )
    corrected = await post(
        client, organization, link_body(organization, selected_path="free"), **{"Idempotency-Key": "k"}
    )
    assert (refused.status_code, corrected.status_code) == (400, 201)


async def test_idempotency_keys_belong_to_the_organization(
    client: httpx.AsyncClient, make_organization: Any
) -> None:
    """Two organizations that use the same key do not meet."""
    one, other = await make_organization(), await make_organization()
    for organization in (one, other):
        answer = await post(client, organization, link_body(organization), **{"Idempotency-Key": "same"})
        assert answer.json()["short_url"].startswith(f"https://{organization.domain}/")


@pytest.mark.parametrize("key", ["", " ", "a b", "x" * 256])
async def test_what_is_no_idempotency_key(
    client: httpx.AsyncClient, organization: TestOrganization, key: str
) -> None:
    """A key that can't be one is refused."""
    answer = await post(client, organization, link_body(organization), **{"Idempotency-Key": key})
    assert (answer.status_code, answer.json()) == (
        400,
        invalid("Idempotency-Key must be 1 to 255 visible ASCII characters"),
    )
