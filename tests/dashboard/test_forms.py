"""What every form and every page of the dashboard has in common."""

from __future__ import annotations

import re

import httpx
import pytest

from backend.app import Service
from tests.dashboard.people import FormsOf, Person, browser, heading
from tests.dashboard.routes import routes

PUBLIC = ("/sign-in", "/join/", "/forgot-password", "/new-password/")
HTML = {"Accept": "text/html"}
# What loads one of our files and has nothing within.
OWN_SCRIPT = re.compile(r'<script (?:type="module"|defer) src="/assets/[^"]+"></script>')


def assert_locked_down(answer: httpx.Response) -> None:
    """Fail where an answer lets browsers do more than they must, or has what the policy would stop.

    Nothing inline, no frame, no sniffing, no cache; no style, script or handler in a page.
    """
    assert "<style" not in answer.text
    assert " style=" not in answer.text
    assert " onclick=" not in answer.text
    assert answer.text.count("<script") == len(OWN_SCRIPT.findall(answer.text)), answer.url
    if answer.headers["Content-Type"] == "application/json":
        return
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["Cache-Control"] == "no-store"


async def test_every_page_asks_for_a_sign_in(stranger: Person) -> None:
    """No address of the dashboard shows a page to who is not signed in, but the public ones."""
    paths = {path for path in routes("GET") if not path.startswith(PUBLIC)}
    assert paths
    for path in paths:
        answer = await stranger.get(path)
        if path.startswith("/assets/"):
            assert answer.status_code == 404
            continue
        assert answer.status_code == 303, path
        assert answer.headers["Location"].startswith("/sign-in"), path


async def test_every_form_asks_for_a_sign_in(stranger: Person) -> None:
    """No form is obeyed from who is not signed in, even with the right form token."""
    fields = FormsOf((await stranger.get("/sign-in")).text).fields_of("/sign-in")
    for path in set(routes("POST")):
        if path.startswith(PUBLIC):
            continue
        answer = await stranger.client.post(path, data=fields)
        assert answer.status_code == 303, path
        assert answer.headers["Location"] == "/sign-in", path


@pytest.mark.parametrize("token", [None, "", "0" * 64, "another's"])
async def test_every_form_needs_its_token(
    service: Service, person: Person, stranger: Person, token: str | None
) -> None:
    """Without the token, with a made-up one or with another browser's, no form is obeyed."""
    async with browser(service) as other:
        theirs = FormsOf((await other.get("/sign-in")).text).fields_of("/sign-in")["form_token"]
    fields = {} if token is None else {"form_token": theirs if token == "another's" else token}
    paths = {"/sign-in", "/sign-out"}  # what compares it knows no path: all of them, once
    if token == "another's":
        paths |= set(routes("POST"))
    for path in paths:
        answer = await person.client.post(
            path, data=fields, headers={"Content-Type": "application/x-www-form-urlencoded"}
        )
        assert (answer.status_code, heading(answer)) == (403, "That is not allowed"), path


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_forms_of_other_sites_are_refused(person: Person, site: str) -> None:
    """Where the browser says that another site sent the form, not even the right token helps."""
    fields = FormsOf((await person.get("/tags")).text).fields_of("/sign-out")
    answer = await person.client.post("/sign-out", data=fields, headers={"Sec-Fetch-Site": site})
    assert answer.status_code == 403
    assert (await person.get("/tags")).status_code == 200


async def test_forms_of_other_kinds_are_refused(person: Person) -> None:
    """JSON, which another site's script could send, and files are no forms of ours."""
    assert (await person.client.post("/sign-out", json={})).status_code == 415
    assert (await person.client.post("/sign-out", files={"a": b"b"})).status_code == 415


@pytest.mark.parametrize(
    ("body", "status"),
    [("a=%ff", 400), ("ä=1", 400), ("&".join(["a=1"] * 300), 400), ("a=" + "x" * 200_000, 413)],
)
async def test_forms_that_can_not_be_read(person: Person, body: str, status: int) -> None:
    """What is no form, has too many fields or is too long is refused with a page."""
    answer = await person.client.post(
        "/sign-out", content=body.encode(), headers={"Content-Type": "application/x-www-form-urlencoded"}
    )
    assert answer.status_code == status
    assert heading(answer)


async def test_answers_that_are_no_pages_are_locked_down(person: Person, stranger: Person) -> None:
    """Redirects and errors: no frame, no sniffing, no cache. Every page is looked at in test_policy."""
    answers = [await stranger.get("/"), await stranger.get("/nothing")]
    answers.append(await person.client.post("/sign-out", data={}))
    answers.append(await person.client.get("/nothing", headers=HTML))
    for answer in answers:
        assert_locked_down(answer)


async def test_assets_are_found_by_their_content(stranger: Person) -> None:
    """The stylesheet's address holds a hash, and may be kept for ever; under another hash there is none."""
    page = (await stranger.get("/sign-in")).text
    address = page.partition('<link rel="stylesheet" href="')[2].partition('"')[0]
    sheet = await stranger.get(address)
    assert sheet.headers["Content-Type"] == "text/css; charset=utf-8"
    assert "immutable" in sheet.headers["Cache-Control"]
    _, _, digest, name = address.split("/")
    assert (await stranger.get(f"/assets/{digest[::-1]}/{name}")).status_code == 404
    assert (await stranger.get(f"/assets/{digest}/..%2fblueprint.py")).status_code == 404


async def test_errors_for_browsers_and_for_programs(stranger: Person) -> None:
    """A browser gets a page, a program JSON; below the APIs' root everyone gets JSON."""
    client = stranger.client
    page = await client.get("/nothing", headers=HTML)
    assert (page.status_code, heading(page)) == (404, "There is nothing here")
    assert (await client.get("/nothing")).json()["code"] == 404
    assert (await client.get("/serviceCore/pa/v1/nothing", headers=HTML)).json()["code"] == 404
    wrong = await client.put("/sign-in", headers=HTML)
    assert (wrong.status_code, heading(wrong)) == (405, "That does not work here")
    assert "POST" in wrong.headers["Allow"]
