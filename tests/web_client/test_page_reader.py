"""Pages of strangers are read within bounds, and from public addresses only."""

from __future__ import annotations

import asyncio
import gzip
import socket
import threading
from typing import Any
from urllib.parse import quote

import pytest

from backend.web_client import guarded_network
from backend.web_client.guarded_network import resolve
from backend.web_client.page_reader import MOST_BYTES, MOST_REDIRECTS, PageReader, Unreadable
from tests.polling import until
from tests.processes.far_site import Handler, Site

OURS = PageReader(allows_private=True)
STRANGERS = PageReader(allows_private=False)


async def test_a_page(site: Site) -> None:
    """Its status, type and content; a compressed one is unpacked."""
    packed = gzip.compress(b"<title>B</title>")
    url = site.page("/b", packed, 404, Content_Type='Text/HTML; charset="Latin1"', Content_Encoding="gzip")
    page = await OURS.read(url, "a")
    assert (page.status, page.media_type, page.charset) == (404, "text/html", "Latin1")
    assert page.content == b"<title>B</title>"


async def test_redirects_are_followed_up_to_a_number(site: Site) -> None:
    """Relative ones too, in UTF-8 as well; the page says where it was found."""
    for number in range(MOST_REDIRECTS + 1):
        site.page(f"/{number}", "", 302, Location=f"{number + 1}?Ã¼")
        site.answers[f"/{number}?%C3%BC"] = site.answers[f"/{number}"]
    site.page(f"/{MOST_REDIRECTS + 1}?%C3%BC", "end")
    assert (await OURS.read(site.url("/1"), "a")).url == site.url(f"/{MOST_REDIRECTS + 1}?%C3%BC")
    with pytest.raises(Unreadable, match="redirects more than 5 times"):
        await OURS.read(site.url("/0"), "a")
    site.page("/file", "", 302, Location="file:///etc/passwd")
    with pytest.raises(Unreadable, match="redirects to what is no web address"):
        await OURS.read(site.url("/file"), "a")


@pytest.mark.parametrize("sent", ["{a}", "a\u200db", "a\u00a0b", "\u00fc{", "a b"])
async def test_redirects_as_browsers_take_them(site: Site, sent: str) -> None:
    """What a person would be asked to encode, a server may send as it is."""
    site.page("/from", "", 302, Location=f"/to?q={sent}".encode().decode("latin-1"))
    url = site.page(f"/to?q={quote(sent)}", "end")
    assert (await OURS.read(site.url("/from"), "a")).url == url


