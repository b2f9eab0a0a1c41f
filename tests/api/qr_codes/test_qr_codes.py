"""QR codes and sheets of them over REST, in a style and with the organization's logo."""

from __future__ import annotations

import base64
import io
from typing import Any

import httpx
import pytest
from PIL import Image

from tests.api.link_calls import API, wrong
from tests.api.whole_links import Links
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization
from tests.web.qr_codes.test_drawing import image_file, pages, texts


async def put_logo(links: Links, image: bytes) -> httpx.Response:
    """Set the organization's logo."""
    body = {"image": base64.b64encode(image).decode()}
    headers = links.organization.headers
    return await links.client.put(f"{API}/qr-logo", json=body, headers=headers)


async def test_a_code_in_a_style(links: Links) -> None:
    """As SVG, PNG and PDF, with colours, a text and the logo; plain ones are those of the short URL."""
    made = await links.make()
    assert (await put_logo(links, image_file(90, 60))).status_code == 204
    where = f"/{made['id']}/qr"
    style = "color=%231f5fbf&background=fff7e0&text=Scan+me&logo=true"
    svg = await links.call("GET", f"{where}?{style}")
    assert (svg.status_code, svg.headers["Content-Type"]) == (200, "image/svg+xml; charset=utf-8")
    assert "#1f5fbf" in svg.text
    assert "Scan me" in svg.text
    png = await links.call("GET", f"{where}?format=png&{style}")
    assert texts(Image.open(io.BytesIO(png.content))) == [made["short_url"]]
    pdf = await links.call("GET", f"{where}?format=pdf&{style}")
    assert pdf.headers["Content-Type"] == "application/pdf"
    assert [texts(page) for page in pages(pdf.content, 3)] == [[made["short_url"]]]
    public = await links.client.get(f"/{made['path']}.qr.svg", headers={"Host": made["domain"]})
    assert (await links.call("GET", where)).content == public.content


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("color=red", "color must be a colour of six hexadecimal digits, such as 1f5fbf"),
        ("color=ffff00", "color must have a contrast of at least 4.5 to the background, and has 1.1"),
        ("color=ffffff&background=000000", "color must be darker than the background"),
        ("text=%E6%89%AB", "text must have letters that can be drawn (Latin, Greek, Cyrillic), not 扫"),
        ("text=" + "x" * 41, "text must have at most 40 characters"),
        ("logo=true", "logo must be set with PUT /qr-logo before it can be used"),
        ("format=gif", "format must be one of svg, png, pdf"),
        ("size=7", "size is not a parameter of this request"),
    ],
)
async def test_what_is_refused(links: Links, query: str, message: str) -> None:
    """The error names the parameter and the rule."""
    made = await links.make()
    answer = await links.call("GET", f"/{made['id']}/qr?{query}")
    assert answer.status_code == 400
    assert answer.json()["error"]["errorMessage"].startswith(message)
    assert answer.json()["error"]["fieldName"] == query.partition("=")[0]


async def test_a_sheet(links: Links, make_organization: OrganizationFactory) -> None:
    """Labels in the order of the links; another organization's link is refused as one that is not there."""
    made = [await links.make(link_name=f"Link {number}") for number in range(3)]
    ids = [link["id"] for link in reversed(made)]
    body: dict[str, Any] = {"links": ids, "layout": "letter-30", "color": "5c0a2e"}
    sheet = await links.call("POST", "/qr-sheet", body)
    assert (sheet.status_code, sheet.headers["Content-Type"]) == (200, "application/pdf")
    [page] = pages(sheet.content, 3)
    assert sorted(texts(page)) == sorted(link["short_url"] for link in made)
    other = Links(links.client, await make_organization())
    refused = await other.call("POST", "/qr-sheet", body)
    assert refused.json() == wrong("links[0] must be the id of a link of the organization")
    for fields, message in (
        ({"links": []}, "links must be a list of 1 to 500 ids of links"),
        ({"links": ids, "layout": "a5"}, "layout must be one of a4-8, a4-21, a4-24, letter-30"),
        ({"links": ids, "color": "ffffff"}, "color must be darker than the background"),
    ):
        answer = await links.call("POST", "/qr-sheet", fields)
        assert answer.json()["error"]["errorMessage"].startswith(message)


async def test_the_logo(links: Links, organization: TestOrganization) -> None:
    """It is read back as it is drawn, refused if it is no image, and removed."""
    url, headers = f"{API}/qr-logo", organization.headers
    assert (await put_logo(links, b"<svg/>")).json() == wrong("image must be a PNG, JPEG or WebP image")
    answer = await links.client.put(url, json={"image": "%"}, headers=headers)
    assert answer.json() == wrong("image must be an image file in base64")
    assert (await put_logo(links, image_file(900, 300, form="WEBP"))).status_code == 204
    shown = await links.client.get(url, headers=headers)
    assert Image.open(io.BytesIO(shown.content)).size == (400, 133)
    for status in (204, 404):
        assert (await links.client.delete(url, headers=headers)).status_code == status
    assert (await links.client.get(url, headers=headers)).status_code == 404
