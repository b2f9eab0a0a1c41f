"""Links that pass on what follows their path, named parameters, and addresses that visitors fill in."""

from __future__ import annotations

import httpx
import pytest

from backend.app import Service
from backend.domain.accounts.apps import Apps
from backend.domain.fields.addresses.address_patterns import AddressPatterns
from backend.domain.links.limits import LinkLimits
from backend.domain.links.links import Behavior
from backend.domain.links.path_prefixes import path_prefixes
from backend.domain.taps.apple_file import apple_file_content, parse_apple_file
from backend.domain.web.client import Platform
from backend.redirector.links.above import above_in_memory
from backend.redirector.links.cache import LinkCache
from backend.storage.accounts.users.passwords import hash_password
from backend.storage.driver.mongo import Database
from backend.storage.links import path_rules
from backend.storage.links.links import NAME
from backend.system.clock import utc_now
from tests.polling import until
from tests.redirector.answers.test_outcomes import APP, APPS, IPHONE, PIXEL
from tests.redirector.conftest import LinkFactory, Recorded, SetApps


async def where(visitor: httpx.AsyncClient, path: str, **headers: str) -> str:
    """The address to which the path is redirected, without the ids of link and click; "" if it is not."""
    answer = await visitor.get(path, headers=headers)
    location = answer.headers.get("location", "")
    return str(location).partition("cl_link_id=")[0].rstrip("?&")


async def test_the_rest_of_the_path(
    visitor: httpx.AsyncClient, make_link: LinkFactory, recorded: Recorded
) -> None:
    """It is appended to the destination's path, as it was sent; each visit is a click of the link."""
    link = await make_link(destination_url="https://shop.example/kites?a=1#top", forwards_path=True)
    base = f"/{link.path}"
    assert await where(visitor, base) == "https://shop.example/kites?a=1"
    assert await where(visitor, f"{base}/") == "https://shop.example/kites?a=1"
    assert await where(visitor, f"{base}/red/b%20c/?b=2") == "https://shop.example/kites/red/b%20c/?a=1&b=2"
    assert await where(visitor, f"{base}/c%2B%2B") == "https://shop.example/kites/c%2B%2B?a=1"
    assert await where(visitor, f"{base}/x.qr.svg") == "https://shop.example/kites/x.qr.svg?a=1"
    assert all(click["counted"] for click in await recorded(link, 5))
    for path in (f"{base}//evil.example", f"{base}/a%2Fb", f"{base}/a%5Cb", f"{base}x/y", "/nothing/at/all"):
        assert (await visitor.get(path)).status_code == 404
    page = await visitor.get(f"{base}/red?b=2", headers={"accept": "text/html"})
    assert page.status_code == 302
    ahead = await visitor.get(f"{base}/red+?b=2")
    assert "<b>shop.example</b>/kites/red?a=1&amp;b=2" in ahead.text
    assert f'href="{base}/red?b=2"' in ahead.text


async def test_other_links_come_first(
    service: Service, visitor: httpx.AsyncClient, make_link: LinkFactory, database: Database
) -> None:
    """A link at the path itself, or further down, is found as without a link above; also one that is made
    while the other is in memory."""
    top = await make_link(destination_url="https://top.example", forwards_path=True)
    below = await make_link(path=f"{top.path}/b", destination_url="https://below.example")
    deep = await make_link(path=f"{top.path}/c/d", destination_url="https://deep.example", forwards_path=True)
    for _ in range(2):  # from the database, and from memory
        assert await where(visitor, f"/{top.path}/a") == "https://top.example/a"
        assert await where(visitor, f"/{below.path}") == "https://below.example"
        assert await where(visitor, f"/{below.path}/x") == "https://top.example/b/x"
        assert await where(visitor, f"/{top.path}/c/x") == "https://top.example/c/x"
        assert await where(visitor, f"/{deep.path}/x/y") == "https://deep.example/x/y"
        assert (await visitor.get(f"/{below.path}.qr.svg")).headers["content-type"] == "image/svg+xml"
        assert "below.example" in (await visitor.get(f"/{below.path}+")).text
    new = await make_link(path=f"{top.path}/new", destination_url="https://new.example")

    def is_told() -> bool:
        entry = service.redirector.cache.current(top.domain, top.path)
        return entry is not None and entry.below is not None and new.path in entry.below

    await until(is_told, "the link below was not told")
    assert await where(visitor, f"/{new.path}") == "https://new.example"
    await database[NAME].update_one({"_id": top.id}, {"$set": {"forwards_path": False}})

    def is_changed() -> bool:
        entry = service.redirector.cache.current(top.domain, top.path)
        return entry is not None and not entry.link.forwards_path

    await until(is_changed, "the change was not told")
    assert (await visitor.get(f"/{top.path}/a")).status_code == 404


async def test_memory_knows_what_a_link_gets(database: Database, make_link: LinkFactory) -> None:
    """Without the database, unless a link below might come first; and while it does not answer, also from an
    entry that may be old."""
    top = await make_link(forwards_path=True)
    await make_link(path=f"{top.path}/b/c")
    cache = LinkCache(database, utc_now, capacity=10, seconds_to_live=3600)
    await cache.load(top.domain, top.path)

    def known(path: str) -> bool:
        found = above_in_memory(cache, top.domain, path, path_prefixes(f"/{path}".encode()))
        return found is not None

    assert known(f"{top.path}/a")
    assert known(f"{top.path}/b")
    assert not known(f"{top.path}/b/c")
    assert not known(f"{top.path}/b/c/d")
    assert not known("other/a")
    old = LinkCache(database, utc_now, capacity=10, seconds_to_live=3600)
    old.fall_back_on([(top, Apps())])
    found = above_in_memory(old, top.domain, f"{top.path}/a", path_prefixes(f"/{top.path}/a".encode()))
    assert found is None  # nobody knows which links are below


