"""GET /waylink.js."""

from __future__ import annotations

from pathlib import Path

import httpx

DIST = Path(__file__).parents[2] / "sdk_dist"


async def test_the_service_serves_the_sdk(client: httpx.AsyncClient) -> None:
    """The script-tag file comes as it was built, for any site, and is kept for an hour."""
    answer = await client.get("/waylink.js")
    assert answer.status_code == 200
    assert answer.content == (DIST / "waylink.js").read_bytes()
    assert answer.headers["Content-Type"].startswith("text/javascript")
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert "max-age=3600" in answer.headers["Cache-Control"]


async def test_an_unchanged_script_is_not_sent_again(client: httpx.AsyncClient) -> None:
    """A browser that has the file is told so."""
    first = await client.get("/waylink.js")
    again = await client.get("/waylink.js", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


async def test_developer_tools_find_the_python(client: httpx.AsyncClient) -> None:
    """The source map beside the script names the Python files."""
    assert "../sdk_src/waylink.py" in (await client.get("/waylink.js.map")).json()["sources"]
