"""Calls that many API tests begin with."""

from __future__ import annotations

from typing import Any

import httpx

from tests.facts.organizations import TestOrganization

API = "/serviceCore/pa/v1"
# Every field that the contract has for a new link, but for its domain.
CONTRACT_FIELDS: dict[str, Any] = {
    "selected_path": "spring/sale",
    "destination_url": "https://shop.example/sale?ref=1#top",
    "link_name": "Spring sale",
    "ios_behavior": 2,
    "android_behavior": 1,
    "utm_source": "newsletter",
    "utm_medium": "email",
    "utm_campaign": "spring",
    "utm_term": "shoes",
    "utm_content": "header",
    "social_title": "Spring sale",
    "social_description": "Everything must go.\nEven the cat.",
    "social_image_url": "https://shop.example/sale.png",
    "custom_data": {"color": "green", "ids": [1, 2.5, None, True]},
}


def link_body(organization: TestOrganization, **fields: Any) -> dict[str, Any]:
    """A create-link body with the required fields and these."""
    return {
        "domain": organization.domain,
        "destination_url": "https://shop.example/sale",
        "link_name": "Sale",
    } | fields


async def create(client: httpx.AsyncClient, organization: TestOrganization, **fields: Any) -> str:
    """Make a link; its short URL."""
    body = link_body(organization, **fields)
    answer = await client.post(f"{API}/create-link", json=body, headers=organization.headers)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["short_url"])


async def info(client: httpx.AsyncClient, organization: TestOrganization, short_url: str) -> dict[str, Any]:
    """The Link object of a short URL."""
    answer = await client.post(
        f"{API}/links/info", json={"shortUrl": short_url}, headers=organization.headers
    )
    assert answer.status_code == 200, answer.text
    link: dict[str, Any] = answer.json()
    return link


def wrong(*messages: str, field: str = "") -> dict[str, Any]:
    """The body of a validation error of an operation beside the contract's, which names all wrong fields.

    Each message begins with the name of its field, unless this is `field`.
    """
    errors = [
        {"errorMessage": message, "fieldName": field or message.partition(" ")[0]} for message in messages
    ]
    return {
        "code": 101,
        "errorMessage": "There was one or more validation error(s)",
        "error": errors[0],
        "errors": errors,
    }


def invalid(message: str) -> dict[str, Any]:
    """The body of a validation error of the contract's operations."""
    return {
        "code": 101,
        "errorMessage": "There was one or more validation error(s)",
        "error": {"errorMessage": message, "fieldName": "INVALID_VALUE"},
    }


def missing(field: str) -> dict[str, Any]:
    """The body of such an error for a required field that is absent."""
    return {
        "code": 101,
        "errorMessage": "There was one or more validation error(s)",
        "error": {"errorMessage": f"{field} field is required", "fieldName": "REQUIRED_FIELD_MISSING"},
    }
