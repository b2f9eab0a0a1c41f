"""GET /waylink.js, and the files beside it."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from backend.web import sdk_files
from tests.processes.service_process import ServiceProcess

ROOT = Path(__file__).parents[3]
DIST = ROOT / "sdk_dist"
ARCHIVES = {file.name: file.read_bytes() for file in ROOT.glob("*sdk_dist/*.tgz")}
ENDINGS = {"identity": "", "br": ".br", "gzip": ".gz"}
SERVED = {
    "waylink.js": "text/javascript; charset=utf-8",
    "waylink.json": "application/json",
    "waylink.js.map": "application/json",
    "waylink-links.js": "text/javascript; charset=utf-8",
    "waylink-domains.js": "text/javascript; charset=utf-8",
    "waylink-privacy.js": "text/javascript; charset=utf-8",
}
OWN_ADDRESS = f"/waylink-{sdk_files.build()}.js"
# Bytes of a visitor's connection.
BUDGETS = {
    "waylink.js": {"br": 4600, "gzip": 5000},
    "waylink-links.js": {"br": 900, "gzip": 1000},
    "waylink-domains.js": {"br": 1850, "gzip": 2050},
    "waylink-privacy.js": {"br": 850, "gzip": 950},
}
BUDGET = [(name, coding) for name, codings in BUDGETS.items() for coding in codings]


async def get(client: httpx.AsyncClient, path: str, coding: str, **headers: str) -> httpx.Response:
    """The answer in a content coding, with its body as it was received."""
    async with client.stream("GET", path, headers={"Accept-Encoding": coding, **headers}) as answer:
        answer._content = b"".join([piece async for piece in answer.aiter_raw()])
    return answer


@pytest.mark.parametrize("coding", ENDINGS)
@pytest.mark.parametrize(("name", "media_type"), SERVED.items())
async def test_files_come_as_they_were_built(
    client: httpx.AsyncClient, name: str, media_type: str, coding: str
) -> None:
    """Each comes in the coding that was asked for, byte for byte as sdk_dist/ holds it, for any site."""
    answer = await get(client, f"/{name}", coding)
    assert answer.status_code == 200
    assert answer.content == (DIST / f"{name}{ENDINGS[coding]}").read_bytes()
    assert answer.headers.get("Content-Encoding", "identity") == coding
    assert answer.headers["Content-Length"] == str(len(answer.content))
    assert answer.headers["Content-Type"] == media_type
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert answer.headers["Cache-Control"] == "public, max-age=600, stale-while-revalidate=86400"
    assert "Last-Modified" not in answer.headers  # it would be the day of the installation


@pytest.mark.parametrize(("name", "coding"), BUDGET)
def test_each_script_stays_in_its_budget(running: ServiceProcess, name: str, coding: str) -> None:
    """What a browser receives of the script and of its parts, from a service that runs."""
    with httpx.stream(
        "GET", f"{running.base_url}/{name}", headers={"Accept-Encoding": coding}, timeout=60
    ) as answer:
        received = b"".join(answer.iter_raw())
    assert answer.headers["Content-Encoding"] == coding
    assert len(received) <= BUDGETS[name][coding]


async def test_who_accepts_no_coding_is_told(client: httpx.AsyncClient) -> None:
    """A client that excludes everything gets 406, which no cache gives to others."""
    answer = await client.get("/waylink.js", headers={"Accept-Encoding": "*;q=0"})
    assert answer.status_code == 406
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["/waylink.js", OWN_ADDRESS])
@pytest.mark.parametrize("coding", ENDINGS)
async def test_an_unchanged_file_is_not_sent_again(client: httpx.AsyncClient, path: str, coding: str) -> None:
    """A client that has the content is told so, also by the weak tag that proxies make of a strong one."""
    first = await get(client, path, coding)
    tag = first.headers["ETag"]
    for etags in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = await get(client, path, coding, **{"If-None-Match": etags})
        assert (again.status_code, again.content) == (304, b"")
        for name in ("ETag", "Vary", "Cache-Control", "Access-Control-Allow-Origin"):
            assert again.headers[name] == first.headers[name]
        assert not {"content-encoding", "content-length"} & set(again.headers)


async def test_each_coding_has_a_tag_of_its_own(client: httpx.AsyncClient) -> None:
    """Strong tags differ where the bytes do, and a tag of one coding does not answer for another."""
    tags = {coding: (await get(client, "/waylink.js", coding)).headers["ETag"] for coding in ENDINGS}
    assert len(set(tags.values())) == 3
    assert not any(tag.startswith("W/") for tag in tags.values())
    assert (await get(client, "/waylink.js", "gzip", **{"If-None-Match": tags["br"]})).status_code == 200


async def test_head_tells_the_same_without_the_content(client: httpx.AsyncClient) -> None:
    """A HEAD has the headers of the GET."""
    headers = {"Accept-Encoding": "br"}
    head = await client.head("/waylink.js", headers=headers)
    get_ = await get(client, "/waylink.js", "br")
    named = ("ETag", "Content-Encoding", "Content-Length", "Cache-Control", "Vary")
    assert [head.headers[name] for name in named] == [get_.headers[name] for name in named]
    assert head.content == b""


@pytest.mark.parametrize("ending", [".js", ".json"])
async def test_the_address_of_the_build_never_changes(client: httpx.AsyncClient, ending: str) -> None:
    """The script and its sentences at the build's own address may be kept for ever."""
    answer = await get(client, OWN_ADDRESS.replace(".js", ending), "identity")
    assert answer.content == (DIST / f"waylink{ending}").read_bytes()
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"


async def test_the_address_of_another_build_still_works(client: httpx.AsyncClient) -> None:
    """A site that kept an address through an upgrade gets the present script, which nobody keeps for long."""
    answer = await get(client, "/waylink-0123456789ab.js", "identity")
    assert answer.content == (DIST / "waylink.js").read_bytes()
    assert answer.headers["Cache-Control"] == "public, max-age=60"


@pytest.mark.parametrize(
    "path", ["/waylink-.js", "/waylink-0123456789.js", "/waylink-0123456789AB.js", "/waylink-latest.json"]
)
async def test_what_names_no_build_is_unknown(client: httpx.AsyncClient, path: str) -> None:
    """Any other address is 404, which no cache keeps."""
    answer = await client.get(path)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (404, "no-store")


def test_the_name_of_the_build_follows_the_content(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another script, or other sentences beside it, have another address."""
    files = dict(sdk_files.sdk_files())
    named = {sdk_files.build()}
    for changed in ("waylink.js", "waylink.json"):
        other = sdk_files.SdkFile("", {"identity": files[changed].contents["identity"] + b" "})
        monkeypatch.setattr(sdk_files, "sdk_files", lambda other={**files, changed: other}: other)
        named.add(sdk_files.build.__wrapped__())
    assert len(named) == 3
    assert all(re.fullmatch(r"[0-9a-f]{12}", name) for name in named)


async def test_developer_tools_find_the_python(client: httpx.AsyncClient) -> None:
    """The source map beside the script names the Python files."""
    assert "../sdk_src/waylink.py" in (await client.get("/waylink.js.map")).json()["sources"]


async def test_the_npm_packages_are_there(client: httpx.AsyncClient) -> None:
    """The archives that docs/sdk.md and docs/app-protocol.md say to install."""
    assert len(ARCHIVES) == 2
    for name, content in ARCHIVES.items():
        answer = await client.get(f"/{name}")
        assert answer.content == content
        assert answer.headers["Content-Type"] == "application/gzip"
