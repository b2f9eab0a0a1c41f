"""A first-party proxy in Python: sends the SDK's requests on from the site's own address to Waylink.

Contract, SDK rule 10: requests are forwarded as POST to the same path on the service's SDK API address, with
all headers except Host. Run it with: WAYLINK_SERVICE=https://links.example hypercorn proxy_example.proxy:app
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import httpx
from quart import Quart, Response, request
from werkzeug.datastructures import Headers

SDK_API = "/serviceCore/sdk/v1/"
# Headers that belong to one connection (RFC 9110, section 7.6.1), and those that are written anew.
_OWN = frozenset(
    {
        "host",
        "connection",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "proxy-authenticate",
        "proxy-authorization",
        "content-length",
    }
)
TIMEOUT = 15.0  # seconds; the SDK waits for ten

app = Quart(__name__)
app.config["MAX_CONTENT_LENGTH"] = 64 * 1024


@app.before_serving
async def open_client() -> None:
    """Open the pool of connections to the service."""
    app.extensions["service"] = httpx.AsyncClient(
        base_url=os.environ["WAYLINK_SERVICE"], timeout=TIMEOUT, follow_redirects=False
    )


@app.after_serving
async def close_client() -> None:
    """Close the pool of connections."""
    await app.extensions["service"].aclose()


@app.post(f"{SDK_API}<path:rest>")
async def forward(rest: str) -> Response:
    """Forward a request to Waylink and return its answer."""
    service: httpx.AsyncClient = app.extensions["service"]
    query = request.query_string.decode("ascii")
    url = f"{SDK_API}{rest}" + (f"?{query}" if query else "")
    try:
        answer = await service.post(
            url, content=await request.get_data(), headers=_passed_on(request.headers.items())
        )
    except httpx.TransportError:
        return Response("The service can't be reached.", 502)  # the SDK sends again later
    # httpx has unpacked the answer, and Response counts its length anew.
    kept = _passed_on(answer.headers.multi_items(), also="content-encoding")
    return Response(answer.content, answer.status_code, Headers(kept))


def _passed_on(headers: Iterable[tuple[str, str]], also: str = "") -> list[tuple[str, str]]:
    """The headers without those that concern one connection only, and without `also`."""
    return [(name, value) for name, value in headers if name.lower() not in {*_OWN, also}]