async def test_no_more_is_read_than_a_bound(site: Site) -> None:
    """Of an endless page, and of one that unpacks to much."""

    def endless(handler: Handler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while True:
            handler.wfile.write(b"x" * 65536)

    site.answers["/endless"] = endless
    assert len((await OURS.read(site.url("/endless"), "a")).content) == MOST_BYTES
    url = site.page("/bomb", gzip.compress(b"x" * 10_000_000), Content_Encoding="gzip")
    assert len((await OURS.read(url, "a")).content) == MOST_BYTES


async def test_a_page_that_takes_too_long(site: Site) -> None:
    """One that answers byte by byte is given up after a time for all of it."""
    over = threading.Event()

    def slow(handler: Handler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not over.wait(0.05):
            handler.wfile.write(b"x")

    site.answers["/slow"] = slow
    with pytest.raises(Unreadable, match="did not answer in time"):
        await OURS.read(site.url("/slow"), "a", seconds=0.5)
    over.set()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]"])
async def test_what_is_not_public_is_not_asked(site: Site, host: str) -> None:
    """However its address is written."""
    site.page("/", "secret")
    with pytest.raises(Unreadable, match="is not in the public internet"):
        await STRANGERS.read(site.url(host=host), "a")
    assert site.asked == []


async def test_a_redirect_into_the_own_network(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each address on the way is checked, not the first alone."""
    monkeypatch.setattr(guarded_network, "is_public", lambda address: address == "127.0.0.1")

    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1" if host == "outside.example" else "127.0.0.2"]

    site.page("/out", "", 302, Location=site.url("/in", "inside.example"))
    with pytest.raises(Unreadable, match="is not in the public internet"):
        await PageReader(allows_private=False, resolve=resolve).read(site.url("/out", "outside.example"), "a")
    assert site.asked == ["GET /out"]


async def test_a_name_that_changes_its_address(site: Site) -> None:
    """It is asked for once, and what was checked is connected to; of several, one that is private will do."""
    answers = [["127.0.0.1"], ["203.0.113.7", "10.0.0.1"]]
    asked: list[str] = []

    async def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return answers.pop(0)

    site.page("/", "here")
    page = await PageReader(allows_private=True, resolve=resolve).read(site.url(host="changing.example"), "a")
    assert (page.content, asked) == (b"here", ["changing.example"])
    with pytest.raises(Unreadable, match="is not in the public internet"):
        await PageReader(allows_private=False, resolve=resolve).read(site.url(host="changing.example"), "a")


async def test_what_does_not_answer(site: Site) -> None:
    """A host without an address, a port that nobody listens on, and what is no HTTP."""

    def greet(handler: Handler) -> None:
        handler.wfile.write(b"220 smtp ready\r\n")

    site.answers["/raw"] = greet
    for url, reason in (
        ("http://nowhere.invalid/", "does not answer"),
        ("http://127.0.0.1:1/", "does not answer"),
        (site.url("/raw"), "answers no HTTP"),
    ):
        with pytest.raises(Unreadable, match=reason):
            await OURS.read(url, "a")


async def test_a_name_server_that_hangs_holds_up_no_other_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many names wait for it: threads of everybody stay free."""
    over = threading.Event()

    def hang(*_: object, **__: object) -> list[object]:
        over.wait(30)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    asked = [asyncio.create_task(guarded_network.resolve(f"{number}.example", 80)) for number in range(40)]
    await asyncio.sleep(0)  # now each of them waits
    try:
        async with asyncio.timeout(5):
            assert await asyncio.to_thread(lambda: "free") == "free"
        assert not any(task.done() for task in asked)
    finally:
        over.set()
    assert await asyncio.gather(*asked) == [[]] * 40


async def test_slow_pages_of_one_organization_hold_up_no_other(site: Site) -> None:
    """While as many of its pages are waited for as may be, and more wait, another one's page is read."""
    waits = threading.Event()

    def answer_late(handler: Handler) -> None:
        waits.wait(60)
        site.answers["/fast"](handler)

    url, slow = site.page("/fast", "<title>Kites</title>"), site.url("/slow")
    site.answers["/slow"] = answer_late
    reader = PageReader(allows_private=True)
    reading = [asyncio.ensure_future(reader.read(slow, "busy")) for _ in range(20)]
    try:
        assert (await reader.read(url, "other")).status == 200
        assert not any(one.done() for one in reading)
    finally:
        waits.set()
    assert {(await one).status for one in reading} == {200}


async def test_hosts_that_no_name_server_knows_hold_up_no_other() -> None:
    """Look-ups that last, also those that nobody waits for any more, leave threads to other organizations."""
    release, looking = threading.Event(), list[str]()

    def look_up(host: str, *_: object, **__: object) -> list[Any]:
        looking.append(host)
        if host.startswith("dead"):
            release.wait(60)
        return [(None, None, None, "", ("192.0.2.1", 0))]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", look_up)
        with guarded_network.asking_for("busy"):
            dead = [asyncio.ensure_future(resolve(f"dead-{number}.example", 443)) for number in range(20)]
        await until(lambda: len(looking) == 8, "the look-ups do not begin")
        dead.pop(0).cancel()
        with guarded_network.asking_for("other"):
            assert await resolve("shop.example", 443) == ["192.0.2.1"]
        assert len(looking) == 9
        release.set()
        assert await asyncio.gather(*dead) == [["192.0.2.1"]] * 19


async def test_a_look_up_that_nobody_waits_for_never_begins() -> None:
    """Names that were given up before their turn keep the owner's next ones from no thread."""
    release, looking = threading.Event(), list[str]()

    def look_up(host: str, *_: object, **__: object) -> list[Any]:
        looking.append(host)
        release.wait(60)
        return [(None, None, None, "", ("192.0.2.1", 0))]

    with pytest.MonkeyPatch.context() as patch, guarded_network.asking_for("busy"):
        patch.setattr(socket, "getaddrinfo", look_up)
        dead = [asyncio.ensure_future(resolve(f"dead-{number}.example", 443)) for number in range(20)]
        await until(lambda: len(looking) == 8, "the look-ups do not begin")
        for one in dead:
            one.cancel()
        await asyncio.wait(dead)
        following = asyncio.ensure_future(resolve("shop.example", 443))
        release.set()
        assert await following == ["192.0.2.1"]
        assert len(looking) == 9
