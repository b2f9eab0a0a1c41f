"""The pages of QR codes: of one link in a style, and a sheet of many."""

from __future__ import annotations

import base64

import httpx
import pytest

from backend.app import Service
from backend.dashboard.frame.service import DashboardService
from backend.rate_limits.exact_limit import ExactLimit
from backend.rate_limits.limit import Limit
from backend.web.current import given_to
from tests.dashboard.links.test_links import path_of_new
from tests.dashboard.people import FormsOf, Person
from tests.facts.organizations import TestOrganization
from tests.web.qr_codes.test_drawing import image_file


async def test_a_qr_code_in_a_style(person: Person, organization: TestOrganization) -> None:
    """The page shows the picture and the files in the style of its address, and says what is wrong with it;
    the logo is the organization's."""
    where = await path_of_new(person, organization, selected_path="a")
    page = await person.get(f"{where}/qr?color=%231f5fbf&qr_text=Scan+me")
    assert f"{where}/qr.svg?color=%231f5fbf&amp;background=%23ffffff&amp;qr_text=Scan+me" in page.text
    picture = await person.get(f"{where}/qr.svg?color=%231f5fbf&qr_text=Scan+me")
    assert "Scan me" in picture.text
    pdf = await person.get(f"{where}/qr.pdf?download=1")
    assert pdf.content.startswith(b"%PDF")
    wrong = await person.get(f"{where}/qr?color=%23ffff00")
    assert (wrong.status_code, "must have a contrast of at least 4.5" in wrong.text) == (422, True)
    assert (await person.get(f"{where}/qr.svg?color=%23ffff00")).status_code == 422
    assert (await person.get(f"{where}/qr?qr_text=%E6%89%AB")).status_code == 422
    image = base64.b64encode(image_file(50, 50)).decode()
    assert (await person.send(f"{where}/qr", f"{where}/qr/logo", image="ü")).status_code == 422
    refused = await person.send(f"{where}/qr", f"{where}/qr/logo", image="bm8=")
    assert (refused.status_code, "must be a PNG, JPEG or WebP image" in refused.text) == (422, True)
    kept = await person.send(f"{where}/qr", f"{where}/qr/logo", image=image)
    assert kept.status_code == 303
    assert "data:image/png" in (await person.get(f"{where}/qr.svg?logo=true")).text
    await person.send(f"{where}/qr", f"{where}/qr/logo", remove="true")
    assert "data:image/png" not in (await person.get(f"{where}/qr.svg?logo=true")).text


async def test_a_sheet_of_qr_codes(person: Person, organization: TestOrganization) -> None:
    """The ticked links of the list become a PDF file; without any, the page says so."""
    paths = [await path_of_new(person, organization, selected_path=path) for path in ("a", "b")]
    ticks = {f"link-{path.rpartition('/')[2]}": "on" for path in paths}
    token = FormsOf((await person.get("/links")).text).fields_of("/links/bulk")

    async def send(path: str, **fields: str) -> httpx.Response:
        return await person.client.post(path, data=token | fields)

    none = await send("/links/qr-sheet")
    assert (none.status_code, "No link is chosen" in none.text) == (422, True)
    chosen = await send("/links/qr-sheet", **ticks)
    assert (chosen.status_code, "QR codes of 2 links" in chosen.text) == (200, True)
    ids = " ".join(path.rpartition("/")[2] for path in paths)
    fields = {"links": ids, "layout": "a4-8", "qr_text": "Scan me"}
    file = await send("/links/qr-sheet/file", **fields)
    assert (file.headers["Content-Type"], file.content[:4]) == ("application/pdf", b"%PDF")
    again = await send("/links/qr-sheet/file", **fields | {"color": "#ffffff"})
    assert (again.status_code, "must be darker" in again.text) == (422, True)


async def test_labels_have_a_limit(
    person: Person, organization: TestOrganization, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An organization that has drawn too many is told to come later, and when."""
    limit = ExactLimit(service.resources.database, Limit("qr-labels", 2, 600))
    monkeypatch.setattr(given_to(service.api, DashboardService), "labels", limit)
    path = await path_of_new(person, organization, selected_path="a")
    token = FormsOf((await person.get("/links")).text).fields_of("/links/bulk")
    sheet = token | {"links": path.rpartition("/")[2]}
    answers = [await person.client.post("/links/qr-sheet/file", data=sheet) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert 1 <= int(answers[-1].headers["Retry-After"]) <= 600
    assert "That is too much at once" in answers[-1].text