async def test_named_parameters_and_templates(visitor: httpx.AsyncClient, make_link: LinkFactory) -> None:
    """Named parameters are passed on; what an address takes is filled in, in rules and variants too."""
    named = await make_link(forwards_query=["ref"], utm={"utm_source": "mail"})
    assert await where(visitor, f"/{named.path}?x=1&ref=2") == (
        "https://shop.example/kites?ref=2&utm_source=mail"
    )
    filled = await make_link(
        destination_url="https://shop.example/{query.sku}?q={query.q}",
        rules=[
            {"if": {"query": {"to": "b"}}, "then": {"destination_url": "https://b.example/{query.to}"}},
            {
                "if": {"query": {"to": "s"}},
                "then": {
                    "split": [
                        {"name": name, "weight": 1, "destination_url": "https://s.example/{query.sku}"}
                        for name in ("A", "B")
                    ]
                },
            },
        ],
    )
    base = f"/{filled.path}"
    assert await where(visitor, f"{base}?sku=a/b&q=c%0d%0a&r=1") == (
        "https://shop.example/a%2Fb?q=c%0D%0A&r=1"
    )
    assert await where(visitor, base) == "https://shop.example/?q="
    assert await where(visitor, f"{base}?to=b&sku=1&r=1") == "https://b.example/b?r=1"
    assert await where(visitor, f"{base}?to=s&sku=1") == "https://s.example/1"
    assert (await visitor.get(f"{base}?sku=..")).status_code == 404


async def test_what_is_blocked_stays_blocked(
    service: Service, visitor: httpx.AsyncClient, make_link: LinkFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The block list holds for the address with what visitors filled in."""
    block_list = service.resources.block_list
    monkeypatch.setattr(block_list, "current", AddressPatterns.of(["shop.example/stolen/*"]))
    link = await make_link(destination_url="https://shop.example", forwards_path=True)
    rule = {"if": {}, "then": {"destination_url": "https://shop.example/{query.to}/x"}}
    ruled = await make_link(rules=[rule])
    assert (await visitor.get(f"/{link.path}/fine")).status_code == 302
    for path in (f"/{link.path}/stolen/goods", f"/{link.path}/stolen/%67oods", f"/{ruled.path}?to=stolen"):
        answer = await visitor.get(path)
        assert (answer.status_code, "location" in answer.headers) == (403, False)
        assert (
            "shop.example"
            not in (await visitor.get(path.replace("?", "+?") if "?" in path else path + "+")).text
        )


async def test_apps_and_passwords(
    visitor: httpx.AsyncClient, make_link: LinkFactory, set_domain_apps: SetApps
) -> None:
    """Apps get the short URL with its rest; a password is asked for once for all of a link's rests; phones
    leave what is below a link to the browser as they leave the link."""
    await set_domain_apps(APPS)
    app = await make_link(**APP, forwards_path=True, forwards_query=[], fallbacks={
        "android_fallback_url": "https://android.example/"})  # fmt: skip
    intent = await where(visitor, f"/{app.path}/red?a=1", **{"user-agent": PIXEL})
    assert intent.startswith(f"intent://{app.domain}/{app.path}/red?a=1&cl_click_id=")
    assert "browser_fallback_url=https%3A%2F%2Fandroid.example%2Fred%3Fcl_link_id" in intent
    store = await where(visitor, f"/{app.path}/red", **{"user-agent": IPHONE})
    assert store == "https://apps.apple.com/app/id123456"
    limits = LinkLimits(password_hash=await hash_password("red kites", "a"))
    locked = await make_link(limits=limits, forwards_path=True)
    assert (await visitor.get(f"/{locked.path}/red")).status_code == 200
    given = await visitor.post(f"/{locked.path}/red", data={"password": "red kites"})
    assert (given.status_code, given.headers["location"].partition("?")[0]) == (
        303,
        "https://shop.example/kites/red",
    )
    assert "Path=/" + locked.path + ";" in given.headers["set-cookie"]
    content = (await visitor.get("/.well-known/apple-app-site-association")).json()
    decided = {
        path: parse_apple_file(content).decide("A1B2C3D4E5.com.shop.app", f"https://{app.domain}/{path}")
        for path in (f"{app.path}/red", f"{locked.path}/red", locked.path)
    }
    assert [found.is_excluding for found in decided.values() if found] == [False, True, True]


@pytest.mark.parametrize("is_full", [False, True])
@pytest.mark.parametrize("opens_app", [True, False])
async def test_a_link_below_a_forwarding_one_is_decided_by_itself(
    make_link: LinkFactory,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    opens_app: bool,
    is_full: bool,
) -> None:
    """In the association file the more exact path comes first, whichever of the two opens the app; also where
    the file has no room for those that stay in the browser, and names those that open the app."""
    browser = {"ios_behavior": Behavior.BROWSER, "android_behavior": Behavior.BROWSER}
    above = await make_link(forwards_path=True, **(browser if opens_app else APP))
    path = f"{above.path}/app"
    await make_link(path=path, **(APP if opens_app else browser))
    if is_full:
        monkeypatch.setattr(path_rules, "all_but", lambda _: None)
    rules = await path_rules.find_path_rules(database, above.domain, Platform.IOS)
    assert APPS.ios
    file = parse_apple_file(apple_file_content(APPS.ios, rules))
    decided = [
        file.decide("A1B2C3D4E5.com.shop.app", f"https://{above.domain}/{asked}")
        for asked in (path, f"{above.path}/other")
    ]
    assert [found is not None and not found.is_excluding for found in decided] == [opens_app, not opens_app]
    assert rules.without(path).with_link(path, opens_app=opens_app).components == rules.components
